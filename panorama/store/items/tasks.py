"""Rows of tasks: filters, order, and comparisons with deadlines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    String,
    and_,
    func,
    literal,
    literal_column,
    or_,
    select,
    type_coerce,
)

from panorama.domain.items.choices import OPEN_STATUSES
from panorama.domain.items.tasks import Task
from panorama.domain.paging import Page, PageRequest
from panorama.domain.time.times import format_utc, start_of_day
from panorama.store.backend import Rows, Session
from panorama.store.column_types import bucket_days
from panorama.store.graph.chains import list_chain
from panorama.store.items import rows
from panorama.store.items.projects import has_tag
from panorama.store.paging import (
    MAX_CACHED_STATEMENTS,
    Order,
    PageStatements,
    ascending,
    ask_page,
    build_page_statements,
)
from panorama.store.tables import DUE_FIRST, STARTED_FIRST, tasks

Condition = ColumnElement[bool]
"""A condition on rows."""

Conditions = tuple[Condition, ...]
"""Conditions that rows meet all of. Those of the same filters are the same objects, so that statements are found."""

IS_OPEN = tasks.c.status.in_([literal(status, tasks.c.status.type) for status in OPEN_STATUSES])
"""The condition for open tasks; with literals its SQL is written once, not for each execution as that of a list."""

RECENT = timedelta(days=7)
DAY_CHARS = 10
"""A deadline of this many characters is a day; a longer one a time."""


DEFAULT_ORDER = tuple(
    ascending(
        literal_column(DUE_FIRST, String), literal_column(STARTED_FIRST, Integer), tasks.c.rank, tasks.c.created_at,
        tasks.c.id,
    )
)  # fmt: skip
"""By deadline, in progress first, by rank, by creation; `ix_tasks_order` holds it."""

BY_COMPLETION: tuple[Order, ...] = ((tasks.c.completed_at, True), (tasks.c.id, True))
"""The last completed first."""

BY_CREATION: tuple[Order, ...] = ((tasks.c.created_at, True), (tasks.c.id, True))
"""The last created first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The current time, and the zone of its days."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        """Today."""
        return self.now.astimezone(self.zone).date()


def due_before(column: ColumnElement[Any], day: date, zone: ZoneInfo) -> ColumnElement[bool]:
    """Return the condition that a deadline is before a day; false without a deadline."""
    text = type_coerce(column, String)
    moment = format_utc(start_of_day(day, zone))
    is_day = func.length(text) == DAY_CHARS
    exact = or_(and_(is_day, text < day.isoformat()), and_(func.length(text) > DAY_CHARS, text < moment))
    # The plain bound lets an index be used: in every zone a day begins before noon of its date in UTC.
    return and_(text < (day + timedelta(days=1)).isoformat(), exact)


def overdue(clock: Clock) -> ColumnElement[bool]:
    """Return the condition that an open task is overdue."""
    text = type_coerce(tasks.c.deadline, String)
    past_moment = and_(func.length(text) > DAY_CHARS, text < format_utc(clock.now.astimezone(UTC)))
    # The plain bound lets an index be used; nothing later than tomorrow in UTC can be overdue.
    bound = text < (clock.today + timedelta(days=2)).isoformat()
    return and_(
        IS_OPEN,
        bound,
        or_(due_before(tasks.c.deadline, clock.today, clock.zone), past_moment),
    )


def due_between(first: date, last: date, zone: ZoneInfo) -> ColumnElement[bool]:
    """Return the condition that a deadline is on one of the days from `first` to `last`."""
    text = type_coerce(tasks.c.deadline, String)
    wide = and_(text >= (first - timedelta(days=2)).isoformat(), text < (last + timedelta(days=3)).isoformat())
    exact = and_(
        due_before(tasks.c.deadline, last + timedelta(days=1), zone), ~due_before(tasks.c.deadline, first, zone)
    )
    return and_(wide, exact)


def overdue_in_period(first: date, last: date, at: Clock) -> Conditions:
    """Return the condition for open tasks with a passed deadline in a period."""
    return living(), IS_OPEN, due_between(first, last, at.zone), overdue(at)


def due_in_period(first: date, last: date, zone: ZoneInfo) -> Conditions:
    """Return the condition for open tasks due in a period."""
    return living(), IS_OPEN, due_between(first, last, zone)


def living() -> ColumnElement[bool]:
    """Return the condition that a task is not in the trash."""
    return tasks.c.deleted_at.is_(None)


def view_condition(name: str, clock: Clock) -> ColumnElement[bool]:
    """Return the condition of a named view."""
    today = clock.today
    next_monday = today + timedelta(days=7 - today.weekday())
    tomorrow = start_of_day(today + timedelta(days=1), clock.zone)
    views: dict[str, ColumnElement[bool]] = {
        "overdue": overdue(clock),
        "today": and_(
            IS_OPEN,
            or_(due_before(tasks.c.deadline, today + timedelta(days=1), clock.zone), tasks.c.scheduled_at < tomorrow),
        ),
        "this_week": and_(IS_OPEN, due_before(tasks.c.deadline, next_monday, clock.zone)),
        "urgent": and_(IS_OPEN, tasks.c.urgent),
        "important": and_(IS_OPEN, tasks.c.important),
        "no_deadline": and_(IS_OPEN, tasks.c.deadline.is_(None)),
        "in_progress": tasks.c.status == "in_progress",
        "parked_ideas": tasks.c.status == "idea",
        "recently_done": and_(tasks.c.status == "done", tasks.c.completed_at >= clock.now - RECENT),
    }
    return views[name]


@lru_cache(MAX_CACHED_STATEMENTS)
def build_conditions(
    *,
    project: str | None = None,
    status: str | None = None,
    tag: str | None = None,
    parent: str | None = None,
    assignee: str | None = None,
    waiting_for: str | None = None,
    due_from: date | None = None,
    due_until: date | None = None,
    zone: ZoneInfo,
) -> Conditions:
    """Return the conditions for the given filters: `project=""` is no project, `status="open"` todo or in progress."""
    results: list[ColumnElement[bool]] = [living()]
    if project is not None:
        results.append(tasks.c.project == project if project else tasks.c.project.is_(None))
    results += status_conditions(status)
    if tag:
        results.append(has_tag(tasks.c.tags, tag))
    ties = {"parent": parent, "assignee": assignee, "waiting_for": waiting_for}
    results += [tasks.c[name] == id_ for name, id_ in ties.items() if id_]
    if due_from or due_until:
        results.append(due_between(due_from or date(1900, 1, 4), due_until or date(2199, 12, 1), zone))
    return tuple(results)


@lru_cache
def status_conditions(status: str | None) -> Conditions:
    """Return the condition for a status, `open` or `any`."""
    if not status or status == "any":
        return ()
    return (IS_OPEN if status == "open" else tasks.c.status == status,)


def waits_for_somebody() -> Condition:
    """Return the condition that a task waits for a person."""
    return tasks.c.waiting_for.is_not(None)


def ask_closed(session: Session, conditions: Conditions) -> Rows:
    """Ask for a task that is not open and meets other conditions."""
    return session.ask(_build_closed_statement(conditions))


@lru_cache(MAX_CACHED_STATEMENTS)
def _build_closed_statement(conditions: Conditions) -> Select[tuple[str]]:
    return select(tasks.c.id).where(*conditions, ~IS_OPEN).limit(1)


def count_per_day(session: Session, field: str, days: Sequence[datetime], project: str | None = None) -> list[int]:
    """Return how many living tasks have the moment in a field in each day; `days` are the starts, and their end."""
    moment = tasks.c[field]
    number = bucket_days(moment, days).label("day")
    conditions = build_conditions(project=project, zone=ZoneInfo("UTC"))
    statement = select(number, func.count()).where(*conditions, moment >= days[0], moment < days[-1])
    counts: dict[int, int] = dict(iter(session.connection.execute(statement.group_by("day"))))
    return [counts.get(day, 0) for day in range(len(days) - 1)]


def count_open_at(session: Session, moment: datetime, project: str | None = None) -> int:
    """Return how many of the living tasks were open at a time, as far as they tell: created, and not yet closed."""
    closed_at = func.coalesce(tasks.c.completed_at, tasks.c.status_changed_at)
    is_open = or_(IS_OPEN, closed_at >= moment)
    conditions = (*build_conditions(project=project, zone=ZoneInfo("UTC")), tasks.c.created_at < moment, is_open)
    return session.connection.execute(select(func.count()).where(*conditions, tasks.c.status != "idea")).scalar_one()


def list_tasks(
    session: Session,
    part: PageRequest,
    conditions: Conditions,
    *,
    by: tuple[Order, ...] = DEFAULT_ORDER,
    count: bool = True,
    is_timed: bool = False,
) -> Page[Task]:
    """Return the tasks that meet the conditions, as `ask_tasks` asks for them."""
    return ask_tasks(session, part, conditions, by=by, count=count, is_timed=is_timed)()


def ask_tasks(
    session: Session,
    part: PageRequest,
    conditions: Conditions,
    *,
    by: tuple[Order, ...] = DEFAULT_ORDER,
    count: bool = True,
    is_timed: bool = False,
) -> Callable[[], Page[Task]]:
    """Ask for the tasks that meet the conditions, in the default order or another.

    Args:
        is_timed: The conditions are those of this moment, so their statements will not be needed again.
    """
    build = _build_statements if is_timed else _find_statements
    return ask_page(session, build(conditions, by), part, lambda row: rows.to_item("task", row), count=count)


def _build_statements(conditions: Conditions, by: tuple[Order, ...]) -> PageStatements:
    return build_page_statements(select(*rows.columns("task")).where(*conditions), by)


_find_statements = lru_cache(MAX_CACHED_STATEMENTS)(_build_statements)


def list_children(session: Session, parent: str) -> list[str]:
    """Return the ids of a task's living subtasks."""
    rows = session.connection.execute(select(tasks.c.id).where(tasks.c.parent == parent, living()).order_by(tasks.c.id))
    return [row[0] for row in rows]


def list_ancestors(session: Session, task: str) -> list[str]:
    """Return the ids of a task's ancestors, the nearest first."""
    return list_chain(session, tasks.c.parent, task)
