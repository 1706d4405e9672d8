"""Results of library operations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, ClassVar, Self

from panorama.domain.text.visible_text import escape_controls
from panorama.store.log.library import RunStats


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLine:
    """A script in one line. `parameters` are how it is called; `writes` lists what its text changes.

    A line with the state `suggested` is not a script yet: `run` can be saved as one; `summary` says why.
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
    """A saved draft, or the existing script if nothing was written."""

    name: str
    state: str
    summary: str
    parameters: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    digest: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"Saved the script {self.name}({self.parameters}) as {self.state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStatistics:
    """Statistics of a script's runs from the log: times in milliseconds, `tokens` of all answers to models."""

    runs: int
    success_percent: int | None = None
    median_ms: float | None = None
    median_calls: float | None = None
    tokens: int = 0
    last_at: datetime | None = None
    last_error: str = ""

    @classmethod
    def of(cls, ran: Sequence[RunStats]) -> Self:
        """Compute them from runs, given the newest first; includes dry runs, excludes unfinished ones."""
        ended = [run for run in ran if run.status != "running"]
        if not ended:
            return cls(runs=0)
        good = [run for run in ended if run.status == "succeeded"]
        failed = next((run for run in ended if run.status == "failed"), None)
        return cls(
            runs=len(ended), success_percent=round(100 * len(good) / len(ended)),
            median_ms=round(median(run.ms for run in ended), 1), median_calls=median(run.calls for run in ended),
            tokens=sum(run.tokens for run in ended), last_at=ended[0].at,
            last_error=escape_controls(str(failed.error.get("message", ""))[:300]) if failed else "",
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptView:
    """A script with everything needed to review it.

    `did` are the operations that its last runs called, with numbers of changes; `findings` are violations that the
    sandbox would report; `dry_run` are the changing calls of the last dry run of this text; `reviewed` is the last
    approved text; `again` is the tool that a changed script becomes again once it is approved.
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

    def summarize(self) -> str:
        """Return a one-line summary."""
        by = f" by {self.by}" if self.by else ""
        return f"Script {self.name}({self.parameters}), {self.state}{by}: {self.summary}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptReviewResult:
    """A decision on a script: its new state, and the text to which it applies."""

    name: str
    state: str
    tool: str
    read_only: bool
    digest: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        tool = f"; its tool is {self.tool}{', which only reads' if self.read_only else ''}" if self.tool else ""
        return f"The script {self.name} is {self.state}{tool}"


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
    """The decisions on a script, the newest first."""

    name: str
    versions: tuple[ScriptVersion, ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"{len(self.versions)} decisions on {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptDiff:
    """How two texts of a script differ, as a unified diff; "" if they do not."""

    name: str
    old: str
    new: str
    diff: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        how = "differs from" if self.diff else "is the same as"
        return f"{self.name} {self.new} {how} {self.old}"
