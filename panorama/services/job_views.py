"""Views of jobs: how far one is, and what came of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self

from panorama.domain.jobs import Job, Pace


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A background job: how far it is, and at its end what came of it.

    `current` of `total` steps are done, `rate` a second, `seconds_left` are about left. A result that is large is the
    file `result_file`. `undo` takes back what it wrote.
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
    undo: str

    BRIEF: ClassVar = (
        *("id", "kind", "state", "current", "total", "message", "rate", "seconds_left", "summary", "error"),
        *("created_at", "ended_at"),
    )
    EXACT: ClassVar = ("result",)

    @classmethod
    def of(cls, job: Job, now: datetime) -> Self:
        """Show a job as it is at a moment."""
        pace = Pace.of(job, now)
        same = {
            name: getattr(job, name)
            for name in (
                *("id", "kind", "state", "current", "total", "message", "summary", "result", "result_file"),
                *("attempts", "created_at", "started_at", "ended_at", "is_stopping"),
            )
        }
        return cls(
            **same,
            rate=pace.rate and round(pace.rate, 1),
            seconds_left=None if pace.left is None else round(pace.left),
            error=job.error or None,
            arguments={name: _cut(value) for name, value in job.arguments.items()},
            client=job.asker.client,
            undo=job.unit,
        )


ARGUMENT_CHARS = 200


def _cut(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return value if len(text) <= ARGUMENT_CHARS else f"{text[:ARGUMENT_CHARS]}… ({len(text):,} characters)"
