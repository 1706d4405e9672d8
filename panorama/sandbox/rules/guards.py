"""Guards: what a script may read and change at run time."""

from abc import ABCMeta
from re import Pattern
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NoReturn, Self, cast

from panorama.sandbox.rules import allowlist, hints, receiver_checks
from panorama.sandbox.rules.class_marks import (
    SCRIPT_METAS,
    ScriptEnumMeta,
    get_class,
    get_hidden_names,
    has_library_attribute,
    is_script_defined,
    is_script_function,
    is_script_object,
)
from panorama.sandbox.rules.facades import Facade, get_title
from panorama.sandbox.rules.printing import Print
from panorama.sandbox.rules.str_format import SafeFormat
from panorama.sandbox.rules.type_views import SimpleNamespace, get_visible_class

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)

_DESCRIPTORS = (property, classmethod, staticmethod)
"""What scripts put into their classes, beside functions and values; what they do is the script's own."""

_WRITABLE_TYPES: set[type] = {SimpleNamespace}
"""Classes beside the script's own whose objects take `o.x = …`. Items need no such list: see `visit_Subscript`."""

_SUBCLASSABLE_TYPES: set[type] = set()
"""Classes of the library that scripts may derive from, and whose methods they may call by name."""


def allow_attribute_writes(*kinds: type) -> None:
    """Let scripts set attributes of objects of these classes."""
    _WRITABLE_TYPES.update(kinds)


def allow_subclassing(*kinds: type) -> None:
    """Let scripts derive from these classes and call their methods unbound."""
    _SUBCLASSABLE_TYPES.update(kinds)


def is_subclassable(kind: object) -> bool:
    """Return whether a script may derive from a class."""
    return isinstance(kind, type) and (is_script_defined(kind) or kind in _SUBCLASSABLE_TYPES)


# --- reading


def read(value: Any, name: str) -> Any:
    """Return an attribute with a literal name that is not `allowlist.is_plain`."""
    if not name.startswith("_"):
        return _read_guarded(value, name)
    return _read_dunder(value, name) if allowlist.is_dunder(name) else _read_private(value, name)


def read_dynamic(value: Any, name: object) -> Any:
    """Return an attribute whose name was computed at run time."""
    if type(name) is not str:
        raise TypeError("the name of an attribute must be a string")
    if allowlist.is_plain(name):
        return getattr(value, name)
    is_allowed = not allowlist.is_dunder(name) or name in allowlist.READABLE or name in allowlist.METHODS
    if name in allowlist.REFUSED_ATTRIBUTES or not is_allowed:
        raise AttributeError(f'the attribute "{name}" is not available in scripts; {hints.get_attribute_hint(name)}')
    return read(value, name)


def _raise_missing(value: object, name: str) -> NoReturn:
    raise AttributeError(f"{_describe(value)} has no attribute '{name}' in scripts")


def _describe(value: object) -> str:
    if isinstance(value, Facade):
        return f"'{get_title(value)}'"
    return f"the class '{value.__name__}'" if isinstance(value, type) else f"an object of '{type(value).__name__}'"


def _get_owner(value: Any) -> type:
    """Return the class whose attributes are looked up."""
    if type(value) is super:
        return cast("Any", value).__self_class__ or object
    return value if isinstance(value, type) else type(value)


def _read_private(value: Any, name: str) -> Any:
    """Return `value._name` if it is the script's, or public in named tuples."""
    owner = _get_owner(value)
    if is_script_defined(owner):
        if name not in get_hidden_names(owner):
            return getattr(value, name)
        if name in allowlist.NAMEDTUPLE_NAMES and issubclass(owner, tuple):
            return receiver_checks.protect_method(_get_owner(value), name, getattr(value, name))
    elif owner is SimpleNamespace or is_script_function(value):
        return getattr(value, name)
    return _raise_missing(value, name)


