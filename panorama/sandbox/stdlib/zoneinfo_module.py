"""`zoneinfo` for scripts: zone data is read once, before files are denied."""

import io
import zoneinfo
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, Self

from panorama.sandbox.rules.facades import format_suggestions

_PACKAGE = "tzdata"

_DATA: dict[str, bytes] = {}
_CACHE: dict[str, Any] = {}
"""Time zones that were asked for."""


def load_zones() -> dict[str, bytes]:
    """Return the data of all zones by name, from `tzdata` or else from the system."""
    return _load_from_package() or _load_from_system()


def _load_from_package() -> dict[str, bytes]:
    spec = find_spec(_PACKAGE)  # importlib.resources would bring zipfile along: 2 MB that every worker would hold
    if spec is None or spec.origin is None:
        return {}
    root = Path(spec.origin).parent
    try:
        keys = root.joinpath("zones").read_text(encoding="ascii").split()
        return {key: root.joinpath("zoneinfo", *key.split("/")).read_bytes() for key in keys}
    except OSError:
        return {}


def _load_from_system() -> dict[str, bytes]:
    paths = ((key, Path(place, key)) for key in zoneinfo.available_timezones() for place in zoneinfo.TZPATH)
    return {key: path.read_bytes() for key, path in paths if path.is_file()}


class _InMemoryZone(zoneinfo.ZoneInfo):
    """A time zone whose data is in memory; Python's own reads files.

    No script can name this class, so that `super(ZoneInfo, ZoneInfo).from_file` is still the one that stands here.
    """

    def __new__(cls, key: str) -> "_InMemoryZone":
        if type(key) is not str or key not in _DATA:
            close_names = format_suggestions(str(key), _DATA)
            raise zoneinfo.ZoneInfoNotFoundError(
                f"no time zone {key!r}" + (f"; did you mean {close_names}?" if close_names else "")
            )
        if key not in _CACHE:
            _CACHE[key] = super().from_file(io.BytesIO(_DATA[key]), key=key)
        return _CACHE[key]

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


class _Zone(_InMemoryZone):
    """`zoneinfo.ZoneInfo`."""


_InMemoryZone.__name__ = _InMemoryZone.__qualname__ = _Zone.__name__ = _Zone.__qualname__ = "ZoneInfo"
_InMemoryZone.__module__ = _Zone.__module__ = "zoneinfo"


def build_namespace() -> dict[str, object]:
    """Return the module that `import zoneinfo` gives; reads all zones."""
    _DATA.update(load_zones())

    def available_timezones() -> set[str]:
        return set(_DATA)

    not_found = zoneinfo.ZoneInfoNotFoundError
    return {"ZoneInfo": _Zone, "ZoneInfoNotFoundError": not_found, "available_timezones": available_timezones}
