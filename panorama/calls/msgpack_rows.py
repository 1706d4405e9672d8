"""Answers as msgpack, the form for scripts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from panorama.sandbox.protocol import messages


def pack(data: Any, metadata: Mapping[str, Any]) -> bytes:
    """Return an answer as msgpack of {"data", "metadata"}."""
    return messages.pack({"data": data, "metadata": dict(metadata)})


def pack_rows(rows: Sequence[bytes], metadata: Mapping[str, Any]) -> bytes:
    """Return an answer whose rows are already msgpack."""
    return messages.join_packed({"metadata": dict(metadata)}, "data", rows)


def take_fitting(rows: Iterable[Any], limit: int) -> tuple[list[Any], list[bytes]]:
    """Return the first rows that fit into a size in bytes, at least one, each also as msgpack."""
    size, fit, packed = 0, list[Any](), list[bytes]()
    for row in rows:
        one = messages.pack(row)
        size += len(one)
        if size > limit and fit:
            break
        fit.append(row)
        packed.append(one)
    return fit, packed
