"""Claims: what a worker says of itself as JSON; it may be one that a script has taken over."""

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any, NoReturn, cast

from panorama.domain.text.json_types import is_list, is_object
from panorama.errors import UnavailableError

STATE_DEPTH = 102
"""How deep what a script returns or keeps may be nested: 100 levels, of a state in each name."""


def parse_json(data: bytes) -> Any:
    """Return what a worker said as JSON.

    Raises:
        UnavailableError: It is no JSON: the worker was not what it should be.
    """
    try:
        text = data.decode()  # or it could be read as UTF-16, in which half a sign has another form
        value = json.loads(text, parse_constant=_reject_constant, parse_float=_parse_finite)
        if "\\ud" in text.lower():  # half a sign, which no text may hold, has no other form
            json.dumps(value, ensure_ascii=False).encode()
        if not _is_shallow(value):
            raise ValueError("nested too deeply")
        return value
    except (ValueError, RecursionError) as error:
        raise UnavailableError("The script's process said what cannot be read.", hint="Run it again.") from error


def _parse_finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text} is larger than a number can be")
    return value


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def parse_state(data: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return what a worker says was set in the state, and what was removed from it.

    Raises:
        UnavailableError: As of `claimed`.
    """
    state = parse_json(data)
    if is_object(state):
        values, removed = state.get("set"), state.get("removed")
        are_names = is_list(removed) and all(isinstance(name, str) for name in removed)
        if is_object(values) and are_names:
            return dict(values), list(cast("list[str]", removed))
    raise UnavailableError("The script's process said what cannot be kept.", hint="Run it again.")


def _is_shallow(value: Any) -> bool:
    """Return whether a value is nested no deeper than what scripts return and keep, level by level."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(STATE_DEPTH):
        level = [inner for outer in level for inner in _iter_values(outer) if type(inner) in _CONTAINERS]
    return not level


def _iter_values(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


_CONTAINERS = (dict, list)
"""What holds other values in what `json` reads."""
