"""Sessions with their lines: appends and removes lines in one change line, and lists sessions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, or_, select

from panorama.domain.items.session_lines import SessionLine, name_range, parse_range
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.paging import Page, PageRequest
from panorama.store import session_lines
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.items.listing import list_conditions
from panorama.store.items.projects import has_tag
from panorama.store.paging import ask_page, build_page_statements
from panorama.store.tables import sessions


@dataclass(frozen=True, slots=True)
class AttendeeFilter:
    """An attendee of sessions and events: the ids of the people who may be meant, and names that no other person has.

    The names find what was stored before the person was.
    """

    people: Sequence[str]
    names: Sequence[str]

    def build_condition(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that an item of a table has this attendee."""
        by_name = (has_tag(table.c.attendees, name) for name in self.names)
        return or_(*(has_tag(table.c.people, person) for person in self.people), *by_name)


def add(session: Session, item: LoggedSession, lines: Sequence[SessionLine]) -> LoggedSession:
    """Store a new session with its first lines; return it with their number."""
    created = replace(item, line_count=len(lines))
    rows.add(session, created)
    if lines:
        session_lines.append_lines(session, created, lines)
    return created


def append(
    session: Session, old: LoggedSession, lines: Sequence[SessionLine], now: datetime, **fields: Any
) -> LoggedSession:
    """Append lines to a session and change its fields, in one change line; return the new value."""
    new = old.with_changes(now, **fields, line_count=old.line_count + len(lines))
    counted = {name_range(lines[0].position, lines[-1].position): (0, len(lines))} if lines else rows.NO_ROWS
    rows.save(session, old, new, counted=counted)
    if lines:
        session_lines.append_lines(session, new, lines)
    return new


def set_ranges(
    session: Session, item: LoggedSession, ranges: Mapping[str, bool], now: datetime
) -> dict[str, tuple[int, int]]:
    """Bring back or remove the lines of some ranges; return for each how many were present before and are after.

    Args:
        ranges: Whether the lines are present afterwards, by the name of their range.
    """
    counted: dict[str, tuple[int, int]] = {}
    for name, present in ranges.items():
        if place := parse_range(name):
            count = session_lines.set_presence(session, item, place, now, present=present)
            counted[name] = (0, count) if present else (count, 0)
    return counted


def list_sessions(
    session: Session,
    part: PageRequest,
    *,
    project: str | None = None,
    kind: str | None = None,
    attendee: AttendeeFilter | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Page[LoggedSession]:
    """Return living sessions, as `ask_sessions` asks for them."""
    return ask_sessions(session, part, project=project, kind=kind, attendee=attendee, since=since, until=until)()


def ask_sessions(
    session: Session,
    part: PageRequest,
    *,
    project: str | None = None,
    kind: str | None = None,
    attendee: AttendeeFilter | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Callable[[], Page[LoggedSession]]:
    """Ask for living sessions, the last begun first: of a project ("" for none), kind, attendee and period."""
    where = list_conditions(sessions, project=project, kind=kind)
    if attendee:
        where.append(attendee.build_condition(sessions))
    if since:
        where.append(sessions.c.started_at >= since)
    if until:
        where.append(sessions.c.started_at < until)
    order = [(sessions.c.started_at, True), (sessions.c.id, True)]
    statement = select(*rows.columns("session")).where(*where)
    asked = build_page_statements(statement, order)
    return ask_page(session, asked, part, lambda row: rows.to_item("session", row))
