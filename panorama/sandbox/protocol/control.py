"""Orders, reports and signals between the host, the template and its workers."""

import signal
import socket
from struct import Struct
from typing import NamedTuple

GREETING_BYTES = 64
"""The first message of the template: the isolation that it measured, padded with spaces."""

STOP, DUMP_STACK = (getattr(signal, name, signal.SIGTERM) for name in ("SIGUSR1", "SIGUSR2"))
"""Host to worker: end, and say so; and, if that is ignored, write the stack."""

_ORDER = Struct("<??idQ")
_REPORT = Struct("<iiQd")


class Order(NamedTuple):
    """Host to template: fork a worker for the sent socket, or wait for one."""

    fork: bool
    prepare: bool = False
    """Whether the new worker goes through a small script while it waits; it starts faster then."""

    pid: int = 0
    """The worker that ended."""

    cpu_seconds: float = 0.0
    memory_bytes: int = 0


class Report(NamedTuple):
    """Template to host: the new worker, or how one ended; one report per order."""

    pid: int
    """-1 if the machine has no room for another process."""

    status: int = 0
    """As `os.waitpid` has it."""

    peak_bytes: int = 0
    cpu_seconds: float = 0.0


class ControlChannel:
    """One end of the control socket."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream

    def send_order(self, order: Order, descriptor: int | None = None) -> None:
        """Send an order.

        Raises:
            OSError: The other side is gone.
        """
        descriptors = [] if descriptor is None else [descriptor]
        socket.send_fds(self.stream, [_ORDER.pack(*order)], descriptors)

    def receive_order(self) -> tuple[Order, list[int]]:
        """Return the next order and the descriptors that came along.

        Raises:
            EOFError, OSError: The other side is gone.
        """
        data, descriptors, _, _ = socket.recv_fds(self.stream, _ORDER.size, 1)
        if len(data) < _ORDER.size:
            raise EOFError
        return Order(*_ORDER.unpack(data)), descriptors

    def send_report(self, report: Report) -> None:
        """Send a report.

        Raises:
            OSError: The other side is gone.
        """
        self.stream.sendall(_REPORT.pack(*report))

    def receive_report(self) -> Report:
        """Return the next report.

        Raises:
            EOFError, OSError: The other side is gone.
        """
        return Report(*_REPORT.unpack(self.read_exactly(_REPORT.size)))

    def read_exactly(self, size: int) -> bytes:
        """Return the next bytes.

        Raises:
            EOFError, OSError: The other side is gone.
        """
        data = self.stream.recv(size, socket.MSG_WAITALL)
        if len(data) < size:
            raise EOFError
        return data
