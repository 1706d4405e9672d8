"""Progress: the only place that decides which of a script's reports are passed on."""

import logging
import math
import time
from collections.abc import Callable

from panorama.sandbox import messages
from panorama.sandbox.frames import ProtocolError

Progressed = Callable[[float, float, str], None]

CAP_BYTES = 2048
SECONDS = 0.25
"""Between two reports that are passed on."""

_log = logging.getLogger(__name__)


class Reports:
    """What a script told of its progress: some are passed on as they come, and the last one always."""

    def __init__(self, progressed: Progressed) -> None:
        self._progressed = progressed
        self._told_at = -math.inf
        self._held: tuple[float, float, str] | None = None

    def take(self, frame: bytes | bytearray) -> None:
        """Take a report.

        Raises:
            ProtocolError: It is none.
        """
        self._held = _read(frame)
        self.tell()

    def tell(self, *, at_last: bool = False) -> None:
        """Pass on what was held back, if it is time."""
        if self._held is None or (not at_last and time.monotonic() - self._told_at < SECONDS):
            return
        report, self._held = self._held, None
        self._told_at = time.monotonic()
        try:
            self._progressed(*report)
        except Exception:  # a client that went away does not end the run
            _log.exception("a script's progress could not be passed on")


def _read(frame: bytes | bytearray) -> tuple[float, float, str]:
    match messages.claimed(frame):
        case {"current": float(current), "total": float(total), "message": str(message)}:
            if math.isfinite(current) and math.isfinite(total):
                return current, total, message
        case _:
            pass
    raise ProtocolError("progress that is none")
