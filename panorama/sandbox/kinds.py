"""What `type(x)` is in a script: the class itself if a script may have it, or one that only names it."""

import types
from collections.abc import Iterable
from reprlib import recursive_repr
from typing import Any, NoReturn

from panorama.sandbox.metas import class_of, script_class
from panorama.sandbox.selves import close
from panorama.sandbox.slices import Slice
from panorama.sandbox.tables import dunder

_NAMEABLE: set[type] = set()
_TOLD: set[type] = set()
"""Those of them that are no classes of classes, whose objects are told as `type`."""

_STAND_INS: dict[type, type] = {}

UNICODE_ERRORS = (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError)
"""Known to scripts as `UnicodeError`: made with a negative start, their text tells what lies before a value in memory
(python/cpython#123378)."""


def nameable(*kinds: type) -> None:
    """Let scripts have these classes, whose methods then take their own objects alone; all others are stood in for."""
    for kind in kinds:
        close(kind)
    _NAMEABLE.update(kinds)
    _TOLD.update(kind for kind in kinds if kind not in UNICODE_ERRORS and type not in kind.__mro__)


def stood_in(kind: type, by: type) -> None:
    """Let scripts see a class of ours as the class of another's objects."""
    _STAND_INS[kind] = by


def kind_of(value: object) -> type:
    """Return what a script sees as the class of a value."""
    kind = type(value)
    if kind in _TOLD:
        return kind
    if isinstance(value, type):
        return Type
    if kind in UNICODE_ERRORS:
        return UnicodeError
    if kind is slice:
        return Slice
    if script_class(kind) or kind in _NAMEABLE or issubclass(kind, BaseException):
        return kind
    return _stand_in(kind)


class _TypeMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> type:
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes one argument in scripts; write a class statement to make a class")
        kind = class_of(args[0])
        return kind if kind in _TOLD else kind_of(args[0])

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, type)

    def __getitem__(cls, item: object) -> type:
        return cls

    def __repr__(cls) -> str:
        return "<class 'type'>"


class Type(metaclass=_TypeMeta):
    """What scripts get as `type`: it tells the class of one value, and never makes a class."""

    __slots__ = ()


Type.__name__ = Type.__qualname__ = "type"


class _StandInMeta(type):
    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"scripts cannot make objects of the class '{cls.__name__}'")

    def __instancecheck__(cls, instance: object) -> bool:
        return cls is kind_of(instance)

    def __repr__(cls) -> str:
        return f"<class '{cls.__name__}'>"


def _stand_in(kind: type) -> type:
    made = _STAND_INS.get(kind)
    if made is None:
        made = _STAND_INS[kind] = _StandInMeta(kind.__name__, (), {"__slots__": ()})
    return made


class _Named(types.SimpleNamespace):
    """A namespace without attributes whose names mean something to Python, and that owns what it tells.

    No script can name this class, so that `super(SimpleNamespace, x).__init__` is still the one that stands here.
    """

    __slots__ = ()

    def __init__(self, *mapping: Any, **names: Any) -> None:
        copies: list[dict[str, Any]] = [dict(each) for each in mapping]
        for each in (*copies, names):
            check_names(each)
        super().__init__(*copies, **names)

    def __repr__(self) -> str:
        return f"{'namespace' if type(self) is SimpleNamespace else type(self).__name__}({_told(self)})"


@recursive_repr()
def _told(space: _Named) -> str:
    """Return a namespace's attributes as text: of a copy, because what they tell themselves could take them away."""
    return ", ".join([f"{name}={value!r}" for name, value in list(vars(space).items()) if name])


class SimpleNamespace(_Named):
    """`types.SimpleNamespace`."""

    __slots__ = ()


def check_names(names: Iterable[object]) -> None:
    """Refuse names of attributes that mean something to Python, and those that are no plain texts: they might lie.

    Raises:
        TypeError: One does, or is none.
    """
    for name in names:
        if type(name) is not str:
            raise TypeError("the name of an attribute must be a text")
        if dunder(name):
            raise TypeError(f'the attribute "{name}" cannot be set in scripts')


_Named.__name__ = _Named.__qualname__ = SimpleNamespace.__name__
_Named.__module__ = SimpleNamespace.__module__ = "types"
