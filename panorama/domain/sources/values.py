"""Makes the results of sources safe to store and send. Pure."""

from typing import Any

from panorama.domain.text.json_types import is_list, is_object

MAX_DEPTH = 64
MAX_INTEGER = 2**63
OMITTED = "…"


def clean_value(value: Any, depth: int = 0) -> Any:
    """Return a value of JSON types that can be sent on.

    Integers beyond 64 bits become text, lone surrogates are replaced, and what is nested more than 64 deep is left out.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, bool | float) or value is None:
        return value
    if isinstance(value, int):
        return value if -MAX_INTEGER <= value < MAX_INTEGER else str(value)
    if depth >= MAX_DEPTH:
        return OMITTED
    if is_object(value):
        return {clean_value(str(name)): clean_value(entry, depth + 1) for name, entry in value.items()}
    return [clean_value(entry, depth + 1) for entry in value] if is_list(value) else clean_value(str(value))
