"""Figures for charts: calls by day and tool, and tasks done and created by day."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from panorama.domain.items.references import ProjectRef
from panorama.errors import InvalidInputError
from panorama.services.base import Service
from panorama.store.items import tasks
from panorama.store.log import call_statistics
from panorama.store.log.call_statistics import NamedCount, ToolStatistics

MAX_DAYS = 366


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDay:
    """The calls of one day."""

    day: date
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStatistics:
    """The calls of some days, without those of the web page; `tokens` is what models read."""

    first_day: date
    last_day: date
    calls: int
    failed: int
    tokens: int
    days: tuple[CallDay, ...]
    tools: tuple[ToolStatistics, ...]
    clients: tuple[NamedCount, ...]
    errors: tuple[NamedCount, ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"{self.calls:,} calls since {self.first_day}, {self.failed:,} failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDay:
    """The tasks that were created and completed on one day."""

    day: date
    created: int
    completed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatistics:
    """The tasks of some days; `open_before` is how many were open when the first day began."""

    first_day: date
    last_day: date
    created: int
    completed: int
    open_before: int
    days: tuple[TaskDay, ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"{self.completed:,} tasks completed and {self.created:,} created since {self.first_day}"


class Statistics(Service):
    """Counts for charts."""

    def count_calls(self, days: int = 14) -> CallStatistics:
        """Count the calls of assistants, scripts and the terminal by day, tool, client and error.

        Args:
            days: The number of days, up to today.
        """
        starts = self._list_starts(days)
        with self._reading() as session:
            counts = call_statistics.count_per_day(session, starts)
            tools = call_statistics.measure_tools(session, starts[0], starts[-1])
            clients = call_statistics.count_clients(session, starts[0], starts[-1])
            errors = call_statistics.count_errors(session, starts[0], starts[-1])
        failed = sum(bad for _, bad in counts)
        return CallStatistics(
            first_day=starts[0].date(), last_day=self._today(), calls=sum(good for good, _ in counts) + failed,
            failed=failed, tokens=sum(tool.tokens for tool in tools), tools=tuple(tools), clients=tuple(clients),
            errors=tuple(errors),
            days=tuple(
                CallDay(day=start.date(), succeeded=good, failed=bad)
                for start, (good, bad) in zip(starts, counts, strict=False)
            ),
        )  # fmt: skip

    def count_tasks(self, days: int = 14, project: ProjectRef | None = None) -> TaskStatistics:
        """Count the tasks that were created and completed on each day.

        Args:
            days: The number of days, up to today.
            project: Only its tasks.
        """
        starts = self._list_starts(days)
        with self._reading() as session:
            created = tasks.count_per_day(session, "created_at", starts, project)
            completed = tasks.count_per_day(session, "completed_at", starts, project)
            open_before = tasks.count_open_at(session, starts[0], project)
        return TaskStatistics(
            first_day=starts[0].date(), last_day=self._today(), created=sum(created), completed=sum(completed),
            open_before=open_before,
            days=tuple(
                TaskDay(day=start.date(), created=new, completed=done)
                for start, new, done in zip(starts, created, completed, strict=False)
            ),
        )  # fmt: skip

    def _list_starts(self, days: int) -> list[datetime]:
        """Return the first moments of the last days in the person's zone, and that of tomorrow.

        Raises:
            InvalidInputError: There are too few or too many days.
        """
        if not 1 <= days <= MAX_DAYS:
            raise InvalidInputError(f"days is {days}.", hint=f"Give 1 to {MAX_DAYS}.")
        today, zone = self._today(), self._context.zone
        first = today - timedelta(days=days - 1)
        return [
            datetime.combine(first + timedelta(days=number), datetime.min.time(), zone) for number in range(days + 1)
        ]