def _read_guarded(value: Any, name: str) -> Any:
    """Return one of `allowlist.GUARDED`."""
    if name in ("format", "format_map"):
        return SAFE_FORMAT.wrap(getattr(value, name))
    attribute = getattr(value, name)
    if name == "groupindex" and type(value) is Pattern:
        return dict(attribute)  # comparing a mappingproxy exposes the dict behind it
    if name == "register":
        return _raise_missing(value, name) if getattr(attribute, "__func__", None) is ABCMeta.register else attribute
    owner = _get_owner(value)
    return (
        _raise_missing(value, name)
        if issubclass(owner, BaseException) and has_library_attribute(owner, name)
        else attribute
    )


def _read_dunder(value: Any, name: str) -> Any:
    """Return one of `allowlist.READABLE` or `allowlist.METHODS`."""
    match name:
        case "__class__":
            return get_visible_class(value)
        case "__name__" | "__qualname__":
            return _read_name(value, name)
        case "__doc__":
            text = getattr(value, "__doc__", None)
            return text if type(text) is str else None
        case "__dict__":
            return get_attribute_dict(value)
        case "__members__" if isinstance(value, ScriptEnumMeta):
            return dict(value.__members__)
        case "__setattr__" if value is object:
            return _set
        case "__setattr__" if type(value) is super:
            return MethodType(_set, cast("Any", value).__self__)
        case _ if name in allowlist.METHODS and (type(value) is super or is_subclassable(_get_owner(value))):
            return receiver_checks.protect_method(_get_owner(value), name, getattr(value, name))
        case _:
            return _raise_missing(value, name)


def _read_name(value: Any, name: str) -> str:
    if isinstance(value, Facade):
        return get_title(value)
    return str(getattr(value, name)) if isinstance(value, (type, Print, *_FUNCTIONS)) else _raise_missing(value, name)


class AttributeDict(dict[str, Any]):
    """The attributes of an object; writes go through, except special names."""

    __slots__ = ("_attributes", "_closed")

    def __init__(self, attributes: dict[str, Any], closed: frozenset[str]) -> None:
        super().__init__({name: value for name, value in attributes.items() if name not in closed})
        self._attributes = attributes
        self._closed = closed

    def __setitem__(self, name: Any, value: Any) -> None:
        self._attributes[_check_own_name(_check_name(name), self._closed)] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: Any) -> None:
        super().__delitem__(name)
        self._forget(name)

    def _forget(self, name: object) -> None:
        if type(name) is str and name not in self._closed:
            self._attributes.pop(name, None)

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


def get_attribute_dict(value: Any) -> dict[str, Any]:
    """Return the attributes of a script object, or a copy of a script class's.

    Raises:
        AttributeError: The object is not the script's own.
    """
    if is_script_object(value) or type(value) is SimpleNamespace:
        return AttributeDict(value.__dict__, get_hidden_names(get_class(value)))
    if isinstance(value, type) and is_script_defined(value):
        closed = get_hidden_names(value) | allowlist.REFUSED_ATTRIBUTES
        names = {
            name: part for name, part in vars(value).items() if not allowlist.is_dunder(name) and name not in closed
        }
        return {name: part for name, part in names.items() if _is_shown_in_vars(part)}
    return _raise_missing(value, "__dict__")


def _is_shown_in_vars(part: object) -> bool:
    """Return whether `vars(A)` shows this part of a class.

    What Python itself put there (slots, members of an enumeration that hide a name) would read from other classes.
    """
    kind = type(part)
    return not hasattr(kind, "__get__") or kind in _DESCRIPTORS or is_script_function(part)


SAFE_FORMAT = SafeFormat(read_dynamic)


# --- changing


def require_writable(value: Any, name: str = "") -> Any:
    """Return a value if its attributes may be set.

    Raises:
        AttributeError: It is not the script's own; `name`, if given, belongs to the library.
    """
    kind = get_class(value)
    allowed = type(kind) in SCRIPT_METAS or (kind in SCRIPT_METAS and is_script_defined(value))
    if not (allowed or kind in _WRITABLE_TYPES or is_script_function(value)):
        raise AttributeError(_unwritable_message(value, name))
    if name.startswith("_"):
        _check_own_name(name, get_hidden_names(_get_owner(value)))
    return value


