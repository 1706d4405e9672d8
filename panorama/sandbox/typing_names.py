"""`typing` for scripts: annotations are dropped, so most names only have to stand where they stand."""

import collections
import collections.abc
from typing import Any, Self

from panorama.sandbox.classes import Generic, NamedTuple, Protocol, TypedDict
from panorama.sandbox.collecting import defaultdict, deque
from panorama.sandbox.kinds import Type
from panorama.sandbox.ordered import OrderedDict

_WORDS = """
    Any Optional Union Callable Literal Final ClassVar Annotated Never NoReturn LiteralString Self Concatenate Unpack
    Required NotRequired ReadOnly TypeAlias TypeGuard TypeIs AnyStr SupportsInt SupportsFloat SupportsAbs SupportsIndex
    Awaitable Coroutine AsyncIterator AsyncIterable AsyncGenerator IO TextIO BinaryIO Pattern Match
"""

_ABSTRACT = """
    Iterable Iterator Generator Sequence MutableSequence Mapping MutableMapping MutableSet Collection Container
    Hashable Sized Reversible KeysView ValuesView ItemsView
"""

_CONCRETE: dict[str, object] = {
    "List": list, "Dict": dict, "Set": set, "FrozenSet": frozenset, "Tuple": tuple, "Type": Type, "Text": str,
    "Deque": deque, "DefaultDict": defaultdict, "OrderedDict": OrderedDict,
    "Counter": collections.Counter, "ChainMap": collections.ChainMap, "AbstractSet": collections.abc.Set,
}  # fmt: skip


class Hint:
    """A name of `typing` that means nothing while a script runs; it takes brackets and `|`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, item: object) -> Self:
        return self

    def __or__(self, other: object) -> Self:
        return self

    __ror__ = __or__

    def __repr__(self) -> str:
        return f"typing.{self._name}"

    def __reduce__(self) -> str:
        return self._name


ANYTHING = Hint("Any")


def _cast(_: object, value: Any) -> Any:
    return value


def _same(value: Any = None, *_: object) -> Any:
    return value


def _new_type(*_: object) -> Any:
    return _same


def _variable(name: str, *_: object, **__: object) -> Hint:
    return Hint(name)


def names() -> dict[str, object]:
    """Return what `import typing` gives."""
    hints = {word: Hint(word) for word in _WORDS.split()}
    abstract = {word: getattr(collections.abc, word) for word in _ABSTRACT.split()}
    own = {"Generic": Generic, "Protocol": Protocol, "NamedTuple": NamedTuple, "TypedDict": TypedDict}
    makers = {"cast": _cast, "NewType": _new_type, "TypeVar": _variable, "ParamSpec": _variable}
    decorators = dict.fromkeys(("overload", "final", "override", "no_type_check", "assert_never"), _same)
    return {**hints, **abstract, **_CONCRETE, **own, **makers, **decorators, "TypeVarTuple": _variable,
            "TYPE_CHECKING": False}  # fmt: skip
