"""Working: how a job's operation is called, and what is told of it at its end."""

import json
import logging
from dataclasses import replace
from typing import Any

from panorama.calls.answers import Answer
from panorama.calls.door import Calls
from panorama.calls.recorder import redacted
from panorama.domain.jobs import Job, how_far
from panorama.domain.plain import is_object
from panorama.errors import PanoramaError
from panorama.services.jobs import Jobs
from panorama.services.progress import StoppedError, progressing
from panorama.services.running import Running

RESULT_BYTES = 7_000
"""The largest result that is kept with its job; a larger one becomes a file."""

FAILED = "failed"
_log = logging.getLogger(__name__)


def worked(calls: Calls, jobs: Jobs, running: Running) -> Job:
    """Run a job to its end and return it as it is then; it never raises for what the operation did."""
    operation = jobs.offers.of(running.job.kind).operation
    try:
        with progressing(running.moved, running.left, running):
            answer = calls.work(operation, running.job.arguments, running.job)
    except Exception as error:
        return failed(jobs, running, error)
    return done(calls, jobs, running, answer)


def done(calls: Calls, jobs: Jobs, running: Running, answer: Answer) -> Job:
    """Return a job that came to its end; one that did not keep its promise has not succeeded."""
    if answer.shortfall and running.why in ("leaving", "lost"):
        return _left(jobs, running)
    state = "succeeded" if not answer.shortfall else "cancelled" if running.why == "cancelled" else "failed"
    error = {"code": FAILED, "message": answer.shortfall} if state == "failed" else {}
    result, file, summary = answer.data, None, answer.summary
    size = len(json.dumps(result, ensure_ascii=False, default=str).encode("utf-8", "replace"))
    if size > RESULT_BYTES:
        result = None
        try:
            file = _filed(calls, running.job, answer.data)
            summary += f"; its result of {size:,} bytes is the file {file}"
        except PanoramaError as refused:  # the work is done all the same
            summary += f"; its result of {size:,} bytes could not be kept: {refused.message}"
    if state == "cancelled":
        summary = f"Cancelled. {_stands(answer) or how_far(running.job, running.kind)}"
    told: dict[str, Any] = {"summary": summary, "result": result, "result_file": file, "error": error}
    return _shut(running.job).ended(state, jobs.now(), **told)


def failed(jobs: Jobs, running: Running, error: Exception) -> Job:
    """Return a job that was stopped, or that failed."""
    if running.why in ("leaving", "lost"):
        return _left(jobs, running)
    job = _shut(running.job)
    if running.why == "cancelled":
        return job.ended("cancelled", jobs.now(), summary=f"Cancelled. {how_far(running.job, running.kind)}")
    if isinstance(error, PanoramaError):
        return job.ended("failed", jobs.now(), error=error.told(), summary=how_far(running.job, running.kind))
    if not isinstance(error, StoppedError):
        _log.error("the job %s (%s) failed", job.id, job.kind, exc_info=error)
    told = f"Panorama itself failed: {type(error).__name__}. {how_far(running.job)}"
    hint = f"`panorama daemon logs` tells more; undo {job.unit} takes back what it wrote."
    return job.ended("failed", jobs.now(), error={"code": "internal", "message": told, "hint": hint})


def _stands(answer: Answer) -> str:
    """Return what an answer says of what stands."""
    return str(answer.data.get("note", "")) if is_object(answer.data) else ""


def _left(jobs: Jobs, running: Running) -> Job:
    """Return a job whose process leaves: it goes on later if it can."""
    if running.kind.resumable:
        return running.job.put_back()
    told = f"Panorama ended while it ran. {how_far(running.job)}"
    hint = f"Look what it did with history, or take it back with undo {running.job.unit}; then ask again."
    job = _shut(running.job)
    return job.ended("interrupted", jobs.now(), error={"code": "interrupted", "message": told, "hint": hint})


def _shut(job: Job) -> Job:
    """Return a job without what only one that may go on needs: its arguments are kept as the log keeps them."""
    return replace(job, arguments=redacted(job.arguments), checkpoint={})


def _filed(calls: Calls, job: Job, result: Any) -> str:
    text = json.dumps(result, ensure_ascii=False, indent=1, default=str)
    answer = calls.work("files.write", {"name": f"{job.id}.json", "text": text}, job)
    return str(answer.data["id"])
