"""Renders a job as Markdown."""

import json
from collections.abc import Iterator

from panorama.services.jobs.results import JobView


def render_job_page(job: JobView) -> str:
    """Render the progress and result of a job."""
    return "\n\n".join(_iter_parts(job)) + "\n"


def _iter_parts(job: JobView) -> Iterator[str]:
    yield f"# Job {job.id}: {job.kind}"
    yield f"{job.state}, asked for by {job.client} at {job.created_at:%Y-%m-%d %H:%M} UTC"
    if job.state in ("queued", "running"):
        yield describe_progress(job)
    if job.summary:
        yield job.summary
    if job.error:
        yield f"**{job.error.get('message', 'failed')}**"
        if hint := job.error.get("hint"):
            yield str(hint)
    if job.result is not None:
        yield "## Result"
        yield f"```json\n{json.dumps(job.result, ensure_ascii=False, indent=2, default=str)}\n```"
    if job.result_file:
        yield f"Its result is the file {job.result_file}."
    if job.undo:
        yield f"`undo {job.undo}` reverts its changes."


def describe_progress(job: JobView) -> str:
    """Describe the progress of a job in one line."""
    if job.state == "queued":
        return "It is queued."
    far = f"{job.current:,} of {job.total:,}" if job.total else f"{job.current:,}" if job.current else "begun"
    rate = f", {job.rate:g} a second" if job.rate else ""
    left = f", about {job.seconds_left} s left" if job.seconds_left is not None else ""
    stopping = "; it was cancelled, and stops at its next step" if job.is_stopping else ""
    return f"{far}{rate}{left}{f': {job.message}' if job.message else ''}{stopping}"
