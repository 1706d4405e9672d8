"""Fronts: what scripts get in the place of classes in C that would make objects of what no script should give them.

`date`, `time` and `datetime` take the bytes of their pickles unchecked, and read beyond a table where a year is none;
`struct_time` takes any objects, and tells of them without owning them. A class derived from one of these would be none
of what their own methods return. So a script has a class of ours for each: it makes the real objects, and says that
they are its own.
"""

import datetime
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from panorama.sandbox.kinds import stood_in

_INERT: Final = frozenset((int, float, bool, str, type(None)))
"""Classes whose objects run nothing of a script's when they are told of."""

_REAL: Final[dict[type, Any]] = {}
"""The classes that fronts stand for."""


class _Front(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _REAL[cls])


class _OfNumbers(_Front):
    """Makes objects of numbers; bytes or a text in the first place would be a pickle's."""

    def __call__(cls, *values: Any, **named: Any) -> Any:
        if values and isinstance(values[0], (bytes, str)):
            raise TypeError(f"'{type(values[0]).__name__}' object cannot be interpreted as an integer")
        return _REAL[cls](*values, **named)


class _OfParts(_Front):
    """Makes objects of a sequence of numbers, and the name of a zone."""

    def __call__(cls, sequence: Iterable[Any], dict: Mapping[str, Any] | None = None) -> Any:
        numbers = [_plain(each) for each in sequence]
        if dict is None:
            return _REAL[cls](numbers)
        return _REAL[cls](numbers, {_plain(name): _plain(each) for name, each in dict.items()})


def _plain(value: Any) -> Any:
    if type(value) in _INERT:
        return value
    if isinstance(value, int):
        return int.__int__(value)
    raise TypeError(f"struct_time() takes numbers and the name of a zone, not '{type(value).__name__}'")


def _front(real: type, meta: type[_Front]) -> type:
    """Return a class that has all that another shows, and stands for it in scripts."""
    fronts = {each: front for front, each in _REAL.items()}
    bases = tuple(fronts.get(base, base) for base in real.__bases__)
    names = (*(name for name in dir(real) if not name.startswith("_")), "__doc__", "__module__", "__match_args__")
    body = {name: getattr(real, name) for name in names if hasattr(real, name)}
    front = meta(real.__name__, bases, {**body, "__slots__": ()})
    _REAL[front] = real
    stood_in(real, by=front)
    return front


DATETIME: Final[Mapping[str, type]] = {
    real.__name__: _front(real, _OfNumbers) for real in (datetime.date, datetime.time, datetime.datetime)
}
"""What scripts get of `datetime` in versions of ours."""

TIME: Final[Mapping[str, type]] = {"struct_time": _front(time.struct_time, _OfParts)}
"""What scripts get of `time` in versions of ours."""
