"""What is told of the scripts of the library."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLine:
    """A script in one line. `parameters` are how it is called; `writes` tells what it changes, by its text.

    A line whose state is `suggested` is no script yet: `run` can be saved as one, and `summary` tells why.
    """

    name: str
    state: str
    summary: str
    parameters: str = ""
    writes: tuple[str, ...] = ()
    by: str = ""
    tool: str = ""
    runs: int | None = None
    succeeded: int | None = None
    run: str = ""
    tokens: int | None = None
    problem: str = ""

    BRIEF: ClassVar = ("name", "state", "summary", "parameters", "tool", "run", "problem")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSaveResult:
    """A draft that was written, or what was there before if nothing had to be."""

    name: str
    state: str
    summary: str
    parameters: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStatistics:
    """What the log tells of a script's runs: times in milliseconds, `tokens` of all answers that a model read."""

    runs: int
    success_percent: int | None = None
    median_ms: float | None = None
    median_calls: float | None = None
    tokens: int = 0
    last_at: datetime | None = None
    last_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptView:
    """A script with all that a person wants to know before they decide on it.

    `did` are the operations that its last runs called, each with how much it changed; `findings` are what the sandbox
    would refuse; `dry_run` are the calls by which its last dry run, of this very text, would have changed something;
    `reviewed` is the text that was approved last, `again` the tool that a draft becomes once it is approved, since it
    was one before it was changed.
    """

    name: str
    state: str
    by: str
    summary: str
    description: str
    parameters: str
    schema: Mapping[str, Any]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    scripts: tuple[str, ...]
    unclear: bool
    read_only: bool
    tool: str
    did: Mapping[str, int]
    dry_run: tuple[Mapping[str, Any], ...]
    findings: tuple[str, ...]
    digest: str
    path: str
    statistics: ScriptStatistics
    text: str
    reviewed: str
    rejected: bool
    again: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptReviewResult:
    """What was decided on a script: its state from now on, and the text that it is bound to."""

    name: str
    state: str
    tool: str
    read_only: bool
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptVersion:
    """A decision on one text of a script; `version` counts the approved ones from 1, None for a rejected one."""

    version: int | None
    at: datetime
    verdict: str
    digest: str
    by: str
    lines: int
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptHistory:
    """What was decided on a script, the newest first."""

    name: str
    versions: tuple[ScriptVersion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptDiff:
    """How two texts of a script differ, as a unified diff; "" if they do not."""

    name: str
    old: str
    new: str
    diff: str
