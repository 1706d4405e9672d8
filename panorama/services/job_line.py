"""The line of jobs: the rows that wait and run, and what whoever runs them does with them."""

import logging
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from panorama.domain.changes import Origin
from panorama.domain.jobs import LETTER, Asker, Job, Kind
from panorama.errors import ConflictError, NotFoundError, PanoramaError
from panorama.services.base import Desk, Service
from panorama.services.offers import Offers
from panorama.services.progress import Progress, silent
from panorama.services.remarks import Remarks
from panorama.services.running import Running
from panorama.services.runs_left import LeftRuns
from panorama.services.workers import Worker
from panorama.store import changes, schedules
from panorama.store import jobs as rows
from panorama.store.engine import Session
from panorama.store.hearing import Ears

SCHEDULE_ACTOR = "schedule"
PROBLEM_CHARS = 300
REMEMBERED = timedelta(days=1)
"""How long somebody is told, at their next call, of a job that ended meanwhile."""

QUEUE = Origin(actor="queue", client="", conversation="", operation="", call="", unit="")
"""Who writes the rows of jobs; it leaves no line in `changes`."""

_log = logging.getLogger(__name__)


class JobLine(Service):
    """Jobs that wait and run, as those see them who run them. Safe to use from several threads."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.remarks = Remarks(self._keeping, self._now)
        self._worker = Worker.here()
        self.left_runs = LeftRuns(desk, self._worker)
        self.offers = Offers()
        self._running: dict[str, Running] = {}
        self._wakers: dict[object, Callable[[], None]] = {}
        self._ears = Ears[str]()
        self._changed = threading.Condition()
        self.is_leaving = False

    # What is asked of any job.

    def kinds(self) -> Collection[str]:
        """Return the names of the kinds that can be asked for."""
        return self.offers.kinds()

    def loaded(self, id_: str) -> Job:
        """Return a job as it is now.

        Raises:
            NotFoundError: There is no such job.
        """
        with self._reading() as session:
            return self._now_of(self._found(session, id_))

    def tell(self, ear: Callable[[str], None]) -> Callable[[], None]:
        """Tell somebody the id of every job that moves; return how to stop that. It must be quick."""
        return self._ears.add(ear)

    # What whoever runs jobs does.

    @property
    def is_attended(self) -> bool:
        """Whether anybody runs jobs in this process."""
        return bool(self._wakers) and not self.is_leaving

    @property
    def is_busy(self) -> bool:
        """Whether a job runs here that does not stand."""
        return any(not each.kind.standing for each in tuple(self._running.values()))

    @property
    def running(self) -> Sequence[Running]:
        """The jobs that run here."""
        return tuple(self._running.values())

    @contextmanager
    def attended(self, wake: Callable[[], None]) -> Generator[None]:
        """Run jobs as long as this is open; `wake` is called whenever there may be one."""
        key = object()
        with suppress(PanoramaError), self._reading() as session:
            for job in rows.untold(session, self._now() - REMEMBERED):
                self.remarks.remember(job)
        self._wakers[key] = wake
        try:
            yield
        finally:
            self._wakers.pop(key)

    def turn(self, done: tuple[Running, Job] | None = None, *, goes_on: bool = True) -> Running | None:
        """Write the end of one job and begin the one that waits longest, in one transaction; None if none waits.

        Raises:
            UnavailableError: The store cannot be written; nothing has moved.
        """
        with self._keeping() as session:
            if done:
                self._end(session, *done)
            begun = self._next(session) if goes_on and not self.is_leaving else None
        if done:
            self._ended(*done)
        if begun is None:
            return None
        running = self._runs(begun)
        self._tell(begun)
        return running

    def _next(self, session: Session) -> Job | None:
        old = rows.next_queued(session, self.kinds(), self._occupied(session))
        if old is None:
            return None
        new = old.begun(self._worker.name, self._now())
        rows.save(session, old, new)
        return new

    def _end(self, session: Session, running: Running, ended: Job) -> None:
        try:
            running.end(session, ended)
            _tell_schedule(session, ended)
        except ConflictError:
            _log.warning("the job %s was taken over by another process; what it did here stands", ended.id)
            running.stop("lost")

    def _ended(self, running: Running, ended: Job) -> None:
        if ended.has_ended and running.why != "lost":
            self.remarks.remember(ended)
        self._running.pop(ended.id, None)
        if running.why != "lost":
            self._tell(ended)

    def beat(self) -> None:
        """Say that the jobs that run here are alive, tell how far they are, and hear which were cancelled elsewhere.

        Raises:
            UnavailableError: The store cannot be written.
        """
        mine = [each for each in self.running if not each.kind.standing]
        with self._keeping() as session:
            for each in mine:
                try:
                    each.write(session)
                except ConflictError:
                    each.stop("lost")
            cancelled = rows.stopping(session, [each.job.id for each in mine])
        for each in mine:
            if each.job.id in cancelled:
                each.stop("cancelled")
            self._tell(each.job)

    def waits(self) -> bool:
        """Tell whether a job waits that could be begun."""
        if self.is_leaving:
            return False
        with self._reading() as session:
            return rows.next_queued(session, self.kinds(), self._occupied(session)) is not None

    def _occupied(self, session: Session) -> Collection[str]:
        """Return the kinds of which one runs at a time, and does."""
        return rows.kinds_running(session) & set(self.offers.alone)

    def pick_up(self) -> None:
        """Take jobs from workers that are gone, to be begun again, or ended with what is known.

        Before them the runs of scripts, for a job tells what stands of its run.
        """
        self.left_runs.pick_up()
        with self._reading() as session:
            gone = [job for job in rows.running(session) if self._is_left(job)]
        for old in gone:
            with self._reading() as session:
                wrote = sum(changes.actions_of_unit(session, old.unit).values())
            new = old.abandoned(self._kind_of(old, wrote), self._now(), wrote)
            with suppress(ConflictError):  # another process was faster
                with self._keeping() as session:
                    rows.save(session, old, new)
                    _tell_schedule(session, new)
                _log.warning("the job %s (%s) was left by its process; it is %s", old.id, old.kind, new.state)
                if new.has_ended:
                    self.remarks.remember(new)
                self._tell(new)

    def _kind_of(self, job: Job, wrote: int) -> Kind | None:
        """Return a job's kind; a script that was taken back, or tried out, leaves nothing of what it had done."""
        kind, wish = self.offers.kind(job.kind), job.arguments
        is_whole = not wrote and bool(wish.get("atomic") or wish.get("dry_run"))
        return replace(kind, whole=True) if kind and is_whole else kind

    def leave(self) -> None:
        """Begin no more jobs, and let those that can go on later end at their next step: the process will end."""
        self.is_leaving = True
        for each in self.running:
            if each.kind.resumable:
                each.stop("leaving")
        with self._changed:
            self._changed.notify_all()

    def forget(self, age: timedelta) -> None:
        """Delete jobs that ended longer ago."""
        with self._keeping() as session:
            rows.forget(session, self._now() - age)

    @contextmanager
    def standing(self, kind: str) -> Generator[Progress]:
        """Be the standing job of a kind as long as this is open; yields where to tell how far it is.

        If another process is it already, or the store cannot be written, what is told is dropped.
        """
        running = None
        with suppress(PanoramaError):
            running = self._stands(kind)
        try:
            yield running.told if running else silent
        finally:
            if running:
                with suppress(PanoramaError), self._keeping() as session:
                    self._end(session, running, running.job.put_back())
                self._running.pop(running.job.id, None)

    def _stands(self, kind: str) -> Running | None:
        with self._keeping() as session:
            old = rows.of_kind(session, kind)
            if old and old.state == "running":
                if not self._is_left(old):
                    return None
                rows.save(session, old, old.put_back())
                old = old.put_back()
            if old is None:
                old = self._made(kind, {}, Asker(actor="panorama", client="panorama"))
                rows.add(session, old)
            new = replace(old.begun(self._worker.name, self._now()), attempts=1)
            rows.save(session, old, new)
            return self._runs(new)

    # What all of them need.

    def _made(self, kind: str, arguments: Mapping[str, Any], asker: Asker) -> Job:
        id_ = self._desk.new_id(LETTER)
        return Job(id=id_, kind=kind, arguments=dict(arguments), asker=asker, created_at=self._now(), unit=id_)

    def _runs(self, job: Job) -> Running:
        running = self._running[job.id] = Running(job, self.offers.of(job.kind).kind, self._desk.now, self._keeping)
        return running

    def _keeping(self) -> AbstractContextManager[Session]:
        return self._desk.database.transaction(QUEUE)

    def _found(self, session: Session, id_: str) -> Job:
        found = rows.found(session, id_)
        if found is None:
            raise NotFoundError(f"There is no job {id_[:40]!r}.", hint="list_jobs shows them.")
        return found

    def _now_of(self, job: Job) -> Job:
        """Return a job as its thread knows it, if it runs here; its end counts once it is kept."""
        running = self._running.get(job.id)
        if running is None or job.has_ended or running.job.state != "running":
            return job
        return replace(running.job, is_stopping=job.is_stopping)

    def _is_standing(self, kind: str) -> bool:
        known = self.offers.kind(kind)
        return known is not None and known.standing

    def _is_left(self, job: Job) -> bool:
        return self._worker.may_take(job, self._now(), standing=self._is_standing(job.kind))

    def _tell(self, job: Job) -> None:
        with self._changed:
            self._changed.notify_all()
        self._ears.tell(job.id)


def _tell_schedule(session: Session, job: Job) -> None:
    """Let the schedule that asked for a job say what went wrong, until its next one."""
    if job.asker.actor == SCHEDULE_ACTOR and job.has_ended and job.state != "succeeded":
        told = str(job.error.get("message") or job.summary)
        schedules.note(session, job.id, f"The last job {job.state}: {told}"[:PROBLEM_CHARS])
