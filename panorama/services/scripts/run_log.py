"""Log entries and answers about finished runs."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from panorama.domain.scripts.scripts import CallRecord, Failure, RunOutcome
from panorama.errors import PanoramaError
from panorama.services.scripts.run_results import RunResult
from panorama.store.log.runs import Run

MAX_OUTPUT_CHARS = 64_000
MAX_RESULT_BYTES = 2_000
MAX_LISTED_CALLS = 20

T = TypeVar("T")
_log = logging.getLogger(__name__)


class RunMessages:
    """Collects notes for the answer; errors after a script has run must not make it a failure."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    def add(self, note: str) -> None:
        """Add a sentence, "" for none."""
        self._sentences += [note] if note else []

    def attempt(self, subject: str, step: Callable[..., T], *arguments: Any) -> T | None:
        """Run a step; if it fails, add a note and return None."""
        try:
            return step(*arguments)
        except PanoramaError as error:
            self.add(f"{subject}: {error.message}")
        except Exception:  # a bug of ours; the script's changes are kept anyway
            _log.exception("after a script: %s", subject)
            self.add(f"{subject}: an internal error; see the daemon's log.")
        return None

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join(self._sentences)


def to_log_entry(run: Run, result: RunResult, ending: RunOutcome, calls: int) -> Run:
    """Return the log entry of an ended run; `calls` counts the logged calls, including nested scripts."""
    return replace(
        run,
        status=_status_of(result.error),
        result=ending.result[:MAX_RESULT_BYTES].decode("utf-8", "ignore"),
        output=_keep_tail(ending.output, MAX_OUTPUT_CHARS),
        error=result.error or {},
        changes=result.changes,
        calls=calls,
        ms=result.duration_ms,
        peak_bytes=ending.peak_bytes,
    )


def _status_of(error: Mapping[str, Any] | None) -> str:
    if error is None:
        return "succeeded"
    return "cancelled" if error["kind"] == "cancelled" else "failed"


def error_to_dict(failure: Failure | None) -> Mapping[str, Any] | None:
    """Return why a script failed, None if it did not."""
    if failure is None:
        return None
    data = {
        "kind": failure.reason,
        "message": failure.message,
        "line": failure.line or None,
        "source": failure.source or None,
        "hint": failure.hint or None,
        "trace": [f"line {line}" + (f" in {name}" if name else "") for line, name in failure.trace] or None,
    }
    return {name: value for name, value in data.items() if value is not None}


def summarize_calls(calls: Sequence[CallRecord]) -> tuple[Mapping[str, Any], ...]:
    """Return calls individually if they are few, else grouped by name."""
    if len(calls) <= MAX_LISTED_CALLS:
        return tuple({"name": call.name, "ms": call.ms, "ok": call.ok, "wrote": call.wrote} for call in calls)
    together: dict[str, dict[str, Any]] = {}
    for call in calls:
        row = together.setdefault(call.name, {"name": call.name, "ms": 0.0, "ok": True, "wrote": 0, "times": 0})
        row["ms"] = round(row["ms"] + call.ms, 3)
        row["ok"] = row["ok"] and call.ok
        row["wrote"] += call.wrote
        row["times"] += 1
    return tuple(together.values())


def describe_result(ending: RunOutcome) -> str:
    """Return the structure of the result, "" if there is none."""
    return ending.shape if ending.result not in (b"", b"null") else ""


def _keep_tail(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"… {len(text) - limit:,} characters before\n{text[-limit:]}"
