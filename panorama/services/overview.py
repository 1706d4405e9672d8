"""Dashboards and reviews: what a person should know at a glance, counted by the database."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from panorama.domain import projects as rules
from panorama.domain import times
from panorama.domain.projects import PERIOD_DAYS, SOON_DAYS
from panorama.domain.references import ProjectRef
from panorama.domain.results import Noted, Slice
from panorama.errors import InvalidInputError
from panorama.services.base import Desk, Service
from panorama.services.views import Dashboard, Overview, ProjectHealth, Review, Tally
from panorama.store import notes, overview, rows, small, tasks
from panorama.store.engine import Session
from panorama.store.overview import TaskCounts, Window
from panorama.store.pages import Order
from panorama.store.tasks import Clock, Condition

FEW = Slice(limit=5)
LISTED = Slice(limit=10)
SHOWN = ("id", "title", "project", "deadline")
DONE = (*SHOWN, "completed_at")
WORST = 30
LONGEST_REVIEW = timedelta(days=366)
SOON = timedelta(days=SOON_DAYS)


def _nothing() -> str:
    """Remark nothing."""
    return ""


class Overviews(Service):
    """Looks at many items at once."""

    def __init__(self, desk: Desk, remark: Callable[[], str] = _nothing) -> None:
        """Make overviews; `remark` returns what a review of the week also mentions."""
        super().__init__(desk)
        self._remark = remark

    def dashboard(self, project: ProjectRef, period_days: int = PERIOD_DAYS) -> Dashboard:
        """Show how one project stands.

        Health, counts, what is next and late, what was done, its last notes and links. For all projects:
        projects_overview.

        Args:
            period_days: 1 to 365.
        """
        clock = self._clock()
        with self._reading() as session:
            row: Any = rows.load(session, "project", project)
            numbers = self._numbers(session, clock, period_days, {project: row})[0]
            here = tasks.where(project=project, status="any", zone=self._desk.zone)
            return Dashboard(
                project=numbers,
                next=tasks.listed(
                    session, FEW, tasks.where(project=project, status="open", zone=self._desk.zone)
                ).items,
                overdue=tasks.listed(session, FEW, [*here, tasks.view("overdue", clock)], count=False).items,
                recently_done=tasks.listed(
                    session, FEW, [*here, tasks.view("recently_done", clock)], by=tasks.newest_done()
                ).items,
                notes=notes.listed(session, FEW, project=project).items,
                links=small.listed_links(session, FEW, project=project).items,
            )

    def overview(self, period_days: int = PERIOD_DAYS) -> Overview:
        """Show all projects side by side, the one that needs attention first.

        Health, open, overdue and due-soon tasks, and when each was last touched.

        Args:
            period_days: 1 to 365.
        """
        clock = self._clock()
        with self._reading() as session:
            known = overview.known_projects(session)
            numbers = self._numbers(session, clock, period_days, known)
            open_ones = tasks.where(project="", status="open", zone=self._desk.zone)
            worst = sorted(numbers, key=lambda each: (each.health, -each.overdue, each.name))[:WORST]
            return Overview(
                period_days=period_days, projects=tuple(worst), unassigned=overview.count(session, open_ones)
            )

    def weekly_review(self, start: str = "", end: str = "") -> Noted[Review]:
        """Review a period, by default the last 7 days.

        Completed, created and slipped tasks, notes written, each project's health and its change, what is due next
        week.

        Args:
            start: First day.
            end: Last day; today if left out.
        """
        first, last = self._period(start, end)
        zone = self._desk.zone
        since, until = times.start_of(first, zone), times.start_of(times.next_day(last), zone)
        with self._reading() as session:
            review = Review(
                start=first,
                end=last,
                completed=_tally(
                    session, overview.completed_between(since, until), by=tasks.newest_done(), fields=DONE
                ),
                created=_tally(session, overview.created_between(since, until), by=tasks.newest()),
                slipped=_tally(session, tasks.slipped(first, last, self._at(until))),
                notes_written=self._written(session, since, until),
                projects=self._healths(session, since, min(until, self._now())),
                due_next_week=_tally(session, tasks.coming(times.next_day(last), last + timedelta(days=7), zone)),
            )
        return Noted(review, hint=self._remark())

    def _at(self, moment: datetime) -> Clock:
        return Clock(now=min(moment, self._now()), zone=self._desk.zone)

    def _period(self, start: str, end: str) -> tuple[date, date]:
        zone, now = self._desk.zone, self._now()
        last = times.day(end, "end", now=now, zone=zone) if end else self._today()
        first = times.day(start, "start", now=now, zone=zone) if start else last - timedelta(days=6)
        if not timedelta(0) <= last - first <= LONGEST_REVIEW:
            raise InvalidInputError(
                f"The period from {first} to {last} is not 1 to 366 days.", hint="Give start before end."
            )
        return first, last

    def _numbers(
        self, session: Session, clock: Clock, period_days: int, known: Mapping[str, Any]
    ) -> list[ProjectHealth]:
        if not 1 <= period_days <= 365:
            raise InvalidInputError(f"period_days is {period_days}.", hint="Give 1 to 365.")
        one = next(iter(known)) if len(known) == 1 else None
        since = clock.now - timedelta(days=period_days)
        counts = overview.task_counts(session, clock, SOON, project=one)
        touched = {kind: overview.touched(session, kind, since, project=one) for kind in ("note", "task")}
        last = overview.last_activity(session, one)
        held = overview.note_counts(session, one)
        return [
            _health(
                row,
                counts.get(id_, TaskCounts()),
                touched["note"].get(id_, 0),
                touched["task"].get(id_, 0),
                last.get(id_),
                held.get(id_, 0),
                since,
            )
            for id_, row in known.items()
        ]

    def _healths(self, session: Session, since: datetime, until: datetime) -> tuple[Mapping[str, Any], ...]:
        """The health of each project at the end of a period, and how it differs from its beginning."""
        known = overview.known_projects(session)
        windows = [(moment - timedelta(days=PERIOD_DAYS), moment) for moment in (since, until)]
        worked_on = overview.active(session, windows)
        before, after = (
            self._health_in(session, known, window, busy) for window, busy in zip(windows, worked_on, strict=True)
        )
        rows_ = [
            {"id": id_, "name": row.name, "health": after[id_], "change": after[id_] - before[id_]}
            for id_, row in known.items()
        ]
        return tuple(sorted(rows_, key=lambda row: (row["change"], row["health"], row["name"]))[:WORST])

    def _health_in(
        self, session: Session, known: Mapping[str, Any], window: Window, worked_on: Collection[str | None]
    ) -> dict[str, int]:
        since, moment = window
        late = overview.overdue_at(session, Clock(now=moment, zone=self._desk.zone))
        written = overview.touched(session, "note", since, moment)
        return {
            id_: rules.health(
                overdue=late.get(id_, 0),
                inactive=not written.get(id_) and id_ not in worked_on and row.created_at < since,
                notes_touched=written.get(id_, 0),
            )
            for id_, row in known.items()
        }

    def _written(self, session: Session, since: datetime, until: datetime) -> Tally:
        found = overview.notes_written(session, since, until, LISTED.limit)
        return Tally(count=found[0], items=tuple({"id": id_, "title": title} for id_, title in found[1]))


def _health(
    row: Any,
    counts: TaskCounts,
    notes_touched: int,
    tasks_touched: int,
    last: datetime | None,
    held: int,
    since: datetime,
) -> ProjectHealth:
    inactive = not notes_touched and not tasks_touched and row.created_at < since
    return ProjectHealth(
        id=row.id, name=row.name, status=row.status, favorite=row.favorite, target_date=row.target_date,
        health=rules.health(overdue=counts.overdue, inactive=inactive, notes_touched=notes_touched), inactive=inactive,
        open=counts.open, in_progress=counts.in_progress, done=counts.done, cancelled=counts.cancelled,
        ideas=counts.ideas,
        overdue=counts.overdue, due_soon=counts.due_soon, notes=held, notes_touched=notes_touched,
        tasks_touched=tasks_touched, last_activity=last,
    )  # fmt: skip


def _tally(
    session: Session, where: Sequence[Condition], *, by: list[Order] | None = None, fields: Sequence[str] = SHOWN
) -> Tally:
    count = overview.count(session, where)
    found = tasks.listed(session, LISTED, list(where), by=by, count=False).items if count else ()
    return Tally(count=count, items=tuple({name: getattr(each, name) for name in fields} for each in found))
