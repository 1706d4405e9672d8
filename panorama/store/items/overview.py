"""Counts over many items, computed by the database."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, literal, null, select, union_all

from panorama.domain.items.choices import CLOSED_STATUSES, OPEN_STATUSES
from panorama.store.backend import Session
from panorama.store.items.rows import NOUNS
from panorama.store.items.tasks import IS_OPEN, Clock, Conditions, due_before, living, overdue
from panorama.store.paging import Rows
from panorama.store.tables import changes, notes, projects, tasks

IMPORTS = "import.%"
"""Operations that do not count as writing: imported items were written elsewhere and earlier."""

ByProject = dict[str | None, int]
"""A count per project id; None stands for items without a project."""

Window = tuple[datetime, datetime]
"""A half-open period."""


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """The number of a project's living tasks by state."""

    open: int = 0
    in_progress: int = 0
    done: int = 0
    cancelled: int = 0
    ideas: int = 0
    overdue: int = 0
    due_soon: int = 0


@dataclass(frozen=True, slots=True)
class ProjectActivity:
    """The counts of a project, of its items written in a period, and when one was last written."""

    tasks: TaskCounts = TaskCounts()
    notes: int = 0
    notes_touched: int = 0
    tasks_touched: int = 0
    last: datetime | None = None


def ask_activity(
    session: Session, clock: Clock, soon: timedelta, since: datetime, *, project: str | None = None
) -> Callable[[], dict[str | None, ProjectActivity]]:
    """Ask for the counts of each project that has tasks or notes, or of one, in one statement.

    Args:
        soon: Tasks due within this time count as due soon.
        since: Tasks and notes written from then on count as touched.
    """
    selects = [
        *(_select_stored(kind, project) for kind in ("task", "note")),
        *(_select_changed(kind, since, None, project).add_columns(null()) for kind in ("task", "note")),
        *(counted.add_columns(null()) for counted in _select_states(clock, soon, project)),
    ]
    rows = session.ask(union_all(*selects))

    def read() -> dict[str | None, ProjectActivity]:
        counts: dict[str | None, Counter[str]] = {}
        last: dict[str | None, datetime] = {}
        for name, at, count, moment in rows():
            counts.setdefault(at, Counter())[name] = count
            if moment is not None:
                last[at] = max(moment, last.get(at, moment))
        return {at: _to_activity(counted, last.get(at)) for at, counted in counts.items()}

    return read


def _select_stored(kind: str, project: str | None) -> Rows:
    """Return the statement that counts the living items of a kind: a name, project, number and last write."""
    table = NOUNS[kind].table
    where = [table.c.deleted_at.is_(None)] + ([table.c.project == project] if project else [])
    counted = select(literal(_STORED[kind]), table.c.project, func.count(), func.max(table.c.updated_at))
    return counted.where(*where).group_by(table.c.project)


def _select_states(clock: Clock, soon: timedelta, project: str | None) -> list[Rows]:
    """Return the statements that count living tasks by status, overdue and due soon: a name, project and number."""
    where = [living()] + ([tasks.c.project == project] if project else [])
    end = clock.today + soon + timedelta(days=1)
    is_coming = and_(IS_OPEN, due_before(tasks.c.deadline, end, clock.zone))
    by_status = select(tasks.c.status, tasks.c.project, func.count()).where(*where)
    by_deadline = [
        select(literal(name), tasks.c.project, func.count()).where(*where, test).group_by(tasks.c.project)
        for name, test in ((_LATE, overdue(clock)), (_COMING, is_coming))
    ]
    return [by_status.group_by(tasks.c.status, tasks.c.project), *by_deadline]


def _to_activity(counts: Counter[str], last: datetime | None) -> ProjectActivity:
    states = TaskCounts(
        open=sum(counts[status] for status in OPEN_STATUSES),
        in_progress=counts["in_progress"],
        done=counts["done"],
        cancelled=counts["cancelled"],
        ideas=counts["idea"],
        overdue=counts[_LATE],
        due_soon=counts[_COMING] - counts[_LATE],
    )
    return ProjectActivity(
        tasks=states,
        notes=counts[_STORED["note"]],
        notes_touched=counts["note"],
        tasks_touched=counts["task"],
        last=last,
    )


_LATE, _COMING = "overdue", "due soon"
_STORED = {"task": "stored tasks", "note": "stored notes"}
"""The names of counts, beside the statuses of tasks and the kinds of touched items."""


def _ask_per_project(session: Session, *where: ColumnElement[bool]) -> Callable[[], ByProject]:
    statement = select(tasks.c.project, func.count()).where(*where).group_by(tasks.c.project)
    rows = session.ask(statement)
    return lambda: {row[0]: row[1] for row in rows()}


def ask_changed(
    session: Session,
    kinds: Sequence[str],
    since: datetime,
    until: datetime | None = None,
    *,
    project: str | None = None,
) -> Callable[[], dict[str, ByProject]]:
    """Ask how many items of each kind were written in a period, by their current project."""
    rows = session.ask(union_all(*(_select_changed(kind, since, until, project) for kind in kinds)))

    def read() -> dict[str, ByProject]:
        results: dict[str, ByProject] = {kind: {} for kind in kinds}
        for kind, at, count in rows():
            results[kind][at] = count
        return results

    return read


def _select_changed(kind: str, since: datetime, until: datetime | None, project: str | None) -> Rows:
    """Return the statement that counts the items of a kind written in a period: kind, project and number."""
    table = NOUNS[kind].table
    where = [changes.c.kind == kind, changes.c.at >= since] + ([changes.c.at < until] if until else [])
    if project:
        where.append(changes.c.item.in_(select(table.c.id).where(table.c.project == project)))
    written = select(changes.c.item).where(*where).distinct().subquery()
    joined = select(literal(kind), table.c.project, func.count()).join(written, written.c.item == table.c.id)
    return joined.where(table.c.deleted_at.is_(None)).group_by(table.c.project)


