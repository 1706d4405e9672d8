"""Versions of library functions that do not bypass the guards."""

import functools
import hashlib
import operator
import pprint
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, UnionType
from typing import Any, Final, NoReturn

from panorama.sandbox.rules import allowlist
from panorama.sandbox.rules.class_marks import allow_set_name, is_script_class, is_script_function
from panorama.sandbox.rules.guards import read_dynamic, require_writable
from panorama.sandbox.rules.type_views import get_visible_class

HASHES: Final = (
    "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_224", "sha3_256", "sha3_384",
    "sha3_512",
)  # fmt: skip
"""The functions of `hashlib` that scripts have."""

_NAMES = ("__name__", "__qualname__", "__doc__")


def wraps(wrapped: Any, *_: object, **__: object) -> Callable[[Any], Any]:
    """`functools.wraps`: gives the wrapper the names of the wrapped function."""

    def decorate(wrapper: Any) -> Any:
        return _copy_names(wrapper, wrapped) if is_script_function(wrapper) else wrapper

    return decorate


def update_wrapper(wrapper: Any, wrapped: Any, *_: object, **__: object) -> Any:
    """`functools.update_wrapper`."""
    return wraps(wrapped)(wrapper)


def _copy_names(wrapper: Any, wrapped: Any) -> Any:
    """Return a function that is called what another is called."""
    for name in _NAMES if callable(wrapped) else ():
        text = getattr(wrapped, name, None)
        if type(text) is str:
            setattr(wrapper, name, text)
    return wrapper


def lru_cache(maxsize: Any = 128, typed: Any = False) -> Any:
    """`functools.lru_cache`."""
    if callable(maxsize) and isinstance(typed, bool) and not isinstance(maxsize, int):
        return functools.lru_cache(128, typed)(_hide_attributes(maxsize))
    remembering: Callable[[Any], Any] = functools.lru_cache(maxsize, typed)

    def decorate(function: Any) -> Any:
        return remembering(_hide_attributes(function))

    return decorate


def cache(function: Any, /) -> Any:
    """`functools.cache`."""
    return functools.lru_cache(None)(_hide_attributes(function))


def _hide_attributes(function: Any) -> Any:
    """Return a function without attributes, which functools would copy."""
    if is_script_function(function) or not callable(function):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def abstractmethod(method: Any) -> Any:
    """`abc.abstractmethod`."""
    if is_script_function(method):
        method.__isabstractmethod__ = True
    return method


def restrict_to_script_classes(decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a class decorator that refuses classes that the script did not define."""

    def decorate(kind: Any) -> Any:
        if not is_script_class(kind):
            raise TypeError(f"@{decorator.__name__} works on classes that the script defines")
        return decorator(kind)

    return decorate


class _GeneratorContextManager:
    """A generator as a context manager; it gets errors without their traceback.

    Each call of a function that it decorates has a generator of its own.
    """

    def __init__(self, create: Callable[[], Any]) -> None:
        self._create = create
        self._steps = create()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with _GeneratorContextManager(self._create):
                return function(*args, **kwargs)

        return _copy_names(wrapper, function)

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


def contextmanager(function: Callable[..., Any]) -> Callable[..., _GeneratorContextManager]:
    """`contextlib.contextmanager`."""

    def make_context(*args: Any, **kwargs: Any) -> _GeneratorContextManager:
        return _GeneratorContextManager(lambda: function(*args, **kwargs))

    return _copy_names(make_context, function)


def singledispatch(function: Callable[..., Any]) -> Any:
    """`functools.singledispatch`, by named classes; annotations are dropped."""
    functions: dict[type, Callable[..., Any]] = {object: function}

    def dispatch(kind: type, /) -> Callable[..., Any]:
        """Return the function that is called with an object of a class."""
        if not isinstance(kind, type):  # pyright: ignore[reportUnnecessaryIsInstance] (a script calls this)
            raise TypeError("dispatch() takes a class")
        match = next((base for base in kind.__mro__ if base in functions), object)
        if match is object:  # abstract classes are in no `__mro__`
            match = next((registered for registered in reversed(functions) if issubclass(kind, registered)), object)
        return functions[match]

    def register(kind: Any, function: Any = None, /) -> Any:
        """Register a function for a class and return it."""
        kinds = kind.__args__ if type(kind) is UnionType else (kind,)
        if is_script_function(kind) or not all(isinstance(member, type) for member in kinds):
            raise TypeError("annotations are not kept in scripts; name the class: @f.register(int)")

        def decorate(function: Any) -> Any:
            functions.update(dict.fromkeys(kinds, function))
            return function

        return decorate if function is None else decorate(function)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"{wrapper.__name__} requires at least 1 positional argument")
        return dispatch(get_visible_class(args[0]))(*args, **kwargs)

    dispatcher: Any = _copy_names(wrapper, function)
    dispatcher.dispatch, dispatcher.register = dispatch, register
    return dispatcher


@allow_set_name
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
        vars(require_writable(instance, self._name))[self._name] = value
        return value


def attrgetter(*paths: Any) -> Callable[[Any], Any]:
    """`operator.attrgetter`, and Python's own for names that need no guard."""
    if any(type(path) is not str for path in paths):
        raise TypeError("the name of an attribute must be a string")
    if all(allowlist.is_plain(name) for path in paths for name in path.split(".")):
        return operator.attrgetter(*paths)

    def read_path(value: Any, path: str) -> Any:
        for name in path.split("."):
            value = read_dynamic(value, name)
        return value

    def get_values(value: Any) -> Any:
        return read_path(value, paths[0]) if len(paths) == 1 else tuple(read_path(value, path) for path in paths)

    return get_values


def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """`operator.methodcaller`."""
    return lambda value: read_dynamic(value, name)(*args, **kwargs)


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


def format_pretty(value: object, indent: int = 1, width: int = 80, depth: int | None = None, **options: Any) -> str:
    """`pprint.pformat`."""
    return pprint.pformat(value, indent=indent, width=width, depth=depth, **_pick_pretty_options(options))


def make_printers(output: Callable[..., None]) -> dict[str, Callable[..., None]]:
    """Return `pprint.pprint` and `pprint.pp`, which print as `printed` does."""

    def print_pretty(value: object, stream: Any = None, indent: int = 1, width: int = 80, depth: Any = None,
                     **options: Any) -> None:  # fmt: skip
        output(format_pretty(value, indent, width, depth, **options), file=stream)

    def pp(value: object, *args: Any, sort_dicts: bool = False, **options: Any) -> None:
        print_pretty(value, *args, sort_dicts=sort_dicts, **options)

    return {"pprint": print_pretty, "pp": pp}


def _pick_pretty_options(options: dict[str, Any]) -> dict[str, Any]:
    return {name: bool(options[name]) for name in ("compact", "sort_dicts", "underscore_numbers") if name in options}


def sleep(seconds: float, result: Any = None) -> Any:
    """`asyncio.sleep`."""
    time.sleep(seconds)
    return result


class _EmptyMapping(Mapping[Any, Any]):
    """An immutable empty mapping, also if taken out of its mappingproxy."""

    __slots__ = ()

    def __getitem__(self, key: object) -> NoReturn:
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


NO_METADATA: Final = MappingProxyType(_EmptyMapping())
"""The metadata of fields of dataclasses that have none: Python's is one dict for all of them."""
