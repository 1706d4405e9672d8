"""The real daemon with a clock that can be set: a file says by how many seconds it differs from the machine's.

It takes the jobs of schedules and runs none; what it was given stands in the file `submitted`.
"""

import json
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from panorama import app
from panorama.daemon import alarm_scheduler, daemon, serve
from panorama.services.base import ServiceContext
from panorama.store.sqlite.engine import SqliteDatabase
from tests.queues import StandInQueue

HOME = Path(os.environ["PANORAMA_HOME"])


def now() -> datetime:
    """Return the moment by this clock."""
    try:
        return datetime.now(UTC) + timedelta(seconds=float((HOME / "clock").read_text()))
    except (OSError, ValueError):
        return datetime.now(UTC)


class RecordingQueue(StandInQueue):
    """Writes down what is submitted."""

    def submit(self, kind: str, arguments: Mapping[str, Any], *, asked_by: str, machine: str = "") -> str:
        """Take a job."""
        with (HOME / "submitted").open("a") as file:
            file.write(json.dumps([kind, arguments, asked_by]) + "\n")
        return super().submit(kind, arguments, asked_by=asked_by, machine=machine)


def open_app(settings: Any, **options: Any) -> Any:
    """Open the product with this clock."""
    return app.open_app(
        settings,
        ServiceContext(SqliteDatabase(settings.home / "panorama.db"), settings.zone, settings.home, now),
        RecordingQueue(),
        **options,
    )


if __name__ == "__main__":
    setattr(serve, "open_app", open_app)  # noqa: B010 (its type is another)
    alarm_scheduler.POLL_SECONDS = alarm_scheduler.START_SECONDS = 0.1
    daemon.FIRST_CLIENT_SECONDS = 0.5
    serve.serve(detached="--lingers" in sys.argv)
