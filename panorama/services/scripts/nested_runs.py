"""Nesting: what a script runs inside of, told to the one call that lets it run another script."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from panorama.domain.scripts.allowed_calls import AllowedCalls

MAX_DEPTH = 3
"""How many scripts may run inside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLimits:
    """What one script of a run may do.

    One that `reads_only` cannot write, one that is `reviewed_only` runs reviewed scripts alone; both hold for all that
    runs inside it. `allowed` are the calls that its review showed, None for all.
    """

    reads_only: bool = False
    reviewed_only: bool = False
    allowed: AllowedCalls | None = None


UNLIMITED = ScriptLimits()
"""What a script may do that nobody reviewed: all that the SDK holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedScript:
    """A script to run inside another: its text, its inputs, its name and what it may do."""

    source: str
    inputs: Mapping[str, Any]
    name: str
    limits: ScriptLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedRunScope:
    """A script that waits for one it called: `names` are those that run, the outermost first.

    `reads_only` and `reviewed_only` hold for all that runs inside, as of `ScriptLimits`. `run` runs a script inside, as
    part of the same run; it returns the result as a worker sent it: JSON that nobody has read.
    """

    names: tuple[str, ...]
    reads_only: bool
    reviewed_only: bool
    run: Callable[[NestedScript], bytes]


NESTED_RUN_SCOPE: ContextVar[NestedRunScope | None] = ContextVar("nest", default=None)
"""The run whose call of the SDK is answered here."""
