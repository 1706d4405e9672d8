"""Renders a job as Markdown."""

import json
from collections.abc import Iterator

from panorama.services.jobs.results import JobView


def render_job_page(job: JobView) -> str:
    """Render the progress and result of a job."""
    return "\n\n".join(_iter_parts(job)) + "\n"


def _iter_parts(job: JobView) -> Iterator[str]:
    yield f"# Job {job.id}: {job.kind}"
    yield f"{job.state}, requested by {job.client} at {job.created_at:%Y-%m-%d %H:%M} UTC"
    if job.state in ("queued", "running"):
        yield job.describe_progress()
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
