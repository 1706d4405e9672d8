"""The end of a job: what its row stores of an answer or an error."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from panorama.calls.call_log import redact
from panorama.calls.rendering import Answer
from panorama.domain.jobs import Job, describe_progress
from panorama.domain.text.json_types import is_object
from panorama.errors import PanoramaError
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.progress import StoppedError
from panorama.services.jobs.running_job import RunningJob

MAX_RESULT_BYTES = 7_000
"""The largest result stored with its job; a larger one becomes a file."""

FAILED = "failed"
_log = logging.getLogger(__name__)


def finished_job(
    jobs: Jobs, running: RunningJob, answer: Answer, write_file: Callable[[Job, Any], str] | None = None
) -> Job:
    """Return a finished job; an incomplete one has not succeeded.

    Args:
        write_file: Writes a result that is too large for its job to a file, and returns the file's id; without it such
            a result is dropped.
    """
    if answer.shortfall and running.stop_reason in ("leaving", "lost"):
        return _interrupted_job(jobs, running)
    state = "succeeded" if not answer.shortfall else "cancelled" if running.stop_reason == "cancelled" else "failed"
    error = {"code": FAILED, "message": answer.shortfall} if state == "failed" else {}
    result, file, summary = answer.data, None, answer.summary
    size = len(json.dumps(result, ensure_ascii=False, default=str).encode("utf-8", "replace"))
    if size > MAX_RESULT_BYTES:
        result = None
    if size > MAX_RESULT_BYTES and write_file:
        try:
            file = write_file(running.job, answer.data)
            summary += f"; its result of {size:,} bytes is the file {file}"
        except PanoramaError as refused:  # the work is done anyway
            summary += f"; its result of {size:,} bytes could not be stored: {refused.message}"
    if state == "cancelled":
        summary = f"Cancelled. {_remaining_note(answer) or describe_progress(running.job, running.kind)}"
    fields: dict[str, Any] = {"summary": summary, "result": result, "result_file": file, "error": error}
    return _redact_job(running.job).finish(state, jobs.now(), **fields)


def failed_job(jobs: Jobs, running: RunningJob, error: Exception) -> Job:
    """Return a stopped or failed job."""
    if running.stop_reason in ("leaving", "lost"):
        return _interrupted_job(jobs, running)
    job = _redact_job(running.job)
    if running.stop_reason == "cancelled":
        return job.finish("cancelled", jobs.now(), summary=f"Cancelled. {describe_progress(running.job, running.kind)}")
    if isinstance(error, PanoramaError):
        return job.finish(
            "failed", jobs.now(), error=error.to_dict(), summary=describe_progress(running.job, running.kind)
        )
    if not isinstance(error, StoppedError):
        _log.error("the job %s (%s) failed", job.id, job.kind, exc_info=error)
    message = f"Internal error: {type(error).__name__}. {describe_progress(running.job)}"
    hint = f"See `panorama daemon logs`; undo {job.unit} reverts its changes."
    return job.finish("failed", jobs.now(), error={"code": "internal", "message": message, "hint": hint})


def _remaining_note(answer: Answer) -> str:
    """Return an answer's note on the remaining changes."""
    return str(answer.data.get("note", "")) if is_object(answer.data) else ""


def _interrupted_job(jobs: Jobs, running: RunningJob) -> Job:
    """Return a job whose process shuts down; it resumes later if it can."""
    if running.kind.resumable:
        return running.job.requeue()
    message = f"Panorama ended while it ran. {describe_progress(running.job)}"
    hint = f"See what it did with history, or undo {running.job.unit}; then request it again."
    job = _redact_job(running.job)
    return job.finish("interrupted", jobs.now(), error={"code": "interrupted", "message": message, "hint": hint})


def _redact_job(job: Job) -> Job:
    """Return a job without the data for resuming; its arguments are redacted as in the log."""
    return replace(job, arguments=redact(job.arguments), checkpoint={})
