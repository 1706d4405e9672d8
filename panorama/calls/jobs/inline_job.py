"""Runs a long call as a job in the caller's thread: every client sees it and may cancel it."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from panorama.calls.jobs.job_ends import failed_job, finished_job
from panorama.calls.rendering import Answer
from panorama.domain.jobs import Job, describe_progress
from panorama.errors import ConflictError, PanoramaError
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.progress import PROGRESS, SHOULD_STOP, StoppedError, report_progress_to
from panorama.services.jobs.running_job import RunningJob

_log = logging.getLogger(__name__)


class InlineJob:
    """The job of a call that runs in the thread of the caller, who gets `answer`."""

    def __init__(self, jobs: Jobs, running: RunningJob) -> None:
        self._jobs = jobs
        self._running = running
        self.answer: Answer | None = None

    @contextmanager
    def run(self) -> Generator[None]:
        """Report the progress of the call inside to the caller and to the job; either may stop it.

        Raises:
            ConflictError: The job was cancelled.
        """
        report_to_caller, has_left, running = PROGRESS.get(), SHOULD_STOP.get(), self._running

        def report(current: int, total: int, message: str) -> None:
            running.report_progress(current, total, message)
            report_to_caller(current, total, message)

        try:
            with report_progress_to(report, lambda: running.should_stop() or has_left(), running):
                yield
        except BaseException as error:  # also cancellation ends the job's row; the error is raised again
            was_cancelled = isinstance(error, StoppedError) and running.stop_reason == "cancelled" and not has_left()
            if has_left() or not isinstance(error, Exception):
                running.stop("cancelled")
            self._record_end(failed_job(self._jobs, running, error if isinstance(error, Exception) else StoppedError()))
            if was_cancelled:
                raise _cancelled_error(running) from error
            raise
        if self.answer is not None:
            self._record_end(finished_job(self._jobs, running, self.answer))

    def _record_end(self, ended: Job) -> None:
        """Write the job's end; its changes are kept even if that fails."""
        try:
            self._jobs.finish_and_claim_next((self._running, ended), goes_on=False)
        except PanoramaError as error:
            _log.warning("the end of the job %s was not written: %s", ended.id, error.message)
            self._jobs.forget(self._running)
        self._jobs.wake()


def _cancelled_error(running: RunningJob) -> ConflictError:
    job = running.job
    return ConflictError(
        f"{job.kind} was cancelled as the job {job.id}. {describe_progress(job, running.kind)}",
        hint="Call it again to start over or continue.",
    )
