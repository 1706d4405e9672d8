"""Parses JSON from a worker, which a script may have taken over."""

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any, NoReturn, cast

from panorama.domain.text.json_types import is_list, is_object
from panorama.errors import UnavailableError

STATE_DEPTH = 102
"""The maximum nesting of a result, and of each name of a state: 100 levels."""


def parse_json(data: bytes) -> Any:
    """Parse JSON from a worker.

    Raises:
        UnavailableError: It is not JSON, so the worker is compromised.
    """
    try:
        text = data.decode()  # otherwise it could be decoded as UTF-16, with other surrogates
        value = json.loads(text, parse_constant=_reject_constant, parse_float=_parse_finite)
        if "\\ud" in text.lower():  # the only form of a lone surrogate, which text must not contain
            json.dumps(value, ensure_ascii=False).encode()
        if not _is_shallow(value):
            raise ValueError("nested too deeply")
        return value
    except (ValueError, RecursionError) as error:
        raise UnavailableError("The script process returned malformed data.", hint="Run it again.") from error


def _parse_finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text} is out of range")
    return value


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_state(data: bytes) -> tuple[dict[str, Any], list[str]]:
    """Parse the set and removed names of a state from a worker.

    Raises:
        UnavailableError: The data is malformed.
    """
    state = parse_json(data)
    if is_object(state):
        values, removed = state.get("set"), state.get("removed")
        are_names = is_list(removed) and all(isinstance(name, str) for name in removed)
        if is_object(values) and are_names:
            return dict(values), list(cast("list[str]", removed))
    raise UnavailableError("The script process returned a malformed state.", hint="Run it again.")


def _is_shallow(value: Any) -> bool:
    """Return whether a value is within the nesting limit."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(STATE_DEPTH):
        level = [inner for outer in level for inner in _iter_values(outer) if type(inner) in _CONTAINERS]
    return not level


def _iter_values(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


_CONTAINERS = (dict, list)
"""The container types that `json` returns."""
