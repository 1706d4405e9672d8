"""Answering: the only place of the host that reads what a script calls, and sends what came of it."""

import difflib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from struct import Struct
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

from panorama.domain.scripts import Script
from panorama.errors import NotFoundError, PanoramaError
from panorama.sandbox import frames, messages
from panorama.sandbox.frames import Frames, ProtocolError

Answered = Callable[[str, Mapping[str, Any]], bytes]

AT_MOST = 8
"""Calls of one run that are under way at the same time."""

SUGGESTIONS = 20
"""How many refused calls of a run are told the nearest names: finding them takes a millisecond."""

_HEAD = Struct(">IB")
_ID = Struct(">I")
_INTERNAL = {
    "code": "internal",
    "message": "Something went wrong inside Panorama; the call was not answered.",
    "hint": "Try once more; if it happens again, look into the daemon's log with `panorama doctor`.",
}

_log = logging.getLogger(__name__)


def _nothing() -> None:
    """Do nothing."""


def cap(call_bytes: int) -> int:
    """Return how long the frame of a call may be."""
    return _HEAD.size + 255 + call_bytes


class Answering:
    """Answers the calls of one run, one at a time: eight at once would keep Python's lock from everybody else's calls.

    Those that overlap are answered in a thread of the run's own, which begins with the first of them: who reads what
    the worker says goes on reading meanwhile, or each side could wait for the other to read. `is_ended` tells whether
    the run was told to end: what it asked for before and was not given is not done any more.
    """

    def __init__(
        self, script: Script, answered: Answered, channel: Frames, is_ended: Callable[[], bool] = lambda: False
    ) -> None:
        self.calls = 0
        self.sent_bytes = 0
        """The arguments of all its calls."""

        self.broken: ProtocolError | None = None
        """What was wrong with an overlapping call; no more is read then."""

        self._script = script
        self._answered = answered
        self._channel = channel
        self._is_ended = is_ended
        self._turn = Lock()
        self._sending = Lock()
        self._places = BoundedSemaphore(AT_MOST)
        self._waiting: SimpleQueue[tuple[int, str, bytes] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._over = False
        self._refused = 0

    def call(self, frame: bytes | bytearray, *, overlapping: bool) -> bool:
        """Answer a call, or have it answered; False if the script has made as many as it may.

        Raises:
            ProtocolError: No worker of ours calls like this.
        """
        number, operation, arguments = _read(frame)
        self.sent_bytes += len(arguments)
        if self.sent_bytes > self._script.limits.sent_bytes:
            raise ProtocolError("more in its calls than it may send")
        if self.calls >= self._script.limits.calls:
            return False
        self.calls += 1
        if number != self.calls:
            raise ProtocolError(f"call {number} after {self.calls - 1}")
        if not overlapping:
            self._answer(number, operation, messages.claimed(arguments))
            return True
        if not self._places.acquire(blocking=False):
            raise ProtocolError(f"more than {AT_MOST} calls at the same time")
        self._waiting.put((number, operation, arguments))
        if self._thread is None:
            self._thread = Thread(target=self._answer_all, name="panorama-call", daemon=True)
            self._thread.start()
        return True

    def end(self) -> None:
        """Begin no other call, and wait for the one that is under way: what it does belongs to the run."""
        self._over = True
        if self._thread:
            self._channel.hang_up()  # or an answer might wait for a worker that does not read
            self._waiting.put(None)
            self._thread.join()

    def _answer_all(self) -> None:
        """Answer overlapping calls; each is unpacked in its turn, for then it may take sixty times as much memory."""
        while (call := self._waiting.get()) is not None and not self.broken:
            number, operation, arguments = call
            try:
                self._answer(number, operation, messages.claimed(arguments), self._places.release)
            except ProtocolError as error:
                self.broken = error
                self._channel.hang_up()  # who reads it hears of that

    def _answer(
        self, number: int, operation: str, arguments: Mapping[str, Any], answered: Callable[[], None] = _nothing
    ) -> None:
        with self._turn:
            if self._over or self._is_ended():
                return
            kind, answer = self._called(operation, arguments)
        answered()  # before it is sent: the worker calls again as soon as it has it
        with self._sending, suppress(OSError):  # a worker that is gone may have left word; that is still to be read
            self._channel.send(kind, _ID.pack(number), answer)

    def _called(self, operation: str, arguments: Mapping[str, Any]) -> tuple[bytes, bytes]:
        try:
            if operation not in self._script.operations:
                raise self._unknown(operation)
            return frames.ANSWER, self._answered(operation, arguments)
        except PanoramaError as error:
            return frames.REFUSAL, messages.packed(json.loads(json.dumps(error.told(), default=str)))
        except Exception:  # its text may hold paths and more; it is for the log alone
            _log.exception("a script's call of %s failed", operation)
            return frames.REFUSAL, messages.packed(_INTERNAL)

    def _unknown(self, operation: str) -> NotFoundError:
        self._refused += 1
        known: Iterable[str] = self._script.operations if self._refused <= SUGGESTIONS else ()
        near = difflib.get_close_matches(operation[:80], known, 3)
        hint = (
            f"The nearest that this script may call: {', '.join(near)}." if near else "search_sdk lists what there is."
        )
        return NotFoundError(f"This script cannot call {operation[:80]!r}.", hint=hint)


def _read(frame: bytes | bytearray) -> tuple[int, str, bytes]:
    if len(frame) < _HEAD.size:
        raise ProtocolError("a call without a head")
    number, length = _HEAD.unpack_from(frame)
    begin = _HEAD.size + length
    if len(frame) < begin:
        raise ProtocolError("a call without a name")
    try:
        return number, frame[_HEAD.size : begin].decode(), bytes(frame[begin:])
    except UnicodeDecodeError as error:
        raise ProtocolError("a call whose name is no text") from error
