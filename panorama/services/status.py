"""The state of the store, and what time it is."""

from pathlib import Path

from panorama import __version__
from panorama.domain.keeping import newest
from panorama.domain.results import Page, Slice
from panorama.ports import Runner
from panorama.services.base import Desk, Service
from panorama.services.jobs import Jobs
from panorama.services.meaning import Meaning
from panorama.services.views import Status
from panorama.store import alerts, calls, migrate, overview, runs
from panorama.store.calls import Call


def _size(file: Path) -> int:
    """Return the size of a file, 0 if it is not there: the database's log of writes comes and goes."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


class State(Service):
    """Tells how things are."""

    def __init__(self, desk: Desk, backups: Path, meaning: Meaning, runner: Runner, jobs: Jobs) -> None:
        super().__init__(desk)
        self._jobs = jobs
        self._runner = runner
        self._backups = backups
        self._meaning = meaning

    def calls(self, page: Slice, failed: bool = False, slow: bool = False) -> Page[Call]:
        """List calls from the log: the newest first, or the slowest."""
        with self._reading() as session:
            return calls.listed(session, page, failed=failed, slow_first=slow)

    def status(self) -> Status:
        """Tell the date, time and time zone, and how much is stored where.

        Call it when you need to know what day it is.
        """
        now = self._now().astimezone(self._desk.zone)
        path = self._desk.database.path
        with self._reading() as session:
            counts = overview.totals(session)
            waiting = alerts.count_waiting(session)
            isolation = self._runner.known or runs.last_isolation(session)
        return Status(
            version=__version__,
            now=now,
            today=now.date(),
            weekday=f"{now:%A}",
            timezone=self._desk.zone.key,
            counts=counts,
            data=str(path.parent),
            database_bytes=_size(path) + _size(path.with_name(f"{path.name}-wal")),
            revision=migrate.HEAD,
            search=self._meaning.told(),
            jobs=self._jobs.counts(),
            reminders_waiting=waiting,
            scripts={"isolation": isolation or "found out by the first script"},
            last_backup=newest(each.name for each in self._backups.glob("*")),
        )
