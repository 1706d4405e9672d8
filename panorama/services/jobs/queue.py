"""The job queue: how workers claim, run and finish jobs."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from panorama.domain.changes import Origin
from panorama.domain.jobs import JOB_ID_LETTER, POOLS, Job, JobKind, Requester
from panorama.errors import ConflictError, NotFoundError, PanoramaError
from panorama.services.base import Service, ServiceContext
from panorama.services.jobs.job_types import JobTypes
from panorama.services.jobs.notifications import JobNotifications
from panorama.services.jobs.progress import Progress, ignore_progress
from panorama.services.jobs.running_job import RunningJob
from panorama.services.jobs.worker_id import WorkerId, Workers
from panorama.store.backend import Session
from panorama.store.backend.membership import RECOVERY
from panorama.store.log import changes, schedules
from panorama.store.log import jobs as rows
from panorama.store.signals import Signal

SCHEDULE_ACTOR = "schedule"
MAX_PROBLEM_CHARS = 300
NOTIFY_WINDOW = timedelta(days=1)
"""How long the end of a job is reported at the requester's next call."""

QUEUE = Origin(actor="queue", client="", conversation="", operation="", call="", unit="")
"""The origin of writes to job rows; they add no change lines."""

_log = logging.getLogger(__name__)


class JobQueue(Service):
    """The queued and running jobs, for workers. Thread-safe."""

    def __init__(self, context: ServiceContext, worker: WorkerId | None = None) -> None:
        super().__init__(context)
        self.remarks = JobNotifications(self._open_transaction, self._now)
        self.worker = worker or WorkerId.for_this_process()
        self._membership = context.database.membership
        self._workers = Workers(self.worker, self._membership)
        self.offers = JobTypes()
        self._running: dict[str, RunningJob] = {}
        self._wakers: dict[object, Callable[[], None]] = {}
        self._ears = Signal[str]()
        self._changed = threading.Condition()
        self._moves = 0
        self.is_leaving = False
        context.database.subscribe_to_others("jobs", self._on_written_elsewhere)

    # Queries.

    def kinds(self) -> Collection[str]:
        """Return the names of the kinds that can be requested."""
        return self.offers.kinds()

    def get_job(self, id_: str) -> Job:
        """Return a job.

        Raises:
            NotFoundError: There is no such job.
        """
        with self._reading() as session:
            return self._refresh_job(self._load_job(session, id_))

    def subscribe(self, ear: Callable[[str], None]) -> Callable[[], None]:
        """Call a listener with the id of every job that changes; return how to unsubscribe. It must be quick."""
        return self._ears.subscribe(ear)

    def wake(self) -> None:
        """Make the workers look for a job."""
        for waker in tuple(self._wakers.values()):
            waker()

    @property
    def machine(self) -> str:
        """The machine of this process; "" if no other one shares the database."""
        return self.worker.machine if self._membership.is_shared else ""

    # For workers.

    @property
    def has_worker(self) -> bool:
        """Whether a worker is attached in this process."""
        return bool(self._wakers) and not self.is_leaving

    @property
    def is_busy(self) -> bool:
        """Whether a background job runs here, without standing jobs."""
        return any(not (running.kind.standing or running.is_waited_for) for running in tuple(self._running.values()))

    @property
    def running_jobs(self) -> Sequence[RunningJob]:
        """The jobs running in this process."""
        return tuple(self._running.values())

    @contextmanager
    def attach_worker(self, wake: Callable[[], None]) -> Generator[None]:
        """Attach a worker inside the block; `wake` is called whenever there may be a job."""
        key = object()
        with suppress(PanoramaError), self._reading() as session:
            for job in rows.list_unreported(session, self._now() - NOTIFY_WINDOW):
                self.remarks.add(job)
        self._wakers[key] = wake
        try:
            yield
        finally:
            self._wakers.pop(key)

    def finish_and_claim_next(
        self, done: tuple[RunningJob, Job] | None = None, *, goes_on: bool = True
    ) -> RunningJob | None:
        """Finish one job and claim the oldest queued one in one transaction; return None if none is queued.

        Raises:
            UnavailableError: The store cannot be written; nothing was changed.
        """
        with self._open_transaction() as session:
            if done:
                self._save_end(session, *done)
            claimed = self._claim_next(session) if goes_on and not self.is_leaving else None
        if done:
            self._announce_end(*done)
        if claimed is None:
            return None
        running = self._register_running(claimed)
        self._notify(claimed)
        return running

    def _claim_next(self, session: Session) -> Job | None:
        old = self._find_next(session)
        if old is None:
            return None
        new = self._start_job(session, old)
        rows.save(session, old, new)
        return new

    def _start_job(self, session: Session, job: Job) -> Job:
        """Return a job as started here; its heartbeat has the clock of all daemons."""
        return replace(job.start(self.worker.name, self._now()), heartbeat=self._read_clock(session))

    def _read_clock(self, session: Session) -> datetime:
        """Return the time of heartbeats: the database's own if several machines share it."""
        return session.dialect.read_clock(session) or self._now()

    def _save_end(self, session: Session, running: RunningJob, ended: Job) -> None:
        try:
            running.finish(session, ended)
            _report_to_schedule(session, ended)
        except ConflictError:
            _log.warning("the job %s was taken over by another process; its changes are kept", ended.id)
            running.stop("lost")

    def _announce_end(self, running: RunningJob, ended: Job) -> None:
        if ended.has_ended and running.stop_reason != "lost":
            self.remarks.add(ended)
        self._running.pop(ended.id, None)
        if running.stop_reason != "lost":
            self._notify(ended)

    def heartbeat(self) -> None:
        """Write heartbeats and progress of the jobs running here, and read cancellations from other processes.

        Raises:
            UnavailableError: The store cannot be written.
        """
        mine = [running for running in self.running_jobs if not running.kind.standing]
        with self._open_transaction() as session:
            now = self._read_clock(session)
            for running in mine:
                try:
                    running.flush(session, now)
                except ConflictError:
                    running.stop("lost")
            cancelled = rows.list_cancelled(session, [running.job.id for running in mine])
        for running in mine:
            if running.job.id in cancelled:
                running.stop("cancelled")
            self._notify(running.job)

    def has_waiting(self) -> bool:
        """Return whether a queued job could start."""
        if self.is_leaving:
            return False
        with self._reading() as session:
            return self._find_next(session) is not None

    def has_unfinished(self) -> bool:
        """Return whether a job runs here, or any is queued, also one that cannot be started yet."""
        if self.is_busy:
            return True
        with self._reading() as session:
            return rows.find_next_queued(session, self.kinds(), machine=self.machine) is not None

    def _find_next(self, session: Session) -> Job | None:
        """Return the oldest queued job with a free place."""
        places = rows.list_places(session)
        kinds = set(self.kinds()) - ({place.kind for place in places} & set(self.offers.exclusive_kinds))
        full: list[tuple[str, str]] = []
        for name, pool in POOLS.items():
            inside = self.offers.kinds_in(name)
            here = [place for place in places if place.worker == self.worker.name and place.kind in inside]
            clients = Counter(place.client for place in here)
            if len(here) >= pool.places:
                kinds -= inside
            full += [
                (kind, who) for who, count in clients.items() if count >= pool.places_per_client for kind in inside
            ]
        return rows.find_next_queued(session, kinds, full, machine=self.machine)

    def recover_orphans(self) -> None:
        """Recover the jobs of dead processes: restart them, or end them.

        Recover the runs of scripts first, since a job reports what remains of its run.
        """
        everywhere = self._membership.holds(RECOVERY)
        with self._reading() as session:
            running = rows.list_running(session)
            orphans = [job for job in running if self._is_orphaned(session, job, everywhere=everywhere)]
        for old in orphans:
            with self._reading() as session:
                wrote = sum(changes.count_actions(session, old.unit).values())
            new = old.recover(self._effective_kind(old, wrote), self._now(), wrote)
            with suppress(ConflictError):  # another process did it first
                with self._open_transaction() as session:
                    self._require_orphaned(session, old)
                    rows.save(session, old, new)
                    _report_to_schedule(session, new)
                _log.warning("the process of job %s (%s) died; it is %s", old.id, old.kind, new.state)
                if new.has_ended:
                    self.remarks.add(new)
                self._notify(new)

    def _require_orphaned(self, session: Session, job: Job) -> None:
        """Check again, under the lock of writers, that nobody runs a job: its worker may only have been slow.

        Raises:
            ConflictError: It sent a heartbeat meanwhile.
        """
        current = rows.find(session, job.id)
        if current and not self._is_orphaned(session, current):
            raise ConflictError(f"The job {job.id} is still running.")

    def _effective_kind(self, job: Job, wrote: int) -> JobKind | None:
        """Return a job's kind; an undone or dry-run script leaves no changes."""
        kind, wish = self.offers.find_kind(job.kind), job.arguments
        is_whole = not wrote and bool(wish.get("atomic") or wish.get("dry_run"))
        return replace(kind, whole=True) if kind and is_whole else kind

    def begin_shutdown(self) -> None:
        """Claim no more jobs, and stop resumable ones at their next step, because the process will end."""
        self.is_leaving = True
        for running in self.running_jobs:
            if running.kind.resumable:
                running.stop("leaving")
        with self._changed:
            self._changed.notify_all()

    def delete_old(self, age: timedelta) -> None:
        """Delete jobs that ended before the retention time."""
        with self._open_transaction() as session:
            rows.delete_ended(session, self._now() - age)

    @contextmanager
    def standing_job(self, kind: str) -> Generator[Progress]:
        """Hold the standing job of a kind inside the block; yields its progress callback.

        If another process holds it, or the store cannot be written, progress is dropped.
        """
        running = None
        with suppress(PanoramaError):
            running = self._claim_standing(kind)
        try:
            yield running.record_progress if running else ignore_progress
        finally:
            if running:
                with suppress(PanoramaError), self._open_transaction() as session:
                    self._save_end(session, running, running.job.requeue())
                self._running.pop(running.job.id, None)

    def _claim_standing(self, kind: str) -> RunningJob | None:
        with self._open_transaction() as session:
            old = rows.find_by_kind(session, kind)
            if old and old.state == "running":
                if not self._is_orphaned(session, old):
                    return None
                rows.save(session, old, old.requeue())
                old = old.requeue()
            if old is None:
                old = self._new_job(kind, {}, Requester(actor="panorama", client="panorama"))
                rows.add(session, old)
            new = replace(self._start_job(session, old), attempts=1)
            rows.save(session, old, new)
            return self._register_running(new)

    # Shared helpers.

    def _new_job(self, kind: str, arguments: Mapping[str, Any], asker: Requester, machine: str = "") -> Job:
        id_ = self._context.new_id(JOB_ID_LETTER)
        known = self.offers.find_kind(kind)
        needed = (machine or self.machine) if known and known.local and self.machine else ""
        message = f"waits for {needed}" if needed != self.machine and needed else ""
        return Job(
            id=id_, kind=kind, arguments=dict(arguments), asker=asker, created_at=self._now(), unit=id_,
            machine=needed, message=message,
        )  # fmt: skip

    def _register_running(self, job: Job) -> RunningJob:
        running = self._running[job.id] = RunningJob(
            job, self.offers.get(job.kind).kind, self._context.now, self._open_transaction, self._read_clock
        )
        return running

    def _open_transaction(self) -> AbstractContextManager[Session]:
        return self._context.database.transaction(QUEUE)

    def _load_job(self, session: Session, id_: str) -> Job:
        job = rows.find(session, id_)
        if job is None:
            raise NotFoundError(f"There is no job {id_[:40]!r}.", hint="get_job() lists them.")
        return job

    def _refresh_job(self, job: Job) -> Job:
        """Return a job with its current progress if it runs here; its end counts only once it is stored."""
        running = self._running.get(job.id)
        if running is None or job.has_ended or running.job.state != "running":
            return job
        return replace(running.job, is_stopping=job.is_stopping)

    def _is_standing(self, kind: str) -> bool:
        known = self.offers.find_kind(kind)
        return known is not None and known.standing

    def _is_orphaned(self, session: Session, job: Job, *, everywhere: bool = True) -> bool:
        now, standing = self._read_clock(session), self._is_standing(job.kind)
        return self._workers.can_take_over(job, now, standing=standing, everywhere=everywhere)

    def _notify(self, job: Job) -> None:
        self._notify_here(job.id)
        self._context.database.announce("jobs")

    def _notify_here(self, id_: str) -> None:
        with self._changed:
            self._moves += 1
            self._changed.notify_all()
        self._ears.notify(id_)

    def _on_written_elsewhere(self, ids: Collection[str]) -> None:
        """Notify of jobs that other processes added, moved, cancelled or ended."""
        for id_ in ids:
            self._notify_here(id_)
        with self._reading() as session:
            cancelled = rows.list_cancelled(session, [id_ for id_ in ids if id_ in self._running])
            unreported = rows.list_unreported(session, self._now() - NOTIFY_WINDOW)
            has_waiting = self.has_worker and self._find_next(session) is not None
        for id_ in cancelled:
            if running := self._running.get(id_):
                running.stop("cancelled")
        for job in unreported:
            if job.id in ids:
                self.remarks.add(job)
        if has_waiting:
            self.wake()


def _report_to_schedule(session: Session, job: Job) -> None:
    """Store the problem of a job at its schedule, until the next one."""
    if job.asker.actor == SCHEDULE_ACTOR and job.has_ended and job.state != "succeeded":
        message = str(job.error.get("message") or job.summary)
        schedules.record_problem(session, job.id, f"The last job {job.state}: {message}"[:MAX_PROBLEM_CHARS])
