"""Jobs: the only place that knows how a script travels to its worker."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from panorama.domain.scripts import Limits, Script
from panorama.sandbox import messages
from panorama.sandbox.inputs import Inputs

NONE = "{}"
_SPANS = ("wall", "cpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker is told to run; `state` is JSON."""

    source: str
    inputs: dict[str, Any]
    state: bytes
    limits: Limits


def packed(script: Script) -> bytes:
    """Return a script as it is sent.

    Raises:
        TypeError: Inputs or state hold what JSON does not know.
    """
    inputs, state = _json(script.inputs), _json(script.state)
    job = {"source": script.source, "inputs": inputs, "state": state, "limits": _limits(script.limits)}
    return messages.packed(job)


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values)) if values else NONE


@lru_cache(16)  # nearly all scripts have the same, which the template has read for all its workers
def _limits(limits: Limits) -> bytes:
    figures = {name: getattr(limits, name) for name in Limits.__slots__}
    return messages.packed(figures | {name: figures[name].total_seconds() for name in _SPANS})


@lru_cache(16)
def _limits_of(told: bytes) -> Limits:
    figures: dict[str, Any] = messages.unpacked(told)
    figures |= {name: timedelta(seconds=figures[name]) for name in _SPANS}
    return Limits(**figures)


def unpacked(frame: bytes | bytearray) -> Job:
    """Return the job that the host sent."""
    told: dict[str, Any] = messages.unpacked(frame)
    given: dict[str, Any] = {} if told["inputs"] == NONE else json.loads(told["inputs"])
    inputs = {"inputs": Inputs(given), **given}  # `inputs["project"]` is as natural as `project`
    return Job(source=told["source"], inputs=inputs, state=told["state"].encode(), limits=_limits_of(told["limits"]))
