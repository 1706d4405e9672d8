"""Watching: a long operation tells its client how far it is, and ends between two steps when the client cancels it."""

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from fastmcp.server.dependencies import get_context

from panorama.calls.door import FOLLOWED
from panorama.services.progress import progressing
from panorama.services.running import Running

Result = TypeVar("Result")

STEP = 0.001
"""What is added where only the words changed: the protocol wants every notification to be further than the last."""

SHARE = 0.1
"""What is taken instead of what is left up to the total, where that is less."""


def after(last: float, done: int, total: int) -> float:
    """Return what is told next: more than what was told last as long as there is room below the total (0: none)."""
    if total and done >= total:
        return total
    further = max(done, last + STEP)
    return further if not total or further < total else last + (total - last) * SHARE


class _GoneError(Exception):
    """The client cancelled what it asked for."""


async def watched(call: Callable[[], Result]) -> Result:
    """Make a call in a thread; what it tells of its progress goes to the client, if that asked for it.

    Once it has become a job, the client has its answer: then the job is told, and stops it.
    """
    context, followed = get_context(), FOLLOWED.get()
    gone = threading.Event()

    def job() -> Running | None:
        return followed.running if followed else None

    def left() -> bool:
        running = job()
        return gone.is_set() or (running is not None and running.left())

    last = -STEP

    def moved(done: int, total: int, what: str) -> None:
        nonlocal last
        if gone.is_set():
            raise _GoneError
        if running := job():
            running.moved(done, total, what)
            return
        further = after(last, done, total)
        if further > last:
            last = further
            anyio.from_thread.run(partial(context.report_progress, last, total or None, what))

    def run() -> Result:
        with progressing(moved, left):
            return call()

    return await _in_thread(run, gone)


async def _in_thread(run: Callable[[], Result], gone: threading.Event) -> Result:
    """Run in a thread, which hears by `gone` if the client cancelled it."""

    def ran() -> None:
        try:
            done.append(run())
        except Exception as error:  # a task group would wrap it
            failed.append(error)

    done: list[Result] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_cancelled, gone)
        await anyio.to_thread.run_sync(ran)
        tasks.cancel_scope.cancel()
    await anyio.lowlevel.checkpoint()
    if failed:
        raise failed[0]
    return done[0]


async def _until_cancelled(gone: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        gone.set()
