"""The status of the store, and the current time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar

from panorama import __version__
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.retention import newest_backup
from panorama.domain.text.wording import pluralize
from panorama.kinds import name_kind
from panorama.ports import Runner
from panorama.services.base import Service, ServiceContext
from panorama.services.jobs.jobs import Jobs
from panorama.services.search.semantic import SemanticSearch
from panorama.store import migrate
from panorama.store.backend.membership import RunningDaemon
from panorama.store.items import alerts, overview
from panorama.store.log import calls, runs
from panorama.store.log.calls import CallLogEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of the store and the current time."""

    WITHHELD: ClassVar[tuple[str, ...]] = ("data",)
    HIDDEN: ClassVar[tuple[str, ...]] = (
        "version", "weekday", "timezone", "revision", "scripts", "database_bytes", "now", "search.dimensions",
        "search.passages", "search.index_disk_bytes", "search.index_memory_bytes", "search.index_mapped_bytes",
    )  # fmt: skip

    version: str
    now: datetime
    today: date
    weekday: str
    timezone: str
    counts: Mapping[str, int]
    data: str
    database_bytes: int
    revision: str
    search: Mapping[str, Any]
    jobs: Mapping[str, int]
    reminders_waiting: int
    scripts: Mapping[str, Any]
    last_backup: str | None

    def summarize(self) -> str:
        """Return a one-line summary."""
        counts, rung = self.counts, self.reminders_waiting
        wait = f"; {rung:,} {'reminder' if rung == 1 else 'reminders'} rang and wait (list_waiting_reminders)"
        return (
            f"Panorama {self.version}, {self.weekday} {self.now:%Y-%m-%d %H:%M} ({self.timezone}): "
            + ", ".join(f"{counts[kind]:,} {name_kind(kind, counts[kind])}" for kind in ("project", "task", "note"))
            + (wait if rung else "")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonList:
    """The daemons that serve the data now, the oldest first."""

    daemons: tuple[RunningDaemon, ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"{pluralize(len(self.daemons), 'daemon')}: {', '.join(daemon.machine for daemon in self.daemons)}"


class StatusService(Service):
    """Reports the status."""

    def __init__(
        self,
        context: ServiceContext,
        meaning: SemanticSearch,
        runner: Runner,
        jobs: Jobs,
        uptime_hint: Callable[[], str],
    ) -> None:
        super().__init__(context)
        self._uptime_hint = uptime_hint
        self._jobs = jobs
        self._runner = runner
        self._meaning = meaning

    def list_calls(
        self, page: PageRequest, failed: bool = False, slow: bool = False, source: str = ""
    ) -> Page[CallLogEntry]:
        """List calls from the log, all or those of one source: the newest first, or the slowest."""
        with self._reading() as session:
            return calls.list_calls(session, page, failed=failed, slow_first=slow, source=source)

    def list_daemons(self) -> DaemonList:
        """List the daemons that serve the data: where they run, since when, and which duties each of them has."""
        return DaemonList(daemons=tuple(self._context.database.membership.list_daemons()))

    def get_status(self) -> Result[Status]:
        """Show the date, time and time zone, and how much is stored where.

        Call it to learn today's date.
        """
        now = self._now().astimezone(self._context.zone)
        with self._reading() as session:
            counts = overview.count_items(session)
            waiting = alerts.count_pending(session)
            isolation = self._runner.known_isolation or runs.last_isolation(session)
        status = Status(
            version=__version__,
            now=now,
            today=now.date(),
            weekday=f"{now:%A}",
            timezone=self._context.zone.key,
            counts=counts,
            data=str(self._context.home),
            database_bytes=self._context.database.size_bytes(),
            revision=migrate.HEAD,
            search=self._meaning.get_status(),
            jobs=self._jobs.count_jobs(),
            reminders_waiting=waiting,
            scripts={"isolation": isolation or "not checked yet (runs with the first script)"},
            last_backup=newest_backup(path.name for path in (self._context.home / "backups").glob("*")),
        )
        return Result(status, hint=self._uptime_hint())
