"""Decodes `sdk.state` and computes its changes."""

import json
from typing import Any

from panorama.domain.scripts.scripts import MAX_STATE_NAMES, Limits, count_state_bytes
from panorama.sandbox.protocol import limits as words
from panorama.sandbox.worker.results import encode_json
from panorama.sandbox.worker.tracebacks import OutcomeError
from panorama.sdk.core.encode import exact_str
from panorama.sdk.core.rows import Row, is_item


def decode_state(state: bytes) -> dict[str, Any]:
    """Return the state of a script; stored items become rows again."""
    return {} if state == _EMPTY_JSON else _DECODER.decode(state.decode())


def _restore_row(data: dict[str, Any]) -> dict[str, Any]:
    """Return an item as a row; other dicts are unchanged."""
    return Row(data) if is_item(data) else data


_EMPTY_JSON = b"{}"
_DECODER = json.JSONDecoder(object_hook=_restore_row)


def diff_state(before: bytes, state: dict[str, Any], limits: Limits) -> bytes:
    """Return changed names as JSON `{"set": {…}, "removed": […]}`, b"" if none.

    Raises:
        OutcomeError: It grew beyond its limit, or holds something that is not data.
    """
    if before == _EMPTY_JSON and not state:
        return b""
    old = {name: _encode_or_empty(value) for name, value in decode_state(before).items()}
    texts = {exact_str(name): value for name, value in state.items()}
    new = {name: encode_json(value, f"sdk.state[{name!r}]") for name, value in texts.items()}
    if MAX_STATE_NAMES < len(new) > len(old):
        message = f"sdk.state has more than {MAX_STATE_NAMES:,} names, the limit."
        raise OutcomeError(message, hint="Keep one dict under one name.", reason="state_size")
    if limits.state_bytes < count_state_bytes(new) > count_state_bytes(old):
        raise OutcomeError(
            words.format_message("state_size", limits), hint=words.get_hint("state_size"), reason="state_size"
        )
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    removed = [name for name in old if name not in new]
    if not changed and not removed:
        return b""
    pairs = b",".join(encode_json(name) + b":" + value for name, value in changed.items())
    return b'{"set":{' + pairs + b'},"removed":' + encode_json(removed) + b"}"


def _encode_or_empty(value: object) -> bytes:
    """Return a stored value as JSON, b"" if it could not be stored now."""
    try:
        return encode_json(value)
    except OutcomeError:
        return b""
