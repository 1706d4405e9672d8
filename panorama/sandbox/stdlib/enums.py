"""The enumeration classes that scripts may derive from."""

import enum
from typing import Any

from panorama.sandbox.rules.class_marks import ScriptEnumMeta, mark_as_library

_KINDS = (enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag)


class EnumBases:
    """The five kinds of enumeration, which derive from each other as in Python."""

    def __init__(self) -> None:
        self._bases: dict[type, Any] = {}
        for kind in _KINDS:
            self._bases[kind] = self._derive(kind)

    def to_namespace(self) -> dict[str, object]:
        """Return them by name."""
        return {kind.__name__: base for kind, base in self._bases.items()}

    def _derive(self, kind: type) -> type:
        wider = [base for real, base in self._bases.items() if issubclass(kind, real)]
        bases = (*reversed(wider), kind)  # the last one lends __str__ and what auto() gives
        body: Any = ScriptEnumMeta.__prepare__(kind.__name__, bases)
        body["__module__"] = "enum"
        return mark_as_library(ScriptEnumMeta(kind.__name__, bases, body))


def unique(kind: Any) -> Any:
    """`enum.unique`."""
    decorate: Any = enum.unique
    return decorate(kind) if isinstance(kind, ScriptEnumMeta) else kind
