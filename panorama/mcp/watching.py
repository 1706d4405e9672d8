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

from panorama.services.progress import progressing

Result = TypeVar("Result")

STEP = 0.001
"""What is added where only the words changed: the protocol wants every notification to be further than the last."""


class _GoneError(Exception):
    """The client cancelled what it asked for."""


async def watched(call: Callable[[], Result]) -> Result:
    """Make a call in a thread; what it tells of its progress goes to the client, if that asked for it."""
    context = get_context()
    gone = threading.Event()

    last = -STEP

    def moved(done: int, total: int, what: str) -> None:
        nonlocal last
        if gone.is_set():
            raise _GoneError
        last = max(done, last + STEP)
        anyio.from_thread.run(partial(context.report_progress, last, total or None, what))

    def run() -> None:
        try:
            with progressing(moved, gone.is_set):
                done.append(call())
        except Exception as error:  # a task group would wrap it
            failed.append(error)

    done: list[Result] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_cancelled, gone)
        await anyio.to_thread.run_sync(run)
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
