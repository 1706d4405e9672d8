"""Renders items as Markdown pages, and completes typed names."""

from collections.abc import Mapping
from typing import Literal

from panorama.domain.items.choices import CLOSED_STATUSES
from panorama.domain.items.item import Kind
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.references import NoteRef, ProjectRef, TaskRef
from panorama.domain.items.reminders import ReminderEvent
from panorama.domain.items.tasks import Task
from panorama.domain.paging import Page, PageRequest
from panorama.domain.time import times
from panorama.domain.time.times import format_time
from panorama.services.base import Service
from panorama.store import events
from panorama.store.backend import Session
from panorama.store.items import alerts, lookup, notes, rows, tasks

FIRST_PAGE = PageRequest(limit=100)
MAX_UPCOMING = 20
READ_CHARS = 30_000
"""The maximum number of characters of a note on a page."""

Text = Mapping[Literal["markdown"], str]


class Pages(Service):
    """Renders items for reading."""

    def render_note(self, note: NoteRef) -> Text:
        """Render a note's text under its title."""
        with self._reading() as session:
            loaded: Note = rows.load(session, "note", note)
        rest = f"\n\n… ({loaded.chars:,} characters in all; get_note reads on with start={READ_CHARS})"
        text = loaded.content if loaded.chars <= READ_CHARS else loaded.content[:READ_CHARS] + rest
        return {"markdown": f"# {loaded.title}\n\n{text}"}

    def render_project(self, project: ProjectRef) -> Text:
        """Render a project with its open tasks and its notes."""
        with self._reading() as session:
            loaded: Project = rows.load(session, "project", project)
            todo = tasks.list_tasks(
                session, FIRST_PAGE, tasks.build_conditions(project=project, status="open", zone=self._context.zone)
            )
            note_page = notes.list_notes(session, FIRST_PAGE, project=project)
        lines = [
            f"# {loaded.name}",
            f"{loaded.status}, {todo.total} open tasks, {note_page.total} notes",
            loaded.description,
        ]
        lines += ["## Tasks", *(self._format_task(task) for task in todo.items)] if todo.items else []
        lines += (
            ["## Notes", *(f"- {note.title} (panorama://note/{note.id})" for note in note_page.items)]
            if note_page.items
            else []
        )
        return {"markdown": "\n\n".join(filter(None, lines[:3])) + "\n\n" + "\n".join(lines[3:])}

    def render_task(self, task: TaskRef) -> Text:
        """Render a task with its notes."""
        with self._reading() as session:
            loaded: Task = rows.load(session, "task", task)
        return {"markdown": f"{self._format_task(loaded)}\n\nStatus: {loaded.status}\n\n{loaded.notes}".strip()}

    def render_today(self) -> Text:
        """Render the events of today, and the tasks that are overdue, due today or in progress."""
        clock = self._clock()
        parts = [f"# {clock.today:%A}, {clock.today}"]
        zone, tomorrow = self._context.zone, times.next_day(clock.today)
        period = times.start_of_day(clock.today, zone), times.start_of_day(tomorrow, zone)
        with self._reading() as session:
            entries = events.list_occurrences(session, *period, zone)
            parts += ["\n## Events\n"] if entries else []
            parts += [f"- {entry.describe(zone)} `{entry.id}`" for entry in entries]
            for title, view in (("Overdue", "overdue"), ("Today", "today"), ("Under way", "in_progress")):
                where = (tasks.living(), tasks.view_condition(view, clock))
                items = tasks.list_tasks(session, FIRST_PAGE, where, is_timed=True).items
                known = "\n".join(parts)
                lines = [line for line in map(self._format_task, items) if line not in known]
                parts += [f"\n## {title}\n", *lines] if lines else []
            rung = self._list_waiting(session)
        parts += ["\n## Reminders that wait\n", *rung] if rung else []
        return {"markdown": "\n".join(parts) if len(parts) > 1 else f"{parts[0]}\n\nNothing is due."}

    def render_reminders(self) -> Text:
        """Render the unacknowledged reminders, and those that fire next."""
        with self._reading() as session:
            rung = self._list_waiting(session)
            coming = alerts.list_upcoming(session, limit=MAX_UPCOMING)
        lines = ["# Reminders"]
        lines += ["\n## Waiting\n", *rung] if rung else []
        lines += ["\n## Coming\n"] if coming else []
        lines += [f"- {format_time(at, self._context.zone)}: {title} `{id_}`" for at, id_, title in coming]
        return {
            "markdown": "\n".join(lines) if len(lines) > 1 else "# Reminders\n\nNo reminder is waiting or upcoming."
        }

    def _list_waiting(self, session: Session) -> list[str]:
        """Render a line for each unacknowledged reminder."""
        zone, now = self._context.zone, self._now()
        waiting = alerts.list_pending(session, FIRST_PAGE).items
        rung = (
            ReminderEvent(alert=alert, reminder=reminder, late=now - alert.at, repeated=True)
            for alert, reminder in waiting
        )
        return [f"- {event.describe(zone)} `{event.reminder.id}`" for event in rung]

    def list(self, page: PageRequest) -> Page[Mapping[str, str]]:
        """Return kind, id and name of the listed pages: favourite projects, then pinned notes, each by name."""
        with self._reading() as session:
            favorites = lookup.list_favorites(session, limit=page.limit)
        rows_ = tuple({"kind": kind, "id": id_, "name": label} for kind, id_, label in favorites)
        return Page(rows_, tuple(() for _ in rows_), None, more=False)

    def complete(self, kind: Kind, page: PageRequest, begun: str = "") -> Page[Mapping[str, str]]:
        """Return ids and names of items that begin with, or contain, the typed text."""
        with self._reading() as session:
            names = lookup.list_by_prefix(session, kind, begun, limit=page.limit)
        rows_ = tuple({"id": id_, "name": label} for _, id_, label in names)
        return Page(rows_, tuple(() for _ in rows_), None, more=False)

    def _format_task(self, task: Task) -> str:
        mark = "x" if task.status in CLOSED_STATUSES else " "
        due = f" (due {format_time(task.deadline, self._context.zone)})" if task.deadline else ""
        return f"- [{mark}] {task.title}{due} `{task.id}`"
