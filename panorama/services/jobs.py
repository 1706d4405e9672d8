"""Jobs: what runs in the background, who may ask for it, how far it is, and what became of it."""

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from panorama.domain.jobs import ENDED, Asker, Job, State
from panorama.domain.results import Page, Slice
from panorama.errors import ConflictError, InvalidInputError, UnavailableError
from panorama.services.job_line import QUEUE as QUEUE  # it is part of what this module offers
from panorama.services.job_line import SCHEDULE_ACTOR, JobLine
from panorama.services.job_page import job_page
from panorama.services.job_views import JobView
from panorama.services.progress import Progress, silent, told_to_the_door
from panorama.services.running import Running
from panorama.store import changes
from panorama.store import jobs as rows

LONGEST_WAIT = 50
"""Seconds that get_job waits at most: clients give up a call after 60."""

CANCEL_SECONDS = 1.0
"""How long cancel_job waits to tell how far the job came."""

LOOK_SECONDS = 0.1
TELL_SECONDS = 0.25
"""How often who waits for a job is told how far it is, at most."""

Filter = Literal["active", "ended", "queued", "running", "succeeded", "failed", "cancelled", "interrupted"]
_STATES: Mapping[str, Collection[State]] = {"active": ("queued", "running"), "ended": tuple(sorted(ENDED))}


class Jobs(JobLine):
    """The queue: jobs are asked for by anyone, and run by whoever is attached. Safe to use from several threads."""

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

    def _view(self, job: Job) -> JobView:
        with self._reading() as session:
            wrote = bool(changes.size_of_unit(session, job.unit))
            if wrote and job.has_ended and job.state != "succeeded":  # an atomic script took it back
                wrote = not changes.is_void(session, job.unit)
        return JobView.of(self._now_of(job), self._now(), wrote=wrote)
