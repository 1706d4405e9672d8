"""Runs the operation of a job."""

import json
from functools import partial
from typing import Any

from panorama.calls.dispatcher import Calls
from panorama.calls.jobs.job_ends import failed_job, finished_job
from panorama.domain.jobs import Job
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.progress import report_progress_to
from panorama.services.jobs.running_job import RunningJob


def run_job(calls: Calls, jobs: Jobs, running: RunningJob) -> Job:
    """Run a job and return it at its end; errors of the operation are stored, not raised."""
    operation = jobs.offers.get(running.job.kind).operation
    try:
        with report_progress_to(running.report_progress, running.should_stop, running):
            answer = calls.call_as_job(operation, running.job.arguments, running.job)
    except Exception as error:  # every error is stored as the job's result
        return failed_job(jobs, running, error)
    return finished_job(jobs, running, answer, partial(write_result_file, calls))


def write_result_file(calls: Calls, job: Job, result: Any) -> str:
    """Store the result of a job as a file, and return the file's id."""
    text = json.dumps(result, ensure_ascii=False, indent=1, default=str)
    answer = calls.call_as_job("files.write", {"name": f"{job.id}.json", "text": text}, job)
    return str(answer.data["id"])
