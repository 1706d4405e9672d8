"""Jobs: background work, its states and transitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from panorama.errors import ConflictError

State = Literal["queued", "running", "succeeded", "failed", "cancelled", "interrupted"]

TRANSITIONS: Mapping[State, frozenset[State]] = {
    "queued": frozenset(("running", "cancelled")),
    "running": frozenset(("queued", "succeeded", "failed", "cancelled", "interrupted")),
    "succeeded": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
    "interrupted": frozenset(),
}
"""The allowed state transitions. Ended jobs do not change; a running job can go back to the queue."""

FINAL_STATES: frozenset[State] = frozenset(state for state, after in TRANSITIONS.items() if not after)

MAX_FUTILE_ATTEMPTS = 10
"""How many workers in a row may die without progress before the job fails."""

LEASE = timedelta(seconds=6)
"""A worker without a heartbeat for this long loses its job, if all daemons run on one machine."""

JOB_ID_LETTER = "w"
"""The prefix of job ids ("w" for work)."""

MESSAGE_CHARS = 300

CALL_ARGUMENTS = frozenset(("background", "idempotency_key", "confirm"))
"""Arguments about how an operation is called, which a job does not take."""


PoolName = Literal["scripts", "maintenance", "undo"]


@dataclass(frozen=True, slots=True)
class JobPool:
    """Limits on how many jobs of some kinds run at a time in one process, and for one client."""

    places: int
    places_per_client: int


POOLS: Mapping[PoolName, JobPool] = {
    "scripts": JobPool(places=4, places_per_client=2),
    "maintenance": JobPool(places=2, places_per_client=2),
    "undo": JobPool(places=1, places_per_client=1),
}
"""The pools. Sleeping scripts do not block backups, and one client does not block another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """A kind of job: an operation that can run in the background.

    A `resumable` job continues where it stopped; any other whose process ended is `interrupted`. At most one job of an
    `alone` kind runs at a time. A `standing` job runs as long as the daemon does, without being requested. A `whole`
    job leaves nothing behind unless it succeeds. A `local` job needs files of the machine on which it was requested.
    Each runs within the limits of its `pool`.
    """

    name: str
    pool: PoolName = "maintenance"
    resumable: bool = False
    whole: bool = False
    alone: bool = False
    standing: bool = False
    local: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """Who requested a job; `conversation` is notified when it ends."""

    actor: str = "python"
    client: str = "python"
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One stored job.

    `current` of `total` steps are done (`total` is 0 if unknown); `message` is the current step. `summary`, `result`
    (plain data, bounded) or `result_file` (a file's id) and `error` describe the outcome. `checkpoint` is what a
    resumed run needs. `attempts` counts the starts, `futile` how many workers in a row died without progress beyond
    `reached`. `unit` undoes its changes. `worker` runs it and last reported at `heartbeat`. `is_stopping` means that
    it was cancelled. `is_told` means that the requester knows of its end or waits for it; such a job is not restarted
    when its process dies. `machine` is the machine that must run it, "" for any.
    """

    id: str
    kind: str
    arguments: Mapping[str, Any]
    asker: Requester
    created_at: datetime
    unit: str
    state: State = "queued"
    current: int = 0
    total: int = 0
    message: str = ""
    summary: str = ""
    result: Any = None
    result_file: str | None = None
    error: Mapping[str, Any] = field(default_factory=dict[str, Any])
    checkpoint: Mapping[str, Any] = field(default_factory=dict[str, Any])
    attempts: int = 0
    futile: int = 0
    reached: int = 0
    worker: str = ""
    heartbeat: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    is_stopping: bool = False
    is_told: bool = False
    machine: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended."""
        return self.state in FINAL_STATES

    def start(self, worker: str, now: datetime) -> "Job":
        """Return the job as started or restarted by a worker."""
        return self._with_state(
            "running", worker=worker, heartbeat=now, started_at=now, attempts=self.attempts + 1, reached=self.current
        )  # fmt: skip

    def with_progress(self, current: int, total: int, message: str, now: datetime) -> "Job":
        """Return the running job with new progress."""
        return replace(self, current=current, total=total, message=message[:MESSAGE_CHARS], heartbeat=now)

    def finish(self, state: State, now: datetime, **outcome: Any) -> "Job":
        """Return the ended job; `outcome` has its summary, result or error."""
        done = self.total if state == "succeeded" and self.total else self.current
        return self._with_state(
            state, ended_at=now, worker="", heartbeat=None, is_stopping=False, current=done, **outcome
        )  # fmt: skip

    def requeue(self) -> "Job":
        """Return the running job put back into the queue."""
        return self._with_state("queued", worker="", heartbeat=None)

    def cancel(self, now: datetime) -> "Job":
        """Return the cancelled job; a running one ends at its next step.

        Raises:
            ConflictError: It has ended.
        """
        if self.has_ended:
            raise ConflictError(
                f"The job {self.id} has {STATE_PHRASES[self.state]} already; nothing was changed.",
                hint=f"Call get_job for {self.id} to see its result.",
            )
        if self.state == "queued":
            return self.finish(
                "cancelled",
                now,
                summary="Cancelled before it started." if not self.attempts else describe_progress(self),
            )
        return replace(self, is_stopping=True)

    def recover(self, kind: JobKind | None, now: datetime, wrote: int = 0) -> "Job":
        """Return the job whose worker died: queued again if it can resume, else ended.

        Args:
            wrote: The number of changes it had made.
        """
        known = describe_progress(self, kind) + (f" It had made {wrote:,} changes, which remain." if wrote else "")
        if self.is_stopping:
            return self.finish("cancelled", now, summary=f"Cancelled; Panorama ended before it stopped. {known}")
        if kind is None or self.is_told or not (kind.resumable or kind.standing):
            error = {"code": "interrupted", "message": f"Panorama ended while it ran. {known}"}
            back = f"See what it did with history, or undo {self.unit}; then request it again."
            return self.finish("interrupted", now, error=error | {"hint": back if wrote else "Request it again."})
        futile = 0 if self.current > self.reached else self.futile + 1
        if futile >= MAX_FUTILE_ATTEMPTS and not kind.standing:
            error = {
                "code": "interrupted",
                "message": f"It was started {self.attempts} times and made no progress. {known}",
            }
            return self.finish("interrupted", now, error=error | {"hint": "See `panorama daemon logs` for the reason."})
        return replace(self, futile=futile).requeue()

    def is_stale(self, now: datetime, lease: timedelta) -> bool:
        """Return whether its worker's heartbeat is too old, or lies in the future after a clock change."""
        return self.heartbeat is None or not -lease <= now - self.heartbeat <= lease

    def _with_state(self, state: State, **more: Any) -> "Job":
        if state not in TRANSITIONS[self.state]:
            raise ConflictError(f"The job {self.id} is {self.state}, and cannot become {state}.")
        return replace(self, state=state, **more)


STATE_PHRASES: Mapping[State, str] = {
    "queued": "not begun",
    "running": "begun",
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "been cancelled",
    "interrupted": "been interrupted",
}
"""Past participles for messages: the job has …"""


def describe_progress(job: Job, kind: JobKind | None = None) -> str:
    """Return the progress of a job as a sentence."""
    if not job.current and not job.message:
        return "It had reported no progress."
    of = f" of {job.total:,}" if job.total else ""
    at = f" ({job.message})" if job.message else ""
    remains = "nothing of it remains" if kind and kind.whole else "finished steps remain"
    return f"It had done {job.current:,}{of}{at}; {remains}."


@dataclass(frozen=True, slots=True)
class JobRate:
    """The speed of a job: steps a second since its last start, and the seconds left; None if unknown."""

    rate: float | None
    left: float | None

    @classmethod
    def of(cls, job: Job, now: datetime) -> "JobRate":
        """Return the pace of a running job."""
        passed = (now - job.started_at).total_seconds() if job.started_at else 0.0
        done = job.current - job.reached
        if job.state != "running" or passed <= 0 or done <= 0:
            return cls(None, None)
        rate = done / passed
        return cls(rate, max(0, job.total - job.current) / rate if job.total else None)
