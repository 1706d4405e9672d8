"""Results of job operations."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Self

from panorama.domain.jobs import Job, JobRate


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A background job: its progress, and at the end its result.

    `current` of `total` steps are done at `rate` a second; about `seconds_left` remain. A large result is in the file
    `result_file`. `undo` is the unit of its changes, if any.
    """

    id: str
    kind: str
    state: str
    current: int
    total: int
    message: str
    rate: float | None
    seconds_left: int | None
    summary: str
    error: Mapping[str, Any] | None
    result: Any
    result_file: str | None
    arguments: Mapping[str, Any]
    client: str
    attempts: int
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    is_stopping: bool
    undo: str | None

    BRIEF: ClassVar = (
        *("id", "kind", "state", "current", "total", "message", "rate", "seconds_left", "summary", "error"),
        *("created_at", "ended_at"),
    )
    EXACT: ClassVar = ("result",)

    @classmethod
    def of(cls, job: Job, now: datetime, *, wrote: bool = False) -> Self:
        """Return the view of a job at a time; `wrote` says whether there is anything to undo."""
        pace = JobRate.of(job, now)
        same = {
            name: getattr(job, name)
            for name in (
                *("id", "kind", "state", "current", "total", "message", "result", "result_file"),
                *("attempts", "created_at", "started_at", "ended_at", "is_stopping"),
            )
        }
        return cls(
            **same,
            summary=_shorten(job.summary),
            rate=pace.rate and round(pace.rate, 1),
            seconds_left=None if pace.left is None else round(pace.left),
            error={name: _shorten(value) for name, value in job.error.items()} or None,
            arguments={name: _truncate(value) for name, value in job.arguments.items()},
            client=job.asker.client,
            undo=job.unit if wrote else None,
        )

    def shorten(self) -> Self:
        """Return a shorter copy for lists."""
        error = {name: _shorten(value, LINE_CHARS) for name, value in (self.error or {}).items()}
        return replace(self, summary=_shorten(self.summary, LINE_CHARS), error=error or None)

    def summarize(self) -> str:
        """Return a one-line summary."""
        message = str(self.error.get("message", "")) if self.error else ""
        is_over = self.state not in ("queued", "running")
        text = " ".join(filter(None, (message, self.summary))) if is_over else self.describe_progress()
        return f"Job {self.id} ({self.kind}) {self.state}{f': {text}' if text else ''}"

    def describe_progress(self) -> str:
        """Describe how far it is in one line."""
        if self.state == "queued":
            return "It is queued."
        steps = (
            f"{self.current:,} of {self.total:,}" if self.total else f"{self.current:,}" if self.current else "begun"
        )
        rate = f", {self.rate:g} a second" if self.rate else ""
        left = f", about {self.seconds_left} s left" if self.seconds_left is not None else ""
        stopping = "; it was cancelled, and stops at its next step" if self.is_stopping else ""
        return f"{steps}{rate}{left}{f': {self.message}' if self.message else ''}{stopping}"


ARGUMENT_CHARS = LINE_CHARS = 200
MAX_TEXT_CHARS = 2_000
"""The longest result text of a job."""


def _shorten(value: Any, chars: int = MAX_TEXT_CHARS) -> Any:
    return f"{value[: chars - 1]}…" if isinstance(value, str) and len(value) > chars else value


def _truncate(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return value if len(text) <= ARGUMENT_CHARS else f"{text[:ARGUMENT_CHARS]}… ({len(text):,} characters)"
