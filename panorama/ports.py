"""What services ask of the outside."""

from collections.abc import Mapping
from typing import Any, Protocol


class Calls(Protocol):
    """Calls other operations, inside the call that runs: in its transaction if it has one, with its unit and client."""

    def call_within(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call one operation by its tool or operation name; return {"data", "summary", "metadata"}.

        Raises:
            PanoramaError: The operation refused.
        """
        ...

    def is_transactional(self, name: str) -> bool:
        """Tell whether an operation may be part of an atomic batch."""
        ...
