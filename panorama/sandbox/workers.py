"""Workers as the host sees them: the only place that signals them, and tells how they ended."""

import os
import select
import signal
import socket
import sys
from contextlib import suppress
from threading import Lock

from panorama.sandbox.memory import Use, used


class Worker:
    """One forked process: its pipe, and the handle by which it is signalled.

    Signals go through a descriptor of the process where the system has one, else by its number, which stays its own
    until the template is told to wait for it.
    """

    def __init__(self, stream: socket.socket, pid: int) -> None:
        self.stream = stream
        self.pid = pid
        self._turn = Lock()
        self._handle = os.pidfd_open(pid) if sys.platform == "linux" else -1
        self._open = True

    @property
    def lives(self) -> bool:
        """Whether the process goes on, as far as one can see."""
        if sys.platform != "linux":
            return True
        ended = select.poll()
        ended.register(self._handle, select.POLLIN)
        return not ended.poll(0)

    def signal(self, number: int) -> None:
        """Send a signal, if the process is still there."""
        with self._turn, suppress(ProcessLookupError):
            if self._open:
                self._send(number)

    def _send(self, number: int) -> None:
        if sys.platform == "linux":
            signal.pidfd_send_signal(self._handle, number)
        else:
            os.kill(self.pid, number)

    def used(self) -> Use:
        """Return what it used so far, while it lives."""
        return used(self.pid)

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
