"""The worker's end of the pipe to the host.

It is the SDK's transport. At a limit it sends the outcome at once and exits, so that no script can catch it.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from math import isfinite
from struct import Struct
from typing import Any, NoReturn, cast

import greenlet

from panorama.domain.scripts.scripts import Limits, Reason, RunOutcome
from panorama.sandbox.protocol import frames, messages, outcome
from panorama.sandbox.protocol.frames import FrameChannel
from panorama.sandbox.worker.output import Output
from panorama.sdk import errors
from panorama.sdk.core.encode import exact_str
from panorama.sdk.core.rows import Row

MAX_CONCURRENT_CALLS = 8
"""Concurrent calls."""

PROGRESS_SECONDS, PROGRESS_BEFORE_CALL_SECONDS = 0.05, 0.01

_ID = Struct(">I")
_CALL_HEAD = Struct(">IB")

BuildOutcome = Callable[[Reason], RunOutcome]
"""Builds the outcome of a run that is stopped."""


def _make_empty_outcome(_: Reason) -> RunOutcome:
    return RunOutcome()


class Pipe:
    """The pipe of a running script; implements the SDK's `Transport`."""

    page_rows = 10_000

    def __init__(self, channel: FrameChannel, state: dict[str, Any]) -> None:
        self.state = state
        self.output = Output(self._flush)
        self._channel = channel
        self._limits = Limits()
        self._build_outcome: BuildOutcome = _make_empty_outcome
        self._calls = 0
        self._sent_bytes = 0
        self._sending = False
        self._stop: Reason | None = None
        self._hub: greenlet.greenlet | None = None
        self._waiting: dict[int, greenlet.greenlet] = {}
        self._progress_sent_at = 0.0
        self._pending_progress = b""

    def start(self, limits: Limits, build_outcome: BuildOutcome) -> None:
        """Start a run with these limits; `build_outcome` builds the outcome at a limit."""
        self._limits, self._build_outcome = limits, build_outcome
        self.output.set_limit(limits.output_bytes)

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call an operation, and return its answer with rows in it.

        Raises:
            SdkError: It was refused, or the arguments cannot be sent.
        """
        if self._calls >= self._limits.calls:
            self.end("calls")
        packed = _pack_arguments(arguments)
        if len(packed) > self._limits.call_bytes:
            self.end("call_size")
        self._sent_bytes += len(packed)
        if self._sent_bytes > self._limits.sent_bytes:
            self.end("sent_size")
        if self._pending_progress and time.monotonic() - self._progress_sent_at >= PROGRESS_BEFORE_CALL_SECONDS:
            self._send_progress()  # the call may take long
        self._calls += 1
        is_concurrent = self._hub is not None and greenlet.getcurrent() is not self._hub
        name = operation.encode()
        kind = frames.CONCURRENT_CALL if is_concurrent else frames.CALL
        self._send(kind, _CALL_HEAD.pack(self._calls, len(name)), name, packed)
        return _parse_answer(*(self._wait_for_answer() if is_concurrent else self._channel.receive_fast()))

    def _wait_for_answer(self) -> tuple[bytes, bytes]:
        """Let others go on until this call is answered."""
        self._waiting[self._calls] = greenlet.getcurrent()
        assert self._hub
        return cast("tuple[bytes, bytes]", self._hub.switch())

    def parallel(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        """Run functions concurrently, at most eight, and return their results in order."""
        if self._hub is not None:
            return [function() for function in functions]
        slots = len(
            [place for place in range(MAX_CONCURRENT_CALLS) if place < at_most]
        )  # asked now: it may be no number of Python's
        self._hub = greenlet.getcurrent()
        try:
            return self._run_parallel(functions, slots)
        finally:
            self._hub = None

    def _run_parallel(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        results: list[Any] = [None] * len(functions)
        failed: dict[int, BaseException] = {}

        def run(place: int) -> None:
            try:
                results[place] = functions[place]()
            except BaseException as error:  # raised to the script after all functions ended
                failed[place] = error

        remaining = iter(range(len(functions)))
        while True:
            while len(self._waiting) < at_most and not failed and (place := next(remaining, None)) is not None:
                greenlet.greenlet(run).switch(place)
            if not self._waiting:
                break
            kind, frame = self._channel.receive()
            self._waiting.pop(_ID.unpack_from(frame)[0]).switch((kind, frame))
        if failed:
            raise failed[min(failed)]
        return results

    def progress(self, current: float, total: float, message: str) -> None:
        """Report progress; a report too soon after the last is delayed or dropped."""
        figures = {"current": float(current), "total": float(total)}
        if not all(map(isfinite, figures.values())):
            raise ValueError(f"progress takes finite numbers, not {current!r} of {total!r}")
        report = {**figures, "message": exact_str(message)[:200]}
        self._pending_progress = messages.pack(report)
        if time.monotonic() - self._progress_sent_at >= PROGRESS_SECONDS:
            self._send_progress()

    def _send_progress(self) -> None:
        if self._pending_progress:
            self._progress_sent_at = time.monotonic()
            report, self._pending_progress = self._pending_progress, b""
            self._send(frames.PROGRESS, report)

    def _flush(self, text: bytes, is_cut: bool) -> None:
        if text:
            self._send(frames.OUTPUT, text)
        if is_cut:
            self.end("output_size")

    def stop(self, reason: Reason) -> None:
        """End the run from a signal handler, after the frame that is being sent."""
        self._stop = reason
        if not self._sending:
            self.end(reason)

    def end(self, reason: Reason) -> NoReturn:
        """End the run, since it reached a limit."""
        try:
            self.send_outcome(self._build_outcome(reason))
        finally:
            os._exit(0)

    def send_outcome(self, ending: RunOutcome) -> None:
        """Send what is still buffered, and the outcome."""
        self._stop = None
        self._send_progress()
        self.output.flush()
        self._send(frames.OUTCOME, *outcome.pack_outcome(ending))

    def _send(self, kind: bytes, *parts: bytes) -> None:
        self._sending = True
        self._channel.send(kind, *parts)
        self._sending = False
        if self._stop:
            self.end(self._stop)


def _pack_arguments(arguments: dict[str, Any]) -> bytes:
    try:
        return messages.pack(arguments)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise errors.InvalidInputError(
            f"The arguments cannot be sent: {error}.", hint="Send text, numbers below 2**63, lists and dicts."
        ) from None


def _parse_answer(kind: bytes, frame: bytes | bytearray) -> dict[str, Any]:
    answer = messages.unpack(memoryview(frame)[_ID.size :], Row)
    if kind == frames.REFUSAL:
        raise errors.from_dict(answer)
    data = answer["data"]
    return {**answer, "data": _decode_result(data)} if type(data) is bytes else answer


def _decode_result(result: bytes) -> Any:
    """Return what another script returned; the host has not read it.

    Raises:
        SdkError: It cannot be read: the process of the other script was not what it should be.
    """
    try:
        return json.loads(result.decode(), object_hook=Row) if result else None
    except (ValueError, RecursionError):
        raise errors.UnavailableError("The script returned malformed data.", hint="Run it again.") from None
