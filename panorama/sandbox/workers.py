"""Workers as the host sees them: the only place that signals them, and tells how they ended."""

import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from panorama.sandbox.memory import Use, used


class GoneError(OSError):
    """The template ended, does not answer, or found no room for a process."""


class Worker:
    """One forked process: its pipe, and the handle by which it is signalled.

    Signals go through a descriptor of the process where the system has one, else by its number, which stays its own
    until the template is told to wait for it. A script can be sent before the process is met: to learn its number
    takes as long as it takes to begin.
    """

    def __init__(self, stream: socket.socket, told: Callable[[], int]) -> None:
        """Make the handle of a process whose number `told` gives, or raises `GoneError`; it is asked once, and late."""
        self.stream = stream
        self.pid = 0
        """0 until it was met."""

        self._told = told
        self._turn = Lock()
        self._handle = -1
        self._open = True

    def meet(self) -> None:
        """Learn the number of the process; a second time is harmless.

        Raises:
            GoneError: There is no such process, and nobody knows of one.
        """
        with self._turn:
            self._meet()

    def _meet(self) -> None:
        if not self.pid:
            self.pid = self._told()
            if sys.platform == "linux":
                with suppress(OSError):  # no room for another descriptor
                    self._handle = os.pidfd_open(self.pid)

    @property
    def lives(self) -> bool:
        """Whether the process holds its end of the pipe, which it does as long as it goes on."""
        ended = select.poll()
        ended.register(self.stream, 0)  # hanging up is told unasked
        return not ended.poll(0)

    def signal(self, number: int) -> None:
        """Send a signal, if the process is still there."""
        with self._turn, suppress(ProcessLookupError, GoneError):
            if self._open:
                self._meet()
                self._send(number)

    def _send(self, number: int) -> None:
        if sys.platform == "linux" and self._handle >= 0:
            signal.pidfd_send_signal(self._handle, number)
        else:
            os.kill(self.pid, number)

    def used(self) -> Use:
        """Return what it used so far, while it lives."""
        return used(self.pid) if self.pid else Use()

    def kill(self) -> None:
        """Kill it, and wake whoever reads from its pipe or writes to it, without waiting until its memory is freed."""
        self.signal(signal.SIGKILL)
        with suppress(OSError):
            self.stream.shutdown(socket.SHUT_RDWR)

    def close(self) -> bool:
        """Kill it and let go of it; False if that was done before."""
        self.kill()
        with self._turn:
            was_open, self._open = self._open, False
            if was_open and self._handle >= 0:
                os.close(self._handle)
        self.stream.close()
        return was_open
