"""Progress and cancellation: a long operation reports progress, and stops between steps when its client cancels."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.lowlevel
from fastmcp import Context
from fastmcp.server.dependencies import get_context

from panorama.calls import Answer, Calls, Conversation
from panorama.calls.call import TRACKED_CALL
from panorama.mcp.call_threads import call_threads
from panorama.operation import Workload
from panorama.services.jobs.progress import ignore_progress, report_progress_to
from panorama.services.jobs.running_job import RunningJob

Result = TypeVar("Result")

MIN_STEP = 0.001
"""What is added where only the words changed: the protocol wants every notification to be further than the last."""

REMAINING_SHARE = 0.1
"""What is taken instead of what is left up to the total, where that is less."""


def next_progress(last: float, done: int, total: int) -> float:
    """Return the next progress value: above the last one, and below the total if there is one (0: none)."""
    if total and done >= total:
        return total
    further = max(done, last + MIN_STEP)
    return further if not total or further < total else last + (total - last) * REMAINING_SHARE


class ProgressReporter:
    """Sends increasing progress to the client of the current request."""

    def __init__(self) -> None:
        self._last = -MIN_STEP
        self._request: tuple[Context, contextvars.Context] | None = None
        self.follow_request()

    def follow_request(self) -> None:
        """Report to the current request, which may repeat the one that began the call."""
        self._request = get_context(), contextvars.copy_context()

    def leave_request(self) -> None:
        """Discard progress reports; the request has ended, and the call continues."""
        self._request = None

    async def __call__(self, done: int, total: int, what: str) -> None:
        """Report progress."""
        further = next_progress(self._last, done, total)
        if further <= self._last or self._request is None:
            return
        self._last = further
        context, variables = self._request
        await asyncio.create_task(context.report_progress(further, total or None, what), context=variables.copy())


async def run_read(calls: Calls, name: str, arguments: Mapping[str, Any], conversation: Conversation) -> Answer:
    """Call a reading operation for a resource or a completion."""
    return await run_abandonable(partial(calls.call, name, arguments, conversation), "short", conversation.id)


async def run_abandonable(call: Callable[[], Result], workload: Workload, client: str) -> Result:
    """Run a reading call in a thread; if the client cancels it, its thread ends shortly after."""
    is_gone = threading.Event()

    def run() -> Result:
        with report_progress_to(ignore_progress, is_gone.is_set):
            return call()

    try:
        return await call_threads().run(run, workload, client, abandon_on_cancel=True)
    finally:
        is_gone.set()


async def run_cancellable(
    call: Callable[[], Result], workload: Workload, client: str, report_to_client: ProgressReporter
) -> Result:
    """Run a call in a thread, and wait for its end even if the client cancels it.

    Its progress is reported to the client, if that asked for it.
    Once it has become a job, the client has its answer: then the job is informed, and stops it.
    """
    followed = TRACKED_CALL.get()
    is_gone = threading.Event()

    def find_job() -> RunningJob | None:
        return followed.running if followed else None

    def should_stop() -> bool:
        running = find_job()
        return is_gone.is_set() or (running is not None and running.should_stop())

    def report(done: int, total: int, what: str) -> None:
        if running := find_job():
            running.report_progress(done, total, what)
            return
        anyio.from_thread.run(report_to_client, done, total, what)

    def run() -> Result:
        with report_progress_to(report, should_stop):
            return call()

    return await _run_in_thread(run, is_gone, workload, client)


async def _run_in_thread(
    run: Callable[[], Result], is_gone: threading.Event, workload: Workload, client: str
) -> Result:
    """Run in a thread, which hears by `gone` if the client cancelled it."""

    def run_and_store() -> None:
        try:
            done.append(run())
        except Exception as error:  # raised by the caller below; the task group would wrap it
            failed.append(error)

    done: list[Result] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_wait_for_cancel, is_gone)
        await call_threads().run(run_and_store, workload, client)
        tasks.cancel_scope.cancel()
    await anyio.lowlevel.checkpoint()
    if failed:
        raise failed[0]
    return done[0]


async def _wait_for_cancel(is_gone: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        is_gone.set()
