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
"""Which state may follow which; what has ended stays as it is. A job that is begun is put back to be begun again."""

FINAL_STATES: frozenset[State] = frozenset(state for state, after in TRANSITIONS.items() if not after)

MAX_FUTILE_ATTEMPTS = 10
"""How often in a row the worker of a job may die before it came further than the one before; then it is given up."""

LEASE = timedelta(seconds=6)
"""Who runs a job and has not been heard of for so long has lost it."""

JOB_ID_LETTER = "w"
"""With what a job's id begins: work."""

MESSAGE_CHARS = 300

CALL_ARGUMENTS = frozenset(("background", "idempotency_key", "confirm"))
"""Arguments that tell how an operation is called, and are none of a job's."""


PoolName = Literal["scripts", "maintenance", "undo"]


@dataclass(frozen=True, slots=True)
class JobPool:
    """Places for the jobs of some kinds: how many run at a time in one process, and how many of one client."""

    places: int
    places_per_client: int


POOLS: Mapping[PoolName, JobPool] = {
    "scripts": JobPool(places=4, places_per_client=2),
    "maintenance": JobPool(places=2, places_per_client=2),
    "undo": JobPool(places=1, places_per_client=1),
}
"""The pools. Scripts that sleep for an hour keep no backup waiting, and those of one client no other client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """A kind of job: an operation that may run without anybody waiting.

    A `resumable` one goes on where it was when it is begun again; any other that its process did not finish is
    `interrupted`. Of one that is `alone` one runs at a time. A `standing` one runs as long as there is somebody to run
    it, and nobody asks for it. One that is `whole` leaves nothing unless it succeeds. It runs in a place of its `pool`.
    """

    name: str
    pool: PoolName = "maintenance"
    resumable: bool = False
    whole: bool = False
    alone: bool = False
    standing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """Who requested a job; `conversation` is notified when it ends."""

    actor: str = "python"
    client: str = "python"
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job as it is kept.

    `current` of `total` steps are done (0 if it is not known how many), `message` tells what it is at. `summary`,
    `result` (plain data, bounded) or `result_file` (the id of a file) and `error` tell how it ended. `checkpoint` is
    what it needs to go on. `attempts` counts how often it was begun, `futile` how often in a row its worker died and it
    had come no further than `reached`, where that one began. `unit` is what an undo of its changes takes. `worker` runs
    it, and was last heard of at `heartbeat`.
    `is_stopping` says that somebody cancelled it; `is_told` that whoever asked knows of its end, or waits for it: then
    it is not begun again when its process dies.
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

    @property
    def has_ended(self) -> bool:
        """Whether nothing will happen to it any more."""
        return self.state in FINAL_STATES

    def start(self, worker: str, now: datetime) -> "Job":
        """Return the job as somebody begins to run it, or begins again."""
        return self._with_state(
            "running", worker=worker, heartbeat=now, started_at=now, attempts=self.attempts + 1, reached=self.current
        )  # fmt: skip

    def with_progress(self, current: int, total: int, message: str, now: datetime) -> "Job":
        """Return the job that runs, further on."""
        return replace(self, current=current, total=total, message=message[:MESSAGE_CHARS], heartbeat=now)

    def finish(self, state: State, now: datetime, **outcome: Any) -> "Job":
        """Return the job at its end; `told` is what is known of that: summary, result, error."""
        done = self.total if state == "succeeded" and self.total else self.current
        return self._with_state(
            state, ended_at=now, worker="", heartbeat=None, is_stopping=False, current=done, **outcome
        )  # fmt: skip

    def requeue(self) -> "Job":
        """Return the job that runs as it waits for somebody to begin it again."""
        return self._with_state("queued", worker="", heartbeat=None)

    def cancel(self, now: datetime) -> "Job":
        """Return the job after somebody cancelled it: one that runs ends at its next step.

        Raises:
            ConflictError: It has ended.
        """
        if self.has_ended:
            raise ConflictError(
                f"The job {self.id} has {STATE_PHRASES[self.state]} already; nothing was changed.",
                hint=f"get_job shows what became of {self.id}.",
            )
        if self.state == "queued":
            return self.finish(
                "cancelled", now, summary="Cancelled before it began." if not self.attempts else describe_progress(self)
            )
        return replace(self, is_stopping=True)

    def recover(self, kind: JobKind | None, now: datetime, wrote: int = 0) -> "Job":
        """Return the job whose worker is gone: put back if it can go on, else at its end, with what is known.

        Args:
            wrote: How many changes it had made.
        """
        known = describe_progress(self, kind) + (f" It had made {wrote:,} changes, which stand." if wrote else "")
        if self.is_stopping:
            return self.finish("cancelled", now, summary=f"Cancelled; Panorama ended before it stopped. {known}")
        if kind is None or self.is_told or not (kind.resumable or kind.standing):
            error = {"code": "interrupted", "message": f"Panorama ended while it ran. {known}"}
            back = f"Look what it did with history, or take it back with undo {self.unit}; then ask again."
            return self.finish("interrupted", now, error=error | {"hint": back if wrote else "Ask for it again."})
        futile = 0 if self.current > self.reached else self.futile + 1
        if futile >= MAX_FUTILE_ATTEMPTS and not kind.standing:
            error = {
                "code": "interrupted",
                "message": f"It was begun {self.attempts} times and came no further. {known}",
            }
            return self.finish("interrupted", now, error=error | {"hint": "`panorama daemon logs` may tell why."})
        return replace(self, futile=futile).requeue()

    def is_stale(self, now: datetime) -> bool:
        """Tell whether nobody has heard of its worker for too long; a clock may have been set back."""
        return self.heartbeat is None or not -LEASE <= now - self.heartbeat <= LEASE

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
"""How a person says what became of a job: it has …"""


def describe_progress(job: Job, kind: JobKind | None = None) -> str:
    """Return how far a job of a kind came, as a sentence."""
    if not job.current and not job.message:
        return "It had told of no step."
    of = f" of {job.total:,}" if job.total else ""
    at = f" ({job.message})" if job.message else ""
    remains = "nothing of it is left" if kind and kind.whole else "what it finished stands"
    return f"It came to {job.current:,}{of}{at}; {remains}."


@dataclass(frozen=True, slots=True)
class JobRate:
    """How fast a job is: steps a second since it was begun the last time, and the seconds left; None if unknown."""

    rate: float | None
    left: float | None

    @classmethod
    def of(cls, job: Job, now: datetime) -> "JobRate":
        """Return the pace of a job that runs."""
        passed = (now - job.started_at).total_seconds() if job.started_at else 0.0
        done = job.current - job.reached
        if job.state != "running" or passed <= 0 or done <= 0:
            return cls(None, None)
        rate = done / passed
        return cls(rate, max(0, job.total - job.current) / rate if job.total else None)
