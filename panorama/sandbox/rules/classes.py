"""Creates the classes of scripts from vetted bases."""

from abc import ABC, ABCMeta
from collections import namedtuple
from collections.abc import Callable, Iterable
from enum import EnumMeta
from typing import Any

from panorama.sandbox.rules import allowlist
from panorama.sandbox.rules.class_marks import (
    ScriptAbstractMeta,
    ScriptEnumMeta,
    ScriptMeta,
    ScriptMixedMeta,
    find_hidden_names,
    get_class,
    is_script_defined,
    record_bases,
    suggest_rename,
)
from panorama.sandbox.rules.guards import is_subclassable


class Generic:
    """`Generic[T]` while a script runs: an empty class that takes brackets."""

    __slots__ = ()

    @classmethod
    def __class_getitem__(cls, item: object) -> type:
        return cls


class Protocol(Generic):
    """`Protocol` while a script runs: nothing is checked."""

    __slots__ = ()


class NamedTuple:
    """Marks a class statement that creates a named tuple; called, it creates one."""

    __slots__ = ()

    def __new__(cls, name: str, fields: Iterable[tuple[str, object]] = ()) -> Any:
        return named_tuple(name, [field for field, _ in fields])


class TypedDict:
    """Marks a class statement that describes dicts; at run time they are plain dicts."""

    __slots__ = ()

    def __new__(cls, *_: object, **__: object) -> Any:
        return dict


class Abstract:
    """Replaces `metaclass=ABCMeta`."""

    __slots__ = ()


_MARKERS = (NamedTuple, TypedDict, Abstract)

_SET_ITEM: Callable[[Any, str, object], None] = vars(dict)["__setitem__"]
"""Past the dict of an enumeration's body, which takes a name once."""

_any_tuple: Callable[..., type] = namedtuple
"""The same to Python; a type checker would want to know the names."""


class ClassBuilder:
    """Replaces the metaclass in class statements; the bases decide which one is used."""

    def __prepare__(self, name: str, bases: tuple[Any, ...], **kwargs: object) -> Any:
        if any(isinstance(base, EnumMeta) for base in bases):
            return ScriptEnumMeta.__prepare__(name, _resolve_bases(bases))
        return {}

    def __call__(self, name: str, bases: tuple[Any, ...], body: dict[str, Any]) -> Any:
        if any(base is TypedDict for base in bases):
            return dict
        _wrap(body, "__exit__", _drop_exit_traceback)
        _wrap(body, "throw", _drop_throw_traceback)
        _wrap(body, "__getattr__", _limit_getattr)
        if any(base is NamedTuple for base in bases):
            return _build_tuple_class(name, body)
        bases = _resolve_bases(bases)
        meta = _choose_metaclass(bases)
        if meta is ScriptEnumMeta:
            _check_ignored(body)
        return meta(name, bases, body)


def _resolve_bases(bases: tuple[Any, ...]) -> tuple[type, ...]:
    """Return the bases as Python gets them.

    Raises:
        TypeError: A base is not the script's own and not made to be derived from.
    """
    for base in bases:
        if not is_subclassable(base) and not any(base is mark for mark in _MARKERS):  # == may be the script's own
            subject = (
                getattr(base, "__name__", None) if isinstance(base, type) else f"a value like {type(base).__name__}"
            )
            raise TypeError(f"scripts cannot derive a class from {subject}; hold one in an attribute instead")
    real = tuple(ABC if base is Abstract else base for base in bases)
    record_bases(real)
    _check_text(real)
    _check_fields(real)
    return tuple(base for base in real if base not in (Generic, Protocol) or not _is_covered(base, real))


def _is_covered(mark: type, bases: tuple[type, ...]) -> bool:
    return any(base is not mark and issubclass(base, mark) for base in bases)


def _choose_metaclass(bases: tuple[type, ...]) -> type[ScriptMeta]:
    if any(isinstance(base, EnumMeta) for base in bases):
        return ScriptEnumMeta
    if any(isinstance(base, ABCMeta) for base in bases):
        return ScriptAbstractMeta
    return ScriptMixedMeta if find_hidden_names(ancestor for base in bases for ancestor in base.__mro__) else ScriptMeta


