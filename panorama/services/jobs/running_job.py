"""A job that runs in this process: its thread tells how far it is, all others ask, and may stop it."""

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
"""Why a job is to stop: a person wants it, this process leaves, or another process has taken it over."""

MAX_INT64 = (1 << 63) - 1


class RunningJob:
    """A job that runs here. Safe to use from several threads.

    `job` is how it is now; the row follows by `write`, which is called a few times a second. Nobody waits for the
    database while holding the lock: who writes has the transaction first.
    """

    def __init__(
        self,
        job: Job,
        kind: JobKind,
        now: Callable[[], datetime],
        writing: Callable[[], AbstractContextManager[Session]],
    ) -> None:
        self.kind = kind
        self.job = self._stored = self._begun = job
        self._now = now
        self._writing = writing
        self._lock = threading.Lock()
        self._why: StopReason = ""
        self._has_ended = False

    @property
    def stop_reason(self) -> StopReason:
        """Why it is to stop; "" if it is not."""
        return self._why

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody waits for the call that it is: a process that leaves lets that end first."""
        return self.job.is_told

    def stop(self, why: StopReason) -> None:
        """Let it end before its next step; the first reason stands."""
        if why != "leaving" or not self.is_waited_for:
            self._why = self._why or why

    def detach(self) -> None:
        """Let it go on as a job that nobody waits for."""
        with self._lock:
            self.job = replace(self.job, is_told=False)

    # What the job's own thread uses.

    def report_progress(self, current: int, total: int, message: str) -> None:
        """Take how far it is.

        Raises:
            StoppedError: It is to stop.
        """
        if self._why:
            raise StoppedError
        self.record_progress(current, total, message)

    def record_progress(self, current: int, total: int, message: str) -> None:
        """Take how far it is, also if it is to stop."""
        with self._lock:
            far = min(max(current, 0), MAX_INT64), min(max(total, 0), MAX_INT64)
            self.job = self.job.with_progress(*far, message, self._now())

    def should_stop(self) -> bool:
        """Return whether it is to stop."""
        return bool(self._why)

    def load_checkpoint(self) -> Mapping[str, Any]:
        """Return what it kept to go on from."""
        return self.job.checkpoint

    def save_checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        """Keep what it needs to go on, in the transaction that is open or in one of its own."""
        with self._writing() as session:
            with self._lock:
                self.job = replace(self.job, checkpoint=dict(checkpoint))
            self.flush(session)

    # What others use.

    @property
    def has_unsaved_progress(self) -> bool:
        """Whether its row does not tell yet how far it is."""
        known, now = self._stored, self.job
        return (known.current, known.total, known.message) != (now.current, now.total, now.message)

    def flush(self, session: Session) -> None:
        """Bring its row up to what is known, and say that it is alive.

        Raises:
            ConflictError: Another process has taken it over.
        """
        with self._lock:
            if not self._has_ended:
                self.job = replace(self.job, heartbeat=self._now())
                rows.save(session, self._stored, self.job)
                self._stored = self.job

    def finish(self, session: Session, ended: Job) -> None:
        """Write its end, or that it waits again.

        Raises:
            ConflictError: Another process has taken it over.
        """
        with self._lock:
            rows.save(session, self._begun, ended)  # what a write since then told may have been rolled back
            self.job = self._stored = ended
            self._has_ended = True
