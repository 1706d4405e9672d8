"""Metaclasses that mark the classes of scripts, and the names these must hide."""

from abc import ABCMeta
from collections.abc import Iterable
from dataclasses import Field
from enum import EnumMeta, Flag, StrEnum
from types import DynamicClassAttribute, FunctionType
from typing import Any, cast
from weakref import WeakKeyDictionary, WeakSet

from panorama.sandbox.rules.allowlist import MODULE, is_dunder, is_plain
from panorama.sandbox.rules.violations import FILENAME

_HIDDEN: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()

_LIBRARY: set[type] = set()

_SUBCLASSED: WeakSet[type] = WeakSet()

_SET_NAME_ALLOWED: set[type] = {property}
"""Classes whose `__set_name__` only stores the name."""


class ScriptMeta(type):
    """The metaclass of script classes that inherit no hidden names."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        """Create the class; refuse values whose `__set_name__` could change it."""
        for attribute, value in body.items():
            if _has_unsafe_set_name(value):
                kind = type(value).__name__
                raise TypeError(f"'{attribute}' cannot be a {kind} in the class '{name}'; set a value that is complete")
        return super().__new__(cls, name, bases, body)


class ScriptMixedMeta(ScriptMeta):
    """The metaclass of those that inherit underscore names from the library."""

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _HIDDEN[cls] = _find_inherited_names(cls)


class ScriptAbstractMeta(ScriptMixedMeta, ABCMeta):
    """The metaclass of those that have an abstract base."""


class ScriptEnumMeta(ScriptMixedMeta, EnumMeta):
    """The metaclass of those that are enumerations."""

    def __call__(cls, value: Any = None, *values: Any, names: Any = None, start: int = 1, **options: object) -> Any:
        """Look up a member, or create an enumeration from vetted names."""
        if options:
            raise TypeError(f"{next(iter(options))}= is not available here; write the enumeration as a class statement")
        if names is None and (cls._member_map_ or not values):
            return EnumMeta.__call__(cls, value, *values)
        return _make_enumeration(cls, value, values[0] if names is None else names, start)

    def __setattr__(cls, name: str, value: Any) -> None:
        """Refuse a member that hides a base's name which needs a guard.

        Python puts a property in the place of such a member, which reads the name of the member's value unguarded.
        It is refused here, where Python puts it: a member's `__init__` may give a base the name on the way.
        """
        if type(name) is not str:  # on 3.13 a member can be given a second name, also by a text that lies
            raise TypeError("the name of a member must be a string")
        if issubclass(type(value), DynamicClassAttribute) and not is_plain(name):
            raise TypeError(
                f"the member '{name}' has a name that a base of {cls.__name__} uses; {suggest_rename(name)}"
            )
        super().__setattr__(name, value)


SCRIPT_METAS = frozenset((ScriptMeta, ScriptMixedMeta, ScriptAbstractMeta, ScriptEnumMeta))


def mark_as_library(kind: type) -> type:
    """Mark a class created like a script's as the library's; return it."""
    _LIBRARY.add(kind)
    return kind


def record_bases(bases: Iterable[type]) -> None:
    """Record bases that are about to be used; what was checked must not change later."""
    _SUBCLASSED.update(bases)


def has_subclasses(kind: type) -> bool:
    """Return whether this class has subclasses, or one is being created."""
    return kind in _SUBCLASSED


def allow_set_name(kind: type) -> type:
    """Allow `__set_name__` of a class's objects in script classes; return the class."""
    _SET_NAME_ALLOWED.add(kind)
    return kind


def _has_unsafe_set_name(value: object) -> bool:
    """Return whether Python would call a `__set_name__` that is not allowed.

    A member of an enumeration in the making, which `__init__` of the one before can get hold of, would be made into
    a member of any class, by what that class says.
    """
    if type(value) is Field:
        return hasattr(get_class(cast("Any", value).default), "__set_name__")
    return type(value) not in _SET_NAME_ALLOWED and hasattr(get_class(value), "__set_name__")


def get_class(value: object) -> type:
    """Return the real class of a value, typed as any class."""
    return type(value)


def is_script_defined(kind: type) -> bool:
    """Return whether a class was defined by a script."""
    return type(kind) in SCRIPT_METAS and kind not in _LIBRARY


def is_script_class(value: object) -> bool:
    """Return whether a value is a class that a script defined."""
    return isinstance(value, type) and is_script_defined(value)


def is_script_object(value: object) -> bool:
    """Return whether a value is an object of a class that a script defined."""
    return is_script_defined(type(value))


def is_script_function(value: object) -> bool:
    """Return whether a value is a function that was written in a script."""
    return type(value) is FunctionType and value.__code__.co_filename == FILENAME


def get_hidden_names(kind: type) -> frozenset[str]:
    """Return the underscore names that a class inherits from the library."""
    names = _HIDDEN.get(kind)
    return _find_inherited_names(kind) if names is None else names  # a class in the making, or one that needs no mark


def has_library_attribute(kind: type, name: str) -> bool:
    """Return whether a class inherits an attribute of this name from the library."""
    return any(name in vars(base) for base in kind.__mro__ if not is_script_defined(base))


def suggest_rename(name: str) -> str:
    """Return the hint for a name that is taken."""
    return f"rename it, for example to '{name.strip('_') or 'field'}_'"


def _make_enumeration(base: ScriptEnumMeta, name: object, members: Any, start: int) -> Any:
    if type(name) is not str:
        raise TypeError("the name of an enumeration must be a string")
    words: list[Any] = members.replace(",", " ").split() if isinstance(members, str) else list(members)
    pairs: list[tuple[Any, Any]] = (
        [(attribute, members[attribute]) for attribute in words]
        if isinstance(members, dict)
        else _assign_values(base, words, start)
    )
    body = ScriptEnumMeta.__prepare__(name, (base,))
    for attribute, value in pairs:
        if (
            type(attribute) is not str
            or not attribute.isidentifier()
            or attribute.startswith("_")
            or not is_plain(attribute)
        ):
            raise ValueError(f"{attribute!r} cannot be the name of a member")
        body[attribute] = value
    body["__module__"] = MODULE
    return ScriptEnumMeta(name, (base,), body)


def _assign_values(base: type, words: list[Any], start: object) -> list[tuple[Any, Any]]:
    """Return names with the values that `auto()` would give them."""
    if type(start) is not int:
        raise TypeError("start= must be a whole number")
    numbers = [start]
    for _ in words:
        last = numbers[-1]
        numbers.append(1 << last.bit_length() if issubclass(base, Flag) else last + 1)
    is_text = issubclass(base, StrEnum)
    return [
        attribute if isinstance(attribute, tuple) else (attribute, _lowercase(attribute) if is_text else number)
        for attribute, number in zip(words, numbers, strict=False)
    ]


def _lowercase(attribute: object) -> object:
    return attribute.lower() if type(attribute) is str else attribute


def _find_inherited_names(kind: type) -> frozenset[str]:
    meta: type = type(kind)
    return find_hidden_names((*kind.__mro__, *meta.__mro__))  # a class shows its metaclass's names too


def find_hidden_names(bases: Iterable[type]) -> frozenset[str]:
    """Return the underscore names of those classes that no script defined."""
    library = (base for base in bases if not is_script_defined(base))
    return frozenset(name for base in library for name in vars(base) if name.startswith("_") and not is_dunder(name))
