"""Which classes are a script's own: the metaclasses that mark them, and what they inherit that stays hidden."""

from abc import ABCMeta
from collections.abc import Iterable
from dataclasses import Field
from enum import EnumMeta, Flag, StrEnum
from types import DynamicClassAttribute, FunctionType
from typing import Any, cast
from weakref import WeakKeyDictionary, WeakSet

from panorama.sandbox.refusals import FILENAME
from panorama.sandbox.tables import MODULE, dunder, plain

_HIDDEN: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()

_LIBRARY: set[type] = set()

_DERIVED_FROM: WeakSet[type] = WeakSet()

_LISTENERS: set[type] = {property}
"""Classes of values that may be told the name which they have in a script's class; they keep it, and do no more."""


class ScriptMeta(type):
    """The class of classes that scripts define and that inherit nothing that is hidden."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        """Make the class, of values that do not change it: Python tells each of them its name, if it listens."""
        for word, value in body.items():
            if _listens(value):
                kind = type(value).__name__
                raise TypeError(f"'{word}' cannot be a {kind} in the class '{name}'; set a value that is complete")
        return super().__new__(cls, name, bases, body)

    def __setattr__(cls, name: str, value: Any) -> None:
        """Set an attribute, and let go of the old value when Python has forgotten where it looked it up.

        Before 3.13 it lets go first: what runs then, such as the `finally` of a generator, gets it once more.
        """
        held = cls.__dict__.copy()
        super().__setattr__(name, value)
        del held

    def __delattr__(cls, name: str) -> None:
        """Delete an attribute, as `__setattr__` sets one."""
        held = cls.__dict__.copy()
        super().__delattr__(name)
        del held


class ScriptMixedMeta(ScriptMeta):
    """The class of those that inherit names with an underscore from the library."""

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _HIDDEN[cls] = _inherited(cls)


class ScriptAbstractMeta(ScriptMixedMeta, ABCMeta):
    """The class of those that have an abstract base."""


class ScriptEnumMeta(ScriptMixedMeta, EnumMeta):
    """The class of those that are enumerations."""

    def __call__(cls, value: Any = None, *values: Any, names: Any = None, start: int = 1, **options: object) -> Any:
        """`Color(1)` looks a member up; `Enum("Color", "RED GREEN")` makes a class, its names vetted like a text's."""
        if options:
            raise TypeError(f"{next(iter(options))}= is not available here; write the enumeration as a class statement")
        if names is None and (cls._member_map_ or not values):
            return EnumMeta.__call__(cls, value, *values)
        return _enumeration(cls, value, values[0] if names is None else names, start)

    def __setattr__(cls, name: str, value: Any) -> None:
        """Refuse a member that hides a name of a base, unless any script may read this name of anything.

        Python puts a property in the place of such a member, which reads the name of the member's value unguarded.
        It is refused here, where Python puts it: a member's `__init__` may give a base the name on the way.
        """
        if type(name) is not str:  # on 3.13 a member can be given a second name, also by a text that lies
            raise TypeError("the name of a member must be a text")
        if issubclass(type(value), DynamicClassAttribute) and not plain(name):
            raise TypeError(f"the member '{name}' has a name that a base of {cls.__name__} uses; {renamed(name)}")
        super().__setattr__(name, value)


SCRIPT_METAS = frozenset((ScriptMeta, ScriptMixedMeta, ScriptAbstractMeta, ScriptEnumMeta))


def as_library(kind: type) -> type:
    """Mark a class that is made like a script's, but is shared and not the script's to change; return it."""
    _LIBRARY.add(kind)
    return kind


def note_bases(bases: Iterable[type]) -> None:
    """Note that a class is about to be made from these: what is checked about them must not change any more."""
    _DERIVED_FROM.update(bases)


def is_derived_from(kind: type) -> bool:
    """Return whether a class was made of this one, or is being made."""
    return kind in _DERIVED_FROM


