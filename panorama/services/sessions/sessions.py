"""Operations on sessions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from panorama.domain.items.item import normalize_name, single_line, single_line_or_empty, validate_text
from panorama.domain.items.references import ProjectRef, SessionRef
from panorama.domain.items.session_lines import LineType, SessionLine, parse_lines
from panorama.domain.items.sessions import LoggedSession, SessionKind, check_times
from panorama.domain.markdown import session_pages
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.sessions.analysis import SessionAnalysis, analyze_lines
from panorama.domain.time import times
from panorama.errors import InvalidInputError
from panorama.services.base import Service, ServiceContext, drop_none
from panorama.services.people.attendees import Attendance, AttendeeResolver
from panorama.services.search.hints import join_hints
from panorama.services.sessions.results import SessionExport, SessionView
from panorama.store import session_lines, sessions
from panorama.store.backend import Session
from panorama.store.items import lookup, rows

READ_CHARS = 5000
"""The default length of the shown lines."""

MAX_READ_CHARS = 1_000_000
EXPORT_CHARS = 30_000
MAX_EXPORT_CHARS = 100_000_000
SAME_MEETING = timedelta(hours=12)
"""A new session of the same title within this time may be meant to be the one that exists."""

Lines = tuple[str | Mapping[str, Any], ...]


class Sessions(Service):
    """Sessions: meetings and chains of thoughts, line by line."""

    def __init__(self, context: ServiceContext, attendees: AttendeeResolver) -> None:
        super().__init__(context)
        self._attendees = attendees

    def log(
        self,
        title: str = "",
        session: SessionRef | None = None,
        lines: Lines = (),
        attendees: tuple[str, ...] = (),
        project: ProjectRef | None = None,
        summary: str | None = None,
        kind: SessionKind | None = None,
        create_people: bool = False,
    ) -> Result[LoggedSession]:
        """Log meeting minutes or thoughts as they come: title starts a session, session adds to it.

        Args:
            lines: Text, or {text, speaker, revises, type: note|decision|action|next_step|question|summary|thought}.
        """
        if session and title.strip():
            raise InvalidInputError(
                "Both title and session are given.", hint="Give session to add to it; update_session changes its title."
            )
        if not session:
            return self.create(
                title, kind or "meeting", project, "", "", attendees, "", summary or "", lines, create_people
            )
        return self._append(
            session, lines, attendees, create_people, project=project or None,
            summary=summary, kind=kind,
        )  # fmt: skip

    def _append(
        self, id_: str, lines: Lines, attendees: tuple[str, ...], create_people: bool, **fields: Any
    ) -> Result[LoggedSession]:
        now = self._now()
        with self._writing() as session:
            old: LoggedSession = rows.load(session, "session", id_)
            values = self._read_fields(old.started_at, **fields)
            found = self._attendees.resolve(
                session, (*old.attendees, *attendees) if attendees else (), create_people=create_people,
                before=Attendance(old.attendees, old.people),
            )  # fmt: skip
            values |= found.fields if attendees else {}
            check_times(values.get("started_at", old.started_at), values.get("ended_at", old.ended_at))
            first = session_lines.next_position(session, id_)
            added = self._read_lines(lines, first, values.get("kind", old.kind), now)
            _check_revised(session, id_, added, first)
            new = sessions.append(session, old, added, now, **values)
            return Result(new, hint=found.hint, wrote=new is not old)

    def create(
        self,
        title: str,
        kind: SessionKind = "meeting",
        project: ProjectRef | None = None,
        started_at: str = "",
        ended_at: str = "",
        attendees: tuple[str, ...] = (),
        location: str = "",
        summary: str = "",
        lines: Lines = (),
        create_people: bool = False,
    ) -> Result[LoggedSession]:
        """Create a session: a meeting or a chain of thoughts, with its first lines.

        To log it as it happens use log_session.

        Args:
            started_at: When it began; by default now.
            attendees: Names or e-mail addresses; known people are linked.
            lines: As for log_session; they can also have at, branch and confidence (0 to 1).
            create_people: Create a person for each unknown attendee.
        """
        now = self._now()
        with self._writing() as session:
            fields = self._read_fields(
                now, title=title, kind=kind, started_at=started_at or None, ended_at=ended_at or None,
                location=location, summary=summary,
            )  # fmt: skip
            found = self._attendees.resolve(session, attendees, create_people=create_people)
            fields.setdefault("started_at", now)
            created = LoggedSession(
                **self._new_item_fields("session", now), **fields, **found.fields, project=project or None
            )
            check_times(created.started_at, created.ended_at)
            hint = join_hints(self._same_title_hint(session, created), found.hint)
            return Result(sessions.add(session, created, self._read_lines(lines, 1, kind, now)), hint=hint)

    def get(
        self, session: SessionRef, start: int = 1, type: LineType | None = None, chars: int = READ_CHARS
    ) -> SessionView:
        """Read a session and its lines, page by page.

        Args:
            start: Position of the first line.
            type: Only lines of this type.
            chars: Maximum number of characters of lines.
        """
        if start < 1 or not 1 <= chars <= MAX_READ_CHARS:
            raise InvalidInputError(
                f"start is {start}, chars is {chars}.", hint=f"Give start 1 or more, chars 1 to {MAX_READ_CHARS:,}."
            )
        with self._reading() as reading:
            found: LoggedSession = rows.load(reading, "session", session)
            lines, onward = session_lines.read_lines(reading, session, start, chars, type=type)
            return SessionView.of(found, lines, onward)

    def list(
        self,
        page: PageRequest,
        project: ProjectRef | None = None,
        kind: SessionKind | None = None,
        attendee: str = "",
        since: str = "",
        until: str = "",
    ) -> Page[LoggedSession]:
        """List meetings and thinking sessions, the latest first.

        To find one by its lines use search.

        Args:
            attendee: Only those with this attendee.
            since: First day.
            until: Last day.
        """
        zone, now = self._context.zone, self._now()
        first = times.parse_date(since, "since", now=now, zone=zone) if since else None
        last = times.parse_date(until, "until", now=now, zone=zone) if until else None
        times.check_order(first, last, "since", "until")
        with self._reading() as session:
            return sessions.list_sessions(
                session, page, project=project or None, kind=kind,
                attendee=self._attendees.find(session, attendee) if attendee.strip() else None,
                since=times.start_of_day(first, zone) if first else None,
                until=times.start_of_day(times.next_day(last), zone) if last else None,
            )  # fmt: skip

    def update(
        self,
        session: SessionRef,
        title: str | None = None,
        kind: SessionKind | None = None,
        project: ProjectRef | None = None,
        started_at: str | None = None,
        ended_at: str | None = None,
        attendees: tuple[str, ...] | None = None,
        location: str | None = None,
        summary: str | None = None,
        create_people: bool = False,
    ) -> Result[LoggedSession]:
        """Change fields of a session; omitted fields stay, "" or [] clears.

        To add lines use log_session, to remove it delete_item.

        Args:
            create_people: Create a person for each unknown attendee.
        """
        with self._writing() as writing:
            old: LoggedSession = rows.load(writing, "session", session)
            values = self._read_fields(
                old.started_at, title=title, kind=kind, project=project, started_at=started_at, ended_at=ended_at,
                location=location, summary=summary,
            )  # fmt: skip
            before = Attendance(old.attendees, old.people)
            found = self._attendees.resolve(writing, attendees or (), create_people=create_people, before=before)
            values |= found.fields if attendees is not None else {}
            new = old.with_changes(self._now(), **values)
            check_times(new.started_at, new.ended_at)
            rows.save(writing, old, new)
            return Result(new, hint=found.hint, wrote=new is not old)

    def export(
        self,
        session: SessionRef,
        format: Literal["markdown", "json"] = "markdown",
        start: int = 0,
        chars: int = EXPORT_CHARS,
    ) -> SessionExport:
        """Render a session with all its lines as Markdown or JSON.

        Args:
            start: First character.
            chars: Maximum number of characters.
        """
        if start < 0 or not 1 <= chars <= MAX_EXPORT_CHARS:
            raise InvalidInputError(
                f"start is {start}, chars is {chars}.", hint=f"Give start 0 or more, chars 1 to {MAX_EXPORT_CHARS:,}."
            )
        with self._reading() as reading:
            found: LoggedSession = rows.load(reading, "session", session)
            render = session_pages.render_json if format == "json" else session_pages.render_markdown
            lines = list(session_lines.iter_lines(reading, session))
            text = render(found, _get_project_name(reading, found), lines, self._context.zone)
        begin, end = min(start, len(text)), min(start + chars, len(text))
        whole = begin == 0 and end == len(text)
        return SessionExport(
            id=found.id, title=found.title, format=format, chars=len(text), text=text[begin:end],
            start=None if whole else begin, end=None if whole else end,
        )  # fmt: skip

    def analyze(self, session: SessionRef) -> SessionAnalysis:
        """Measure how a session went: linearity, revision rate, depth, branches, types of lines."""
        with self._reading() as reading:
            found: LoggedSession = rows.load(reading, "session", session)
            return analyze_lines(found.id, found.title, session_lines.iter_lines(reading, session))

    def _read_fields(self, start: datetime, **fields: Any) -> dict[str, Any]:
        """Return the given fields as they are stored; `start` is when the session begins if it is not given."""
        values = drop_none(**fields)
        if "title" in values:
            values["title"] = single_line(values["title"])
        if "project" in values:
            values["project"] = values["project"] or None
        if "location" in values:
            values["location"] = single_line_or_empty(values["location"], "location")
        if "summary" in values:
            values["summary"] = validate_text(values["summary"], "summary")
        if "started_at" in values:
            values["started_at"] = self._parse_moment(values["started_at"], "started_at")
        if "ended_at" in values:
            values["ended_at"] = self._parse_end(values["ended_at"], values.get("started_at", start))
        return values

    def _parse_end(self, text: str, start: datetime) -> datetime | None:
        """Return the end of a session; a time of day or a distance counts from its start, "" is none."""
        if not text.strip():
            return None
        end = times.parse_end(text, "ended_at", start=start, zone=self._context.zone)
        return end if isinstance(end, datetime) else self._parse_moment(text, "ended_at")

    def _parse_moment(self, text: str, name: str) -> datetime:
        return times.parse_datetime(text, name, now=self._now(), zone=self._context.zone)

    def _read_lines(self, lines: Lines, first: int, kind: SessionKind, now: datetime) -> tuple[SessionLine, ...]:
        return parse_lines(lines, first, now, lambda text: self._parse_moment(text, "at"), thinking=kind == "thinking")

    def _same_title_hint(self, session: Session, created: LoggedSession) -> str:
        """Name a session of about the same time with the same title, "" if there is none."""
        for _, id_, label in lookup.list_exact(session, ["session"], normalize_name(created.title)):
            other: LoggedSession = rows.load(session, "session", id_)
            if abs(other.started_at - created.started_at) < SAME_MEETING:
                return f"Possible duplicate: {id_} “{label}”; to add lines to it give session."
        return ""


def _check_revised(session: Session, id_: str, added: Sequence[SessionLine], first: int) -> None:
    """Check that the earlier lines that new ones revise exist.

    Raises:
        InvalidInputError: One was removed.
    """
    revised = [line.revises for line in added if line.revises is not None and line.revises < first]
    if missing := session_lines.find_missing(session, id_, revised):
        raise InvalidInputError(
            f"revises names the line {missing[0]}, which was removed.", hint="Read the lines with get_session."
        )


def _get_project_name(session: Session, item: LoggedSession) -> str:
    if item.project is None:
        return ""
    return lookup.get_labels(session, [("project", item.project)])[item.project][2]
