"""One box is one task: a checkbox line of a note and its task are completed, reopened and renamed together."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, cast

from panorama.domain.items.choices import TaskStatus
from panorama.domain.items.item import PREFIXES, kind_of
from panorama.domain.items.notes import Note
from panorama.domain.items.tasks import Task, next_occurrence, status_fields
from panorama.domain.markdown import task_lines as lines
from panorama.domain.markdown.import_fields import task_fields
from panorama.domain.markdown.parser import TaskLine
from panorama.domain.markdown.task_lines import LinePlace, read_line, split_lines
from panorama.domain.time.times import to_local_day
from panorama.services.base import Service
from panorama.store.backend import Session
from panorama.store.graph import task_lines
from panorama.store.items import rows


class TaskLines(Service):
    """Tasks that are checkbox lines of notes; `source_ref` of such a task is the id of the note."""

    # From a task to its line

    def save_task(self, session: Session, old: Task, new: Task) -> Task | None:
        """Store a task and write its title, status and deadline into its line.

        Returns:
            The next occurrence, if the task recurs and was completed.
        """
        rows.save(session, old, new)
        if found := self._find_line(session, new):
            self._write_line(session, *found, old, new)
        return self._add_next(session, new) if new.status == "done" != old.status else None

    def _add_next(self, session: Session, task: Task) -> Task | None:
        """Store the next occurrence of a completed recurring task; if the task has a line, it gets one above it."""
        id_ = self._context.new_id(PREFIXES["task"])
        following = next_occurrence(task, id_=id_, now=self._now(), zone=self._context.zone)
        if following is None:
            return None
        found = self._find_line(session, task)
        if found is None:
            rows.add(session, following)
            return following
        note, number = found
        following = replace(following, source_ref=note.id)
        rows.add(session, following)
        day = to_local_day(following.deadline, self._context.zone) if following.deadline else None
        self._save_text(session, note, lines.insert_next(note.content, number, day))
        line = read_line(self._get_line(session, note.id, number))
        if line:
            task_lines.link_lines(session, note.id, {following.id: LinePlace(number, line.title, line.anchor)})
        return following

    def _write_line(self, session: Session, note: Note, number: int, old: Task, new: Task) -> None:
        """Write what differs between two values of a task into its line."""
        text = note.content
        if old.title != new.title:
            text = lines.write_title(text, number, new.title)
        if old.status != new.status:
            text = lines.write_status(text, number, new.status, self._today())
        if old.deadline != new.deadline:
            day = to_local_day(new.deadline, self._context.zone) if new.deadline else None
            text = lines.write_due_day(text, number, day)
        self._save_text(session, note, text)

    def _find_line(self, session: Session, task: Task) -> tuple[Note, int] | None:
        """Return the living note with a task's line, and the line's number."""
        found = task_lines.find_place(session, task.id) if task.source_ref else None
        if found is None or found[0] != task.source_ref or found[1].line <= 0:
            return None
        note: Note | None = rows.find(session, "note", found[0])
        return None if note is None or note.deleted_at else (note, found[1].line)

    def _save_text(self, session: Session, note: Note, text: str) -> None:
        rows.save(session, note, note.with_changes(self._now(), content=text))

    def _get_line(self, session: Session, note: str, number: int) -> str:
        loaded: Note = rows.load(session, "note", note)
        return split_lines(loaded.content)[number - 1]

    # From a line to its task

    def save_note(self, session: Session, old: Note, new: Note) -> tuple[Note, str]:
        """Store a note, and change its tasks as their lines were changed.

        Returns:
            The note, which has a further line if a recurring task was completed; and a remark, "" if no task changed.
        """
        before = task_lines.list_places(session, old.id) if "[" in old.content and old.content != new.content else {}
        rows.save(session, old, new)
        if not any(place.line > 0 for place in before.values()):
            return new, ""
        after = task_lines.list_places(session, old.id)
        texts = split_lines(old.content), split_lines(new.content)
        counts = Counter[str]()
        for id_, place in before.items():
            number = after[id_].line
            former = texts[0][place.line - 1] if place.line > 0 else ""
            if not former or (number > 0 and texts[1][number - 1] == former):
                continue
            if task := self._find_linked(session, id_, old.id):
                line = read_line(texts[1][number - 1]) if number > 0 else None
                counts.update(self._follow_line(session, task, read_line(former), line))
        if not counts:
            return new, ""
        latest: Note = rows.load(session, "note", new.id)
        return latest, f"Tasks of its lines: {', '.join(f'{count:,} {word}' for word, count in counts.items())}."

    def _find_linked(self, session: Session, task: str, note: str) -> Task | None:
        """Return a living task that is linked to a line of a note."""
        found: Task | None = rows.find(session, "task", task)
        return found if found and found.deleted_at is None and found.source_ref == note else None

    def _follow_line(self, session: Session, task: Task, old: TaskLine | None, new: TaskLine | None) -> list[str]:
        """Apply the change of a line to its task; return a description of the change."""
        if new is None:
            rows.save(session, task, task.with_changes(self._now(), source_ref=None))
            return ["unlinked, because the line is gone"]
        former = task_fields(old, self._context.zone) if old else {}
        values = {
            name: value for name, value in task_fields(new, self._context.zone).items()
            if name != "notes" and value != former.get(name) and value != getattr(task, name)
        }  # fmt: skip
        return self._apply_line(session, task, values)

    def _apply_line(self, session: Session, task: Task, values: dict[str, Any]) -> list[str]:
        status = cast("TaskStatus", values.pop("status", task.status))
        if lines.MARKS[status] != lines.MARKS[task.status]:
            values |= status_fields(task.status, status, self._now())
        if not values:
            return []
        changed = task.with_changes(self._now(), **values)
        rows.save(session, task, changed)
        if changed.status == "done" != task.status:
            self._add_next(session, changed)
        if changed.status != task.status:
            return [_STATUS_WORDS[changed.status]]
        return ["renamed" if changed.title != task.title else "changed"]

    # Both, after a restore or an undo

    def reconcile(self, session: Session, items: Iterable[str], from_tasks: Collection[str] = ()) -> bool:
        """Make tasks and their lines equal again after some tasks or notes were restored or undone.

        A task takes the state of its line. A link to a line that is gone, or that another task has by now, ends.

        Args:
            from_tasks: Tasks, or notes with all their tasks, whose state is written into the line instead.

        Returns:
            Whether one of them has lines of tasks.
        """
        notes, later = dict[str, None](), set(items)
        for item in sorted(later):
            place = task_lines.find_place(session, item) if kind_of(item) == "task" else None
            if place or kind_of(item) == "note":
                notes[place[0] if place else item] = None
        linked = task_lines.list_linked_notes(session, list(notes))
        for note in sorted(linked):
            self._reconcile_note(session, note, later, from_tasks)
        return bool(linked)

    def _reconcile_note(self, session: Session, id_: str, later: set[str], from_tasks: Collection[str]) -> None:
        """Reconcile a note; of two tasks with one line, the one that is not of the `later` ones has it."""
        places = dict(sorted(task_lines.list_places(session, id_).items(), key=lambda entry: entry[0] in later))
        note: Note | None = rows.find(session, "note", id_)
        if note is None or note.deleted_at:
            return
        before, text, taken = split_lines(note.content), note.content, set[int]()
        for task_id, place in places.items():
            task = self._find_linked(session, task_id, id_)
            line = read_line(before[place.line - 1]) if 0 < place.line <= len(before) else None
            if task and (line is None or place.line in taken):
                rows.save(session, task, task.with_changes(self._now(), source_ref=None))
            elif task and line:
                taken.add(place.line)
                if task_id in from_tasks or id_ in from_tasks:
                    text = self._write_state(text, place.line, line, task)
                else:
                    self._take_state(session, task, line)
        self._save_text(session, note, text)

    def _write_state(self, text: str, number: int, line: TaskLine, task: Task) -> str:
        if line.title != task.title:
            text = lines.write_title(text, number, task.title)
        if lines.MARKS[cast("TaskStatus", line.status)] != lines.MARKS[task.status]:
            text = lines.write_status(text, number, task.status, self._today())
        return text

    def _take_state(self, session: Session, task: Task, line: TaskLine) -> None:
        status, values = cast("TaskStatus", line.status), {"title": line.title}
        if lines.MARKS[status] != lines.MARKS[task.status]:
            values |= status_fields(task.status, status, self._now())
        rows.save(session, task, task.with_changes(self._now(), **values))


_STATUS_WORDS = {
    "todo": "reopened", "idea": "reopened", "in_progress": "started", "done": "completed",
    "cancelled": "cancelled",
}  # fmt: skip
