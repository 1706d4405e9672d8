"""Sessions: meetings and chains of thoughts, line by line."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import check_item, delete_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import LineType, Project, Removed, Session, SessionAnalysis, SessionKind, SessionText
from panorama.sdk.core.unset import UNSET

_EMPTY = {
    "session": None, "title": None, "kind": None, "project": "", "started_at": None, "ended_at": "", "attendees": (),
    "location": "", "summary": "", "create_people": None,
}  # fmt: skip
"""The value that clears each field in an update; sent for None."""

_READ_CHARS, _EXPORT_CHARS = 1_000_000, 100_000_000

__all__ = ("analyze", "create", "delete", "export", "get", "list", "log", "update")


@explain_misuse
def log(
    title: str = "",
    session: str | Session | None = None,
    lines: Sequence[str | Mapping[str, Any]] = (),
    attendees: Sequence[str] = (),
    project: str | Project | None = None,
    summary: str | None = None,
    kind: SessionKind | None = None,
    create_people: bool = False,
    idempotency_key: str = "",
) -> Session:
    """Log meeting minutes or thoughts as they come: title starts a session, session adds to it.

    Args:
        title: Of a new session: one line, 1 to 200 characters.
        session: The session to add to: its id, its title, or its row.
        lines: Up to 5,000, each text or a mapping of text, type (note, decision, action, next_step, question,
            summary, thought), speaker, at, revises (the position of an earlier line), branch, confidence (0 to 1).
        attendees: Names or e-mail addresses; they are added to those that it has.
        project: Its id, its name, or its row.
        summary: Markdown; it replaces the summary.
        kind: "meeting" by default.
        create_people: Create a person for each unknown attendee.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The session as it is now, without its lines.

    Raises:
        NotFoundError: No session or project has this name.
        ConflictError: Several have this name, or the key was used for another call.
        InvalidInputError: There is neither title nor session, or both; or a line is invalid.

    Example:
        meeting = sdk.sessions.log("Kitchen planning", attendees=["Petra"], lines=["Looked at two hobs"])
        sdk.sessions.log(session=meeting, lines=[{"type": "decision", "speaker": "Petra", "text": "Induction"}])
    """
    return wire.call(
        "sessions.log", title=title, session=session, lines=lines, attendees=attendees, project=project,
        summary=summary, kind=kind, create_people=create_people,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    project: str | Project | None = None,
    kind: SessionKind | None = None,
    attendee: str = "",
    since: str | date = "",
    until: str | date = "",
    limit: int | None = None,
) -> builtins.list[Session]:
    """List meetings and thinking sessions, the latest first.

    Args:
        project: Its id, its name, or its row; all projects if left out.
        kind: "meeting" or "thinking"; both if left out.
        attendee: Only those with this person: a name, an alias, or an e-mail address.
        since: First day on which they began: 2026-05-31, monday, -7d, or a date.
        until: Last day on which they began: 2026-05-31, friday, or a date.
        limit: The most rows; all if left out.

    Returns:
        Rows without their lines.

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: A day is none, `since` is after `until`, or `limit` is below 1.

    Example:
        print([meeting.title for meeting in sdk.sessions.list(kind="meeting", since="-30d")])
    """
    return wire.list_rows(
        "sessions.list", limit, project="" if project is None else project, kind=kind, attendee=attendee, since=since,
        until=until, detail="full",
    )  # fmt: skip


@explain_misuse
def get(session: str | Session, start: int = 1, type: LineType | None = None, chars: int | None = None) -> SessionText:
    """Read a session and its lines, page by page.

    Args:
        session: Its id, its title, or its row.
        start: Position of the first line.
        type: Only lines of this type.
        chars: How many characters of lines at most, 1 to 1,000,000; all lines if left out.

    Returns:
        Its fields and `lines`; `next_start` is the position to read on from, None if all lines are there.

    Raises:
        NotFoundError: No session has this name; `candidates` are the nearest.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: `start` or `chars` is out of range, or it is not a session.

    Example:
        meeting = sdk.sessions.log("Kitchen planning", lines=[{"type": "decision", "text": "Induction"}])
        print([line.text for line in sdk.sessions.get(meeting, type="decision").lines])
    """
    check_item("session", session, "get")
    size = _READ_CHARS if chars is None else chars
    row = wire.call("sessions.get", session=session, start=start, type=type, chars=size)
    while chars is None and (onward := row.get("next_start")):
        part = wire.call("sessions.get", session=row.id, start=onward, type=type, chars=size)
        row["lines"], row["next_start"] = [*row.lines, *part.lines], part.next_start
    return row


@explain_misuse
def create(
    title: str,
    kind: SessionKind = "meeting",
    project: str | Project | None = None,
    started_at: str | datetime = "",
    ended_at: str | datetime = "",
    attendees: Sequence[str] = (),
    location: str = "",
    summary: str = "",
    lines: Sequence[str | Mapping[str, Any]] = (),
    create_people: bool = False,
    idempotency_key: str = "",
) -> Session:
    """Create a session: a meeting or a chain of thoughts, with its first lines.

    Args:
        title: One line, 1 to 200 characters.
        kind: "meeting" or "thinking".
        project: Its id, its name, or its row; none if left out.
        started_at: A moment: 2026-05-31T15:00, today 9:00, or a datetime; now if left out.
        ended_at: A moment: 2026-05-31T16:00, today 10:00, or a datetime.
        attendees: Names or e-mail addresses.
        location: One line.
        summary: Markdown.
        lines: As `log` takes them.
        create_people: Create a person for each unknown attendee.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new session, without its lines.

    Raises:
        InvalidInputError: The title is empty, a line is invalid, or it ends before it begins.
        NotFoundError: No project has this name.
        ConflictError: The key was used for another call.

    Example:
        meeting = sdk.sessions.create("Kick-off", attendees=["Petra", "ben@example.org"], location="Studio")
        print(meeting.id)
    """
    return wire.call(
        "sessions.create", title=title, kind=kind, project=project, started_at=started_at, ended_at=ended_at,
        attendees=attendees, location=location, summary=summary, lines=lines, create_people=create_people,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    session: str | Session,
    title: str = UNSET,
    kind: SessionKind = UNSET,
    project: str | Project | None = UNSET,
    started_at: str | datetime = UNSET,
    ended_at: str | datetime | None = UNSET,
    attendees: Sequence[str] | None = UNSET,
    location: str | None = UNSET,
    summary: str | None = UNSET,
    create_people: bool = False,
) -> Session:
    """Change fields of a session; omitted fields stay, "" or [] clears.

    Args:
        session: Its id, its title, or its row.
        title: One line, 1 to 200 characters.
        kind: "meeting" or "thinking".
        project: Its id, its name, or its row.
        started_at: A moment: 2026-05-31T15:00, today 9:00, or a datetime.
        ended_at: A moment: 2026-05-31T16:00, today 10:00, or a datetime.
        attendees: All its attendees; they replace those it had.
        location: One line.
        summary: Markdown.
        create_people: Create a person for each unknown attendee.

    Returns:
        The session as it is now, without its lines.

    Raises:
        NotFoundError: No session or project has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: A text is empty or too long, it ends before it begins, or it is not a session.

    Example:
        meeting = sdk.sessions.create("Kick-off")
        sdk.sessions.update(meeting, summary="We begin in June.", ended_at="+1h")
    """
    return wire.call_update(
        "sessions.update", _EMPTY, session=session, title=title, kind=kind, project=project, started_at=started_at,
        ended_at=ended_at, attendees=attendees, location=location, summary=summary, create_people=create_people,
    )  # fmt: skip


@explain_misuse
def export(
    session: str | Session, format: Literal["markdown", "json"] = "markdown", start: int = 0, chars: int | None = None
) -> str:
    """Render a session with all its lines as Markdown or JSON.

    Args:
        session: Its id, its title, or its row.
        format: "markdown" or "json".
        start: First character, counted from 0.
        chars: How many characters at most; all if left out.

    Returns:
        The text.

    Raises:
        NotFoundError: No session has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: `start` or `chars` is out of range, or it is not a session.

    Example:
        meeting = sdk.sessions.log("Kick-off", lines=["We begin in June"])
        print(sdk.sessions.export(meeting))
    """
    size = _EXPORT_CHARS if chars is None else chars
    return wire.call("sessions.export", session=session, format=format, start=start, chars=size).text


@explain_misuse
def analyze(session: str | Session) -> SessionAnalysis:
    """Measure how a session went: linearity, revision rate, depth, branches, types of lines.

    Args:
        session: Its id, its title, or its row.

    Returns:
        The measures; `linearity` is the share of lines that go on from the line before, `depth` the longest chain of
        revisions.

    Raises:
        NotFoundError: No session has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a session.

    Example:
        ideas = sdk.sessions.log("Which hob", kind="thinking", lines=["Gas", {"text": "Induction", "revises": 1}])
        print(sdk.sessions.analyze(ideas).revision_rate)
    """
    return wire.call("sessions.analyze", session=session)


@explain_misuse
def delete(session: str | Session) -> Removed:
    """Move a session to the trash.

    Undo brings it back.

    Args:
        session: Its id, its title, or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No session has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a session.

    Example:
        meeting = sdk.sessions.create("Cancelled call")
        sdk.sessions.delete(meeting)
    """
    return delete_item("session", session)
