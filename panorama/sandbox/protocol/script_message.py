"""Packs and unpacks the script that a worker is sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from panorama.domain.scripts.scripts import Limits, Script
from panorama.sandbox.protocol import messages
from panorama.sandbox.protocol.inputs import Inputs

EMPTY_JSON = "{}"
_DURATION_FIELDS = ("wall", "cpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptMessage:
    """The script that a worker runs; `state` is JSON, `sources` are names under `sdk`."""

    source: str
    inputs: dict[str, Any]
    state: bytes
    limits: Limits
    sources: tuple[str, ...] = ()


def pack_script(script: Script) -> bytes:
    """Return a script as it is sent.

    Raises:
        TypeError: Inputs or state hold what JSON does not know.
    """
    inputs, state = _to_json(script.inputs), _to_json(script.state)
    fields = {"source": script.source, "inputs": inputs, "state": state, "limits": _pack_limits(script.limits)}
    return messages.pack(fields | {"sources": list(script.sources)} if script.sources else fields)


def _to_json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values)) if values else EMPTY_JSON


@lru_cache(16)  # nearly all scripts have the same, which the template has read for all its workers
def _pack_limits(limits: Limits) -> bytes:
    figures = {name: getattr(limits, name) for name in Limits.__slots__}
    return messages.pack(figures | {name: figures[name].total_seconds() for name in _DURATION_FIELDS})


@lru_cache(16)
def _unpack_limits(fields: bytes) -> Limits:
    figures: dict[str, Any] = messages.unpack(fields)
    figures |= {name: timedelta(seconds=figures[name]) for name in _DURATION_FIELDS}
    return Limits(**figures)


def unpack_script(frame: bytes | bytearray) -> ScriptMessage:
    """Return the job that the host sent."""
    fields: dict[str, Any] = messages.unpack(frame)
    by_name: dict[str, Any] = {} if fields["inputs"] == EMPTY_JSON else json.loads(fields["inputs"])
    inputs = {"inputs": Inputs(by_name), **by_name}  # `inputs["project"]` is as natural as `project`
    return ScriptMessage(
        source=fields["source"], inputs=inputs, state=fields["state"].encode(),
        limits=_unpack_limits(fields["limits"]), sources=tuple(fields.get("sources", ())),
    )  # fmt: skip
