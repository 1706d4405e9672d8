"""Remarks: what a conversation is told, once, of those of its jobs that ended while it did something else."""

from collections import OrderedDict
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress

from panorama.domain.jobs import Job
from panorama.errors import PanoramaError
from panorama.store import jobs as rows
from panorama.store.engine import Session

SEEN = 1000
"""Jobs of which it is remembered that somebody saw their end."""


class Remarks:
    """The ends of jobs that those who asked for them have not been told of. Safe to use from several threads."""

    def __init__(self, writing: Callable[[], AbstractContextManager[Session]]) -> None:
        self._writing = writing
        self._untold: dict[str, dict[str, Job]] = {}
        self._seen: OrderedDict[str, None] = OrderedDict()

    def remember(self, job: Job) -> None:
        """Take a job that has ended, to be told of if nobody saw its end yet."""
        if job.asker.conversation and not job.is_told and job.id not in self._seen:
            self._untold.setdefault(job.asker.conversation, {})[job.id] = job

    def take(self, conversation: str, seen: Collection[str]) -> str:
        """Return what a conversation is told, once, of its jobs that have ended; not of those that it sees anyway."""
        for id_ in seen:  # its end may be in the row, and not yet here
            self._seen[id_] = None
            if len(self._seen) > SEEN:
                self._seen.popitem(last=False)
        if conversation not in self._untold:
            return ""
        ended = self._untold.pop(conversation, {})
        self._keep(list(ended))
        return " ".join(_remark(job) for id_, job in ended.items() if id_ not in seen)

    def drop(self, job: Job) -> None:
        """Remember that whoever asked for a job knows of its end."""
        self._untold.get(job.asker.conversation, {}).pop(job.id, None)
        self._keep([job.id])

    def _keep(self, ids: list[str]) -> None:
        with suppress(PanoramaError), self._writing() as session:  # else they are told once more after a restart
            rows.tell(session, ids)


def _remark(job: Job) -> str:
    became = {"succeeded": "is done", "failed": "failed", "cancelled": "was cancelled"}.get(
        job.state, "was interrupted"
    )
    said = job.summary or str(job.error.get("message", ""))
    return f"Your job {job.id} ({job.kind}) {became}{f': {said}' if said else ''} (get_job shows it)."
