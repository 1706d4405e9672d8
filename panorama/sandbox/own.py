"""Functions that scripts get in versions of ours, because Python's would read or write past the guards."""

import difflib
import functools
import hashlib
import operator
import pprint
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, UnionType
from typing import Any, Final, NoReturn

from panorama.sandbox import tables
from panorama.sandbox.guards import changed, read_any
from panorama.sandbox.identity import identity
from panorama.sandbox.kinds import kind_of
from panorama.sandbox.metas import is_script_class, listener, script_function

HASHES: Final = (
    "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_224", "sha3_256", "sha3_384",
    "sha3_512",
)  # fmt: skip
"""What there is of `hashlib`."""

_NAMES = ("__name__", "__qualname__", "__doc__")


def wraps(wrapped: Any, *_: object, **__: object) -> Callable[[Any], Any]:
    """`functools.wraps`: the wrapper is called what the wrapped function is called."""

    def named(wrapper: Any) -> Any:
        return _named(wrapper, wrapped) if script_function(wrapper) else wrapper

    return named


def update_wrapper(wrapper: Any, wrapped: Any, *_: object, **__: object) -> Any:
    """`functools.update_wrapper`."""
    return wraps(wrapped)(wrapper)


def _named(wrapper: Any, wrapped: Any) -> Any:
    """Return a function that is called what another is called."""
    for name in _NAMES if callable(wrapped) else ():
        text = getattr(wrapped, name, None)
        if type(text) is str:
            setattr(wrapper, name, text)
    return wrapper


def lru_cache(maxsize: Any = 128, typed: Any = False) -> Any:
    """`functools.lru_cache`."""
    if callable(maxsize) and isinstance(typed, bool) and not isinstance(maxsize, int):
        return functools.lru_cache(128, typed)(_without_attributes(maxsize))
    remembering: Callable[[Any], Any] = functools.lru_cache(maxsize, typed)

    def cached(function: Any) -> Any:
        return remembering(_without_attributes(function))

    return cached


def cache(function: Any, /) -> Any:
    """`functools.cache`."""
    return functools.lru_cache(None)(_without_attributes(function))


def _without_attributes(function: Any) -> Any:
    """Return a function that Python may take all attributes of: a class has more than scripts may read."""
    if script_function(function) or not callable(function):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def abstractmethod(method: Any) -> Any:
    """`abc.abstractmethod`."""
    if script_function(method):
        method.__isabstractmethod__ = True
    return method


