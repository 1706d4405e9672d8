"""Scripts: their limits and outcomes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, get_args

Isolation = Literal["language-only", "seatbelt", "seccomp", "seccomp+landlock"]

ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)
"""Levels of isolation for a running script, the weakest first; `seatbelt` is for macOS."""

Reason = Literal[
    "syntax",  # the text is not valid Python
    "policy",  # the text uses a construct that scripts may not use
    "raised",  # an uncaught exception
    "time",
    "cpu",
    "memory",
    "calls",
    "call_size",
    "sent_size",
    "result_size",
    "output_size",
    "state_size",
    "cancelled",  # the caller no longer waits for it
    "blocked",  # the kernel stopped a system call
    "crashed",
    "protocol",  # the worker sent an invalid message
]
"""The reason why a script ended without a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run; exceeding one ends it.

    `memory_bytes` is in addition to the memory of the template process. The size of a call is that of its encoded
    arguments; `sent_bytes` limits the arguments of all calls together, and the bytes they store.
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
"""The maximum number of names in `sdk.state`: each is a row."""


def count_state_bytes(values: Mapping[str, bytes]) -> int:
    """Return the size of a state in bytes, as UTF-8 JSON; its values are JSON already."""
    names = sum(len(json.dumps(name, ensure_ascii=False).encode("utf-8", "replace")) for name in values)
    return names + sum(len(value) + len(":,") for value in values.values())


SOURCE_CALL = "sources.call"
"""The operation by which scripts call sources; it waits for others, so that calls run side by side."""

SOURCE_CHARS = 200_000
"""The longest script, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One text to run: `inputs` become variables, `state` is `sdk.state`, `operations` are the allowed calls.

    `sources` are the names of the sources behind `sdk.<source>`.
    """

    source: str
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    operations: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error of a script, in the script's terms.

    `line` counts from 1, 0 if it is not known; `source` is that line's text. `trace` holds the script's own frames,
    the outermost first: line and function ("" at module level).
    """

    reason: Reason
    message: str
    line: int = 0
    source: str = ""
    hint: str = ""
    trace: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """The outcome of a run as reported by the worker, which is not trusted.

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
