"""Results of runs and of their log entries."""

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
"""The largest amount of JSON of a dry run's changes in an answer; the counts cover all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run, including failed ones.

    A large `result` is stored as a file, and `shape` describes it. `would` has the first changes of a dry run. `note`
    describes the remaining changes. `script` is its library name, `script_state` its review state. `untrusted` are the
    sources that it read: what strangers wrote may be in its result and output.
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
    untrusted: tuple[str, ...] = ()

    EXACT: ClassVar = ("result",)
    TOLD_EXACTLY: ClassVar = ("result",)

    @property
    def shortfall(self) -> str:
        """Why it is incomplete."""
        return str(self.error["message"]) if self.error else ""

    def summarize(self) -> str:
        """Return a one-line summary."""
        counts = ", ".join(f"{count} {noun}" for noun, count in self.changes.items())
        calls = sum(call.get("times", 1) for call in self.calls)
        did = f"{self.duration_ms:g} ms, {calls} {'call' if calls == 1 else 'calls'}, {counts or 'nothing changed'}"
        how = "Dry run" if self.dry_run else "Run"
        if self.script:
            how = f"{'Draft' if self.script_state == 'draft' else 'Script'} {self.script}: {how.lower()}"
        if self.error is None:
            nothing = ", no result" if self.result is None and not self.result_file and not self.shape else ""
            return f"{how} {self.run_id}: {did}{nothing}{self._describe_cuts()}"
        at = f" at line {self.error['line']}" if "line" in self.error else ""
        return f"{how} {self.run_id} failed{at}: {self.error['message']} ({did}){self._describe_cuts()}"

    def _describe_cuts(self) -> str:
        """Describe the omitted parts of the answer."""
        changed = sum(self.changes.values())
        cuts = [
            f"the result is the file {self.result_file}" if self.result_file else "",
            "only the shape of the result is shown" if self.shape and not self.result_file else "",
            "the output is cut" if self.output_cut else "",
            f"the first {len(self.would)} of {changed} changes are shown" if 0 < len(self.would) < changed else "",
        ]
        return "".join(f"; {cut}" for cut in cuts if cut)


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
    """The remaining changes of a run: counts, a description, and the first changes."""

    changes: Mapping[str, int]
    text: str = ""
    wrote: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One logged run with its first calls; `called` counts them all.

    `changes` counts its remaining changes (for a dry run, the planned ones), `stands` describes them, and `wrote` has
    the first ones.

    Secrets in output and calls are redacted; the log has the full text of the script, so that it can be saved.
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
        """Combine a run with its calls and remaining changes."""
        values = {
            field.name: getattr(run, field.name)
            for field in fields(run)
            if field.name not in ("calls", "conversation", "worker")
        }
        values |= {"changes": standing.changes, "stands": standing.text, "wrote": standing.wrote}
        values |= {name: redact_values(values[name]) for name in ("source", "output", "result", "error", "wrote")}
        return cls(**values, called=called, calls=tuple(map(call_to_dict, calls)))

    def summarize(self) -> str:
        """Return a one-line summary."""
        how = f"Dry run {self.id}" if self.options.get("dry_run") else f"Run {self.id}"
        return f"{how} {self.status}: {self.called} {'call' if self.called == 1 else 'calls'} in {self.ms:g} ms"


def call_to_dict(call: CallLogEntry) -> Mapping[str, Any]:
    """Return a call as shown with its run."""
    names = ("position", "name", "arguments", "ms", "success", "code", "chars", "changes")
    return {name: getattr(call, name) for name in names}


def change_to_dict(line: Change, label: str) -> Mapping[str, Any]:
    """Return a change of a dry run in readable form."""
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
