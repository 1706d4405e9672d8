"""Nested runs: the scope in which a script may run another script."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from panorama.domain.scripts.allowed_calls import AllowedCalls

MAX_DEPTH = 3
"""How many scripts may run inside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLimits:
    """The limits of one script in a run.

    With `reads_only` it cannot write, with `reviewed_only` it can run only reviewed scripts; both also apply to nested
    scripts. `allowed` are the calls shown in its review, None for all. `digest` is that of a library text.
    """

    reads_only: bool = False
    reviewed_only: bool = False
    allowed: AllowedCalls | None = None
    digest: str = ""


UNLIMITED = ScriptLimits()
"""The limits of an unreviewed script: the whole SDK is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedScript:
    """A nested script: its text, inputs, name and limits."""

    source: str
    inputs: Mapping[str, Any]
    name: str
    limits: ScriptLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedRunScope:
    """A script that waits for a nested one: `names` are the running scripts, the outermost first.

    `reads_only` and `reviewed_only` apply to nested scripts, as in `ScriptLimits`. `run` runs a nested script as part
    of the same run; it returns the worker's unparsed JSON.
    """

    names: tuple[str, ...]
    reads_only: bool
    reviewed_only: bool
    run: Callable[[NestedScript], bytes]


NESTED_RUN_SCOPE: ContextVar[NestedRunScope | None] = ContextVar("nest", default=None)
"""The run whose SDK call is being answered."""
