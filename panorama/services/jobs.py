"""Jobs: what runs in the background, who may ask for it, how far it is, and what became of it."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

from panorama.domain.changes import Origin
from panorama.domain.jobs import ENDED, LETTER, Asker, Job, State
from panorama.domain.results import Page, Slice
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError, UnavailableError
from panorama.services.base import Desk, Service
from panorama.services.job_page import job_page
from panorama.services.job_views import JobView
from panorama.services.offers import Offers
from panorama.services.progress import Progress, silent, told_to_the_door
from panorama.services.remarks import Remarks
from panorama.services.running import Running
from panorama.services.workers import Worker
from panorama.store import changes, schedules
from panorama.store import jobs as rows
from panorama.store.engine import Session

SCHEDULE_ACTOR = "schedule"
PROBLEM_CHARS = 300
LONGEST_WAIT = 50
"""Seconds that get_job waits at most: clients give up a call after 60."""

CANCEL_SECONDS = 1.0
"""How long cancel_job waits to tell how far the job came."""

LOOK_SECONDS = 0.1
TELL_SECONDS = 0.25
"""How often who waits for a job is told how far it is, at most."""

REMEMBERED = timedelta(days=1)
"""How long somebody is told, at their next call, of a job that ended meanwhile."""

QUEUE = Origin(actor="queue", client="", conversation="", operation="", call="", unit="")
"""Who writes the rows of jobs; it leaves no line in `changes`."""

Filter = Literal["active", "ended", "queued", "running", "succeeded", "failed", "cancelled", "interrupted"]
_STATES: Mapping[str, Collection[State]] = {"active": ("queued", "running"), "ended": tuple(sorted(ENDED))}
_log = logging.getLogger(__name__)


class Jobs(Service):
    """The queue: jobs are asked for by anyone, and run by whoever is attached. Safe to use from several threads."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.remarks = Remarks(self._keeping, self._now)
        self._worker = Worker.here()
        self.offers = Offers()
        self._running: dict[str, Running] = {}
        self._wakers: dict[object, Callable[[], None]] = {}
        self._ears: dict[object, Callable[[str], None]] = {}
        self._changed = threading.Condition()
        self.is_leaving = False

    # What people and models do.

    def list(self, page: Slice, state: Filter | None = None, kind: str = "") -> Page[JobView]:
        """List background jobs with their progress: what runs first, then what waits, then what has ended.

        Args:
            state: `active` is what runs or waits.

        Raises:
            InvalidInputError: There is no such kind.
        """
        wanted = kind.strip()
        if wanted:
            self.offers.of(wanted)
        with self._reading() as session:
            states = _STATES.get(state, (state,)) if state else ()
            found = rows.listed(session, page, states=states, kind=wanted)
        now = self._now()
        lines = tuple(JobView.of(self._now_of(each), now).shortened() for each in found.items)
        return Page(lines, found.keys, found.total, found.more)

    def get(self, job: str, wait: int = 0) -> JobView:
        """Show a background job: its progress, and once it has ended its result or error.

        Args:
            wait: Seconds to wait for its end, 0 to 50.

        Raises:
            NotFoundError: There is no such job.
        """
        if not 0 <= wait <= LONGEST_WAIT:
            raise InvalidInputError(f"wait is {wait}; it is 0 to {LONGEST_WAIT} seconds.", hint="Ask again after that.")
        return self._view(self.awaited(job.strip(), wait, told_to_the_door))

    def cancel(self, job: str) -> JobView:
        """Cancel a background job. What it finished stands; `undo` with the job's id takes that back.

        Raises:
            NotFoundError: There is no such job.
            ConflictError: It has ended already.
        """
        id_ = job.strip()
        with self._writing() as session:
            old = self._found(session, id_)
            if self._is_standing(old.kind):
                raise ConflictError(
                    f"{old.kind} goes on as long as Panorama runs; it cannot be cancelled.",
                    hint="`panorama models use none` turns search by meaning off.",
                )
            new = old.stopped(self._now())
            rows.save(session, old, new)
        if running := self._running.get(id_):
            running.stop("cancelled")
        self._tell(new)
        return self._view(self.awaited(id_, CANCEL_SECONDS))

    def page(self, job: str) -> Mapping[str, str]:
        """Return a job as Markdown."""
        return {"markdown": job_page(self._view(self.loaded(job.strip())))}

    def now(self) -> datetime:
        """Return this moment."""
        return self._now()

    def counts(self) -> Mapping[str, int]:
        """Return how many jobs run and wait."""
        with self._reading() as session:
            return rows.counts(session)

    # What operations, schedules and doors ask for.

    def kinds(self) -> Collection[str]:
        """Return the names of the kinds that can be asked for."""
        return self.offers.kinds()

    def submit(self, kind: str, arguments: Mapping[str, Any], asked_by: Asker | str = Asker()) -> str:  # noqa: B008 (frozen)
        """Ask for a job, and return its id; it is begun as soon as there is room.

        Inside a transaction it is kept with it; then call `wake` once that is over.

        Args:
            arguments: Those of the kind's operation.

        Raises:
            InvalidInputError: There is no such kind, or its operation does not take these arguments.
            UnavailableError: Nobody runs jobs here.
        """
        offer = self.offers.of(kind)
        if offer.kind.standing:
            raise InvalidInputError(f"{kind} runs by itself.", hint="list_jobs shows how far it is.")
        if not self.is_attended:
            raise UnavailableError(
                "Nobody runs jobs in the background here; nothing was begun.",
                hint="Leave background out, or use the daemon (without PANORAMA_NO_DAEMON).",
            )
        if isinstance(asked_by, Asker):
            asker = asked_by
        else:  # the person agreed when the schedule was added
            asker = Asker(actor=SCHEDULE_ACTOR, client=asked_by)
            arguments = {**arguments, "confirm": True} if offer.asks else arguments
            offer.due(arguments)
        offer.check(arguments)
        job = self._made(kind, arguments, asker)
        with self._keeping() as session:
            rows.add(session, job)
        self.wake()
        self._tell(job)
        return job.id

    def check(self, kind: str, arguments: Mapping[str, Any]) -> None:
        """Look whether a schedule may ask for a kind with some arguments.

        Raises:
            PanoramaError: It may not.
        """
        self.offers.of(kind).scheduled(arguments)

    def needs_leave(self, kind: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the person has to agree to a kind's being run when nobody can be asked."""
        return self.offers.of(kind).needs_leave(arguments)

    def is_theirs(self, kind: str) -> bool:
        """Tell whether only a person at a terminal may schedule a kind."""
        return self.offers.of(kind).is_theirs

    def wake(self) -> None:
        """Let whoever runs jobs look for one."""
        for each in tuple(self._wakers.values()):
            each()

    def adopt(self, kind: str, arguments: Mapping[str, Any], asker: Asker, unit: str) -> Running:
        """Make a job of a call that runs already, whose changes have a unit.

        Raises:
            UnavailableError: It cannot be kept.
        """
        job = replace(self._made(kind, arguments, asker), unit=unit).begun(self._worker.name, self._now())
        with self._keeping() as session:
            rows.add(session, job)
        return self._runs(job)

    def awaited(self, id_: str, seconds: float, told: Progress = silent) -> Job:
        """Return a job, as it is at its end or after some seconds.

        Raises:
            NotFoundError: There is no such job.
        """
        deadline, next_time = time.monotonic() + seconds, 0.0
        last: tuple[int, int, str] | None = None
        while True:
            job = self.loaded(id_)
            left = deadline - time.monotonic()
            if job.has_ended or left <= 0 or self.is_leaving:
                return job
            far = job.current, job.total, job.message or job.state
            if far != last and time.monotonic() >= next_time:
                told(*far)
                last, next_time = far, time.monotonic() + TELL_SECONDS
            with self._changed:
                self._changed.wait(min(left, LOOK_SECONDS))

    def loaded(self, id_: str) -> Job:
        """Return a job as it is now.

        Raises:
            NotFoundError: There is no such job.
        """
        with self._reading() as session:
            return self._now_of(self._found(session, id_))

    def tell(self, ear: Callable[[str], None]) -> Callable[[], None]:
        """Tell somebody the id of every job that moves; return how to stop that. It must be quick."""
        key = object()
        self._ears[key] = ear
        return lambda: void(self._ears.pop(key, None))

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
        """Take jobs from workers that are gone, to be begun again, or ended with what is known."""
        with self._reading() as session:
            gone = [job for job in rows.running(session) if self._is_left(job)]
        for old in gone:
            with self._reading() as session:
                wrote = changes.size_of_unit(session, old.unit)
            new = old.abandoned(self.offers.kind(old.kind), self._now(), wrote)
            with suppress(ConflictError):  # another process was faster
                with self._keeping() as session:
                    rows.save(session, old, new)
                    _tell_schedule(session, new)
                _log.warning("the job %s (%s) was left by its process; it is %s", old.id, old.kind, new.state)
                if new.has_ended:
                    self.remarks.remember(new)
                self._tell(new)

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

    def _view(self, job: Job) -> JobView:
        with self._reading() as session:
            wrote = bool(changes.size_of_unit(session, job.unit))
        return JobView.of(self._now_of(job), self._now(), wrote=wrote)

    def _is_standing(self, kind: str) -> bool:
        known = self.offers.kind(kind)
        return known is not None and known.standing

    def _is_left(self, job: Job) -> bool:
        return self._worker.may_take(job, self._now(), standing=self._is_standing(job.kind))

    def _tell(self, job: Job) -> None:
        with self._changed:
            self._changed.notify_all()
        for each in tuple(self._ears.values()):
            try:
                each(job.id)
            except Exception:  # the job goes on whoever fails to hear of it
                _log.exception("a listener to jobs failed")


def void(_: object) -> None:
    """Drop a value."""


def _tell_schedule(session: Session, job: Job) -> None:
    """Let the schedule that asked for a job say what went wrong, until its next one."""
    if job.asker.actor == SCHEDULE_ACTOR and job.has_ended and job.state != "succeeded":
        told = str(job.error.get("message") or job.summary)
        schedules.note(session, job.id, f"The last job {job.state}: {told}"[:PROBLEM_CHARS])
