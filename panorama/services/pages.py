"""Items as pages of Markdown, for clients that show them to a person; and names as they are typed."""

from collections.abc import Mapping
from typing import Literal

from panorama.domain.items import Kind
from panorama.domain.notes import Note
from panorama.domain.projects import Project
from panorama.domain.references import NoteRef, ProjectRef, TaskRef
from panorama.domain.reminders import Ring
from panorama.domain.results import Page, Slice
from panorama.domain.tasks import CLOSED, Task
from panorama.domain.times import shown
from panorama.services.base import Service
from panorama.store import alerts, names, notes, rows, tasks
from panorama.store.engine import Session

MANY = Slice(limit=100)
COMING = 20
READ_CHARS = 30_000
"""How much of a note is shown at once."""

Text = Mapping[Literal["markdown"], str]


class Pages(Service):
    """Renders items for reading."""

    def note(self, note: NoteRef) -> Text:
        """Return a note's text under its title."""
        with self._reading() as session:
            found: Note = rows.load(session, "note", note)
        rest = f"\n\n… ({found.chars:,} characters in all; get_note reads on with start={READ_CHARS})"
        text = found.content if found.chars <= READ_CHARS else found.content[:READ_CHARS] + rest
        return {"markdown": f"# {found.title}\n\n{text}"}

    def project(self, project: ProjectRef) -> Text:
        """Return a project with its open tasks and its notes."""
        with self._reading() as session:
            found: Project = rows.load(session, "project", project)
            todo = tasks.listed(session, MANY, tasks.where(project=project, status="open", zone=self._desk.zone))
            held = notes.listed(session, MANY, project=project)
        lines = [f"# {found.name}", f"{found.status}, {todo.total} open tasks, {held.total} notes", found.description]
        lines += ["## Tasks", *(self._line(each) for each in todo.items)] if todo.items else []
        lines += (
            ["## Notes", *(f"- {each.title} (panorama://note/{each.id})" for each in held.items)] if held.items else []
        )
        return {"markdown": "\n\n".join(filter(None, lines[:3])) + "\n\n" + "\n".join(lines[3:])}

    def task(self, task: TaskRef) -> Text:
        """Return a task with its notes."""
        with self._reading() as session:
            found: Task = rows.load(session, "task", task)
        return {"markdown": f"{self._line(found)}\n\nStatus: {found.status}\n\n{found.notes}".strip()}

    def today(self) -> Text:
        """Return what is overdue, due today or under way."""
        clock = self._clock()
        parts = [f"# {clock.today:%A}, {clock.today}"]
        with self._reading() as session:
            for title, view in (("Overdue", "overdue"), ("Today", "today"), ("Under way", "in_progress")):
                found = tasks.listed(session, MANY, [tasks.living(), tasks.view(view, clock)]).items
                known = "\n".join(parts)
                lines = [line for line in map(self._line, found) if line not in known]
                parts += [f"\n## {title}\n", *lines] if lines else []
            rung = self._rung(session)
        parts += ["\n## Reminders that wait\n", *rung] if rung else []
        return {"markdown": "\n".join(parts) if len(parts) > 1 else f"{parts[0]}\n\nNothing is due."}

    def reminders(self) -> Text:
        """Return the reminders that rang and wait to be acknowledged, and those that ring next."""
        with self._reading() as session:
            rung = self._rung(session)
            coming = alerts.coming(session, limit=COMING)
        lines = ["# Reminders"]
        lines += ["\n## Waiting\n", *rung] if rung else []
        lines += ["\n## Coming\n"] if coming else []
        lines += [f"- {shown(at, self._desk.zone)}: {title} `{id_}`" for at, id_, title in coming]
        return {"markdown": "\n".join(lines) if len(lines) > 1 else "# Reminders\n\nNone waits, and none is to come."}

    def _rung(self, session: Session) -> list[str]:
        """Return a line for each reminder that rang and waits."""
        zone, now = self._desk.zone, self._now()
        waiting = alerts.waiting(session, MANY).items
        rung = (Ring(alert=alert, reminder=each, late=now - alert.at, repeated=True) for alert, each in waiting)
        return [f"- {each.words(zone)} `{each.reminder.id}`" for each in rung]

    def list(self, page: Slice) -> Page[Mapping[str, str]]:
        """Return kind, id and name of the pages at hand: favourite projects, then pinned notes, each by name."""
        with self._reading() as session:
            found = names.marked(session, limit=page.limit)
        rows_ = tuple({"kind": kind, "id": id_, "name": label} for kind, id_, label in found)
        return Page(rows_, tuple(() for _ in rows_), None, more=False)

    def complete(self, kind: Kind, page: Slice, begun: str = "") -> Page[Mapping[str, str]]:
        """Return ids and names of items that begin with, or hold, what was typed."""
        with self._reading() as session:
            found = names.begun(session, kind, begun, limit=page.limit)
        rows_ = tuple({"id": id_, "name": label} for _, id_, label in found)
        return Page(rows_, tuple(() for _ in rows_), None, more=False)

    def _line(self, task: Task) -> str:
        mark = "x" if task.status in CLOSED else " "
        due = f" (due {shown(task.deadline, self._desk.zone)})" if task.deadline else ""
        return f"- [{mark}] {task.title}{due} `{task.id}`"
