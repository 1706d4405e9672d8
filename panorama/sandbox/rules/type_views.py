"""The `type(x)` of scripts: the class itself, or a stand-in that only names it."""

import types
from collections.abc import Iterable
from typing import Any, NoReturn

from panorama.sandbox.rules.allowlist import is_dunder
from panorama.sandbox.rules.class_marks import get_class, is_script_defined
from panorama.sandbox.rules.receiver_checks import protect_class

_EXPOSED_TYPES: set[type] = set()
_DIRECT_TYPES: set[type] = set()
"""Exposed types that are not metaclasses."""

_STAND_INS: dict[type, type] = {}


def expose_types(*kinds: type) -> None:
    """Expose classes to scripts; all others are replaced by stand-ins."""
    for kind in kinds:
        protect_class(kind)
    _EXPOSED_TYPES.update(kinds)
    _DIRECT_TYPES.update(kind for kind in kinds if type not in kind.__mro__)


def get_visible_class(value: object) -> type:
    """Return the class of a value as scripts see it."""
    kind = type(value)
    if kind in _DIRECT_TYPES:
        return kind
    if isinstance(value, type):
        return Type
    if is_script_defined(kind) or kind in _EXPOSED_TYPES or issubclass(kind, BaseException):
        return kind
    return _make_stand_in(kind)


class _TypeMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> type:
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes one argument in scripts; write a class statement to make a class")
        kind = get_class(args[0])
        return kind if kind in _DIRECT_TYPES else get_visible_class(args[0])

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, type)

    def __getitem__(cls, item: object) -> type:
        return cls

    def __repr__(cls) -> str:
        return "<class 'type'>"


class Type(metaclass=_TypeMeta):
    """The `type` of scripts: returns the class of a value, never creates one."""

    __slots__ = ()


Type.__name__ = Type.__qualname__ = "type"


class _StandInMeta(type):
    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"scripts cannot make objects of the class '{cls.__name__}'")

    def __instancecheck__(cls, instance: object) -> bool:
        return cls is get_visible_class(instance)

    def __repr__(cls) -> str:
        return f"<class '{cls.__name__}'>"


def _make_stand_in(kind: type) -> type:
    stand_in = _STAND_INS.get(kind)
    if stand_in is None:
        stand_in = _STAND_INS[kind] = _StandInMeta(kind.__name__, (), {"__slots__": ()})
    return stand_in


class _CheckedNamespace(types.SimpleNamespace):
    """A namespace without attributes whose names mean something to Python.

    No script can name this class, so that `super(SimpleNamespace, x).__init__` is still the one that stands here.
    """

    __slots__ = ()

    def __init__(self, *mapping: Any, **names: Any) -> None:
        copies: list[dict[str, Any]] = [dict(values) for values in mapping]
        for values in (*copies, names):
            check_names(values)
        super().__init__(*copies, **names)

    def __repr__(self) -> str:
        text = super().__repr__()
        return text.replace("SimpleNamespace", "namespace", 1) if type(self) is SimpleNamespace else text


class SimpleNamespace(_CheckedNamespace):
    """`types.SimpleNamespace`."""

    __slots__ = ()


def check_names(names: Iterable[object]) -> None:
    """Refuse attribute names that are special, or not plain strings.

    Raises:
        TypeError: One does, or is none.
    """
    for name in names:
        if type(name) is not str:
            raise TypeError("the name of an attribute must be a string")
        if is_dunder(name):
            raise TypeError(f'the attribute "{name}" cannot be set in scripts')


_CheckedNamespace.__name__ = _CheckedNamespace.__qualname__ = SimpleNamespace.__name__
_CheckedNamespace.__module__ = SimpleNamespace.__module__ = "types"
