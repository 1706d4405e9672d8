"""JSON-RPC messages as lines.

The SDK drops a line that its parser does not take, and the client waits for ever. Here such a line is parsed once more
by Python, which accepts unpaired surrogates and deeper nesting, so that the call is refused in our words; a line that
is not JSON is answered with JSON-RPC's own error.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from panorama.transport.lines import MAX_LINE_BYTES, OversizedLine

LARGE_BYTES, MAX_KEYS = 1 << 20, 20_000
"""A large line holds long texts, not more keys than that: a million of them would keep everybody waiting."""

_TOO_MANY = f"This message holds more than {MAX_KEYS:,} names and was not read; send less at a time."
_TOO_LONG = f"This message is longer than {MAX_LINE_BYTES >> 20} MB and was not read; send less at a time."
_NO_ID = "The id of a request must be a string or a whole number."
_REQUEST = TypeAdapter(types.JSONRPCRequest)
"""Parses requests only, in half the time of the adapter for all kinds."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18}(?![\d.eE]))')


def parse_message(line: bytes | OversizedLine) -> SessionMessage | types.JSONRPCError:
    """Return the message in a line, or the error to answer it with."""
    if isinstance(line, OversizedLine):
        return _refusal(line.edges, types.INVALID_REQUEST, _TOO_LONG)
    if len(line) > LARGE_BYTES and line.count(b'":') - line.count(b'\\":') > MAX_KEYS:
        return _refusal(line, types.INVALID_REQUEST, _TOO_MANY)
    if b'"error"' not in line:  # some clients repeat the method in an error
        with suppress(ValidationError):  # another message, or an unusable one
            return SessionMessage(_REQUEST.validate_json(line, strict=True, by_name=False))
    try:
        read = SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        pass
    else:
        return _refusal(line, types.INVALID_REQUEST, _NO_ID) if _has_no_usable_id(read, line) else read
    try:
        plain = json.loads(line)
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(plain, by_name=False))
    except (ValueError, RecursionError) as error:
        code = types.INVALID_REQUEST if isinstance(error, ValidationError) else types.PARSE_ERROR
        return _refusal(line, code, "This line is not a JSON-RPC message.")


def _has_no_usable_id(read: SessionMessage, line: bytes) -> bool:
    """Return whether a request was read as a notification because its id is neither a string nor an integer."""
    if not isinstance(read.message, types.JSONRPCNotification) or b'"id"' not in line:
        return False
    plain: dict[str, object] = json.loads(line)
    return "id" in plain


def _refusal(text: bytes, code: int, message: str) -> types.JSONRPCError:
    """Answer an unreadable request, under its id if that can be found, so that its sender stops waiting."""
    match = _ID.search(text)
    id_ = json.loads(match[1]) if match else None
    return types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=message))


def encode_line(message: SessionMessage) -> bytes:
    """Return a message as a line; lone surrogates, which no client could read, are replaced."""
    try:
        return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        return _encode_with_surrogates(message.message.model_dump(mode="python", by_alias=True, exclude_unset=True))


def encode_plain(message: Mapping[str, Any]) -> bytes:
    """Return a message of plain values as a line, written as `encode_line` writes it."""
    try:
        return to_json(message, inf_nan_mode="null") + b"\n"
    except ValueError:
        return _encode_with_surrogates(message)


def _encode_with_surrogates(message: Mapping[str, Any]) -> bytes:
    return _SURROGATES.sub("\ufffd", json.dumps(message, ensure_ascii=False, default=str)).encode() + b"\n"
