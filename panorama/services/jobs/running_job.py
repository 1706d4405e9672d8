"""A job running in this process: its thread reports progress, other threads read it and may stop it."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from panorama.domain.jobs import Job, JobKind
from panorama.services.jobs.progress import StoppedError
from panorama.store.backend import Session
from panorama.store.log import jobs as rows

StopReason = Literal["", "cancelled", "leaving", "lost"]
"""Why a job must stop: it was cancelled, this process shuts down, or another process took it over."""

MAX_INT64 = (1 << 63) - 1


class RunningJob:
    """A job running here. Thread-safe.

    `job` is the current state; `write` updates the row a few times a second. The lock is never held while waiting for
    the database: writers open the transaction first.
    """

    def __init__(
        self,
        job: Job,
        kind: JobKind,
        now: Callable[[], datetime],
        writing: Callable[[], AbstractContextManager[Session]],
        read_clock: Callable[[Session], datetime],
    ) -> None:
        self.kind = kind
        self.job = self._stored = self._begun = job
        self._now = now
        self._writing = writing
        self._read_clock = read_clock
        self._lock = threading.Lock()
        self._why: StopReason = ""
        self._has_ended = False

    @property
    def stop_reason(self) -> StopReason:
        """Why it must stop; "" if it need not."""
        return self._why

    @property
    def is_waited_for(self) -> bool:
        """Whether a caller waits for it; a process that shuts down lets it finish first."""
        return self.job.is_told

    def stop(self, why: StopReason) -> None:
        """Stop it before its next step; the first reason is kept."""
        if why != "leaving" or not self.is_waited_for:
            self._why = self._why or why

    def detach(self) -> None:
        """Continue it as a background job."""
        with self._lock:
            self.job = replace(self.job, is_told=False)

    # For the job's own thread.

    def report_progress(self, current: int, total: int, message: str) -> None:
        """Report progress.

        Raises:
            StoppedError: The job must stop.
        """
        if self._why:
            raise StoppedError
        self.record_progress(current, total, message)

    def record_progress(self, current: int, total: int, message: str) -> None:
        """Record progress without checking for a stop."""
        with self._lock:
            far = min(max(current, 0), MAX_INT64), min(max(total, 0), MAX_INT64)
            self.job = self.job.with_progress(*far, message, self._now())

    def should_stop(self) -> bool:
        """Return whether it must stop."""
        return bool(self._why)

    def load_checkpoint(self) -> Mapping[str, Any]:
        """Return its checkpoint."""
        return self.job.checkpoint

    def save_checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        """Store its checkpoint, in the open transaction or a new one."""
        with self._writing() as session:
            with self._lock:
                self.job = replace(self.job, checkpoint=dict(checkpoint))
            self.flush(session, self._read_clock(session))

    # For other threads.

    @property
    def has_unsaved_progress(self) -> bool:
        """Whether its row is behind its progress."""
        known, now = self._stored, self.job
        return (known.current, known.total, known.message) != (now.current, now.total, now.message)

    def flush(self, session: Session, now: datetime) -> None:
        """Write its progress and heartbeat to its row.

        Args:
            now: By the clock of all daemons.

        Raises:
            ConflictError: Another process has taken it over.
        """
        with self._lock:
            if not self._has_ended:
                self.job = replace(self.job, heartbeat=now)
                rows.save(session, self._stored, self.job)
                self._stored = self.job

    def finish(self, session: Session, ended: Job) -> None:
        """Write its end, or put it back into the queue.

        Raises:
            ConflictError: Another process has taken it over.
        """
        with self._lock:
            rows.save(session, self._begun, ended)  # a later write of progress may have been rolled back
            self.job = self._stored = ended
            self._has_ended = True
