"""`dataclasses` for scripts: works on classes that the script defined."""

import dataclasses
import datetime
from collections import defaultdict
from collections.abc import Callable
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any, cast

from panorama.sandbox.rules import allowlist
from panorama.sandbox.rules.class_marks import (
    ScriptEnumMeta,
    get_class,
    has_library_attribute,
    has_subclasses,
    is_script_class,
    suggest_rename,
)
from panorama.sandbox.rules.type_views import SimpleNamespace, check_names
from panorama.sandbox.stdlib.copy_module import deep_copy, shallow_copy

_OPTIONS = frozenset(["init", "repr", "eq", "order", "unsafe_hash", "frozen", "match_args", "kw_only", "slots"])


def dataclass(kind: Any = None, /, **options: object) -> Any:
    """`dataclasses.dataclass`."""
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise TypeError(f"@dataclass has no option {unknown[0]!r} in scripts; it has: {', '.join(sorted(_OPTIONS))}")
    chosen: dict[str, Any] = {name: bool(value) for name, value in options.items()}

    def wrap(kind: Any) -> Any:
        return _make_dataclass(kind, chosen)

    return wrap if kind is None else wrap(kind)


def _make_dataclass(kind: Any, options: dict[str, Any]) -> Any:
    if not is_script_class(kind):
        raise TypeError("@dataclass works on classes that the script defines")
    if issubclass(kind, str):  # asdict() would read the text's own, unsafe `format` for a field of that name
        raise TypeError("@dataclass does not work on classes derived from str; hold the text in a field")
    if get_class(kind) is ScriptEnumMeta:
        raise TypeError(f"@dataclass does not work on enumerations; make it a base: class {kind.__name__}(Data, Enum)")
    if has_subclasses(kind):  # those were checked when they were made, and had no fields then
        raise TypeError(f"{kind.__name__} has been derived from already; decorate it where it is defined")
    _check_fields(kind)
    if not kind.__doc__:
        kind.__doc__ = kind.__name__  # else `inspect` is asked for the signature, longer than all the rest takes
    decorate: Any = dataclasses.dataclass(**options)
    return decorate(kind)


def _check_fields(kind: type) -> None:
    """Refuse a field with a special name, or with a name of a library base.

    Generated code would read the base's, and as its default what the base's metaclass has.

    Raises:
        TypeError: It does or has, or its default is none of its own.
    """
    for name in vars(kind).get("__annotations__", ()):
        if name in allowlist.REFUSED_ATTRIBUTES or allowlist.is_dunder(name):
            raise TypeError(f"the field '{name}' has a name that scripts cannot use; {suggest_rename(name)}")
        if has_library_attribute(kind, name) or has_library_attribute(get_class(kind), name):
            raise TypeError(
                f"the field '{name}' is taken by a class that {kind.__name__} derives from; {suggest_rename(name)}"
            )
        _check_default(kind, name)


def _check_default(kind: type, name: str) -> None:
    """Refuse a default that is a descriptor, and a field() that two fields share."""
    default = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if hasattr(get_class(default), "__get__") and type(default) not in _PLAIN_DESCRIPTORS:
        raise TypeError(f"the field '{name}' has a {type(default).__name__} as default; write field(default=...)")
    if type(default) is dataclasses.Field and cast("Any", default).name is not None:
        raise TypeError(f"the field '{name}' shares its field(...) with another; write one for each")


_PLAIN_DESCRIPTORS = (FunctionType, MethodType, MemberDescriptorType, property)
"""Descriptors that a class gives as what they are; of a slot, a dataclass knows that it is not a default."""


# Python's own ask the object itself for its fields; a script could make it say any. So its class is asked instead.


def _has_fields(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


def _find_fields(kind: Any) -> dict[str, Any]:
    """Return all fields of a dataclass, also pseudo-fields."""
    fields: list[Any] = [vars(base)[_FIELDS] for base in kind.__mro__ if _FIELDS in vars(base)]
    return fields[0]


_FIELDS = "__dataclass_fields__"
_FIELD_KIND: Any = vars(dataclasses)["_FIELD"]
_INITVAR_KIND: Any = vars(dataclasses)["_FIELD_INITVAR"]


def fields(value: Any, /) -> tuple[Any, ...]:
    """`dataclasses.fields`."""
    kind: Any = value if isinstance(value, type) else get_class(value)
    if not _has_fields(kind):
        raise TypeError("fields() works on dataclasses and their objects")
    return dataclasses.fields(kind)


def as_dict(value: Any, /, *, dict_factory: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """`dataclasses.asdict`."""
    _check_object(value, "asdict")
    return _to_plain(value, dict_factory)


def as_tuple(value: Any, /, *, tuple_factory: Callable[[list[Any]], Any] = tuple) -> Any:
    """`dataclasses.astuple`."""
    _check_object(value, "astuple")
    return _to_plain(value, lambda pairs: tuple_factory([part for _, part in pairs]))


def _check_object(value: Any, name: str) -> None:
    if not _has_fields(get_class(value)):
        raise TypeError(f"{name}() works on objects of dataclasses")


def _is_named_tuple(kind: Any) -> bool:
    return _is_subclass(kind, tuple) and "_fields" in dir(kind)


def _is_subclass(kind: Any, *bases: type) -> bool:
    return issubclass(kind, bases)


def _to_plain(value: Any, build: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    kind = get_class(value)
    if _has_fields(kind):
        return build([(item.name, _to_plain(getattr(value, item.name), build)) for item in fields(kind)])
    if _is_named_tuple(kind):
        return kind(*(_to_plain(item, build) for item in value))
    if _is_subclass(kind, defaultdict):
        return defaultdict(value.default_factory, {_to_plain(k, build): _to_plain(v, build) for k, v in value.items()})
    if _is_subclass(kind, list, tuple):
        return kind(_to_plain(item, build) for item in value)
    if _is_subclass(kind, dict):
        return kind((_to_plain(key, build), _to_plain(item, build)) for key, item in value.items())
    return deep_copy(value)


def replace(value: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace`."""
    kind = get_class(value)
    if not _has_fields(kind):
        raise TypeError("replace() works on objects of dataclasses")
    for name, field in _find_fields(kind).items():
        if field._field_type is not _FIELD_KIND and field._field_type is not _INITVAR_KIND:
            continue
        if not field.init:
            if name in changes:
                raise TypeError(f"field {name} is declared with init=False, it cannot be specified with replace()")
        elif name not in changes:
            if field._field_type is _INITVAR_KIND and field.default is dataclasses.MISSING:
                raise TypeError(f"InitVar {name!r} must be specified with replace()")
            changes[name] = getattr(value, name)
    return kind(**changes)


def copy_replace(value: Any, /, **changes: Any) -> Any:
    """`copy.replace`, of Python 3.13."""
    kind = get_class(value)
    if _has_fields(kind):
        return replace(value, **changes)
    if _is_named_tuple(kind):
        return value._replace(**changes)
    if issubclass(kind, SimpleNamespace):
        check_names(changes)
        copied = shallow_copy(value)
        copied.__dict__.update(changes)
        return copied
    if kind in (datetime.date, datetime.datetime, datetime.time):
        return value.replace(**changes)
    raise TypeError(f"replace() does not support {kind.__name__} objects")
