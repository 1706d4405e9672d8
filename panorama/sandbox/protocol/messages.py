"""Packs and unpacks msgpack."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgpack  # pyright: ignore[reportMissingTypeStubs] (it has no types)

from panorama.sandbox.protocol.frames import ProtocolError

_library: Any = msgpack
_packb: Callable[..., bytes] = _library.packb
_Packer: Callable[..., Any] = _library.Packer
_unpackb: Callable[..., Any] = _library.unpackb

ObjectHook = Callable[[dict[str, Any]], Any]
"""Makes something of each mapping that is read."""


def pack(value: object) -> bytes:
    """Return plain data as msgpack; lone surrogates become question marks.

    Raises:
        TypeError, ValueError, OverflowError: It holds something else, is nested too deeply, or a number is too large.
    """
    return _packb(value, unicode_errors="replace")


def join_packed(fields: Mapping[str, object], name: str, members: Sequence[bytes]) -> bytes:
    """Return a message with these fields and a list whose members are packed already."""
    writer = _Packer(unicode_errors="replace")
    head = [writer.pack_map_header(len(fields) + 1)]
    head += [writer.pack(members) for field in fields.items() for members in field]
    return b"".join((*head, writer.pack(name), writer.pack_array_header(len(members)), *members))


def unpack(message: bytes | bytearray | memoryview, object_hook: ObjectHook | None = None) -> Any:
    """Return the content of a trusted message."""
    return _unpackb(message, object_hook=object_hook, strict_map_key=False)


def parse_untrusted(message: bytes | bytearray) -> Mapping[str, Any]:
    """Return the fields of an untrusted message.

    Raises:
        ProtocolError: It cannot be read, or has no fields.
    """
    try:
        message_fields = _unpackb(message)
    except Exception as error:  # the decoder raises many kinds of errors for invalid data
        raise ProtocolError("a message that cannot be read") from error
    if not isinstance(message_fields, dict):
        raise ProtocolError("a message without fields")
    return cast("Mapping[str, Any]", message_fields)
