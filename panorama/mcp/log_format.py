"""The format of log lines: one line per record, with control characters of clients escaped."""

import logging
from typing import Any

from panorama.domain.text.visible_text import escape_controls


class LogFormatter(logging.Formatter):
    """Formats log records as `2026-05-20 10:00:00,000 INFO panorama.daemon: …`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the name is the base class's)
        """Return the line of a record."""
        return escape_controls(super().formatMessage(record).replace("\n", "\\n"))

    def formatException(self, ei: Any) -> str:  # noqa: N802 (as above)
        """Return a traceback, in lines of its own."""
        return escape_controls(super().formatException(ei))