def ask_active_projects(session: Session, windows: Sequence[Window]) -> Callable[[], list[set[str | None]]]:
    """Ask for the projects with a task written in each period, in one pass over all periods."""
    inside = [and_(changes.c.at >= since, changes.c.at < until) for since, until in windows]
    first, last = min(since for since, _ in windows), max(until for _, until in windows)
    flags = [func.max(case((test, 1), else_=0)) for test in inside]
    statement = (
        select(tasks.c.project, *flags)
        .join(changes, changes.c.item == tasks.c.id)
        .where(changes.c.kind == "task", changes.c.at >= first, changes.c.at < last, living())
        .group_by(tasks.c.project)
    )
    asked = session.ask(statement)

    def read() -> list[set[str | None]]:
        rows = asked()
        return [{row[0] for row in rows if row[place]} for place in range(1, len(windows) + 1)]

    return read


def ask_overdue(session: Session, clock: Clock) -> Callable[[], ByProject]:
    """Ask how many tasks were overdue at a time, by project: due before it and not closed by then.

    Uses the current deadlines; later changes of deadlines are not considered.
    """
    then = (living(), tasks.c.created_at < clock.now, due_before(tasks.c.deadline, clock.today, clock.zone))
    still_open = _ask_per_project(session, *then, IS_OPEN)
    closed_later = _ask_per_project(
        session, *then, tasks.c.status.in_(CLOSED_STATUSES), tasks.c.status_changed_at >= clock.now
    )
    return lambda: dict(Counter(still_open()) + Counter(closed_later()))


def where_completed(since: datetime, until: datetime) -> Conditions:
    """Return the condition for tasks completed in a period."""
    return living(), tasks.c.status == "done", tasks.c.completed_at >= since, tasks.c.completed_at < until


def where_created(since: datetime, until: datetime) -> Conditions:
    """Return the condition for tasks created in a period, except by an import."""
    imported = select(changes.c.item).where(
        changes.c.kind == "task", changes.c.at >= since, changes.c.operation.like(IMPORTS), changes.c.action == "create"
    )
    return living(), tasks.c.created_at >= since, tasks.c.created_at < until, tasks.c.id.not_in(imported)


def count_tasks(session: Session, where: Iterable[ColumnElement[bool]]) -> int:
    """Count the tasks that meet conditions."""
    return ask_count(session, where)()


def ask_count(session: Session, where: Iterable[ColumnElement[bool]]) -> Callable[[], int]:
    """Ask how many tasks meet conditions."""
    rows = session.ask(select(func.count()).select_from(tasks).where(*where))
    return lambda: rows()[0][0]


def count_items(session: Session) -> dict[str, int]:
    """Count the living items of each kind, and those in the trash."""
    row = session.connection.execute(_count_statement()).one()
    totals, deleted = row[: len(NOUNS)], row[len(NOUNS) :]
    living = {kind: total - gone for kind, total, gone in zip(NOUNS, totals, deleted, strict=True)}
    return {**living, "trash": sum(deleted)}


@cache
def _count_statement() -> Rows:
    """Build the statement that counts each table, and then what of it is in the trash: each is read from an index."""
    counts = [select(func.count()).select_from(noun.table) for noun in NOUNS.values()]
    deleted = [
        count.where(noun.table.c.deleted_at.is_not(None)) for count, noun in zip(counts, NOUNS.values(), strict=True)
    ]
    return select(*(count.scalar_subquery() for count in (*counts, *deleted)))


def list_projects(session: Session) -> dict[str, Any]:
    """Return the rows of every living project that is not archived, by id."""
    return ask_projects(session)()


def ask_projects(session: Session) -> Callable[[], dict[str, Any]]:
    """Ask for the rows of every living project that is not archived, by id."""
    where = (projects.c.deleted_at.is_(None), projects.c.status != "archived")
    order = (projects.c.favorite.desc(), projects.c.rank, projects.c.key)
    rows = session.ask(select(projects).where(*where).order_by(*order))

    def read() -> dict[str, Any]:
        found: Sequence[Any] = rows()
        return {row.id: row for row in found}

    return read


def count_archived(session: Session) -> int:
    """Count the archived living projects."""
    where = (projects.c.deleted_at.is_(None), projects.c.status == "archived")
    return session.connection.execute(select(func.count()).select_from(projects).where(*where)).scalar_one()


def ask_written_notes(
    session: Session, since: datetime, until: datetime, limit: int
) -> Callable[[], tuple[int, list[tuple[str, str]]]]:
    """Ask how many living notes were created or changed in a period, and for the last of them (id, title)."""
    where = (
        changes.c.kind == "note",
        changes.c.at >= since,
        changes.c.at < until,
        changes.c.operation.not_like(IMPORTS),
    )
    written = (
        select(changes.c.item.label("item"), func.max(changes.c.id).label("last"))
        .where(*where)
        .group_by(changes.c.item)
        .subquery()
    )
    joined = select(notes.c.id, notes.c.title, func.count().over()).join(written, written.c.item == notes.c.id)
    asked = session.ask(joined.where(notes.c.deleted_at.is_(None)).order_by(written.c.last.desc()).limit(limit))

    def read() -> tuple[int, list[tuple[str, str]]]:
        rows = asked()
        return (rows[0][2] if rows else 0), [(row[0], row[1]) for row in rows]

    return read
