"""Enumerations: Python's own kinds, as bases that scripts may derive from; made by a metaclass of ours."""

import enum
from typing import Any

from panorama.sandbox.metas import ScriptEnumMeta, as_library

_KINDS = (enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag)


class Bases:
    """The five kinds of enumeration; an IntEnum is an Enum, an IntFlag is a Flag, as in Python."""

    def __init__(self) -> None:
        self._made: dict[type, Any] = {}
        for kind in _KINDS:
            self._made[kind] = self._derived(kind)

    def names(self) -> dict[str, object]:
        """Return them by name."""
        return {kind.__name__: made for kind, made in self._made.items()}

    def _derived(self, kind: type) -> type:
        wider = [made for real, made in self._made.items() if issubclass(kind, real)]
        bases = (*reversed(wider), kind)  # the last one lends __str__ and what auto() gives
        body: Any = ScriptEnumMeta.__prepare__(kind.__name__, bases)
        body["__module__"] = "enum"
        return as_library(ScriptEnumMeta(kind.__name__, bases, body))


def unique(kind: Any) -> Any:
    """`enum.unique`."""
    decorate: Any = enum.unique
    return decorate(kind) if isinstance(kind, ScriptEnumMeta) else kind
