"""Time zones: all of them read once, before the doors close, and decoded when a script asks for one."""

import io
import zoneinfo
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, Self

from panorama.sandbox.facades import nearest

_PACKAGE = "tzdata"

_DATA: dict[str, bytes] = {}
_MADE: dict[str, Any] = {}
"""Time zones that were asked for."""


def loaded() -> dict[str, bytes]:
    """Return the data of all time zones by name, from the package `tzdata` or else the system's."""
    return _from_package() or _from_system()


def _from_package() -> dict[str, bytes]:
    found = find_spec(_PACKAGE)  # importlib.resources would bring zipfile along: 2 MB that every worker would hold
    if found is None or found.origin is None:
        return {}
    root = Path(found.origin).parent
    try:
        keys = root.joinpath("zones").read_text(encoding="ascii").split()
        return {key: root.joinpath("zoneinfo", *key.split("/")).read_bytes() for key in keys}
    except OSError:
        return {}


def _from_system() -> dict[str, bytes]:
    paths = ((key, Path(place, key)) for key in zoneinfo.available_timezones() for place in zoneinfo.TZPATH)
    return {key: path.read_bytes() for key, path in paths if path.is_file()}


class _Closed(zoneinfo.ZoneInfo):
    """A time zone that is made by its name, and whose data are in memory; Python's own reads files.

    No script can name this class, so that `super(ZoneInfo, ZoneInfo).from_file` is still the one that stands here.
    """

    def __new__(cls, key: str) -> "_Closed":
        if type(key) is not str or key not in _DATA:
            near = nearest(str(key), _DATA)
            raise zoneinfo.ZoneInfoNotFoundError(f"no time zone {key!r}" + (f"; did you mean {near}?" if near else ""))
        if key not in _MADE:
            _MADE[key] = super().from_file(io.BytesIO(_DATA[key]), key=key)
        return _MADE[key]

    @classmethod
    def from_file(cls, *_: object, **__: object) -> NoReturn:
        raise TypeError("time zones are made by name: ZoneInfo('Europe/Berlin')")

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __repr__(self) -> str:
        return f"zoneinfo.ZoneInfo(key={self.key!r})"

    no_cache = clear_cache = from_file


class _Zone(_Closed):
    """`zoneinfo.ZoneInfo`."""


_Closed.__name__ = _Closed.__qualname__ = _Zone.__name__ = _Zone.__qualname__ = "ZoneInfo"
_Closed.__module__ = _Zone.__module__ = "zoneinfo"


def names() -> dict[str, object]:
    """Return what `import zoneinfo` gives; reads all zones."""
    _DATA.update(loaded())

    def available_timezones() -> set[str]:
        return set(_DATA)

    not_found = zoneinfo.ZoneInfoNotFoundError
    return {"ZoneInfo": _Zone, "ZoneInfoNotFoundError": not_found, "available_timezones": available_timezones}
