"""The worker's end of the pipe: the only place in a worker that speaks with the host.

It is what the SDK calls its transport, and what ends a run that went over a limit: such an ending is sent at once, and
the process exits, so that no script can catch it.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from math import isfinite
from struct import Struct
from typing import Any, NoReturn, cast

import greenlet

from panorama.domain.scripts import Ending, Limits, Reason
from panorama.sandbox import endings, frames, messages
from panorama.sandbox.frames import Frames
from panorama.sandbox.garbage import GARBAGE
from panorama.sandbox.output import Output
from panorama.sdk import errors
from panorama.sdk._plain import exact
from panorama.sdk._rows import Row

AT_MOST = 8
"""Calls that are under way at the same time."""

PROGRESS_SECONDS, BETWEEN_SECONDS = 0.05, 0.01
_LEFT_BEHIND = "The SDK cannot be called in the clean-up of a generator that was left behind."

_ID = Struct(">I")
_NAMED = Struct(">IB")

Stopped = Callable[[Reason], Ending]
"""Tells how a run ends that is stopped where it is."""


def _unbegun(_: Reason) -> Ending:
    return Ending()


class Pipe:
    """What a script says and hears, once it has begun; fulfils the SDK's `Transport`."""

    page_rows = 10_000

    def __init__(self, channel: Frames, state: dict[str, Any]) -> None:
        self.state = state
        self.output = Output(self._flush)
        self._channel = channel
        self._limits = Limits()
        self._stopped: Stopped = _unbegun
        self._calls = 0
        self._sent = 0
        self._sending = False
        self._stop: Reason | None = None
        self._hub: greenlet.greenlet | None = None
        self._waiting: dict[int, greenlet.greenlet] = {}
        self._reported_at = 0.0
        self._unreported = b""

    def begin(self, limits: Limits, stopped: Stopped) -> None:
        """Let a script begin that has these limits, and ends as `stopped` tells if it reaches one."""
        self._limits, self._stopped = limits, stopped
        self.output.most(limits.output_bytes)

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call an operation, and return its answer with rows in it.

        Raises:
            SdkError: It was refused, or the arguments cannot be sent.
        """
        if GARBAGE.is_searching:  # it keeps notes on the stack that a greenlet would take with it
            raise errors.InvalidInputError(_LEFT_BEHIND, hint="Close the generator yourself, or call outside of it.")
        if self._calls >= self._limits.calls:
            self.end("calls")
        sent = _sent(arguments)
        if len(sent) > self._limits.call_bytes:
            self.end("call_size")
        self._sent += len(sent)
        if self._sent > self._limits.sent_bytes:
            self.end("sent_size")
        if self._unreported and time.monotonic() - self._reported_at >= BETWEEN_SECONDS:
            self._report()  # the call may take long
        self._calls += 1
        within = self._hub is not None and greenlet.getcurrent() is not self._hub
        name = operation.encode()
        kind = frames.OVERLAPPING if within else frames.CALL
        self._send(kind, _NAMED.pack(self._calls, len(name)), name, sent)
        return _read(*(self._switched() if within else self._channel.receive_soon()))

    def _switched(self) -> tuple[bytes, bytes]:
        """Let others go on until this call is answered."""
        self._waiting[self._calls] = greenlet.getcurrent()
        assert self._hub
        return cast("tuple[bytes, bytes]", self._hub.switch())

    def parallel(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        """Run functions side by side, at most eight, and return their results in order; within another, one by one."""
        if self._hub is not None or GARBAGE.is_searching:
            return [each() for each in functions]
        places = len(
            [place for place in range(AT_MOST) if place < at_most]
        )  # asked now: it may be no number of Python's
        self._hub = greenlet.getcurrent()
        try:
            return self._together(functions, places)
        finally:
            self._hub = None

    def _together(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        results: list[Any] = [None] * len(functions)
        failed: dict[int, BaseException] = {}

        def run(place: int) -> None:
            try:
                results[place] = functions[place]()
            except BaseException as error:
                failed[place] = error

        following = iter(range(len(functions)))
        while True:
            while len(self._waiting) < at_most and not failed and (place := next(following, None)) is not None:
                greenlet.greenlet(run).switch(place)
            if not self._waiting:
                break
            kind, frame = self._channel.receive()
            self._waiting.pop(_ID.unpack_from(frame)[0]).switch((kind, frame))
        if failed:
            raise failed[min(failed)]
        return results

    def progress(self, current: float, total: float, message: str) -> None:
        """Tell how far the script is; what comes too soon after the last is told a little later, or not at all."""
        figures = {"current": float(current), "total": float(total)}
        if not all(map(isfinite, figures.values())):
            raise ValueError(f"progress takes finite numbers, not {current!r} of {total!r}")
        report = {**figures, "message": exact(message)[:200]}
        self._unreported = messages.packed(report)
        if time.monotonic() - self._reported_at >= PROGRESS_SECONDS:
            self._report()

    def _report(self) -> None:
        if self._unreported:
            self._reported_at = time.monotonic()
            report, self._unreported = self._unreported, b""
            self._send(frames.PROGRESS, report)

    def _flush(self, text: bytes, over: bool) -> None:
        if text:
            self._send(frames.OUTPUT, text)
        if over:
            self.end("output_size")

    def stop(self, reason: Reason) -> None:
        """End the run from a signal's handler: at once, or when the frame that is being sent is through."""
        self._stop = reason
        if not self._sending:
            self.end(reason)

    def end(self, reason: Reason) -> NoReturn:
        """End the run, since it reached a limit."""
        try:
            self.say(self._stopped(reason))
        finally:
            os._exit(0)

    def say(self, ending: Ending) -> None:
        """Send the ending, and what was not sent yet."""
        self._stop = None
        self._report()
        self.output.flush()
        self._send(frames.ENDING, *endings.packed(ending))

    def _send(self, kind: bytes, *parts: bytes) -> None:
        self._sending = True
        self._channel.send(kind, *parts)
        self._sending = False
        if self._stop:
            self.end(self._stop)


def _sent(arguments: dict[str, Any]) -> bytes:
    try:
        return messages.packed(arguments)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise errors.InvalidInputError(
            f"The arguments cannot be sent: {error}.", hint="Send text, numbers below 2**63, lists and dicts."
        ) from None


def _read(kind: bytes, frame: bytes | bytearray) -> dict[str, Any]:
    answer = messages.unpacked(memoryview(frame)[_ID.size :], Row)
    if kind == frames.REFUSAL:
        raise errors.of(answer)
    data = answer["data"]
    return {**answer, "data": _told(data)} if type(data) is bytes else answer


def _told(result: bytes) -> Any:
    """Return what another script returned; the host has not read it.

    Raises:
        SdkError: It cannot be read: the process of the other script was not what it should be.
    """
    try:
        return json.loads(result.decode(), object_hook=Row) if result else None
    except (ValueError, RecursionError):
        raise errors.UnavailableError("The script returned what cannot be read.", hint="Run it again.") from None
