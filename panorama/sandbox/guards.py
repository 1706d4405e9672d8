"""What a script may read and change while it runs: the only place that looks at attributes for it."""

from abc import ABCMeta
from decimal import Context
from re import Pattern
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NoReturn, Self, cast

from panorama.sandbox import hints, identity, selves, tables
from panorama.sandbox.facades import Facade, title_of
from panorama.sandbox.formats import Formats
from panorama.sandbox.kinds import SimpleNamespace, kind_of
from panorama.sandbox.metas import (
    SCRIPT_METAS,
    ScriptEnumMeta,
    class_of,
    from_library,
    hidden,
    script_class,
    script_function,
    script_object,
)
from panorama.sandbox.printing import Print

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)

_DESCRIPTORS = (property, classmethod, staticmethod)
"""What scripts put into their classes, beside functions and values; what they do is the script's own."""

_WRITABLE: set[type] = {SimpleNamespace}
"""Classes beside the script's own whose objects take `o.x = …`. Items need no such list: see `visit_Subscript`."""

_BASES: set[type] = set()
"""Classes of the library that scripts may derive from, and whose methods they may call by name."""


def writable(*kinds: type) -> None:
    """Let scripts set attributes of objects of these classes."""
    _WRITABLE.update(kinds)


def derivable(*kinds: type) -> None:
    """Let scripts derive from these classes, and call their methods as `dict.__init__(self, …)`."""
    _BASES.update(kinds)


def is_derivable(kind: object) -> bool:
    """Return whether a script may derive from a class."""
    return isinstance(kind, type) and (script_class(kind) or kind in _BASES)


# --- reading


def read(value: Any, name: str) -> Any:
    """Return an attribute whose name stood in the text and is not `tables.plain`."""
    if not name.startswith("_"):
        return _guarded(value, name)
    return _dunder(value, name) if tables.dunder(name) else _private(value, name)


def read_any(value: Any, name: object) -> Any:
    """Return an attribute whose name was made while the script ran: getattr(), attrgetter(), "{0.x}".format()."""
    if type(name) is not str:
        raise TypeError("the name of an attribute must be a text")
    if tables.plain(name):
        return getattr(value, name)
    known = not tables.dunder(name) or name in tables.READABLE or name in tables.METHODS
    if name in tables.REFUSED_ATTRIBUTES or not known:
        raise AttributeError(f'the attribute "{name}" is not available in scripts; {hints.attribute_hint(name)}')
    return read(value, name)


def _missing(value: object, name: str) -> NoReturn:
    raise AttributeError(f"{_described(value)} has no attribute '{name}' in scripts")


def _described(value: object) -> str:
    if isinstance(value, Facade):
        return f"'{title_of(value)}'"
    return f"the class '{value.__name__}'" if isinstance(value, type) else f"an object of '{type(value).__name__}'"


def _owner(value: Any) -> type:
    """Return the class whose attributes are looked up: of a value, of a class itself, of `super()`."""
    if type(value) is super:
        return cast("Any", value).__self_class__ or object
    return value if isinstance(value, type) else type(value)


def _private(value: Any, name: str) -> Any:
    """Return `value._name` if it is the script's own, or belongs to the public face of named tuples."""
    owner = _owner(value)
    if script_class(owner):
        if name not in hidden(owner):
            return getattr(value, name)
        if name in tables.NAMEDTUPLE_NAMES and issubclass(owner, tuple):
            return selves.found(_owner(value), name, getattr(value, name))
    elif owner is SimpleNamespace or script_function(value):
        return getattr(value, name)
    return _missing(value, name)


def _guarded(value: Any, name: str) -> Any:
    """Return one of `tables.GUARDED`."""
    if name in ("format", "format_map"):
        return FORMATS.safe(getattr(value, name))
    if name in ("flags", "traps") and isinstance(value, Context):
        return _missing(value, name)
    found = getattr(value, name)
    if name == "groupindex" and type(value) is Pattern:
        return dict(found)  # a mappingproxy that is compared hands out what it stands for
    if name == "register":
        return _missing(value, name) if getattr(found, "__func__", None) is ABCMeta.register else found
    owner = _owner(value)
    return _missing(value, name) if issubclass(owner, BaseException) and from_library(owner, name) else found


