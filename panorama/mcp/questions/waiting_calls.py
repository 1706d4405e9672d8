"""Calls of scripts that ask the user while they run: the script waits in its thread, and nothing runs twice.

Until 2025-11-25 the question is put while the request is open. Since 2026-07-28 the request ends with the question, the
call waits here, and the repeated request with the answer takes it up.
"""

import asyncio
import contextvars
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import anyio
from anyio.lowlevel import RunVar
from fastmcp.tools import ToolResult

from panorama.calls.agreements import ANSWER_SECONDS
from panorama.calls.call import TRACKED_CALL
from panorama.mcp.cancellation import ProgressReporter
from panorama.services.sources.questions import ASK_USER, AskUser

MAX_WAITING = 8
"""Calls that wait for a user between two requests: each holds a thread and a process."""

POLL_SECONDS = 0.1
"""How often a waiting script looks whether its run was ended."""

Elicit = Callable[[str], Awaitable[bool | None]]
"""Puts a question to the user of an open request; None if they do not answer."""


def ask_by_elicitation(elicit: Elicit) -> AskUser:
    """Return a function for the threads of a call that asks while its request is open."""
    loop, variables = asyncio.get_running_loop(), contextvars.copy_context()
    running: set[asyncio.Task[None]] = set()

    def ask(question: str, should_stop: Callable[[], bool]) -> bool | None:
        answer: Future[bool | None] = Future()

        async def put() -> None:
            given = await elicit(question)
            with suppress(asyncio.InvalidStateError):
                answer.set_result(given)

        def start() -> None:
            task = loop.create_task(put(), context=variables.copy())
            running.add(task)
            task.add_done_callback(running.discard)

        loop.call_soon_threadsafe(start)
        return _wait_for_answer(answer, should_stop)

    return ask


class WaitingCall:
    """A call that outlives its request when it asks the user."""

    def __init__(self, reporter: ProgressReporter) -> None:
        """Create it in the request that makes the call."""
        self.id = secrets.token_hex(8)
        self._reporter = reporter
        self._tracked = TRACKED_CALL.get()
        self._loop = asyncio.get_running_loop()
        self._scope = anyio.CancelScope()
        self._asked: asyncio.Future[tuple[str, Future[bool | None]]] = self._loop.create_future()
        self._answer: Future[bool | None] = Future()
        self._task: asyncio.Task[ToolResult] | None = None

    def start(self, call: Coroutine[Any, Any, ToolResult]) -> None:
        """Start the call, whose script may ask."""
        variables = contextvars.copy_context()
        variables.run(ASK_USER.set, self._ask)
        self._task = self._loop.create_task(self._run(call), context=variables)
        self._task.add_done_callback(lambda task: task.cancelled() or task.exception())  # it may end without a request

    def resume(self, answer: bool | None) -> None:
        """Give the answer to the question; progress goes to the present request from now on."""
        self._reporter.follow_request()
        with suppress(asyncio.InvalidStateError):  # the run was ended meanwhile
            self._answer.set_result(answer)

    async def wait(self) -> ToolResult | str:
        """Wait for the result of the call, or for its next question.

        Raises:
            Exception: The call failed.
        """
        if self._task is None:
            raise RuntimeError("the call was not started")
        try:
            await asyncio.wait({self._task, self._asked}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({self._task})
            raise
        if self._task.done():
            return self._task.result()
        question, self._answer = self._asked.result()
        self._asked = self._loop.create_future()
        self._reporter.leave_request()
        return question

    def cancel(self) -> None:
        """End the call; its script is stopped."""
        self._scope.cancel()

    async def _run(self, call: Coroutine[Any, Any, ToolResult]) -> ToolResult:
        with self._scope:
            return await call
        raise asyncio.CancelledError

    def _ask(self, question: str, should_stop: Callable[[], bool]) -> bool | None:
        answer: Future[bool | None] = Future()
        self._loop.call_soon_threadsafe(self._put, question, answer)
        return _wait_for_answer(answer, should_stop)

    def _put(self, question: str, answer: Future[bool | None]) -> None:
        """End the request with a question, unless it has become a task or too many calls wait."""
        tracked = self._tracked
        if (tracked and tracked.is_task) or waiting_calls().is_full or self._asked.done():
            answer.set_result(None)
            return
        if tracked:
            tracked.is_asking = True
        self._asked.set_result((question, answer))


class WaitingCalls:
    """The calls of one event loop that wait for an answer."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[WaitingCall, asyncio.TimerHandle]] = {}

    @property
    def is_full(self) -> bool:
        """Whether no further call may wait."""
        return len(self._calls) >= MAX_WAITING

    def add(self, call: WaitingCall) -> None:
        """Keep a call until its answer comes; after five minutes it is ended."""
        timer = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._give_up, call.id)
        self._calls[call.id] = call, timer

    def take(self, id_: str) -> WaitingCall | None:
        """Return a waiting call once; None if it does not wait, or no longer."""
        call, timer = self._calls.pop(id_, (None, None))
        if timer is not None:
            timer.cancel()
        return call

    def _give_up(self, id_: str) -> None:
        if call := self.take(id_):
            call.cancel()


_waiting: RunVar[WaitingCalls] = RunVar("waiting_calls")


def waiting_calls() -> WaitingCalls:
    """Return the waiting calls of the running event loop."""
    try:
        return _waiting.get()
    except LookupError:
        waiting = WaitingCalls()
        _waiting.set(waiting)
        return waiting


def _wait_for_answer(answer: Future[bool | None], should_stop: Callable[[], bool]) -> bool | None:
    """Wait in the call's thread; return None when the answer is no longer needed. The event loop ends the wait."""
    while not should_stop():
        with suppress(TimeoutError):
            return answer.result(POLL_SECONDS)
    answer.cancel()
    return None
