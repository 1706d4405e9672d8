"""Background jobs: submits, lists, shows and cancels them."""

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from panorama.domain.jobs import FINAL_STATES, Job, Requester, State
from panorama.domain.paging import Page, PageRequest
from panorama.errors import ConflictError, InvalidInputError, UnavailableError
from panorama.services.jobs.page import render_job_page
from panorama.services.jobs.progress import Progress, ignore_progress, report_progress
from panorama.services.jobs.queue import QUEUE as QUEUE  # re-exported
from panorama.services.jobs.queue import SCHEDULE_ACTOR, JobQueue
from panorama.services.jobs.results import JobView
from panorama.services.jobs.running_job import RunningJob
from panorama.store.log import changes
from panorama.store.log import jobs as rows

MAX_WAIT_SECONDS = 50
"""Seconds that get_job waits at most: clients give up a call after 60."""

CANCEL_WAIT_SECONDS = 1.0
"""How long cancel_job waits to report the job's progress."""

UNSIGNALLED_SECONDS = 1.0
"""After so long a waiting call looks at its job without a signal, which comes late from a process that died."""

PROGRESS_INTERVAL_SECONDS = 0.25
"""The interval of progress reports to a waiting caller."""

StateFilter = Literal["active", "ended", "queued", "running", "succeeded", "failed", "cancelled", "interrupted"]
_STATES: Mapping[str, Collection[State]] = {"active": ("queued", "running"), "ended": tuple(sorted(FINAL_STATES))}