def _dunder(value: Any, name: str) -> Any:
    """Return one of `tables.READABLE` or `tables.METHODS`."""
    match name:
        case "__class__":
            return kind_of(value)
        case "__name__" | "__qualname__":
            return _name_of(value, name)
        case "__doc__":
            text = getattr(value, "__doc__", None)
            return text if type(text) is str else None
        case "__dict__":
            return variables(value)
        case "__members__" if isinstance(value, ScriptEnumMeta):
            return dict(value.__members__)
        case "__setattr__" if value is object:
            return _set
        case "__setattr__" if type(value) is super:
            return MethodType(_set, cast("Any", value).__self__)
        case _ if name in tables.METHODS and (type(value) is super or is_derivable(_owner(value))):
            found = selves.found(_owner(value), name, getattr(value, name))
            return identity.method(found, _owner(value)) if name == "__hash__" else found
        case _:
            return _missing(value, name)


def _name_of(value: Any, name: str) -> str:
    if isinstance(value, Facade):
        return title_of(value)
    return str(getattr(value, name)) if isinstance(value, (type, Print, *_FUNCTIONS)) else _missing(value, name)


class Variables(dict[str, Any]):
    """The attributes of an object; what is written here is written there, but no name that Python gives a meaning."""

    __slots__ = ("_closed", "_kept")

    def __init__(self, kept: dict[str, Any], closed: frozenset[str]) -> None:
        super().__init__({name: value for name, value in kept.items() if name not in closed})
        self._kept = kept
        self._closed = closed

    def __setitem__(self, name: Any, value: Any) -> None:
        self._kept[_own(_checked(name), self._closed)] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: Any) -> None:
        super().__delitem__(name)
        self._forget(name)

    def _forget(self, name: object) -> None:
        if type(name) is str and name not in self._closed:
            self._kept.pop(name, None)

    def update(self, *others: Any, **names: Any) -> None:
        """Set names."""
        for name, value in dict(*others, **names).items():
            self[name] = value

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def setdefault(self, name: Any, default: Any = None) -> Any:
        """Return a value, which is set if it is not there."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: Any, *default: Any) -> Any:
        """Remove a name and return its value."""
        self._forget(name)
        return super().pop(name, *default)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last name and return it with its value."""
        name, value = super().popitem()
        self._forget(name)
        return name, value

    def clear(self) -> None:
        """Remove all names."""
        for name in self:
            self._forget(name)
        super().clear()


def variables(value: Any) -> dict[str, Any]:
    """Return the attributes of a script's own object, to be changed too; of a script's class, a copy of its own.

    Raises:
        AttributeError: The object is not the script's own.
    """
    if script_object(value) or type(value) is SimpleNamespace:
        return Variables(value.__dict__, hidden(class_of(value)))
    if isinstance(value, type) and script_class(value):
        closed = hidden(value) | tables.REFUSED_ATTRIBUTES
        mine = {name: part for name, part in vars(value).items() if not tables.dunder(name) and name not in closed}
        return {name: part for name, part in mine.items() if _told(part)}
    return _missing(value, "__dict__")


def _told(part: object) -> bool:
    """Return whether `vars(A)` shows this: what `A.x` gives too, and of what it does not, the script's own alone.

    What Python itself put there (slots, members of an enumeration that hide a name) would read from other classes.
    """
    kind = type(part)
    return not hasattr(kind, "__get__") or kind in _DESCRIPTORS or script_function(part)


FORMATS = Formats(read_any)


# --- changing


def changed(value: Any, name: str = "") -> Any:
    """Return a value if its attributes may be set.

    Raises:
        AttributeError: It is not the script's own; `name`, if given, belongs to the library.
    """
    kind = class_of(value)
    own = type(kind) in SCRIPT_METAS or (kind in SCRIPT_METAS and script_class(value))
    if not (own or kind in _WRITABLE or script_function(value)):
        raise AttributeError(_unchangeable(value, name))
    if name.startswith("_"):
        _own(name, hidden(_owner(value)))
    return value


