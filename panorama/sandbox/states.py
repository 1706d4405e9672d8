"""The state of a script: the only place that tells which of its names changed."""

import json
from typing import Any

from panorama.domain.scripts import STATE_NAMES, Limits, state_size
from panorama.sandbox import limits as words
from panorama.sandbox.failures import EndError
from panorama.sandbox.results import encoded
from panorama.sdk._plain import exact
from panorama.sdk._rows import Row, is_item


def read(state: bytes) -> dict[str, Any]:
    """Return the state as a script finds it; items that were kept are rows again."""
    return {} if state == _EMPTY else _DECODER.decode(state.decode())


def _as_it_was(found: dict[str, Any]) -> dict[str, Any]:
    """Return an item as the row that it was; other dicts stay what they are."""
    return Row(found) if is_item(found) else found


_EMPTY = b"{}"
_DECODER = json.JSONDecoder(object_hook=_as_it_was)


def changed(before: bytes, state: dict[str, Any], limits: Limits) -> bytes:
    """Return the names that changed as JSON `{"set": {…}, "removed": […]}`, b"" if none did.

    Raises:
        EndError: It grew larger than it may be, or holds what is no data.
    """
    if before == _EMPTY and not state:
        return b""
    old = {name: _known(value) for name, value in read(before).items()}
    texts = {exact(name): value for name, value in state.items()}
    new = {name: encoded(value, f"sdk.state[{name!r}]") for name, value in texts.items()}
    if STATE_NAMES < len(new) > len(old):
        message = f"sdk.state has more than {STATE_NAMES:,} names, the most that it may have."
        raise EndError(message, hint="Keep one dict under one name.", reason="state_size")
    if limits.state_bytes < state_size(new) > state_size(old):
        raise EndError(words.message("state_size", limits), hint=words.hint("state_size"), reason="state_size")
    kept = {name: value for name, value in new.items() if old.get(name) != value}
    removed = [name for name in old if name not in new]
    if not kept and not removed:
        return b""
    pairs = b",".join(encoded(name) + b":" + value for name, value in kept.items())
    return b'{"set":{' + pairs + b'},"removed":' + encoded(removed) + b"}"


def _known(value: object) -> bytes:
    """Return what was kept as JSON, b"" if it could not be kept now: then it is new, or is gone."""
    try:
        return encoded(value)
    except EndError:
        return b""