class Jobs(JobQueue):
    """Submits jobs for the attached workers. Thread-safe."""

    # Operations.

    def list(self, page: PageRequest, state: StateFilter | None = None, kind: str = "") -> Page[JobView]:
        """List background jobs with their progress: running ones first, then queued ones, then ended ones.

        Args:
            state: `active`: running and queued ones.

        Raises:
            InvalidInputError: There is no such kind.
        """
        kind_name = kind.strip()
        if kind_name:
            self.offers.get(kind_name)
        with self._reading() as session:
            states = _STATES.get(state, (state,)) if state else ()
            found_jobs = rows.list_jobs(session, page, states=states, kind=kind_name)
        now = self._now()
        lines = tuple(JobView.of(self._refresh_job(job), now).shorten() for job in found_jobs.items)
        return Page(lines, found_jobs.keys, found_jobs.total, found_jobs.more)

    def show(self, page: PageRequest, job: str = "", wait: int = 0) -> JobView | Page[JobView]:
        """Show a background job: its progress, and once it has ended its result or error. Without `job`: all of them.

        Args:
            wait: Seconds to wait for its end, 0 to 50.

        Raises:
            NotFoundError: There is no such job.
        """
        return self.get(job, wait) if job.strip() else self.list(page)

    def get(self, job: str, wait: int = 0) -> JobView:
        """Return a job, and wait for its end up to `wait` seconds.

        Raises:
            NotFoundError: There is no such job.
        """
        if not 0 <= wait <= MAX_WAIT_SECONDS:
            raise InvalidInputError(
                f"wait must be 0 to {MAX_WAIT_SECONDS} seconds, not {wait}.", hint="Call again to wait longer."
            )
        return self._to_view(self.wait_for(job.strip(), wait, report_progress))

    def cancel(self, job: str) -> JobView:
        """Cancel a background job. Finished steps remain; `undo` with the job's id reverts them.

        Raises:
            NotFoundError: There is no such job.
            ConflictError: It has ended already.
        """
        id_ = job.strip()
        with self._writing() as session:
            old = self._load_job(session, id_)
            if self._is_standing(old.kind):
                raise ConflictError(
                    f"{old.kind} runs as long as Panorama does; it cannot be cancelled.",
                    hint="`panorama models use none` turns search by meaning off.",
                )
            new = old.cancel(self._now())
            rows.save(session, old, new)
        if running := self._running.get(id_):
            running.stop("cancelled")
        self._notify(new)
        return self._to_view(self.wait_for(id_, CANCEL_WAIT_SECONDS))

    def render_page(self, job: str) -> Mapping[str, str]:
        """Render a job as Markdown."""
        return {"markdown": render_job_page(self._to_view(self.get_job(job.strip())))}

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return self._now()

    def count_jobs(self) -> Mapping[str, int]:
        """Return the numbers of running and queued jobs."""
        with self._reading() as session:
            return rows.count_by_state(session)

    # For operations, schedules and interfaces.

    def submit(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        asked_by: Requester | str = Requester(),  # noqa: B008 (frozen)
        machine: str = "",
    ) -> str:
        """Submit a job and return its id; it starts as soon as a place is free.

        Inside a transaction it is stored with it; call `wake` after the commit.

        Args:
            arguments: Those of the kind's operation.
            machine: The machine on which a local job runs; by default this one.

        Raises:
            InvalidInputError: There is no such kind, or its operation does not take these arguments.
            UnavailableError: No worker is attached.
        """
        offer = self.offers.get(kind)
        if offer.kind.standing:
            raise InvalidInputError(f"{kind} runs automatically.", hint="get_job() shows its progress.")
        if not self.has_worker:
            raise UnavailableError(
                "No background worker is running here; nothing was started.",
                hint="Leave background out, or use the daemon (without PANORAMA_NO_DAEMON).",
            )
        if isinstance(asked_by, Requester):
            asker = asked_by
        else:  # the user agreed when the schedule was added
            asker = Requester(actor=SCHEDULE_ACTOR, client=asked_by)
            arguments = {**arguments, "confirm": True} if offer.asks else arguments
            offer.due(arguments)
        offer.check(arguments)
        job = self._new_job(kind, arguments, asker, machine)
        with self._open_transaction() as session:
            rows.add(session, job)
        self.wake()
        self._notify(job)
        return job.id

    def check(self, kind: str, arguments: Mapping[str, Any]) -> None:
        """Check whether a schedule may run a kind with some arguments.

        Raises:
            PanoramaError: The kind may not be scheduled, or not with these arguments.
        """
        self.offers.get(kind).scheduled(arguments)

    def needs_confirmation(self, kind: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the user must agree before a kind runs unattended."""
        return self.offers.get(kind).needs_confirmation(arguments)

    def is_cli_only(self, kind: str) -> bool:
        """Return whether a kind can only be scheduled at a terminal."""
        return self.offers.get(kind).is_cli_only

    def adopt(
        self, kind: str, arguments: Mapping[str, Any], asker: Requester, unit: str, *, is_waited_for: bool = False
    ) -> RunningJob:
        """Convert a running call, whose changes have a unit, to a job.

        Args:
            is_waited_for: The caller gets the answer of the call, so the end of the job is not reported again.

        Raises:
            UnavailableError: It cannot be stored.
        """
        new = replace(self._new_job(kind, arguments, asker), unit=unit, is_told=is_waited_for)
        with self._open_transaction() as session:
            job = self._start_job(session, new)
            rows.add(session, job)
        running = self._register_running(job)
        self.wake()
        self._notify(job)
        return running

    def forget(self, running: RunningJob) -> None:
        """Drop a job whose end cannot be written; another process ends it later."""
        self._running.pop(running.job.id, None)

    def wait_for(self, id_: str, seconds: float, report: Progress = ignore_progress) -> Job:
        """Wait for the end of a job for some seconds, and return it.

        Raises:
            NotFoundError: There is no such job.
        """
        deadline, next_time = time.monotonic() + seconds, 0.0
        last: tuple[int, int, str] | None = None
        while True:
            seen = self._moves
            job = self.get_job(id_)
            left = deadline - time.monotonic()
            if job.has_ended or left <= 0 or self.is_leaving:
                return job
            far = job.current, job.total, job.message or job.state
            if far != last and time.monotonic() >= next_time:
                report(*far)
                last, next_time = far, time.monotonic() + PROGRESS_INTERVAL_SECONDS
            with self._changed:
                if self._moves == seen:
                    self._changed.wait(min(left, UNSIGNALLED_SECONDS))

    def _to_view(self, job: Job) -> JobView:
        with self._reading() as session:
            wrote = bool(changes.count_by_unit(session, job.unit))
            if wrote and job.has_ended and job.state != "succeeded":  # an atomic script undid it
                wrote = not changes.is_fully_undone(session, job.unit)
        return JobView.of(self._refresh_job(job), self._now(), wrote=wrote)
