"""Creates tasks from the checkboxes of notes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from panorama.domain.items.choices import TaskStatus
from panorama.domain.items.notes import Note
from panorama.domain.items.references import NoteRef
from panorama.domain.items.tasks import Task, status_fields
from panorama.domain.markdown.import_fields import task_fields
from panorama.domain.markdown.parser import TaskLine, build_task, list_drafts
from panorama.domain.markdown.task_lines import MARKS, MAX_TASKS, LinePlace, can_follow, text_too_long_error
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.base import LargeCall, Service
from panorama.services.items.results import NoteTasks
from panorama.services.jobs.portions import LARGE_UNIT, apply_in_portions
from panorama.store.backend import Session
from panorama.store.graph import task_lines
from panorama.store.items import rows
from panorama.store.log import imports

MAX_LISTED = 50


@dataclass(frozen=True, slots=True)
class _Boxes:
    """The boxes of a note that become tasks, and the tasks that other lines have already, by line."""

    note: Note
    boxes: list[TaskLine]
    lines: tuple[int, ...]
    tasks: dict[int, str]
    imported: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


class NoteTaskService(Service):
    """Checkboxes of notes that become tasks."""

    def create(self, note: NoteRef, lines: tuple[str, ...] = ()) -> NoteTasks:
        """Create tasks from the open checkboxes of a note; each stays linked to its line.

        Completing, reopening or renaming one then does the same with the other. Checkboxes that are tasks already are
        skipped.

        Args:
            lines: Only the checkboxes with these words, also closed ones.

        Raises:
            NotFoundError: There is no such note.
            InvalidInputError: No box of the note has one of these words; or the note is too long, or has too many.
            ConflictError: The note was changed meanwhile.
        """
        with self._reading() as session:
            chosen = _choose_boxes(session, note, lines)
        created: list[Task] = []

        def link(session: Session, batch: Sequence[TaskLine]) -> None:
            if rows.find_version(session, "note", note) != chosen.note.version:
                raise ConflictError("The note was changed meanwhile.", hint="Call again for the other checkboxes.")
            created.extend(self._link_boxes(session, chosen, batch))

        apply_in_portions(self._writing, chosen.boxes, link, f"creating tasks from “{chosen.note.title}”")
        count = len(created)
        return NoteTasks(
            id=note,
            title=chosen.note.title,
            tasks=tuple(created[:MAX_LISTED]),
            count=count,
            linked=len(chosen.boxes) - count,
        )

    def split_create(self, note: NoteRef, lines: tuple[str, ...] = ()) -> LargeCall | None:
        """Return a call that makes too many tasks for one transaction; None for any other."""
        with self._reading() as session:
            count = len(_choose_boxes(session, note, lines).boxes)
        return LargeCall({"note": note, "lines": lines}, is_long=False) if count > LARGE_UNIT else None

    def _link_boxes(self, session: Session, chosen: _Boxes, batch: Sequence[TaskLine]) -> list[Task]:
        """Link each box to the task of an import or to a new one; return the new ones."""
        created: list[Task] = []
        places: dict[str, LinePlace] = {}
        for box in batch:
            task = self._find_imported(session, chosen, box)
            if task is None:
                task = self._build_task(chosen, box)
                rows.add(session, task)
                created.append(task)
            else:
                rows.save(session, task, task.with_changes(self._now(), source_ref=chosen.note.id))
            chosen.tasks[box.line] = task.id
            places[task.id] = LinePlace.of(box)
        task_lines.link_lines(session, chosen.note.id, places)
        return created

    def _find_imported(self, session: Session, chosen: _Boxes, box: TaskLine) -> Task | None:
        """Return the living task that an import made of a box and that has no line yet, whose state the box shows."""
        same = chosen.imported.get(box.title, [])
        while same:
            task: Task | None = rows.find(session, "task", same.pop(0))
            if task and task.deleted_at is None and task.source_ref is None and _is_like(task, box):
                return task
        return None

    def _build_task(self, chosen: _Boxes, box: TaskLine) -> Task:
        now, values = self._now(), task_fields(box, self._context.zone)
        status = cast("TaskStatus", values.pop("status"))
        parent = None if box.parent is None else chosen.tasks.get(chosen.lines[box.parent])
        return Task(
            **self._new_item_fields("task", now), **values, **status_fields(None, status, now), parent=parent,
            project=chosen.note.project, source_ref=chosen.note.id,
        )  # fmt: skip


def _choose_boxes(session: Session, id_: str, lines: tuple[str, ...]) -> _Boxes:
    note: Note = rows.load(session, "note", id_)
    if not can_follow(note.content):
        raise text_too_long_error(note.title)
    boxes = [build_task(draft) for draft in list_drafts(note.content).values()]
    tasks: dict[int, str] = {}
    places = task_lines.list_places(session, id_)
    for task in rows.load_all(session, list(places)).values():
        if task.deleted_at is None and task.source_ref == id_:
            tasks[places[task.id].line] = task.id
    named = {" ".join(line.split()) for line in lines}
    if missing := named - {box.title for box in boxes}:
        raise InvalidInputError(
            f"No checkbox of the note has the words {min(missing)[:80]!r}.",
            hint="Copy the words of the line, without its box, dates and tags at the end.",
        )
    free = [
        box for box in boxes
        if box.line not in tasks and (box.title in named if named else box.status in ("todo", "in_progress"))
    ]  # fmt: skip
    if (count := len(tasks) + len(free)) > MAX_TASKS:
        raise InvalidInputError(
            f"“{note.title}” would have {count:,} checkboxes that are tasks; a note has at most {MAX_TASKS}.",
            hint="Name some with `lines`, or move a part of the note into another one.",
        )
    imported: dict[str, list[str]] = {}
    for title, task_id in imports.list_tasks_of(session, id_) if free else ():
        imported.setdefault(title, []).append(task_id)
    return _Boxes(note, free, tuple(box.line for box in boxes), tasks, imported)


def _is_like(task: Task, box: TaskLine) -> bool:
    return task.title == box.title and MARKS[task.status] == MARKS[cast("TaskStatus", box.status)]
