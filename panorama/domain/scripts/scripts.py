"""Scripts: their limits, and how a run ended."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, get_args

Isolation = Literal["language-only", "seatbelt", "seccomp", "seccomp+landlock"]

ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)
"""What can isolate a running script, the weakest first; `seatbelt` is that of macOS."""

Reason = Literal[
    "syntax",  # the text is no Python
    "policy",  # the text holds what scripts may not say
    "raised",  # an exception that nobody caught
    "time",
    "cpu",
    "memory",
    "calls",
    "call_size",
    "sent_size",
    "result_size",
    "output_size",
    "state_size",
    "cancelled",  # nobody waits for it any more
    "blocked",  # the kernel stopped a system call
    "crashed",
    "protocol",  # the worker said what no worker says
]
"""Why a script ended without a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use; reaching one ends it.

    `memory_bytes` comes on top of what the template holds. A call's size is that of its arguments as they are sent;
    `sent_bytes` is for those of all calls together, and for what these store.
    """

    wall: timedelta = timedelta(seconds=60)
    cpu: timedelta = timedelta(seconds=60)
    memory_bytes: int = 512 << 20
    calls: int = 10_000
    call_bytes: int = 1 << 20
    sent_bytes: int = 256 << 20
    result_bytes: int = 10 << 20
    output_bytes: int = 256 << 10
    state_bytes: int = 256 << 10


MAX_STATE_NAMES = 1_000
"""How many names of `sdk.state` are kept: each is a row."""


def count_state_bytes(values: Mapping[str, bytes]) -> int:
    """Return how large a state is, in bytes: its names and their values, which are JSON already, as JSON in UTF-8."""
    names = sum(len(json.dumps(name, ensure_ascii=False).encode("utf-8", "replace")) for name in values)
    return names + sum(len(value) + len(":,") for value in values.values())


SOURCE_CHARS = 200_000
"""The longest script, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One text to run: `inputs` become names, `state` is `sdk.state`, `operations` are all that it may call."""

    source: str
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    operations: frozenset[str] = frozenset()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a script ended, in the script's terms.

    `line` counts from 1, 0 if it is not known; `source` is that line's text. `trace` holds the script's own lines that
    led there, the outermost first: line, and the function it is in ("" at the top).
    """

    reason: Reason
    message: str
    line: int = 0
    source: str = ""
    hint: str = ""
    trace: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a run ended; all of it was said by the worker and is no more than a claim.

    `result` is JSON, b"" after a failure. `shape` describes it in a few lines: keys, lengths, first rows. `state`
    holds the top-level names of `sdk.state` that changed, as JSON `{"set": {…}, "removed": […]}`, b"" if none did.
    """

    result: bytes = b""
    shape: str = ""
    output: str = ""
    failure: Failure | None = None
    state: bytes = b""
    calls: int = 0
    sent_bytes: int = 0
    peak_bytes: int = 0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call that a script made; `wrote` counts the changes."""

    position: int
    name: str
    ms: float
    ok: bool
    wrote: int
