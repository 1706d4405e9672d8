"""Nesting: what a script runs inside of, told to the one call that lets it run another script."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 3
"""How many scripts may run inside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedRunScope:
    """A run that waits for a script it called: `names` are those that run, the outermost first.

    `reads_only` and `reviewed_only` hold for all that runs inside. `run` runs a text inside, as part of the same run:
    text, inputs, name, and whether it only reads; it returns the result as a worker told it: JSON that nobody has read.
    """

    names: tuple[str, ...]
    reads_only: bool
    reviewed_only: bool
    run: Callable[[str, Mapping[str, Any], str, bool], bytes]


NESTED_RUN_SCOPE: ContextVar[NestedRunScope | None] = ContextVar("nest", default=None)
"""The run whose call of the SDK is answered here."""
