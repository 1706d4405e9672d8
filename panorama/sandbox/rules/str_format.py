"""`str.format` for scripts, whose fields read attributes through the guards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from string import Formatter
from types import BuiltinMethodType
from typing import Any

Read = Callable[[object, str], object]

_split: Callable[[str], tuple[Any, Iterable[tuple[bool, Any]]]] = import_module("_string").formatter_field_name_split
"""What string.Formatter itself takes `0.name[key]` apart with."""

CACHED_TEXT_CHARS = 400
"""Longer texts are parsed again each time, so that they take no memory."""

_UNBOUND_METHODS: dict[object, str] = {str.format: "format", str.format_map: "format_map"}


class SafeFormat:
    """Makes the methods `format` and `format_map` of texts safe to hand out.

    Args:
        read: How an attribute is read whose name was made at run time.
    """

    def __init__(self, read: Read) -> None:
        self._fields = _FieldFormatter(read)

    def wrap(self, method: object) -> object:
        """Return a safe version of `str.format` or `format_map`; other objects unchanged."""
        if isinstance(method, BuiltinMethodType) and isinstance(method.__self__, str):
            return self._bind(str.__str__(method.__self__), method.__name__)
        try:
            name = _UNBOUND_METHODS.get(method) if type(method) is type(str.format) else None
        except TypeError:
            return method
        return self._make_unbound(name) if name else method

    def _bind(self, text: str, name: str) -> Callable[..., str]:
        if name == "format":
            return lambda *args, **kwargs: self._format(text, args, kwargs)

        def format_map(mapping: Mapping[str, object], /) -> str:
            return self._format_map(text, mapping)

        return format_map

    def _make_unbound(self, name: str) -> Callable[..., str]:
        def unbound(text: str, /, *args: Any, **kwargs: object) -> str:
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] (a script calls this)
                raise TypeError(f"str.{name}() needs a string")
            return self._bind(str.__str__(text), name)(*args, **kwargs)

        return unbound

    def _format(self, text: str, args: Sequence[object], kwargs: Mapping[str, object]) -> str:
        return self._fields.vformat(text, args, kwargs) if can_read_attribute(text) else text.format(*args, **kwargs)

    def _format_map(self, text: str, mapping: Mapping[str, object]) -> str:
        return self._fields.vformat(text, (), mapping) if can_read_attribute(text) else text.format_map(mapping)


class _FieldFormatter(Formatter):
    def __init__(self, read: Read) -> None:
        self._read = read

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first, steps = _split(field_name)
        value: Any = self.get_value(first, args, kwargs)
        for is_attribute, key in steps:
            value = self._read(value, key) if is_attribute else value[key]
        return value, first


def can_read_attribute(text: str) -> bool:
    """Return whether a field of a text, also a nested one, can read an attribute."""
    if "." not in text:
        return False
    return _can_read_attribute_cached(text) if len(text) <= CACHED_TEXT_CHARS else _can_read_attribute(text)


def _can_read_attribute(text: str) -> bool:
    try:
        return any(
            "." in (field or "") or _can_read_attribute(spec or "") for _, field, spec, _ in Formatter().parse(text)
        )
    except ValueError:  # not well formed: let the slow way say so
        return True


_can_read_attribute_cached = lru_cache(200)(_can_read_attribute)
