"""How classes of scripts are made: from vetted bases, by a maker that takes the metaclass's place."""

from abc import ABC, ABCMeta
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from enum import EnumMeta
from itertools import count
from typing import Any

from panorama.sandbox import tables
from panorama.sandbox.guards import is_derivable
from panorama.sandbox.metas import (
    ScriptAbstractMeta,
    ScriptEnumMeta,
    ScriptMeta,
    ScriptMixedMeta,
    class_of,
    hidden_in,
    note_bases,
    renamed,
    script_class,
)


class Generic:
    """What `Generic[T]` and `Protocol` are while a script runs: nothing, but they take brackets."""

    __slots__ = ()

    @classmethod
    def __class_getitem__(cls, item: object) -> type:
        return cls


class Protocol(Generic):
    """A class that says what others should have; nothing is checked."""

    __slots__ = ()


class NamedTuple:
    """Marks a class statement that makes a named tuple; called, it makes one from pairs."""

    __slots__ = ()

    def __new__(cls, name: str, fields: Iterable[tuple[str, object]] = ()) -> Any:
        return named_tuple(name, [field for field, _ in fields])


class TypedDict:
    """Marks a class statement that describes dicts; while a script runs they are plain dicts."""

    __slots__ = ()

    def __new__(cls, *_: object, **__: object) -> Any:
        return dict


class Abstract:
    """Stands for `metaclass=ABCMeta`."""

    __slots__ = ()


_MARKS = (NamedTuple, TypedDict, Abstract)

_SET_ITEM: Callable[[Any, str, object], None] = vars(dict)["__setitem__"]
"""Past the dict of an enumeration's body, which takes a name once."""

_any_tuple: Callable[..., type] = namedtuple
"""The same to Python; a type checker would want to know the names."""


class Maker:
    """Stands where a class statement names its metaclass; the bases decide which it is."""

    def __prepare__(self, name: str, bases: tuple[Any, ...], **kwargs: object) -> Any:
        if any(isinstance(base, EnumMeta) for base in bases):
            return ScriptEnumMeta.__prepare__(name, _checked(bases))
        return {}

    def __call__(self, name: str, bases: tuple[Any, ...], body: dict[str, Any]) -> Any:
        if any(base is TypedDict for base in bases):
            return dict
        _wrap(body, "__exit__", _without_trace)
        _wrap(body, "throw", _of_the_error_alone)
        _wrap(body, "__getattr__", _for_own_names)
        if any(base is NamedTuple for base in bases):
            return _tuple_class(name, body)
        bases = _checked(bases)
        if "__getitem__" in body and not _has_iter(bases):
            body.setdefault("__iter__", _by_numbers)
        meta = _meta_for(bases)
        if meta is ScriptEnumMeta:
            _check_ignored(body)
        return meta(name, bases, body)


def _checked(bases: tuple[Any, ...]) -> tuple[type, ...]:
    """Return the bases as Python gets them.

    Raises:
        TypeError: A base is not the script's own and not made to be derived from.
    """
    for base in bases:
        if not is_derivable(base) and not any(base is mark for mark in _MARKS):  # == may be the script's own
            what = getattr(base, "__name__", None) if isinstance(base, type) else f"a value like {type(base).__name__}"
            raise TypeError(f"scripts cannot derive a class from {what}; hold one in an attribute instead")
    real = tuple(ABC if base is Abstract else base for base in bases)
    note_bases(real)
    _check_text(real)
    _check_fields(real)
    return tuple(base for base in real if base not in (Generic, Protocol) or not _covered(base, real))


def _has_iter(bases: tuple[type, ...]) -> bool:
    """Return whether objects of classes derived from these know how they are gone through; a metaclass is not asked."""
    return any("__iter__" in vars(ancestor) for base in bases for ancestor in base.__mro__)


def _covered(mark: type, bases: tuple[type, ...]) -> bool:
    return any(base is not mark and issubclass(base, mark) for base in bases)


def _meta_for(bases: tuple[type, ...]) -> type[ScriptMeta]:
    if any(isinstance(base, EnumMeta) for base in bases):
        return ScriptEnumMeta
    if any(isinstance(base, ABCMeta) for base in bases):
        return ScriptAbstractMeta
    return ScriptMixedMeta if hidden_in(ancestor for base in bases for ancestor in base.__mro__) else ScriptMeta


