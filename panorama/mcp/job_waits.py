"""Waits for the end of a job in the event loop, so that a waiting call uses no worker thread."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import anyio

from panorama.calls.jobs.job_types import JobWait
from panorama.errors import PanoramaError
from panorama.mcp.call_threads import call_threads
from panorama.services.jobs.jobs import PROGRESS_INTERVAL_SECONDS, Jobs

UNSIGNALLED_SECONDS = 1.0
"""After so long a job is looked at without a signal, which comes late from a process that died."""

ReportProgress = Callable[[int, int, str], Awaitable[None]]


async def wait_for_job(jobs: Jobs, wait: JobWait, client: str, report: ReportProgress) -> None:
    """Return once a job has ended, after some seconds, or when this process leaves.

    Errors of the job are reported by the call that follows.
    """
    moved, loop = asyncio.Event(), asyncio.get_running_loop()

    def on_move(id_: str) -> None:
        if id_ == wait.job:
            loop.call_soon_threadsafe(moved.set)

    unsubscribe = jobs.subscribe(on_move)
    try:
        with anyio.move_on_after(wait.seconds):
            await _follow(jobs, wait.job, moved, client, report)
    except PanoramaError:
        return
    finally:
        unsubscribe()


async def _follow(jobs: Jobs, id_: str, moved: asyncio.Event, client: str, report: ReportProgress) -> None:
    last, next_time = None, 0.0
    while not jobs.is_leaving:
        moved.clear()
        job = await call_threads().run(partial(jobs.get_job, id_), "short", client)
        if job.has_ended:
            return
        progress = job.current, job.total, job.message or job.state
        if progress != last and anyio.current_time() >= next_time:
            last, next_time = progress, anyio.current_time() + PROGRESS_INTERVAL_SECONDS
            await report(*progress)
        with anyio.move_on_after(UNSIGNALLED_SECONDS):
            await moved.wait()
