"""Handles by which the host signals and kills workers."""

import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from panorama.sandbox.host.process_usage import ProcessUsage, measure_usage


class WorkerGoneError(OSError):
    """The template ended, does not answer, or found no room for a process."""


class WorkerHandle:
    """One forked process: its pipe, and the handle by which it is signalled.

    Signals go through a descriptor of the process where the system has one, else by its number, which stays its own
    until the template is told to wait for it. A script can be sent before the process is met: to learn its number
    takes as long as it takes to begin.
    """

    def __init__(self, stream: socket.socket, get_pid: Callable[[], int]) -> None:
        """Create a handle; `get_pid` is called once, late, and may raise."""
        self.stream = stream
        self.pid = 0
        """0 until it is resolved."""

        self._get_pid = get_pid
        self._lock = Lock()
        self._handle = -1
        self._is_open = True

    def resolve(self) -> None:
        """Look up the number of the process. Idempotent.

        Raises:
            WorkerGoneError: There is no such process.
        """
        with self._lock:
            self._resolve()

    def _resolve(self) -> None:
        if not self.pid:
            self.pid = self._get_pid()
            if sys.platform == "linux":
                with suppress(OSError):  # no room for another descriptor
                    self._handle = os.pidfd_open(self.pid)

    @property
    def is_alive(self) -> bool:
        """Whether the process still has its end of the pipe open."""
        poller = select.poll()
        poller.register(self.stream, 0)  # poll always reports hanging up
        return not poller.poll(0)

    def send_signal(self, number: int) -> None:
        """Send a signal, if the process is still there."""
        with self._lock, suppress(ProcessLookupError, WorkerGoneError):
            if self._is_open:
                self._resolve()
                self._send(number)

    def _send(self, number: int) -> None:
        if sys.platform == "linux" and self._handle >= 0:
            signal.pidfd_send_signal(self._handle, number)
        else:
            os.kill(self.pid, number)

    def measure_usage(self) -> ProcessUsage:
        """Return the resource usage of the running process so far."""
        return measure_usage(self.pid) if self.pid else ProcessUsage()

    def kill(self) -> None:
        """Kill the process and wake readers and writers of its pipe, without waiting."""
        self.send_signal(signal.SIGKILL)
        with suppress(OSError):
            self.stream.shutdown(socket.SHUT_RDWR)

    def close(self) -> bool:
        """Kill and release the process; return False if that was done before."""
        self.kill()
        with self._lock:
            was_open, self._is_open = self._is_open, False
            if was_open and self._handle >= 0:
                os.close(self._handle)
        self.stream.close()
        return was_open