def _unchangeable(value: object, name: str) -> str:
    if issubclass(class_of(value), dict) and name and not hasattr(value, name):
        return f'a dict takes items, no attributes: write x["{name}"] = …, as in sdk.state["{name}"] = …'
    return f"{_described(value)} cannot be changed in scripts; keep values in a dict of your own"


def _own(name: str, closed: frozenset[str]) -> str:
    if name in closed:
        raise AttributeError(f"'{name}' belongs to the library; use another name")
    return name


class _Augmented:
    """Stands for an object while `o.x += …` runs: the one read and the one store are those of `read` and `changed`."""

    __slots__ = ("value",)

    def __getattribute__(self, name: str) -> Any:
        return read(_VALUE.__get__(self), name)

    def __setattr__(self, name: str, new: object) -> None:
        setattr(changed(_VALUE.__get__(self), name), name, new)


_VALUE: Any = vars(_Augmented)["value"]


def augmented(value: Any, name: str) -> Any:
    """Return what takes a value's place in `value.name += …`, for a name that is not `tables.plain`.

    Python itself would read the attribute past the guard, even if the guard had looked at it before: the second time
    it may be another.
    """
    stand_in = _Augmented()
    _VALUE.__set__(stand_in, changed(value, name))
    return stand_in


def _checked(name: object) -> str:
    if type(name) is not str:
        raise TypeError("the name of an attribute must be a text")
    if tables.dunder(name) or name in tables.REFUSED_ATTRIBUTES:
        hint = hints.SET_HINTS.get(name)
        raise AttributeError(f'the attribute "{name}" cannot be set in scripts' + (f"; {hint}" if hint else ""))
    return name


def _set(value: Any, name: object, new: object) -> None:
    """Set an attribute past the class's own `__setattr__`, as frozen dataclasses do in `__post_init__`."""
    if not script_object(value):
        raise TypeError("object.__setattr__() works on objects of the script's own classes")
    object.__setattr__(changed(value, _checked(name)), _checked(name), new)


# --- the built-in functions that do the same


def get(value: Any, name: object, /, *default: Any) -> Any:
    """`getattr`."""
    if len(default) > 1:
        raise TypeError("getattr() takes two or three arguments")
    if type(name) is str and tables.plain(name):
        return getattr(value, name, *default)  # of what is missing, Python then makes no error
    try:
        return read_any(value, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def has(value: Any, name: object, /) -> bool:
    """`hasattr`; for methods such as `__iter__` the class is asked, as Python does."""
    if type(name) is str:
        if tables.plain(name):
            return hasattr(value, name)
        if name in tables.METHODS:
            return _has_method(value, name)
    try:
        read_any(value, name)
    except AttributeError:
        return False
    return True


def _has_method(value: Any, name: str) -> bool:
    """Return whether a class has a method, or the class of an object; what a metaclass has, its objects have not."""
    classes = (*_owner(value).__mro__, *class_of(value).__mro__)
    return any(name in vars(base) for base in classes)


def put(value: Any, name: object, new: object, /) -> None:
    """`setattr`."""
    word = name if type(name) is str and tables.plain(name) else _checked(name)
    setattr(changed(value, word), word, new)


def drop(value: Any, name: object, /) -> None:
    """`delattr`."""
    word = _checked(name)
    delattr(changed(value, word), word)


def names_of(value: Any, /) -> list[str]:
    """`dir`, of one object: the names that a script can use."""
    return [name for name in dir(value) if name.isidentifier() and not name.startswith("_") and _visible(name)]


def _visible(name: str) -> bool:
    return name not in tables.REFUSED_ATTRIBUTES


def variables_of(*values: Any) -> dict[str, Any]:
    """`vars`, of one object."""
    if len(values) != 1:
        raise TypeError("vars() needs an object in scripts; keep values in a dict of your own")
    return variables(values[0])