def on_own_class(decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a class decorator that refuses classes that the script did not define."""

    def decorated(kind: Any) -> Any:
        if not is_script_class(kind):
            raise TypeError(f"@{decorator.__name__} works on classes that the script defines")
        return decorator(kind)

    return decorated


class _Managed:
    """A generator as a context manager; it gets an error without the traceback, which would lead to frames.

    Each call of a function that it decorates has a generator of its own.
    """

    def __init__(self, made: Callable[[], Any]) -> None:
        self._made = made
        self._steps = made()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def within(*args: Any, **kwargs: Any) -> Any:
            with _Managed(self._made):
                return function(*args, **kwargs)

        return _named(within, function)

    def __enter__(self) -> Any:
        try:
            return next(self._steps)
        except StopIteration:
            raise RuntimeError("the generator did not yield") from None

    def __exit__(self, kind: Any, error: Any, _: object) -> bool:
        try:
            self._steps.throw(error) if error is not None else next(self._steps)
        except StopIteration as end:
            return end is not error and error is not None
        except BaseException as raised:
            if raised is error:
                return False
            raise
        raise RuntimeError("the generator did not stop")


def contextmanager(function: Callable[..., Any]) -> Callable[..., _Managed]:
    """`contextlib.contextmanager`."""

    def managed(*args: Any, **kwargs: Any) -> _Managed:
        return _Managed(lambda: function(*args, **kwargs))

    return _named(managed, function)


def singledispatch(function: Callable[..., Any]) -> Any:
    """`functools.singledispatch`, by the classes that are named; annotations of scripts are not kept."""
    known: dict[type, Callable[..., Any]] = {object: function}

    def dispatch(kind: type, /) -> Callable[..., Any]:
        """Return what is called with an object of a class."""
        if not isinstance(kind, type):  # pyright: ignore[reportUnnecessaryIsInstance] (a script calls this)
            raise TypeError("dispatch() takes a class")
        found = next((base for base in kind.__mro__ if base in known), object)
        if found is object:  # abstract classes stand in no list of bases
            found = next((each for each in reversed(known) if issubclass(kind, each)), object)
        return known[found]

    def register(kind: Any, function: Any = None, /) -> Any:
        """Return what is given, after noting that it is called with objects of a class."""
        kinds = kind.__args__ if type(kind) is UnionType else (kind,)
        if script_function(kind) or not all(isinstance(each, type) for each in kinds):
            raise TypeError("annotations are not kept in scripts; name the class: @f.register(int)")

        def registered(function: Any) -> Any:
            known.update(dict.fromkeys(kinds, function))
            return function

        return registered if function is None else registered(function)

    def dispatching(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"{dispatching.__name__} requires at least 1 positional argument")
        return dispatch(kind_of(args[0]))(*args, **kwargs)

    made: Any = _named(dispatching, function)
    made.dispatch, made.register = dispatch, register
    return made


@listener
class cached_property:  # noqa: N801 (a name of Python's)
    """`functools.cached_property`."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = self._name or name

    def __get__(self, instance: Any, owner: object = None) -> Any:
        if instance is None:
            return self
        value = self._compute(instance)
        vars(changed(instance, self._name))[self._name] = value
        return value


def attrgetter(*paths: Any) -> Callable[[Any], Any]:
    """`operator.attrgetter`, and Python's own for names that need no guard."""
    if any(type(path) is not str for path in paths):
        raise TypeError("the name of an attribute must be a text")
    if all(tables.plain(name) for path in paths for name in path.split(".")):
        return operator.attrgetter(*paths)

    def one(value: Any, path: str) -> Any:
        for name in path.split("."):
            value = read_any(value, name)
        return value

    def got(value: Any) -> Any:
        return one(value, paths[0]) if len(paths) == 1 else tuple(one(value, path) for path in paths)

    return got


def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """`operator.methodcaller`."""
    return lambda value: read_any(value, name)(*args, **kwargs)


def new_hash(name: Any, data: Any = b"", **options: Any) -> Any:
    """`hashlib.new`."""
    if type(name) is not str or name.lower() not in HASHES:
        raise ValueError(f"unsupported hash type {name}; there are: {', '.join(HASHES)}")
    return getattr(hashlib, name.lower())(data, **options)


def set_item(container: Any, key: Any, value: Any, /) -> None:
    """`operator.setitem`."""
    container[key] = value


def delete_item(container: Any, key: Any, /) -> None:
    """`operator.delitem`."""
    del container[key]


def pretty(value: object, indent: int = 1, width: int = 80, depth: int | None = None, **options: Any) -> str:
    """`pprint.pformat`."""
    return pprint.pformat(value, indent=indent, width=width, depth=depth, **_pretty_options(options))


def printers(printed: Callable[..., None]) -> dict[str, Callable[..., None]]:
    """Return `pprint.pprint` and `pprint.pp`, which print as `printed` does."""

    def print_pretty(value: object, stream: Any = None, indent: int = 1, width: int = 80, depth: Any = None,
                     **options: Any) -> None:  # fmt: skip
        printed(pretty(value, indent, width, depth, **options), file=stream)

    def pp(value: object, *args: Any, sort_dicts: bool = False, **options: Any) -> None:
        print_pretty(value, *args, sort_dicts=sort_dicts, **options)

    return {"pprint": print_pretty, "pp": pp}


def recursion(value: object) -> str:
    """What `pprint` shows of an object within itself."""
    return f"<Recursion on {type(value).__name__} with id={identity(value)}>"


def _pretty_options(options: dict[str, Any]) -> dict[str, Any]:
    return {name: bool(options[name]) for name in ("compact", "sort_dicts", "underscore_numbers") if name in options}


_grouped: Final[Callable[[Any, int], Any]] = vars(difflib.SequenceMatcher)["get_grouped_opcodes"]


def grouped_opcodes(matcher: Any, n: Any = 3) -> Any:
    """`SequenceMatcher.get_grouped_opcodes`, of a whole number: what is counted with it becomes parts of slices."""
    return _grouped(matcher, operator.index(n))


grouped_opcodes.__name__ = "get_grouped_opcodes"


def slept(seconds: float, result: Any = None) -> Any:
    """`asyncio.sleep`."""
    time.sleep(seconds)
    return result


class _Nothing(Mapping[Any, Any]):
    """An empty mapping that nobody can change, also who gets it itself out of a mappingproxy by comparing that."""

    __slots__ = ()

    def __getitem__(self, key: object) -> NoReturn:
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


NO_METADATA: Final = MappingProxyType(_Nothing())
"""The metadata of fields of dataclasses that have none: Python's is one dict for all of them."""
