"""Relays a script's progress reports, throttled."""

import logging
import math
import time
from collections.abc import Callable

from panorama.sandbox.protocol import messages
from panorama.sandbox.protocol.frames import ProtocolError

ReportProgress = Callable[[float, float, str], None]

MAX_FRAME_BYTES = 2048
RELAY_SECONDS = 0.25
"""The minimum time between two relayed reports."""

_log = logging.getLogger(__name__)


class ProgressRelay:
    """Relays the progress reports of a script, at most one in `RELAY_SECONDS`, and always the last one."""

    def __init__(self, report_progress: ReportProgress) -> None:
        self._report_progress = report_progress
        self._sent_at = -math.inf
        self._pending: tuple[float, float, str] | None = None

    def receive(self, frame: bytes | bytearray) -> None:
        """Take a report.

        Raises:
            ProtocolError: The frame is not a valid report.
        """
        self._pending = _parse_progress(frame)
        self.forward()

    def forward(self, *, is_final: bool = False) -> None:
        """Relay the pending report if enough time has passed, or if it is the last."""
        if self._pending is None or (not is_final and time.monotonic() - self._sent_at < RELAY_SECONDS):
            return
        report, self._pending = self._pending, None
        self._sent_at = time.monotonic()
        try:
            self._report_progress(*report)
        except Exception:  # a lost client does not end the run
            _log.exception("a script's progress could not be passed on")


def _parse_progress(frame: bytes | bytearray) -> tuple[float, float, str]:
    match messages.parse_untrusted(frame):
        case {"current": float(current), "total": float(total), "message": str(message)}:
            if math.isfinite(current) and math.isfinite(total):
                return current, total, message
        case _:
            pass
    raise ProtocolError("invalid progress report")
