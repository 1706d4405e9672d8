"""The status of the store, and the current time."""

from collections.abc import Callable

from panorama import __version__
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.retention import newest_backup
from panorama.ports import Runner
from panorama.services.base import Service, ServiceContext
from panorama.services.items.results import Status
from panorama.services.jobs.jobs import Jobs
from panorama.services.search.semantic import SemanticSearch
from panorama.store import migrate
from panorama.store.items import alerts, overview
from panorama.store.log import calls, runs
from panorama.store.log.calls import CallLogEntry


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

    def get_status(self) -> Result[Status]:
        """Tell the date, time and time zone, and how much is stored where.

        Call it to know what day is today.
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