def _check_text(bases: tuple[type, ...]) -> None:
    """Refuse a text class that also derives from other classes of the script.

    Generated code (of dataclasses, of match statements) reads the fields of those without a guard, and one that is
    called `format` would then be the text's own, unsafe method. It is refused before it is made: members of an
    enumeration run code of the script on the way.

    Raises:
        TypeError: It derives from another class of the script too.
    """
    if any(issubclass(base, str) for base in bases):
        every = (ancestor for base in bases for ancestor in base.__mro__)
        others = [base.__name__ for base in every if is_script_defined(base) and not issubclass(base, str)]
        if others:
            raise TypeError(f"a class derived from str cannot also derive from {others[0]}; hold the text in it")


def _check_fields(bases: tuple[type, ...]) -> None:
    """Refuse dataclass fields among the bases that would read library attributes.

    A field may be called as what another base from the library has, or its metaclass, only if any script may read
    this name of anything: match statements and generated code read fields without a guard.

    Raises:
        TypeError: There is one.
    """
    meta: type = _choose_metaclass(bases)
    every = [ancestor for base in bases for ancestor in base.__mro__]
    library = [base for base in (*every, *meta.__mro__) if not is_script_defined(base)]
    for name in (name for base in every for name in vars(base).get("__dataclass_fields__", ())):
        if not allowlist.is_plain(name) and any(name in vars(base) for base in library):
            raise TypeError(f"the field '{name}' of a base has a name that another base uses; {suggest_rename(name)}")


def _check_ignored(body: dict[str, Any]) -> None:
    """Refuse `_ignore_` with dunder names, or names that are not plain strings.

    What it names is taken out of the class, so those that mean something to Python, as ours do, are refused too.

    Raises:
        TypeError: There is one.
    """
    names = list(body.get("_ignore_", ()))
    if any(type(name) is not str for name in names):
        raise TypeError("_ignore_ takes names, written as strings")
    if any(map(allowlist.is_dunder, names)):
        raise TypeError("_ignore_ takes names of the script's own, without two underscores at each end")
    _SET_ITEM(body, "_ignore_", names)  # the script still has the other list


def _wrap(body: dict[str, Any], name: str, wrapper: Callable[[Any], Any]) -> None:
    if name in body:
        body[name] = wrapper(body[name])


def _bind(method: Any, instance: Any) -> Any:
    """Return a method bound to an instance, as Python would look it up."""
    bind = getattr(get_class(method), "__get__", None)
    return bind(method, instance, type(instance)) if bind else method


def _drop_exit_traceback(exit_method: Any) -> Any:
    """Wrap `__exit__` so that it gets no traceback, which would lead to frames."""

    def exit_without_traceback(self: Any, kind: Any, error: Any, _: object) -> Any:
        return _bind(exit_method, self)(kind, error, None)

    return exit_without_traceback


def _drop_throw_traceback(throw: Any) -> Any:
    """Wrap `throw` so that it gets no traceback (`yield from` before Python 3.12)."""

    def throw_without_traceback(self: Any, kind: Any, error: Any = None, _: object = None) -> Any:
        return _bind(throw, self)(kind if error is None else error)

    return throw_without_traceback


def _limit_getattr(find: Any) -> Any:
    """Wrap `__getattr__` so that it is not asked for Python's own names."""

    def get_own_attribute(self: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _bind(find, self)(name)

    return get_own_attribute


# --- named tuples


def named_tuple(name: object, fields: Any, *, rename: bool = False, defaults: Iterable[object] | None = None) -> Any:
    """`collections.namedtuple`."""
    words: list[Any] = fields.replace(",", " ").split() if isinstance(fields, str) else list(fields)
    plain = [word for word in (name, *words) if type(word) is str]
    if len(plain) != len(words) + 1:
        raise TypeError("the names of a named tuple must be strings")
    base = _make_plain_tuple(plain[0], plain[1:], defaults, rename=bool(rename))
    return ScriptMixedMeta(
        plain[0], (base,), {"__slots__": (), "__module__": allowlist.MODULE, "__doc__": base.__doc__}
    )


def _build_tuple_class(name: str, body: dict[str, Any]) -> Any:
    fields = list(body.pop("__annotations__", ()))
    defaults = [body.pop(field) for field in fields if field in body]
    return ScriptMixedMeta(name, (_make_plain_tuple(name, fields, defaults),), {"__slots__": (), **body})


def _make_plain_tuple(name: str, fields: list[str], defaults: Iterable[object] | None, *, rename: bool = False) -> type:
    return _any_tuple(name, fields, rename=rename, defaults=defaults, module=allowlist.MODULE)
