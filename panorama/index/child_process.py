"""Starts a child process, sends it requests and notices when it ends."""

import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any

from panorama.index.frames import Frame, FrameStream

EDGE_COMMAND = (sys.executable, "-m", "panorama.index.edge_process")
"""The process in which Qdrant Edge lives."""

SEND_SECONDS = 60.0
"""The time limit for sending: a request waits in the socket behind the previous one; flushing 200,000 new vectors
takes 2 s.
"""

MAX_WAITING = 8
"""The maximum number of queued requests: about 3 MB."""

STOP_SECONDS = 10.0


class ProcessDiedError(Exception):
    """The process ended, or was killed because it did not accept a request; `signal` is the signal that killed it, or
    0.
    """

    def __init__(self, signal: int) -> None:
        super().__init__(f"the process ended by signal {signal}" if signal else "the process ended")
        self.signal = signal


class BusyError(Exception):
    """No answer came in time; the process continues."""


class RefusedError(Exception):
    """The process returned an error, in the words of its library."""


class ChildProcess:
    """One process; requests from all threads are answered in order.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, command: Sequence[str] = EDGE_COMMAND) -> None:
        parent_end, child_end = socket.socketpair()
        try:
            with child_end:
                self._process = subprocess.Popen(
                    command, stdin=child_end.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
                    start_new_session=True,
                )  # fmt: skip
        except BaseException:
            parent_end.close()
            raise
        self._stream = parent_end
        self._frames = FrameStream(parent_end)
        self._turn = Lock()
        self._last = 0

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def request(self, request: Mapping[str, Any], tail: bytes = b"", *, seconds: float) -> Frame:
        """Send a request and return the answer.

        Raises:
            BusyError: It did not come in time; a late answer is dropped.
            ProcessDiedError: The process is gone; the outcome is unknown.
            RefusedError: The process returned an error.
        """
        end = time.monotonic() + seconds
        if not self._turn.acquire(timeout=seconds):
            raise BusyError
        try:
            return self._receive(self._send(request, tail), end)
        finally:
            self._turn.release()

    def request_all(self, requests: Iterable[tuple[Mapping[str, Any], bytes]], *, seconds: float) -> None:
        """Send requests in order, while the caller creates the next ones; `seconds` apply to each.

        Raises:
            BusyError, ProcessDiedError, RefusedError: As of `ask`, for one of them.
        """
        waiting = deque[Future[Frame]]()
        aside = ThreadPoolExecutor(1, thread_name_prefix="index")
        try:
            for request, tail in requests:
                waiting.append(aside.submit(self.request, request, tail, seconds=seconds))
                if len(waiting) > MAX_WAITING:
                    waiting.popleft().result()
            for entry in waiting:
                entry.result()
        finally:
            aside.shutdown(cancel_futures=True)

    def _send(self, request: Mapping[str, Any], tail: bytes) -> int:
        self._last += 1
        try:
            self._frames.send(Frame({**request, "number": self._last}, tail), SEND_SECONDS)
        except OSError as error:  # also on a timeout, because half a request may be on its way
            raise self.kill() from error
        return self._last

    def _receive(self, number: int, end: float) -> Frame:
        try:
            while (answer := self._frames.receive(max(0.0, end - time.monotonic()))).head["number"] != number:
                pass  # it came too late for the caller
        except TimeoutError as error:
            raise BusyError from error
        except OSError as error:
            raise self.kill() from error
        if "error" in answer.head:
            raise RefusedError(answer.head["error"])
        return answer

    def kill(self) -> ProcessDiedError:
        """Kill the process, and return how it ended."""
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)  # wakes threads that wait for an answer
        self._stream.close()
        self._process.kill()
        return ProcessDiedError(max(0, -self._process.wait()))

    def wait(self) -> None:
        """Wait until the process has ended."""
        self._process.wait()

    def close(self) -> None:
        """Let the process flush to disk, and end it."""
        with suppress(BusyError, ProcessDiedError, RefusedError):
            self.request({"do": "close"}, seconds=STOP_SECONDS)
        self.stop()

    def stop(self) -> None:
        """End the process without a flush."""
        self._stream.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def measure_memory(self) -> tuple[int, int]:
        """Return its anonymous and file-mapped memory in bytes; (0, 0) if unknown."""
        try:
            with open(f"/proc/{self.pid}/status", "rb") as status:
                fields = dict(line.split(b":", 1) for line in status if line.startswith(b"Rss"))
        except OSError:
            return 0, 0
        anonymous, mapped = (int(fields.get(name, b"0 kB").split()[0]) << 10 for name in (b"RssAnon", b"RssFile"))
        return anonymous, mapped