def _unwritable_message(value: object, name: str) -> str:
    if issubclass(get_class(value), dict) and name and not hasattr(value, name):
        return f'a dict takes items, no attributes: write x["{name}"] = …, as in sdk.state["{name}"] = …'
    return f"{_describe(value)} cannot be changed in scripts; keep values in a dict of your own"


def _check_own_name(name: str, closed: frozenset[str]) -> str:
    if name in closed:
        raise AttributeError(f"'{name}' belongs to the library; use another name")
    return name


class _AugmentedTarget:
    """Replaces an object in `o.x += …`, so that its read and its store are guarded."""

    __slots__ = ("value",)

    def __getattribute__(self, name: str) -> Any:
        return read(_VALUE.__get__(self), name)

    def __setattr__(self, name: str, new: object) -> None:
        setattr(require_writable(_VALUE.__get__(self), name), name, new)


_VALUE: Any = vars(_AugmentedTarget)["value"]


def make_augmented_target(value: Any, name: str) -> Any:
    """Return the replacement for a value in `value.name += …`, for a guarded name.

    Python itself would read the attribute past the guard, even if the guard had looked at it before: the second time
    it may be another.
    """
    stand_in = _AugmentedTarget()
    _VALUE.__set__(stand_in, require_writable(value, name))
    return stand_in


def _check_name(name: object) -> str:
    if type(name) is not str:
        raise TypeError("the name of an attribute must be a string")
    if allowlist.is_dunder(name) or name in allowlist.REFUSED_ATTRIBUTES:
        hint = hints.SET_HINTS.get(name)
        raise AttributeError(f'the attribute "{name}" cannot be set in scripts' + (f"; {hint}" if hint else ""))
    return name


def _set(value: Any, name: object, new: object) -> None:
    """Set an attribute past the class's own `__setattr__`."""
    if not is_script_object(value):
        raise TypeError("object.__setattr__() works on objects of the script's own classes")
    object.__setattr__(require_writable(value, _check_name(name)), _check_name(name), new)


# --- the built-in functions that do the same


def get_attribute(value: Any, name: object, /, *default: Any) -> Any:
    """`getattr`."""
    if len(default) > 1:
        raise TypeError("getattr() takes two or three arguments")
    if type(name) is str and allowlist.is_plain(name):
        return getattr(value, name, *default)  # with a default Python creates no error
    try:
        return read_dynamic(value, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def has_attribute(value: Any, name: object, /) -> bool:
    """`hasattr`; for methods such as `__iter__` the class is asked, as Python does."""
    if type(name) is str:
        if allowlist.is_plain(name):
            return hasattr(value, name)
        if name in allowlist.METHODS:
            return _has_method(value, name)
    try:
        read_dynamic(value, name)
    except AttributeError:
        return False
    return True


def _has_method(value: Any, name: str) -> bool:
    """Return whether a class, or the class of an object, has a method."""
    classes = (*_get_owner(value).__mro__, *get_class(value).__mro__)
    return any(name in vars(base) for base in classes)


def set_attribute(value: Any, name: object, new: object, /) -> None:
    """`setattr`."""
    word = name if type(name) is str and allowlist.is_plain(name) else _check_name(name)
    setattr(require_writable(value, word), word, new)


def delete_attribute(value: Any, name: object, /) -> None:
    """`delattr`."""
    word = _check_name(name)
    delattr(require_writable(value, word), word)


def list_names(value: Any, /) -> list[str]:
    """`dir`, of one object: the names that a script can use."""
    return [name for name in dir(value) if name.isidentifier() and not name.startswith("_") and _is_visible(name)]


def _is_visible(name: str) -> bool:
    return name not in allowlist.REFUSED_ATTRIBUTES


def get_vars(*values: Any) -> dict[str, Any]:
    """`vars`, of one object."""
    if len(values) != 1:
        raise TypeError("vars() needs an object in scripts; keep values in a dict of your own")
    return get_attribute_dict(values[0])
