"""Dataclasses: the decorator, on classes that the script defined, with options that make no other class."""

import dataclasses
import datetime
from collections.abc import Callable
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any, cast

from panorama.sandbox import tables
from panorama.sandbox.collecting import defaultdict
from panorama.sandbox.copying import copied, deep_copied
from panorama.sandbox.kinds import SimpleNamespace, check_names
from panorama.sandbox.metas import ScriptEnumMeta, class_of, from_library, is_derived_from, is_script_class, renamed

_OPTIONS = frozenset(["init", "repr", "eq", "order", "unsafe_hash", "frozen", "match_args", "kw_only", "slots"])


def dataclass(kind: Any = None, /, **options: object) -> Any:
    """`dataclasses.dataclass`."""
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise TypeError(f"@dataclass has no option {unknown[0]!r} in scripts; it has: {', '.join(sorted(_OPTIONS))}")
    chosen: dict[str, Any] = {name: bool(value) for name, value in options.items()}

    def decorated(kind: Any) -> Any:
        return _decorated(kind, chosen)

    return decorated if kind is None else decorated(kind)


def _decorated(kind: Any, options: dict[str, Any]) -> Any:
    if not is_script_class(kind):
        raise TypeError("@dataclass works on classes that the script defines")
    if issubclass(kind, str):  # asdict() would read the text's own, unsafe `format` for a field of that name
        raise TypeError("@dataclass does not work on classes derived from str; hold the text in a field")
    if class_of(kind) is ScriptEnumMeta:
        raise TypeError(f"@dataclass does not work on enumerations; make it a base: class {kind.__name__}(Data, Enum)")
    if is_derived_from(kind):  # those were checked when they were made, and had no fields then
        raise TypeError(f"{kind.__name__} has been derived from already; decorate it where it is defined")
    _check_fields(kind)
    if not kind.__doc__:
        kind.__doc__ = kind.__name__  # else `inspect` is asked for the signature, longer than all the rest takes
    decorate: Any = dataclasses.dataclass(**options)
    return decorate(kind)


def _check_fields(kind: type) -> None:
    """Refuse a field whose name means something to Python, or that the class's base from the library has.

    Generated code would read the base's, and as its default what the base's metaclass has.

    Raises:
        TypeError: It does or has, or its default is none of its own.
    """
    for name in vars(kind).get("__annotations__", ()):
        if name in tables.REFUSED_ATTRIBUTES or tables.dunder(name):
            raise TypeError(f"the field '{name}' has a name that scripts cannot use; {renamed(name)}")
        if from_library(kind, name) or from_library(class_of(kind), name):
            raise TypeError(
                f"the field '{name}' is taken by a class that {kind.__name__} derives from; {renamed(name)}"
            )
        _check_default(kind, name)


def _check_default(kind: type, name: str) -> None:
    """Refuse a default that is made when it is read, and a field() that another field has: each would rename it."""
    default = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if hasattr(class_of(default), "__get__") and type(default) not in _READ_AS_THEY_ARE:
        raise TypeError(f"the field '{name}' has a {type(default).__name__} as default; write field(default=...)")
    if type(default) is dataclasses.Field and cast("Any", default).name is not None:
        raise TypeError(f"the field '{name}' shares its field(...) with another; write one for each")


_READ_AS_THEY_ARE = (FunctionType, MethodType, MemberDescriptorType, property)
"""Descriptors that a class gives as what they are; of a slot, a dataclass knows that it is no default."""


# Python's own ask the object itself for its fields; a script could make it say any. So its class is asked instead.


def _has_fields(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


def _fields(kind: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, those that are none of its objects' among them."""
    found: list[Any] = [vars(base)[_FIELDS] for base in kind.__mro__ if _FIELDS in vars(base)]
    return found[0]


_FIELDS = "__dataclass_fields__"
_KIND_OF_ANY: Any = vars(dataclasses)["_FIELD"]
_KIND_OF_INITVAR: Any = vars(dataclasses)["_FIELD_INITVAR"]


def fields(value: Any, /) -> tuple[Any, ...]:
    """`dataclasses.fields`."""
    kind: Any = value if isinstance(value, type) else class_of(value)
    if not _has_fields(kind):
        raise TypeError("fields() works on dataclasses and their objects")
    return dataclasses.fields(kind)


def as_dict(value: Any, /, *, dict_factory: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """`dataclasses.asdict`."""
    _check_object(value, "asdict")
    return _plainly(value, dict_factory)


def as_tuple(value: Any, /, *, tuple_factory: Callable[[list[Any]], Any] = tuple) -> Any:
    """`dataclasses.astuple`."""
    _check_object(value, "astuple")
    return _plainly(value, lambda pairs: tuple_factory([each for _, each in pairs]))


def _check_object(value: Any, name: str) -> None:
    if not _has_fields(class_of(value)):
        raise TypeError(f"{name}() works on objects of dataclasses")


def _is_named_tuple(kind: Any) -> bool:
    return _is(kind, tuple) and "_fields" in dir(kind)


def _is(kind: Any, *bases: type) -> bool:
    return issubclass(kind, bases)


def _plainly(value: Any, made: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    kind = class_of(value)
    if _has_fields(kind):
        return made([(each.name, _plainly(getattr(value, each.name), made)) for each in fields(kind)])
    if _is_named_tuple(kind):
        return kind(*(_plainly(each, made) for each in value))
    if _is(kind, defaultdict):
        return defaultdict(value.default_factory, {_plainly(k, made): _plainly(v, made) for k, v in value.items()})
    if _is(kind, list, tuple):
        return kind(_plainly(each, made) for each in value)
    if _is(kind, dict):
        return kind((_plainly(key, made), _plainly(each, made)) for key, each in value.items())
    return deep_copied(value)


def replaced(value: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace`."""
    kind = class_of(value)
    if not _has_fields(kind):
        raise TypeError("replace() works on objects of dataclasses")
    for name, each in _fields(kind).items():
        if each._field_type is not _KIND_OF_ANY and each._field_type is not _KIND_OF_INITVAR:
            continue
        if not each.init:
            if name in changes:
                raise TypeError(f"field {name} is declared with init=False, it cannot be specified with replace()")
        elif name not in changes:
            if each._field_type is _KIND_OF_INITVAR and each.default is dataclasses.MISSING:
                raise TypeError(f"InitVar {name!r} must be specified with replace()")
            changes[name] = getattr(value, name)
    return kind(**changes)


def any_replaced(value: Any, /, **changes: Any) -> Any:
    """`copy.replace`, of Python 3.13."""
    kind = class_of(value)
    if _has_fields(kind):
        return replaced(value, **changes)
    if _is_named_tuple(kind):
        return value._replace(**changes)
    if issubclass(kind, SimpleNamespace):
        check_names(changes)
        made = copied(value)
        made.__dict__.update(changes)
        return made
    if kind in (datetime.date, datetime.datetime, datetime.time):
        return value.replace(**changes)
    raise TypeError(f"replace() does not support {kind.__name__} objects")