def _check_text(bases: tuple[type, ...]) -> None:
    """Refuse a text class that also derives from other classes of the script.

    Generated code (of dataclasses, of match statements) reads the fields of those without a guard, and one that is
    called `format` would then be the text's own, unsafe method. It is refused before it is made: members of an
    enumeration run code of the script on the way.

    Raises:
        TypeError: It does.
    """
    if any(issubclass(base, str) for base in bases):
        every = (ancestor for base in bases for ancestor in base.__mro__)
        others = [base.__name__ for base in every if script_class(base) and not issubclass(base, str)]
        if others:
            raise TypeError(f"a class derived from str cannot also derive from {others[0]}; hold the text in it")


def _check_fields(bases: tuple[type, ...]) -> None:
    """Refuse fields of a dataclass among the bases that would, in the new class, read what is not the script's.

    A field may be called as what another base from the library has, or its metaclass, only if any script may read
    this name of anything: match statements and generated code read fields without a guard.

    Raises:
        TypeError: There is one.
    """
    meta: type = _meta_for(bases)
    every = [ancestor for base in bases for ancestor in base.__mro__]
    library = [base for base in (*every, *meta.__mro__) if not script_class(base)]
    for name in (name for base in every for name in vars(base).get("__dataclass_fields__", ())):
        if not tables.plain(name) and any(name in vars(base) for base in library):
            raise TypeError(f"the field '{name}' of a base has a name that another base uses; {renamed(name)}")


def _check_ignored(body: dict[str, Any]) -> None:
    """Refuse `_ignore_` with names that are no plain texts: Python looks them up, which would run code of theirs.

    What it names is taken out of the class, so those that mean something to Python, as ours do, are refused too.

    Raises:
        TypeError: There is one.
    """
    names = list(body.get("_ignore_", ()))
    if any(type(name) is not str for name in names):
        raise TypeError("_ignore_ takes names, written as texts")
    if any(map(tables.dunder, names)):
        raise TypeError("_ignore_ takes names of the script's own, without two underscores at each end")
    _SET_ITEM(body, "_ignore_", names)  # the script still has the other list


def _wrap(body: dict[str, Any], name: str, wrapper: Callable[[Any], Any]) -> None:
    if name in body:
        body[name] = wrapper(body[name])


def _bound(method: Any, instance: Any) -> Any:
    """Return what Python finds at an object whose class has this: a function is bound, a method is bound already."""
    bind = getattr(class_of(method), "__get__", None)
    return bind(method, instance, type(instance)) if bind else method


def _without_trace(leave: Any) -> Any:
    """Keep the traceback from `__exit__`: it would lead to frames."""

    def left(self: Any, kind: Any, error: Any, _: object) -> Any:
        return _bound(leave, self)(kind, error, None)

    return left


def _of_the_error_alone(throw: Any) -> Any:
    """Keep the traceback from `throw`, to which `yield from` passes it before Python 3.12."""

    def thrown(self: Any, kind: Any, error: Any = None, _: object = None) -> Any:
        return _bound(throw, self)(kind if error is None else error)

    return thrown


def _for_own_names(find: Any) -> Any:
    """Ask `__getattr__` for the script's names only: by Python's own, an object could pass for another."""

    def found(self: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _bound(find, self)(name)

    return found


def _by_numbers(self: Any) -> Iterator[Any]:
    """Go through what has `__getitem__` alone; Python's own way lets go of the object twice if it is asked within."""
    for number in count():
        try:
            value = self[number]
        except (IndexError, StopIteration):
            return
        yield value


# --- named tuples


def named_tuple(name: object, fields: Any, *, rename: bool = False, defaults: Iterable[object] | None = None) -> Any:
    """`collections.namedtuple`."""
    words: list[Any] = fields.replace(",", " ").split() if isinstance(fields, str) else list(fields)
    plain = [word for word in (name, *words) if type(word) is str]
    if len(plain) != len(words) + 1:
        raise TypeError("the names of a named tuple must be texts")
    base = _plain_tuple(plain[0], plain[1:], defaults, rename=bool(rename))
    return ScriptMixedMeta(plain[0], (base,), {"__slots__": (), "__module__": tables.MODULE, "__doc__": base.__doc__})


def _tuple_class(name: str, body: dict[str, Any]) -> Any:
    fields = list(body.pop("__annotations__", ()))
    defaults = [body.pop(field) for field in fields if field in body]
    return ScriptMixedMeta(name, (_plain_tuple(name, fields, defaults),), {"__slots__": (), **body})


def _plain_tuple(name: str, fields: list[str], defaults: Iterable[object] | None, *, rename: bool = False) -> type:
    return _any_tuple(name, fields, rename=rename, defaults=defaults, module=tables.MODULE)
