"""Claims: what a worker says of itself as JSON; it may be one that a script has taken over."""

import json
from typing import Any, NoReturn, cast

from panorama.domain.plain import is_list, is_object
from panorama.errors import UnavailableError

STATE_DEPTH = 102
"""How deep what a script keeps may be nested: each name 100 levels, as a result."""


def claimed(told: bytes) -> Any:
    """Return what a worker said as JSON.

    Raises:
        UnavailableError: It is no JSON: the worker was not what it should be.
    """
    try:
        value = json.loads(told, parse_constant=_no_constant)
        if b"\\ud" in told.lower():  # half a sign, which no text may hold, has no other form
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        raise UnavailableError("The script's process said what cannot be read.", hint="Run it again.") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def state(told: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return what a worker says was set in the state, and what was removed from it.

    Raises:
        UnavailableError: As of `claimed`.
    """
    said = claimed(told)
    if is_object(said):
        kept, removed = said.get("set"), said.get("removed")
        are_names = is_list(removed) and all(isinstance(name, str) for name in removed)
        if is_object(kept) and are_names and _depth(kept) <= STATE_DEPTH:
            return dict(kept), list(cast("list[str]", removed))
    raise UnavailableError("The script's process said what cannot be kept.", hint="Run it again.")


def _depth(value: Any) -> int:
    inner = value.values() if is_object(value) else value if is_list(value) else ()
    return 1 + max(map(_depth, inner), default=0)