def listener(kind: type) -> type:
    """Let values of a class be told their names in classes of scripts; return it."""
    _LISTENERS.add(kind)
    return kind


def _listens(value: object) -> bool:
    """Return whether Python would tell a value its name, if it is not one that may be told.

    A member of an enumeration in the making, which `__init__` of the one before can get hold of, would be made into
    a member of any class, by what that class says.
    """
    if type(value) is Field:
        return hasattr(class_of(cast("Any", value).default), "__set_name__")
    return type(value) not in _LISTENERS and hasattr(class_of(value), "__set_name__")


def class_of(value: object) -> type:
    """Return the class of a value, whatever the value says it is; to the type checker it is any class."""
    return type(value)


def script_class(kind: type) -> bool:
    """Return whether a class was defined by a script."""
    return type(kind) in SCRIPT_METAS and kind not in _LIBRARY


def is_script_class(value: object) -> bool:
    """Return whether a value is a class, and a script's own."""
    return isinstance(value, type) and script_class(value)


def script_object(value: object) -> bool:
    """Return whether a value is an object of a class that a script defined."""
    return script_class(type(value))


def script_function(value: object) -> bool:
    """Return whether a value is a function that was written in a script."""
    return type(value) is FunctionType and value.__code__.co_filename == FILENAME


def hidden(kind: type) -> frozenset[str]:
    """Return names with one underscore that a class inherits from the library; they are not the script's to use."""
    found = _HIDDEN.get(kind)
    return _inherited(kind) if found is None else found  # a class in the making, or one that needs no mark


def from_library(kind: type, name: str) -> bool:
    """Return whether a class or a base of it that no script defined has an attribute of this name."""
    return any(name in vars(base) for base in kind.__mro__ if not script_class(base))


def renamed(name: str) -> str:
    """Return what to do about a name that is taken."""
    return f"rename it, for example to '{name.strip('_') or 'field'}_'"


def _enumeration(base: ScriptEnumMeta, name: object, members: Any, start: int) -> Any:
    if type(name) is not str:
        raise TypeError("the name of an enumeration must be a text")
    words: list[Any] = members.replace(",", " ").split() if isinstance(members, str) else list(members)
    pairs: list[tuple[Any, Any]] = (
        [(word, members[word]) for word in words] if isinstance(members, dict) else _valued(base, words, start)
    )
    body = ScriptEnumMeta.__prepare__(name, (base,))
    for word, value in pairs:
        if type(word) is not str or not word.isidentifier() or word.startswith("_") or not plain(word):
            raise ValueError(f"{word!r} cannot be the name of a member")
        body[word] = value
    body["__module__"] = MODULE
    return ScriptEnumMeta(name, (base,), body)


def _valued(base: type, words: list[Any], start: object) -> list[tuple[Any, Any]]:
    """Return names with values, as `auto()` gives them: numbers, for flags powers of two, for texts the name itself."""
    if type(start) is not int:
        raise TypeError("start= must be a whole number")
    numbers = [start]
    for _ in words:
        last = numbers[-1]
        numbers.append(1 << last.bit_length() if issubclass(base, Flag) else last + 1)
    is_text = issubclass(base, StrEnum)
    return [
        word if isinstance(word, tuple) else (word, _lowered(word) if is_text else number)
        for word, number in zip(words, numbers, strict=False)
    ]


def _lowered(word: object) -> object:
    return word.lower() if type(word) is str else word


def _inherited(kind: type) -> frozenset[str]:
    meta: type = type(kind)
    return hidden_in((*kind.__mro__, *meta.__mro__))  # a class shows its metaclass's names too


def hidden_in(bases: Iterable[type]) -> frozenset[str]:
    """Return names with one underscore that those of some classes have which no script defined."""
    library = (base for base in bases if not script_class(base))
    return frozenset(name for base in library for name in vars(base) if name.startswith("_") and not dunder(name))
