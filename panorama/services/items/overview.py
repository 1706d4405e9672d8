"""Dashboards and reviews, counted by the database."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from panorama.domain.items import projects as rules
from panorama.domain.items.projects import DUE_SOON_DAYS, PERIOD_DAYS
from panorama.domain.items.references import ProjectRef
from panorama.domain.paging import PageRequest, Result
from panorama.domain.time import times
from panorama.errors import InvalidInputError
from panorama.services.base import Service, ServiceContext
from panorama.services.items.overview_results import Dashboard, Overview, ProjectHealth, Tally, WeeklyReview
from panorama.services.items.results import count_left_out, drop_zeros
from panorama.store import events
from panorama.store.backend import Session
from panorama.store.items import listing, notes, overview, rows, tasks
from panorama.store.items.overview import ProjectActivity, Window
from panorama.store.items.tasks import Clock, Conditions
from panorama.store.paging import Order

DASHBOARD_PAGE = PageRequest(limit=5)
COUNTED_PAGE = PageRequest(limit=DASHBOARD_PAGE.limit, counts=False)
"""The same for a list whose length is among the numbers of the project."""

REVIEW_PAGE = PageRequest(limit=10)
TASK_FIELDS = ("id", "title", "project", "deadline")
DONE_TASK_FIELDS = (*TASK_FIELDS, "completed_at")
EVENT_FIELDS = ("id", "title", "starts_at", "attendees", "location")
MAX_PROJECTS = 30
MAX_REVIEW_DAYS = 366
SOON = timedelta(days=DUE_SOON_DAYS)
NO_ACTIVITY = ProjectActivity()


def _no_remark() -> str:
    """Return no remark."""
    return ""


class Overviews(Service):
    """Overviews over many items."""

    def __init__(self, context: ServiceContext, remark: Callable[[], str] = _no_remark) -> None:
        """`remark` returns an additional sentence for the weekly review."""
        super().__init__(context)
        self._remark = remark

    def dashboard(self, project: ProjectRef, period_days: int = PERIOD_DAYS) -> Dashboard:
        """Show the state of one project.

        A status report: health, counts, next and late tasks, completed ones, recent notes and links. For all
        projects: projects_overview.

        Args:
            period_days: 1 to 365.
        """
        clock = self._clock()
        with self._reading() as session:
            measure = self._ask_activity(session, clock, period_days, project)
            here = tasks.build_conditions(project=project, status="any", zone=self._context.zone)
            asked = {
                "next": tasks.ask_tasks(session, COUNTED_PAGE, (*here, *tasks.status_conditions("open"))),
                "overdue": tasks.ask_tasks(
                    session, COUNTED_PAGE, (*here, tasks.view_condition("overdue", clock)), is_timed=True
                ),
                "recently_done": tasks.ask_tasks(
                    session,
                    DASHBOARD_PAGE,
                    (*here, tasks.view_condition("recently_done", clock)),
                    by=tasks.BY_COMPLETION,
                    is_timed=True,
                ),
                "notes": notes.ask_notes(session, COUNTED_PAGE, project=project),
                "links": listing.ask_items(session, "link", DASHBOARD_PAGE, project=project),
            }
            row: Any = rows.load(session, "project", project)
            numbers = measure({project: row})[0]
            pages = {name: read() for name, read in asked.items()}
            totals = {"next": numbers.open, "overdue": numbers.overdue, "notes": numbers.notes}
            pages |= {name: replace(pages[name], total=total) for name, total in totals.items()}
            lists: dict[str, Any] = {name: page.items for name, page in pages.items()}
            return Dashboard(project=numbers, **lists, more=count_left_out(pages))

    def overview(self, period_days: int = PERIOD_DAYS) -> Overview:
        """Show all projects side by side, the one that needs attention first.

        Health, open, overdue and due-soon tasks, and the last change of each.

        Args:
            period_days: 1 to 365.
        """
        clock = self._clock()
        with self._reading() as session:
            known = overview.list_projects(session)
            numbers = self._ask_activity(session, clock, period_days)(known)
            open_ones = tasks.build_conditions(project="", status="open", zone=self._context.zone)
            worst = sorted(numbers, key=lambda project_: (project_.health, -project_.overdue, project_.name))[
                :MAX_PROJECTS
            ]
            return Overview(
                period_days=period_days, projects=tuple(worst), unassigned=overview.count_tasks(session, open_ones),
                more=len(numbers) - len(worst), archived=overview.count_archived(session),
            )  # fmt: skip

    def weekly_review(self, start: str = "", end: str = "") -> Result[WeeklyReview]:
        """Review a period, by default the last 7 days.

        Completed, created and slipped tasks, notes written, each project's health and its change, tasks due and events
        next week.

        Args:
            start: First day.
            end: Last day; today if left out.
        """
        first, last = self._parse_period(start, end)
        zone = self._context.zone
        since, until = times.start_of_day(first, zone), times.start_of_day(times.next_day(last), zone)
        with self._reading() as session:
            completed = overview.where_completed(since, until)
            coming = tasks.due_in_period(times.next_day(last), last + timedelta(days=7), zone)
            asked = {
                "completed": _ask_tally(session, completed, by=tasks.BY_COMPLETION, fields=DONE_TASK_FIELDS),
                "created": _ask_tally(session, overview.where_created(since, until), by=tasks.BY_CREATION),
                "slipped": _ask_tally(session, tasks.overdue_in_period(first, last, self._clock_at(until))),
                "notes_written": _ask_written_notes(session, since, until),
                "due_next_week": _ask_tally(session, coming),
                "events_next_week": self._ask_events(session, until),
            }
            health = self._ask_health(session, since, min(until, self._now()))()
            lists = {name: read() for name, read in asked.items()}
            left_out = {name: tally.count - len(tally.items) for name, tally in lists.items()}
            review = WeeklyReview(
                start=first, end=last, **lists, projects=tuple(health[:MAX_PROJECTS]),
                more=drop_zeros({**left_out, "projects": len(health[MAX_PROJECTS:])}),
            )  # fmt: skip
        return Result(review, hint=self._remark())

    def _clock_at(self, moment: datetime) -> Clock:
        return Clock(now=min(moment, self._now()), zone=self._context.zone)

    def _parse_period(self, start: str, end: str) -> tuple[date, date]:
        zone, now = self._context.zone, self._now()
        last = times.parse_date(end, "end", now=now, zone=zone) if end else self._today()
        first = times.parse_date(start, "start", now=now, zone=zone) if start else last - timedelta(days=6)
        days = (last - first).days + 1  # both are included
        if not 1 <= days <= MAX_REVIEW_DAYS:
            raise InvalidInputError(
                f"The period from {first} to {last} is not 1 to {MAX_REVIEW_DAYS} days.",
                hint="Give an end on or after the start, within a year.",
            )
        return first, last

    def _ask_activity(
        self, session: Session, clock: Clock, period_days: int, project: str | None = None
    ) -> Callable[[Mapping[str, Any]], list[ProjectHealth]]:
        """Ask for the activity of one project, or all; return what measures projects, given by id, with it."""
        if not 1 <= period_days <= 365:
            raise InvalidInputError(f"period_days is {period_days}.", hint="Give 1 to 365.")
        since = clock.now - timedelta(days=period_days)
        activity = overview.ask_activity(session, clock, SOON, since, project=project)

        def measure(known: Mapping[str, Any]) -> list[ProjectHealth]:
            measured = activity()
            return [_project_health(row, measured.get(id_, NO_ACTIVITY), since) for id_, row in known.items()]

        return measure

    def _ask_health(
        self, session: Session, since: datetime, until: datetime
    ) -> Callable[[], Sequence[Mapping[str, Any]]]:
        """Ask for the health of each project at the end of a period, and its change since the start."""
        windows = [(moment - timedelta(days=PERIOD_DAYS), moment) for moment in (since, until)]
        projects = overview.ask_projects(session)
        active = overview.ask_active_projects(session, windows)
        scores = [self._ask_scores(session, window) for window in windows]

        def read() -> Sequence[Mapping[str, Any]]:
            known = projects()
            before, after = (score(known, busy) for score, busy in zip(scores, active(), strict=True))
            rows_ = [
                {"id": id_, "name": row.name, "health": after[id_], "change": after[id_] - before[id_]}
                for id_, row in known.items()
            ]
            return sorted(rows_, key=lambda row: (row["change"], row["health"], row["name"]))

        return read

    def _ask_scores(
        self, session: Session, window: Window
    ) -> Callable[[Mapping[str, Any], Collection[str | None]], dict[str, int]]:
        """Ask for the health of projects at the end of a window; what it returns takes them, and who was worked on."""
        since, moment = window
        overdue = overview.ask_overdue(session, Clock(now=moment, zone=self._context.zone))
        changed = overview.ask_changed(session, ("note",), since, moment)

        def score(known: Mapping[str, Any], worked_on: Collection[str | None]) -> dict[str, int]:
            late, written = overdue(), changed()["note"]
            return {
                id_: rules.compute_health(
                    overdue=late.get(id_, 0),
                    inactive=not written.get(id_) and id_ not in worked_on and row.created_at < since and not row.area,
                    notes_touched=written.get(id_, 0),
                )
                for id_, row in known.items()
            }

        return score

    def _ask_events(self, session: Session, since: datetime) -> Callable[[], Tally]:
        """Ask for the events of the week that begins at a moment."""
        zone = self._context.zone
        after = times.start_of_day(since.astimezone(zone).date() + timedelta(days=7), zone)
        occurrences = events.ask_occurrences(session, since, after, zone)

        def read() -> Tally:
            found = occurrences()
            shown = found[: REVIEW_PAGE.limit]
            rows_ = ({name: getattr(entry, name) for name in EVENT_FIELDS if getattr(entry, name)} for entry in shown)
            return Tally(count=len(found), items=tuple(rows_))

        return read


def _project_health(row: Any, activity: ProjectActivity, since: datetime) -> ProjectHealth:
    counts = activity.tasks
    inactive = not activity.notes_touched and not activity.tasks_touched and row.created_at < since and not row.area
    return ProjectHealth(
        id=row.id,
        name=row.name,
        status=row.status,
        favorite=row.favorite,
        target_date=row.target_date,
        health=rules.compute_health(overdue=counts.overdue, inactive=inactive, notes_touched=activity.notes_touched),
        inactive=inactive,
        open=counts.open,
        in_progress=counts.in_progress,
        done=counts.done,
        cancelled=counts.cancelled,
        ideas=counts.ideas,
        overdue=counts.overdue,
        due_soon=counts.due_soon,
        notes=activity.notes,
        notes_touched=activity.notes_touched,
        tasks_touched=activity.tasks_touched,
        last_activity=activity.last,
    )


def _ask_tally(
    session: Session,
    where: Conditions,
    *,
    by: tuple[Order, ...] = tasks.DEFAULT_ORDER,
    fields: Sequence[str] = TASK_FIELDS,
) -> Callable[[], Tally]:
    """Ask how many tasks meet conditions, and for some fields of the first ones."""
    counted = overview.ask_count(session, where)
    listed = tasks.ask_tasks(session, REVIEW_PAGE, where, by=by, count=False, is_timed=True)

    def read() -> Tally:
        count = counted()
        found = listed().items if count else ()
        return Tally(count=count, items=tuple({name: getattr(task, name) for name in fields} for task in found))

    return read


def _ask_written_notes(session: Session, since: datetime, until: datetime) -> Callable[[], Tally]:
    """Ask for the notes that were written in a period."""
    written = overview.ask_written_notes(session, since, until, REVIEW_PAGE.limit)

    def read() -> Tally:
        count, found = written()
        return Tally(count=count, items=tuple({"id": id_, "title": title} for id_, title in found))

    return read
