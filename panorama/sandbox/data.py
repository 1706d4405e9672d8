"""Dataclasses: the decorator, on classes that the script defined, with options that make no other class."""

import dataclasses
from typing import Any

from panorama.sandbox import tables
from panorama.sandbox.metas import from_library, is_script_class

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
    _check_fields(kind)
    if not kind.__doc__:
        kind.__doc__ = kind.__name__  # else `inspect` is asked for the signature, longer than all the rest takes
    decorate: Any = dataclasses.dataclass(**options)
    return decorate(kind)


def _check_fields(kind: type) -> None:
    """Refuse a field that the class's base from the library has: generated code would read the base's.

    Raises:
        TypeError: It has.
    """
    for name in vars(kind).get("__annotations__", ()):
        if from_library(kind, name) or not (tables.plain(name) or name.startswith("_")):
            raise TypeError(f"the field '{name}' is taken by a class that {kind.__name__} derives from; rename it")
