"""Messages: the only place that reads and writes msgpack."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgpack  # pyright: ignore[reportMissingTypeStubs] (it has no types)

from panorama.sandbox.frames import ProtocolError

_library: Any = msgpack
_packb: Callable[..., bytes] = _library.packb
_Packer: Callable[..., Any] = _library.Packer
_unpackb: Callable[..., Any] = _library.unpackb

Made = Callable[[dict[str, Any]], Any]
"""Makes something of each mapping that is read."""


def packed(value: object) -> bytes:
    """Return plain data as msgpack; what has no place in Unicode becomes a question mark.

    Raises:
        TypeError, ValueError, OverflowError: It holds something else, is nested too deeply, or a number is too large.
    """
    return _packb(value, unicode_errors="replace")


def joined(fields: Mapping[str, object], name: str, each: Sequence[bytes]) -> bytes:
    """Return a message of these fields and one more: a list whose members are msgpack already."""
    writer = _Packer(unicode_errors="replace")
    head = [writer.pack_map_header(len(fields) + 1)]
    head += [writer.pack(each) for field in fields.items() for each in field]
    return b"".join((*head, writer.pack(name), writer.pack_array_header(len(each)), *each))


def unpacked(message: bytes | bytearray | memoryview, made: Made | None = None) -> Any:
    """Return what a message of our own side holds."""
    return _unpackb(message, object_hook=made, strict_map_key=False)


def claimed(message: bytes | bytearray) -> Mapping[str, Any]:
    """Return the fields that a stranger's message claims to have.

    Raises:
        ProtocolError: It cannot be read, or has no fields.
    """
    try:
        told = _unpackb(message)
    except Exception as error:  # whatever its reader finds wrong with it
        raise ProtocolError("a message that cannot be read") from error
    if not isinstance(told, dict):
        raise ProtocolError("a message without fields")
    return cast("Mapping[str, Any]", told)
