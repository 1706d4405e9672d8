"""The job scheduler: runs queued jobs, as many as there are places, and resumes those whose process died.

APScheduler keeps time and threads; the work is in the table of jobs, so its own store is a list
in memory that may be lost at any moment. It is imported when the first job comes, or a moment after the start.
"""

import logging
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, timedelta
from importlib import import_module
from typing import Any

from panorama.app import App
from panorama.calls.jobs.job_worker import run_job
from panorama.domain.jobs import POOLS, Job
from panorama.errors import PanoramaError
from panorama.services.jobs.progress import StoppedError, report_progress_to
from panorama.services.jobs.running_job import RunningJob
from panorama.store.backend.membership import CLEANUP

MAX_CONCURRENT = sum(pool.places for pool in POOLS.values())
"""Jobs that run at a time, those of all pools together."""

START_SECONDS = 0.5
"""How long it lets the first client be answered before it looks for jobs that a process before it has left."""

CLOCK_SECONDS = 2.5
"""When the clock is started after that, unless a job comes before: its import takes 60 ms."""

HEARTBEAT, HEARTBEAT_SECONDS, IDLE_HEARTBEATS = "beat", 0.25, 8
"""How often jobs that run tell how far they are; one that came no further says every so many beats that it is alive."""

POLL_SECONDS = 2.0
"""How often it looks for jobs that another process has left, or asked for."""

RETRY_SECONDS = 1.0
"""How long it waits to write again what could not be written, such as the end of a job on a full disk."""

GRACE_SECONDS = 10.0
"""How long jobs that cannot go on later may run on when the process leaves."""

CLEANUP_INTERVAL = timedelta(days=1)
_log = logging.getLogger(__name__)


class JobRunner:
    """Runs jobs while it is open."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._jobs = app.jobs
        self._clock: Any = None
        self._lock = threading.Lock()
        self._leaving = threading.Event()
        self._lines = 0
        self._beats = 0
        self._first = threading.Thread(target=self._start_up, name="queue", daemon=True)
        self._first.start()

    def wake(self) -> None:
        """Start waiting jobs, if there is room; never blocks."""
        with self._lock:
            if self._leaving.is_set() or self._lines >= MAX_CONCURRENT:
                return
            self._lines += 1
            self._ensure_clock().add_job(self._run_waiting_jobs, executor="jobs", misfire_grace_time=None)
            self._clock.resume_job(HEARTBEAT)

    def close(self) -> None:
        """Stop resumable jobs, wait a while for the others, and end."""
        self._jobs.begin_shutdown()
        with self._lock:
            self._leaving.set()
        deadline = time.monotonic() + GRACE_SECONDS
        while self._jobs.is_busy and time.monotonic() < deadline:
            time.sleep(0.01)
        for job in self._jobs.running_jobs:
            if not job.kind.standing:
                job.stop("leaving")
        self._first.join()
        if self._clock is not None:
            # One that is shut down while it begins what is due fails to find that again, and says so with a trace.
            self._clock.pause()
            self._clock.get_jobs()  # waits until it has begun all of it
            self._clock.shutdown(wait=True)

    # One line of jobs, one after another.

    def _run_waiting_jobs(self) -> None:
        """Run waiting jobs until there are none."""
        running = self._finish_and_claim_next(None)
        while running is not None:
            running = self._finish_and_claim_next((running, run_job(self._app.calls, self._jobs, running)))
        with self._lock:
            self._lines -= 1
        with suppress(PanoramaError):
            if self._jobs.has_waiting():  # it came between the last look and the end of this line
                self.wake()

    def _finish_and_claim_next(self, done: tuple[RunningJob, Job] | None) -> RunningJob | None:
        """Store the end of a job and start the next; retry until it can be stored."""
        while True:
            try:
                return self._jobs.finish_and_claim_next(done, goes_on=not self._leaving.is_set())
            except PanoramaError as error:
                _log.warning("a job cannot be written yet: %s", error.message)
            except Exception:  # a bug of ours; the job is recovered at the next start
                _log.exception("the end of a job could not be written")
                return None
            if done is None or self._leaving.wait(RETRY_SECONDS):
                return None

    # What happens now and then.

    def _heartbeat(self) -> None:
        """Store the progress of jobs, and regularly a heartbeat of all."""
        self._beats += 1
        mine = [job for job in self._jobs.running_jobs if not job.kind.standing]
        with self._lock:
            # A clock that is shut down waits for this beat, and would not let it pause itself.
            if not mine and not self._lines and not self._leaving.is_set():
                self._clock.pause_job(HEARTBEAT)
        if mine and (self._beats % IDLE_HEARTBEATS == 0 or any(job.has_unsaved_progress for job in mine)):
            try:
                self._jobs.heartbeat()
            except PanoramaError as error:
                _log.warning("the progress of jobs cannot be written: %s", error.message)

    def _start_up(self) -> None:
        """Start the jobs that earlier processes left, and shortly after the scheduler, whose import takes a while."""
        if not self._leaving.wait(START_SECONDS):
            self._poll_jobs()
        if not self._leaving.wait(CLOCK_SECONDS):
            with self._lock:
                self._ensure_clock()

    def _poll_jobs(self) -> None:
        """Resume the jobs that other processes left, and start waiting ones."""
        try:
            with report_progress_to(self._stop_if_leaving, self._leaving.is_set):
                self._app.recover_orphans()
            if self._jobs.has_waiting():
                self.wake()
        except StoppedError:
            _log.info("the jobs of ended processes are left to the next daemon")
        except PanoramaError as error:
            _log.warning("the jobs of ended processes cannot be taken over: %s", error.message)

    def _stop_if_leaving(self, current: int, total: int, message: str) -> None:
        del current, total, message
        if self._leaving.is_set():
            raise StoppedError

    def _delete_old_jobs(self) -> None:
        if not self._app.context.database.membership.holds(CLEANUP):
            return
        try:
            self._jobs.delete_old(self._app.settings.log_age)
        except PanoramaError as error:
            _log.warning("old jobs cannot be deleted: %s", error.message)

    def _ensure_clock(self) -> Any:
        """Return the scheduler, started at first use."""
        if self._clock is None:
            schedulers = import_module("apscheduler.schedulers.background")  # 60 ms
            pools = import_module("apscheduler.executors.pool")
            executors = {"jobs": pools.ThreadPoolExecutor(MAX_CONCURRENT + 1), "default": pools.ThreadPoolExecutor(1)}
            self._clock = schedulers.BackgroundScheduler(timezone=UTC, executors=executors)
            often: dict[str, Any] = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
            self._clock.add_job(self._heartbeat, "interval", seconds=HEARTBEAT_SECONDS, id=HEARTBEAT, **often)
            self._clock.add_job(self._poll_jobs, "interval", seconds=POLL_SECONDS, **often)
            self._clock.add_job(self._delete_old_jobs, "interval", seconds=CLEANUP_INTERVAL.total_seconds(), **often)
            self._clock.start()
        return self._clock


@contextmanager
def run_jobs(app: App) -> Generator[JobRunner]:
    """Run jobs while this is open."""
    queue = JobRunner(app)
    try:
        with app.jobs.attach_worker(queue.wake):
            yield queue
    finally:
        queue.close()
