"""The template as the host sees it: the only place that starts it, and has it fork and wait for workers."""

import json
import logging
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from panorama.domain.scripts import ISOLATIONS, Isolation, Limits
from panorama.errors import UnavailableError
from panorama.sandbox.control import GREETING_BYTES, Control, Order, Report
from panorama.sandbox.workers import GoneError, Worker

START_SECONDS = 30.0
ANSWER_SECONDS = 10.0
"""A fork takes 2 ms; a machine that is out of memory may need long for it."""

CLOSE_SECONDS = 2.0
WORDS_BYTES = 2000

_log = logging.getLogger(__name__)

_CODE = """
import sys
sys.path[:] = {path!r}
from panorama.sandbox.slim import leave_out
leave_out()
from panorama.sandbox.template import main
main()
"""
_PASSED_ON = ("TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(slots=True)
class Ticket:
    """An order that was given, and its report once it was read; `stream` is our end of a new worker's pipe."""

    stream: socket.socket | None = None
    report: Report | None = None


class Template:
    """One template process; may be used in threads."""

    def __init__(self, timezone: str, left_out: Mapping[str, bool]) -> None:
        """Start it.

        Raises:
            UnavailableError: It does not start.
        """
        self._turn = Lock()
        self._owed: deque[Ticket] = deque()
        self._process, self._control = _started(timezone, left_out)
        last_words = self._process.stderr
        assert last_words
        try:
            self.isolation: Isolation = self._greeting()
        except (EOFError, OSError, ValueError) as error:
            self._process.kill()
            _log.warning(
                "the process that runs scripts did not start: %s",
                last_words.read()[-WORDS_BYTES:].decode("utf-8", "replace"),
            )
            self.close()
            raise _no_start() from error
        finally:
            last_words.close()
        self._control.stream.settimeout(ANSWER_SECONDS)

    def _greeting(self) -> Isolation:
        self._control.stream.settimeout(START_SECONDS)
        told = self._control.exactly(GREETING_BYTES).decode().strip()
        if told not in ISOLATIONS:
            raise ValueError(told)
        return told

    def fork(self, limits: Limits, *, prepare: bool) -> Ticket:
        """Order a worker and return at once.

        Raises:
            GoneError: There is no template any more.
        """
        ours, theirs = socket.socketpair()
        order = Order(True, prepare, 0, limits.cpu.total_seconds(), limits.memory_bytes)
        with theirs:
            try:
                return self._given(order, Ticket(ours), theirs.fileno())
            except GoneError:
                ours.close()
                raise

    def worker(self, ticket: Ticket) -> Worker:
        """Return the worker that was ordered; it may still be on its way."""
        assert ticket.stream
        return Worker(ticket.stream, lambda: self._pid(ticket))

    def _pid(self, ticket: Ticket) -> int:
        """Return the number of a worker that was ordered.

        Raises:
            GoneError: There is no template any more, or the machine has no room for a process.
        """
        pid = self._reported(ticket).pid
        if pid < 0:
            raise GoneError
        return pid

    def let_go(self, worker: Worker) -> None:
        """Kill a worker; nobody wants to know how it ended. Twice is harmless."""
        if worker.close() and worker.pid:
            with suppress(GoneError):
                self._given(Order(False, pid=worker.pid), Ticket())

    def ended(self, worker: Worker) -> Report | None:
        """Kill a worker and return how it ended, None if nobody knows."""
        with suppress(GoneError):
            if worker.close() and worker.pid:
                return self._reported(self._given(Order(False, pid=worker.pid), Ticket()))
        return None

    def _given(self, order: Order, ticket: Ticket, descriptor: int | None = None) -> Ticket:
        with self._turn:
            try:
                self._control.order(order, descriptor)
            except OSError as error:
                raise GoneError from error
            self._owed.append(ticket)
        return ticket

    def _reported(self, ticket: Ticket) -> Report:
        with self._turn:
            while ticket.report is None:
                try:
                    report = self._control.reported()
                except (EOFError, OSError) as error:
                    raise GoneError from error
                self._owed.popleft().report = report
            return ticket.report

    @property
    def lives(self) -> bool:
        """Whether the process goes on."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it; its workers are killed with it."""
        with suppress(OSError):
            self._control.stream.shutdown(socket.SHUT_WR)  # it waits for the workers that it was told of, and exits
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_SECONDS)
        self._process.kill()
        self._process.wait()
        with self._turn:
            self._control.stream.close()


def _started(timezone: str, left_out: Mapping[str, bool]) -> tuple[subprocess.Popen[bytes], Control]:
    """Start a Python that reads no environment, writes no bytecode, and finds what this one finds."""
    if sys.platform == "win32":
        raise UnavailableError(
            "Scripts cannot be run on Windows yet.", hint="Run Panorama in the Windows Subsystem for Linux."
        )
    ours, theirs = socket.socketpair()
    code = _CODE.format(path=[os.path.abspath(each) for each in sys.path if each])
    arguments = (sys.executable, "-I", "-B", "-c", code, str(theirs.fileno()), json.dumps(dict(left_out)))
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {"TZ": timezone or environment.get("TZ", ":/etc/localtime")}
    with theirs:
        try:
            process = subprocess.Popen(
                arguments, pass_fds=[theirs.fileno()], env=environment, cwd="/", start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            ours.close()
            raise _no_start() from error
    return process, Control(ours)


def _no_start() -> UnavailableError:
    return UnavailableError(
        "The process that runs scripts does not start.",
        hint="Run `panorama doctor`; the machine may be short of memory or of processes.",
    )
