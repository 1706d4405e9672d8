"""`typing` for scripts: annotations are dropped; most names only exist."""

import collections
import collections.abc
from typing import Any, Self

from panorama.sandbox.rules.classes import Generic, NamedTuple, Protocol, TypedDict
from panorama.sandbox.rules.type_views import Type

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
    "Deque": collections.deque, "DefaultDict": collections.defaultdict, "OrderedDict": collections.OrderedDict,
    "Counter": collections.Counter, "ChainMap": collections.ChainMap, "AbstractSet": collections.abc.Set,
}  # fmt: skip


class TypingName:
    """A name of `typing` without a meaning at run time; it takes brackets and `|`."""

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


ANYTHING = TypingName("Any")


def _cast(_: object, value: Any) -> Any:
    return value


def _return_argument(value: Any = None, *_: object) -> Any:
    return value


def _make_new_type(*_: object) -> Any:
    return _return_argument


def _make_type_variable(name: str, *_: object, **__: object) -> TypingName:
    return TypingName(name)


def build_namespace() -> dict[str, object]:
    """Return the module that `import typing` gives."""
    hints = {word: TypingName(word) for word in _WORDS.split()}
    abstract = {word: getattr(collections.abc, word) for word in _ABSTRACT.split()}
    names = {"Generic": Generic, "Protocol": Protocol, "NamedTuple": NamedTuple, "TypedDict": TypedDict}
    makers = {
        "cast": _cast,
        "NewType": _make_new_type,
        "TypeVar": _make_type_variable,
        "ParamSpec": _make_type_variable,
    }
    decorators = dict.fromkeys(("overload", "final", "override", "no_type_check", "assert_never"), _return_argument)
    return {**hints, **abstract, **_CONCRETE, **names, **makers, **decorators, "TypeVarTuple": _make_type_variable,
            "TYPE_CHECKING": False}  # fmt: skip
