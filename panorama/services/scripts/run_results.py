"""Views of runs: how a script ran, and what the log holds of it."""

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, Self

from panorama.domain.changes import Change
from panorama.domain.text.secrets import redact_text, redact_values
from panorama.services.history.change_excerpts import excerpt_pair
from panorama.store.log.calls import CallLogEntry
from panorama.store.log.runs import Run

MAX_DIFF_CHARS = 12_000
"""How much of what a dry run would change is answered, as JSON; the counts tell of all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a script ran, also if it failed.

    A large `result` is kept as a file instead, and `shape` describes it. `would` shows the first changes of a dry run.
    `note` says what stands. `script` is its name in the library, and `script_state` how its text stood there.
    """

    run_id: str
    result: Any
    result_file: str | None
    shape: str
    stdout: str
    calls: tuple[Mapping[str, Any], ...]
    changes: Mapping[str, int]
    would: tuple[Mapping[str, Any], ...]
    error: Mapping[str, Any] | None
    note: str
    dry_run: bool
    isolation: str
    duration_ms: float
    peak_memory_mb: float
    script: str = ""
    script_state: str = ""
    output_cut: bool = False

    EXACT: ClassVar = ("result",)
    TOLD_EXACTLY: ClassVar = ("result",)

    @property
    def shortfall(self) -> str:
        """Why it did not keep its promise."""
        return str(self.error["message"]) if self.error else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run in one line; `script` is the first line of its text."""

    id: str
    at: datetime
    client: str
    status: str
    dry_run: bool
    ms: float
    calls: int
    changes: Mapping[str, int]
    script: str

    @classmethod
    def of(cls, run: Run) -> Self:
        """Shorten a run."""
        lines = [line.strip() for line in run.source.splitlines() if line.strip()]
        first = next((line for line in lines if not line.startswith(("import ", "from "))), "".join(lines[:1]))
        first = f"{run.script}({', '.join(run.inputs)})" if run.script else first
        return cls(
            id=run.id, at=run.at, client=run.client, status=run.status, dry_run=bool(run.options.get("dry_run")),
            ms=run.ms, calls=run.calls, changes=run.changes, script=redact_text(first)[:100],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RemainingChanges:
    """What stands of a run: how much was created, updated and deleted, that in words, and the first changes."""

    changes: Mapping[str, int]
    told: str = ""
    wrote: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run as the log holds it, with its first calls; `called` counts them all.

    `changes` counts what stands of it by now (of a dry run, what it would have changed), `stands` says that in words,
    and `wrote` shows the first of these changes.

    Secrets in what a script says are hidden, as they are in its calls; the log has its text whole, to be kept as one.
    """

    id: str
    at: datetime
    client: str
    status: str
    options: Mapping[str, Any]
    inputs: Mapping[str, Any]
    isolation: str
    script: str
    source: str
    output: str
    result: str
    error: Mapping[str, Any]
    changes: Mapping[str, int]
    stands: str
    wrote: tuple[Mapping[str, Any], ...]
    called: int
    calls: tuple[Mapping[str, Any], ...]
    ms: float
    peak_bytes: int

    @classmethod
    def of(cls, run: Run, standing: RemainingChanges, calls: Sequence[CallLogEntry], called: int) -> Self:
        """Join a run with its calls and what stands of it."""
        values = {
            field.name: getattr(run, field.name)
            for field in fields(run)
            if field.name not in ("calls", "conversation", "worker")
        }
        values |= {"changes": standing.changes, "stands": standing.told, "wrote": standing.wrote}
        values |= {name: redact_values(values[name]) for name in ("source", "output", "result", "error", "wrote")}
        return cls(**values, called=called, calls=tuple(map(call_to_dict, calls)))


def call_to_dict(call: CallLogEntry) -> Mapping[str, Any]:
    """Return a call of a run as it is shown with the run."""
    names = ("position", "name", "arguments", "ms", "success", "code", "chars", "changes")
    return {name: getattr(call, name) for name in names}


def change_to_dict(line: Change, label: str) -> Mapping[str, Any]:
    """Return a change of a dry run as a person reads it."""
    names_ = [name for name in line.after if line.action != "create" or line.after[name] not in ("", [], None, False)]
    fields = {name: excerpt_pair(line.before.get(name), line.after[name]) for name in names_}
    return {"action": line.action, "kind": line.kind, "item": line.item, "label": label, "fields": fields}


def take_fitting(changes: Iterable[Mapping[str, Any]]) -> Generator[Mapping[str, Any]]:
    """Yield the first changes that fit into an answer, at least one."""
    size = 0
    for count, change in enumerate(changes):
        size += len(json.dumps(change, ensure_ascii=False, default=str))
        if count and size > MAX_DIFF_CHARS:
            return
        yield change
