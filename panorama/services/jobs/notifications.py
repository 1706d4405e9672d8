"""Tells a conversation once about each of its jobs that finished in the background."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress
from datetime import datetime, timedelta

from panorama.domain.jobs import Job
from panorama.errors import PanoramaError
from panorama.store.backend import Session
from panorama.store.log import jobs as rows

MAX_MESSAGE_CHARS = 200
"""The maximum length of one job's outcome; longer ones are cut."""

ORPHAN_AGE = timedelta(minutes=5)
"""After this time any conversation of the same client is notified, because the requesting one may be over."""

MAX_SEEN = 1000
"""The maximum number of jobs recorded as seen."""


class JobNotifications:
    """Finished jobs that were not reported to their requesters yet. Thread-safe."""

    def __init__(self, writing: Callable[[], AbstractContextManager[Session]], now: Callable[[], datetime]) -> None:
        self._writing = writing
        self._now = now
        self._lock = threading.Lock()
        self._unreported: dict[str, dict[str, Job]] = {}
        self._seen: OrderedDict[str, None] = OrderedDict()

    def add(self, job: Job) -> None:
        """Add an ended job, unless its end was already seen."""
        with self._lock:
            if job.asker.conversation and not job.is_told and job.id not in self._seen:
                self._unreported.setdefault(job.asker.conversation, {})[job.id] = job

    def pop(self, conversation: str, client: str, seen: Collection[str]) -> str:
        """Return the pending notifications of a conversation, without jobs that the current answer shows.

        Args:
            client: The name of the client, which is also notified of jobs from its earlier conversations.
        """
        with self._lock:
            for id_ in seen:  # its end may be stored but not added here yet
                self._seen[id_] = None
                if len(self._seen) > MAX_SEEN:
                    self._seen.popitem(last=False)
            ended = self._unreported.pop(conversation, {}) | self._pop_orphaned(client) if self._unreported else {}
        if not ended:
            return ""
        new = self._mark_reported(list(ended))
        return " ".join(_format_notification(job) for id_, job in ended.items() if id_ in new and id_ not in seen)

    def _pop_orphaned(self, client: str) -> dict[str, Job]:
        """Remove and return a client's jobs that ended more than `ORPHAN_AGE` ago."""
        before = self._now() - ORPHAN_AGE
        orphaned: dict[str, Job] = {}
        for conversation in tuple(self._unreported):
            jobs = self._unreported.get(conversation, {})
            old = {id_: job for id_, job in jobs.items() if _is_orphan_of(job, client, before)}
            orphaned |= old
            if len(old) == len(jobs):
                self._unreported.pop(conversation, None)
            else:
                self._unreported[conversation] = {id_: job for id_, job in jobs.items() if id_ not in old}
        return orphaned

    def discard(self, job: Job) -> None:
        """Record that the requester of a job knows of its end."""
        with self._lock:
            self._unreported.get(job.asker.conversation, {}).pop(job.id, None)
        self._mark_reported([job.id])

    def _mark_reported(self, ids: list[str]) -> Collection[str]:
        """Mark jobs as reported, and return those that were not yet; all if the database is locked."""
        with suppress(PanoramaError), self._writing() as session:
            return rows.mark_reported(session, ids)
        return ids  # not stored: they are reported again after a restart


def _is_orphan_of(job: Job, client: str, before: datetime) -> bool:
    return job.asker.client == client and job.ended_at is not None and job.ended_at < before


def _format_notification(job: Job) -> str:
    ending = {"succeeded": "is done", "failed": "failed", "cancelled": "was cancelled"}.get(
        job.state, "was interrupted"
    )
    outcome = str(job.error.get("message") or job.summary)
    outcome = f"{outcome[: MAX_MESSAGE_CHARS - 1]}…" if len(outcome) > MAX_MESSAGE_CHARS else outcome
    return f"Your job {job.id} ({job.kind}) {ending}{f': {outcome}' if outcome else ''} (get_job shows it)."
