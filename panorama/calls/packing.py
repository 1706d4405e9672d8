"""Answers in the form that scripts get them."""

from collections.abc import Mapping, Sequence
from typing import Any

from panorama.sandbox import messages


def packed(data: Any, metadata: Mapping[str, Any]) -> bytes:
    """Return an answer as msgpack of {"data", "metadata"}."""
    return messages.packed({"data": data, "metadata": dict(metadata)})


def fitting(rows: Sequence[Any], most: int) -> int:
    """Return how many of the first rows fit into a size in bytes; at least one."""
    size = 0
    for count, row in enumerate(rows):
        size += len(messages.packed(row))
        if size > most and count:
            return count
    return len(rows)
