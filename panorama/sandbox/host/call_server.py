"""Answers the SDK calls of one run."""

import difflib
import json
import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from struct import Struct
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

from panorama.domain.scripts.scripts import SOURCE_CALL, Script
from panorama.errors import NotFoundError, PanoramaError
from panorama.sandbox.protocol import frames, messages
from panorama.sandbox.protocol.frames import FrameChannel, ProtocolError

AnswerCall = Callable[[str, Mapping[str, Any]], bytes]

MAX_CONCURRENT_CALLS = 8
"""Concurrent calls of one run."""

MAX_SUGGESTIONS = 20
"""How many refused calls of a run get close names: finding them takes a millisecond."""

_HEAD = Struct(">IB")
_ID = Struct(">I")
_INTERNAL_ERROR = {
    "code": "internal",
    "message": "Internal error; the call was not answered.",
    "hint": "Try again; if it persists, see the daemon's log (`panorama daemon logs`).",
}

_log = logging.getLogger(__name__)


def _noop() -> None:
    """Do nothing."""


def max_frame_bytes(call_bytes: int) -> int:
    """Return how long the frame of a call may be."""
    return _HEAD.size + 255 + call_bytes


class CallServer:
    """Answers the calls of one run, one at a time, so other clients get the lock.

    Overlapping calls are answered in a separate thread, started by the first of them, so that frames are still read:
    otherwise both sides could wait for each other. Overlapping calls of sources are answered in a thread each, since
    they wait for others and hold no lock. Once `is_ended` returns True, pending calls are not executed.
    """

    def __init__(
        self, script: Script, answered: AnswerCall, channel: FrameChannel, is_ended: Callable[[], bool] = lambda: False
    ) -> None:
        self.calls = 0
        self.sent_bytes = 0
        """Bytes of the arguments of all calls."""

        self.broken: ProtocolError | None = None
        """The protocol error of an overlapping call; nothing more is read after it."""

        self._script = script
        self._answer_call = answered
        self._channel = channel
        self._is_ended = is_ended
        self._lock = Lock()
        self._sending = Lock()
        self._slots = BoundedSemaphore(MAX_CONCURRENT_CALLS)
        self._waiting: SimpleQueue[tuple[int, str, bytes] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._source_threads: list[Thread] = []
        self._closed = False
        self._refused = 0

    def handle(self, frame: bytes | bytearray, *, overlapping: bool) -> bool:
        """Answer a call, or queue it; return False if the run is at its limit of calls.

        Raises:
            ProtocolError: No worker of ours calls like this.
        """
        number, operation, arguments = _parse_call(frame)
        self.sent_bytes += len(arguments)
        if self.sent_bytes > self._script.limits.sent_bytes:
            raise ProtocolError("more in its calls than it may send")
        if self.calls >= self._script.limits.calls:
            return False
        self.calls += 1
        if number != self.calls:
            raise ProtocolError(f"call {number} after {self.calls - 1}")
        if not overlapping:
            self._answer(number, operation, messages.parse_untrusted(arguments))
            return True
        if not self._slots.acquire(blocking=False):
            raise ProtocolError(f"more than {MAX_CONCURRENT_CALLS} calls at the same time")
        if operation == SOURCE_CALL:
            thread = Thread(
                target=self._answer_source_call, args=(number, arguments), name="panorama-call", daemon=True
            )
            self._source_threads.append(thread)
            thread.start()
            return True
        self._waiting.put((number, operation, arguments))
        if self._thread is None:
            self._thread = Thread(target=self._answer_all, name="panorama-call", daemon=True)
            self._thread.start()
        return True

    def close(self) -> None:
        """Start no more calls and wait for the running one, which belongs to the run."""
        self._closed = True
        if self._thread or self._source_threads:
            self._channel.shutdown()  # an answer could wait for a worker that does not read
        if self._thread:
            self._waiting.put(None)
            self._thread.join()
        for thread in self._source_threads:
            thread.join()

    def _answer_all(self) -> None:
        """Answer overlapping calls; unpack each in its turn, since unpacked it is larger."""
        while (call := self._waiting.get()) is not None and not self.broken:
            number, operation, arguments = call
            with self._end_on_protocol_error():
                self._answer(number, operation, messages.parse_untrusted(arguments), self._slots.release)

    def _answer_source_call(self, number: int, arguments: bytes) -> None:
        with self._end_on_protocol_error():
            parsed = messages.parse_untrusted(arguments)
            if not (self._closed or self._is_ended()):
                self._send(number, *self._call_operation(SOURCE_CALL, parsed), self._slots.release)

    @contextmanager
    def _end_on_protocol_error(self) -> Generator[None]:
        try:
            yield
        except ProtocolError as error:
            self.broken = error
            self._channel.shutdown()  # this wakes the reader

    def _answer(
        self, number: int, operation: str, arguments: Mapping[str, Any], answered: Callable[[], None] = _noop
    ) -> None:
        with self._lock:
            if self._closed or self._is_ended():
                return
            kind, answer = self._call_operation(operation, arguments)
        self._send(number, kind, answer, answered)

    def _send(self, number: int, kind: bytes, answer: bytes, answered: Callable[[], None]) -> None:
        answered()  # before sending: the worker may call again at once
        with self._sending, suppress(OSError):  # it is gone; what it sent before is still read
            self._channel.send(kind, _ID.pack(number), answer)

    def _call_operation(self, operation: str, arguments: Mapping[str, Any]) -> tuple[bytes, bytes]:
        try:
            if operation not in self._script.operations:
                raise self._unknown_operation_error(operation)
            return frames.ANSWER, self._answer_call(operation, arguments)
        except PanoramaError as error:
            return frames.REFUSAL, messages.pack(json.loads(json.dumps(error.to_dict(), default=str)))
        except Exception:  # its text can contain paths, so only the log gets it
            _log.exception("a script's call of %s failed", operation)
            return frames.REFUSAL, messages.pack(_INTERNAL_ERROR)

    def _unknown_operation_error(self, operation: str) -> NotFoundError:
        self._refused += 1
        candidates: Iterable[str] = self._script.operations if self._refused <= MAX_SUGGESTIONS else ()
        close_names = difflib.get_close_matches(operation[:80], candidates, 3)
        hint = (
            f"Similar functions that this script may call: {', '.join(close_names)}."
            if close_names
            else "search_sdk lists the functions."
        )
        return NotFoundError(f"This script cannot call {operation[:80]!r}.", hint=hint)


def _parse_call(frame: bytes | bytearray) -> tuple[int, str, bytes]:
    if len(frame) < _HEAD.size:
        raise ProtocolError("a call without a head")
    number, length = _HEAD.unpack_from(frame)
    begin = _HEAD.size + length
    if len(frame) < begin:
        raise ProtocolError("a call without a name")
    try:
        return number, frame[_HEAD.size : begin].decode(), bytes(frame[begin:])
    except UnicodeDecodeError as error:
        raise ProtocolError("a call whose name is not text") from error
