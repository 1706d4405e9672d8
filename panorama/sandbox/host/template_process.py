"""Starts the template process, and orders it to fork and reap workers."""

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

from panorama.domain.scripts.scripts import ISOLATIONS, Isolation, Limits
from panorama.errors import UnavailableError
from panorama.sandbox.host.worker_handle import WorkerGoneError, WorkerHandle
from panorama.sandbox.protocol.control import GREETING_BYTES, ControlChannel, Order, Report

START_SECONDS = 30.0
ANSWER_SECONDS = 10.0
"""A fork takes 2 ms, but much longer on a machine that is out of memory."""

CLOSE_SECONDS = 2.0
STDERR_BYTES = 2000

_log = logging.getLogger(__name__)

_CODE = """
import sys
sys.path[:] = {path!r}
from panorama.sandbox.worker.import_trim import skip_unused_modules
skip_unused_modules()
from panorama.sandbox.worker.template import main
main()
"""
_INHERITED_VARIABLES = ("TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(slots=True)
class ForkRequest:
    """An order and its report, once read; `stream` is the host's end of the new pipe."""

    stream: socket.socket | None = None
    report: Report | None = None


class TemplateProcess:
    """One template process; may be used in threads."""

    def __init__(self, timezone: str, layers: Mapping[str, bool]) -> None:
        """Start the process.

        Raises:
            UnavailableError: The process does not start.
        """
        self._lock = Lock()
        self._pending: deque[ForkRequest] = deque()
        self._process, self._control = _start_process(timezone, layers)
        stderr_pipe = self._process.stderr
        assert stderr_pipe
        try:
            self.isolation: Isolation = self._read_greeting()
        except (EOFError, OSError, ValueError) as error:
            self._process.kill()
            _log.warning(
                "the process that runs scripts did not start: %s",
                stderr_pipe.read()[-STDERR_BYTES:].decode("utf-8", "replace"),
            )
            self.close()
            raise _start_error() from error
        finally:
            stderr_pipe.close()
        self._control.stream.settimeout(ANSWER_SECONDS)

    def _read_greeting(self) -> Isolation:
        self._control.stream.settimeout(START_SECONDS)
        greeting = self._control.read_exactly(GREETING_BYTES).decode().strip()
        if greeting not in ISOLATIONS:
            raise ValueError(greeting)
        return greeting

    def fork(self, limits: Limits, *, prepare: bool) -> ForkRequest:
        """Order a worker and return at once.

        Raises:
            WorkerGoneError: The template is gone.
        """
        host_end, template_end = socket.socketpair()
        order = Order(True, prepare, 0, limits.cpu.total_seconds(), limits.memory_bytes)
        with template_end:
            try:
                return self._send_order(order, ForkRequest(host_end), template_end.fileno())
            except WorkerGoneError:
                host_end.close()
                raise

    def get_worker(self, request: ForkRequest) -> WorkerHandle:
        """Return the worker that was ordered; it may still be starting."""
        assert request.stream
        return WorkerHandle(request.stream, lambda: self._wait_for_pid(request))

    def _wait_for_pid(self, request: ForkRequest) -> int:
        """Return the number of a worker that was ordered.

        Raises:
            WorkerGoneError: The template is gone, or no process could be forked.
        """
        pid = self._wait_for_report(request).pid
        if pid < 0:
            raise WorkerGoneError
        return pid

    def release(self, worker: WorkerHandle) -> None:
        """Kill a worker without asking how it ended. Idempotent."""
        if worker.close() and worker.pid:
            with suppress(WorkerGoneError):
                self._send_order(Order(False, pid=worker.pid), ForkRequest())

    def reap(self, worker: WorkerHandle) -> Report | None:
        """Kill a worker and return how it ended, None if unknown."""
        with suppress(WorkerGoneError):
            if worker.close() and worker.pid:
                return self._wait_for_report(self._send_order(Order(False, pid=worker.pid), ForkRequest()))
        return None

    def _send_order(self, order: Order, request: ForkRequest, descriptor: int | None = None) -> ForkRequest:
        with self._lock:
            try:
                self._control.send_order(order, descriptor)
            except OSError as error:
                raise WorkerGoneError from error
            self._pending.append(request)
        return request

    def _wait_for_report(self, request: ForkRequest) -> Report:
        with self._lock:
            while request.report is None:
                try:
                    report = self._control.receive_report()
                except (EOFError, OSError) as error:
                    raise WorkerGoneError from error
                self._pending.popleft().report = report
            return request.report

    @property
    def is_alive(self) -> bool:
        """Whether the process is alive."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it; its workers are killed with it."""
        with suppress(OSError):
            self._control.stream.shutdown(socket.SHUT_WR)  # it waits for its reported workers and exits
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_SECONDS)
        self._process.kill()
        self._process.wait()
        with self._lock:
            self._control.stream.close()


def _start_process(timezone: str, layers: Mapping[str, bool]) -> tuple[subprocess.Popen[bytes], ControlChannel]:
    """Start a Python with no environment and no bytecode, and with this one's path."""
    if sys.platform == "win32":
        raise UnavailableError(
            "Scripts cannot be run on Windows yet.", hint="Run Panorama in the Windows Subsystem for Linux."
        )
    host_end, template_end = socket.socketpair()
    code = _CODE.format(path=[os.path.abspath(entry) for entry in sys.path if entry])
    arguments = (sys.executable, "-I", "-B", "-c", code, str(template_end.fileno()), json.dumps(dict(layers)))
    environment = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    environment |= {"TZ": timezone or environment.get("TZ", ":/etc/localtime")}
    with template_end:
        try:
            process = subprocess.Popen(
                arguments, pass_fds=[template_end.fileno()], env=environment, cwd="/", start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            host_end.close()
            raise _start_error() from error
    return process, ControlChannel(host_end)


def _start_error() -> UnavailableError:
    return UnavailableError(
        "The process that runs scripts does not start.",
        hint="Run `panorama doctor`; the machine may be short of memory or of processes.",
    )
