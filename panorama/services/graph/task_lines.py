"""One box is one task: a checkbox line of a note and its task are completed, reopened and renamed together."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from panorama.domain.changes import TASK_LINE_WORK_BYTES
from panorama.domain.items.choices import TaskStatus
from panorama.domain.items.item import PREFIXES, kind_of
from panorama.domain.items.notes import Note
from panorama.domain.items.tasks import Task, next_occurrence, status_fields
from panorama.domain.markdown import task_lines as lines
from panorama.domain.markdown.import_fields import task_fields
from panorama.domain.markdown.line_difference import compare_lines, split_lines
from panorama.domain.markdown.parser import TaskLine, build_task, list_drafts
from panorama.domain.markdown.task_lines import LinePlace, read_line
from panorama.domain.time.times import to_local_day
from panorama.services.base import Service
from panorama.services.jobs.portions import MAX_BATCH
from panorama.store.backend import Session
from panorama.store.graph import task_lines
from panorama.store.items import rows
from panorama.store.items.rows import ItemUpdate


class TaskLines(Service):
    """Tasks that are checkbox lines of notes; `source_ref` of such a task is the id of the note."""

    # From a task to its line

    def save_task(self, session: Session, old: Task, new: Task) -> Task | None:
        """Store a task and write its title, status and deadline into its line.

        Returns:
            The next occurrence, if the task recurs and was completed.
        """
        rows.save(session, old, new)
        found = self._find_line(session, new)
        if found:
            self._write_line(session, *found, old, new)
        if not (new.status == "done" != old.status):
            return None
        return self._add_next(session, new, found[0] if found else None)

    def _add_next(self, session: Session, task: Task, note: Note | None) -> Task | None:
        """Store the next occurrence of a completed recurring task; one with a line in a note gets a line there."""
        following = self._build_next(task)
        if following is None:
            return None
        if note is None:
            rows.add(session, following)
            return following
        return self._add_all_next(session, note.id, [(task, following)])[0]

    def _build_next(self, task: Task) -> Task | None:
        id_ = self._context.new_id(PREFIXES["task"])
        return next_occurrence(task, id_=id_, now=self._now(), zone=self._context.zone)

    def _add_all_next(self, session: Session, note_id: str, pairs: Sequence[tuple[Task, Task]]) -> list[Task]:
        """Store the next occurrences of tasks with lines in a note; each gets a line above that of its task."""
        note: Note = rows.load(session, "note", note_id)
        places = task_lines.list_places(session, note_id)
        ordered = sorted(pairs, key=lambda pair: places[pair[0].id].line)
        created = [replace(following, source_ref=note_id) for _, following in ordered]
        numbers = [places[task.id].line for task, _ in ordered]
        days = [to_local_day(task.deadline, self._context.zone) if task.deadline else None for task in created]
        text = lines.insert_next(note.content, dict(zip(numbers, days, strict=True)))
        rows.add_all(session, created)
        task_lines.unlink_lines(session, note_id)  # else they were looked for in a text whose lines are known
        self._save_text(session, note, text)
        moved = {
            task: replace(place, line=place.line + bisect_right(numbers, place.line)) if place.line > 0 else place
            for task, place in places.items()
        }
        texts = split_lines(text)
        for above, (number, following) in enumerate(zip(numbers, created, strict=True)):
            if line := read_line(texts[number + above - 1]):
                moved[following.id] = LinePlace(number + above, line.title, line.anchor)
        task_lines.link_lines(session, note_id, moved)
        return created

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
        self._save_lines(session, note, text, {new.id: number} if old.title != new.title else {})

    def _find_line(self, session: Session, task: Task) -> tuple[Note, int] | None:
        """Return the living note with a task's line, and the line's number."""
        found = task_lines.find_place(session, task.id) if task.source_ref else None
        if found is None or found[0] != task.source_ref or found[1].line <= 0:
            return None
        note: Note | None = rows.find(session, "note", found[0])
        return None if note is None or note.deleted_at else (note, found[1].line)

    def _save_lines(self, session: Session, note: Note, text: str, renamed: Mapping[str, int]) -> None:
        """Store a text in which lines have other words, however different; they stay the lines of their tasks.

        Args:
            renamed: The numbers of the lines by their tasks.
        """
        self._save_text(session, note, text)
        if renamed and text != note.content:
            self._keep_lines(session, replace(note, content=text), renamed)

    def _keep_lines(self, session: Session, note: Note, numbers: Mapping[str, int]) -> None:
        """Store that the lines of some tasks are where they were, whatever their words are."""
        texts = split_lines(note.content)
        found = {task: (number, read_line(texts[number - 1])) for task, number in numbers.items()}
        places = {task: LinePlace(number, line.title, line.anchor) for task, (number, line) in found.items() if line}
        task_lines.link_lines(session, note.id, places)

    def _save_text(self, session: Session, note: Note, text: str) -> None:
        rows.save(session, note, note.with_changes(self._now(), content=text))

    # From a line to its task

    def save_note(self, session: Session, old: Note, new: Note, *, keeps_lines: bool = False) -> tuple[Note, str]:
        """Store a note, and change its tasks as their lines were changed.

        Args:
            keeps_lines: Only words within lines differ, so that each line is still that of its task.

        Returns:
            The note, which has a further line if a recurring task was completed; and a remark, "" if no task changed.

        Raises:
            InvalidInputError: The note has lines of tasks, and its text is too long for them.
        """
        before = task_lines.list_places(session, old.id) if "[" in old.content and old.content != new.content else {}
        has_lines = any(place.line > 0 for place in before.values())
        if has_lines and not lines.can_follow(new.content):
            raise lines.text_too_long_error(new.title)
        rows.save(session, old, new)
        if not has_lines:
            return new, ""
        if keeps_lines:
            self._keep_lines(session, new, {task: place.line for task, place in before.items() if place.line > 0})
        counts = self._follow_lines(session, old, new, before)
        if not counts:
            return new, ""
        latest: Note = rows.load(session, "note", new.id)
        return latest, f"Tasks of its lines: {', '.join(f'{count:,} {word}' for word, count in counts.items())}."

    def _follow_lines(self, session: Session, old: Note, new: Note, before: Mapping[str, LinePlace]) -> Counter[str]:
        """Apply the changes of lines to their tasks; return descriptions of the changes."""
        after = task_lines.list_places(session, old.id)
        difference = compare_lines(old.content, new.content)
        touched = [
            id_ for id_, place in before.items()
            if place.line > 0 and difference.find_line(place.line) != after[id_].line
        ]  # fmt: skip
        if not touched:
            return Counter()
        texts = split_lines(old.content), split_lines(new.content)
        changed: dict[str, tuple[str, str | None]] = {}
        for id_ in touched:
            number = after[id_].line
            present = texts[1][number - 1] if number > 0 else None
            if present != (former := texts[0][before[id_].line - 1]):
                changed[id_] = former, present
        session.count_work(TASK_LINE_WORK_BYTES * len(changed))
        counts, updates, repeated = Counter[str](), list[ItemUpdate](), list[tuple[Task, Task]]()
        for task in self._list_linked(session, list(changed), old.id):
            former, present = changed[task.id]
            line = None if present is None else read_line(present)
            new_task, words = self._follow_line(task, read_line(former), line)
            if new_task is not task:
                updates.append(ItemUpdate(task, new_task))
            if new_task.status == "done" != task.status and (following := self._build_next(new_task)):
                repeated.append((new_task, following))
            counts.update(words)
        self._save_tasks(session, updates)
        if repeated:
            self._add_all_next(session, old.id, repeated)
        return counts

    def _list_linked(self, session: Session, tasks: Sequence[str], note: str) -> list[Task]:
        """Return those of some tasks that are living and linked to a line of a note."""
        found: list[Task] = list(rows.load_all(session, tasks).values())
        return [task for task in found if task.deleted_at is None and task.source_ref == note]

    def _save_tasks(self, session: Session, updates: Sequence[ItemUpdate]) -> None:
        for start in range(0, len(updates), MAX_BATCH):
            rows.save_all(session, updates[start : start + MAX_BATCH])

    def _follow_line(self, task: Task, old: TaskLine | None, new: TaskLine | None) -> tuple[Task, list[str]]:
        """Return a task with the change of its line, and a description of the change."""
        if new is None:
            return task.with_changes(self._now(), source_ref=None), ["unlinked, because the line is gone"]
        former = task_fields(old, self._context.zone) if old else {}
        values = {
            name: value for name, value in task_fields(new, self._context.zone).items()
            if name != "notes" and value != former.get(name) and value != getattr(task, name)
        }  # fmt: skip
        return self._apply_line(task, values)

    def _apply_line(self, task: Task, values: dict[str, Any]) -> tuple[Task, list[str]]:
        status = cast("TaskStatus", values.pop("status", task.status))
        if lines.MARKS[status] != lines.MARKS[task.status]:
            values |= status_fields(task.status, status, self._now())
        if not values:
            return task, []
        changed = task.with_changes(self._now(), **values)
        if changed.status != task.status:
            return changed, [_STATUS_WORDS[changed.status]]
        return changed, ["renamed" if changed.title != task.title else "changed"]

    # Both, after a restore or an undo

    def reconcile(
        self,
        session: Session,
        items: Iterable[str],
        from_tasks: Collection[str] = (),
        is_later: Callable[[str], bool] = lambda _: False,
    ) -> bool:
        """Make tasks and their lines equal again after some tasks or notes were restored or undone.

        A task takes the state of its line. A link to a line that is gone, or that another task has by now, ends.

        Args:
            from_tasks: Tasks, or notes with all their tasks, whose state is written into the line instead.
            is_later: Whether a note is reconciled by a later call, because its text is not restored yet.

        Returns:
            Whether one of them has lines of tasks.
        """
        notes, later = dict[str, None](), set(items)
        for item in sorted(later):
            place = task_lines.find_place(session, item) if kind_of(item) == "task" else None
            note = place[0] if place else item
            if kind_of(note) == "note" and not is_later(note):
                notes[note] = None
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
        before = split_lines(note.content) if lines.can_follow(note.content) else []
        text, taken, updates = note.content, set[int](), list[ItemUpdate]()
        renamed: dict[str, int] = {}
        linked = self._list_linked(session, list(places), id_)
        if before and (returned := self._find_lost(note, linked, places)):
            places |= returned
            task_lines.link_lines(session, id_, returned)
        for task in linked:
            place = places[task.id]
            line = read_line(before[place.line - 1]) if 0 < place.line <= len(before) else None
            if line is None or place.line in taken:
                updates.append(ItemUpdate(task, task.with_changes(self._now(), source_ref=None)))
                continue
            taken.add(place.line)
            renamed[task.id] = place.line
            if task.id in from_tasks or id_ in from_tasks:
                text = self._write_state(text, place.line, line, task)
            else:
                updates.append(ItemUpdate(task, self._take_state(task, line)))
        self._save_tasks(session, updates)
        self._save_lines(session, note, text, renamed)

    def _find_lost(self, note: Note, tasks: Sequence[Task], places: Mapping[str, LinePlace]) -> dict[str, LinePlace]:
        """Return the places of tasks whose lines were lost, and that have the words of a line without a task."""
        lost = [task for task in tasks if places[task.id].line <= 0]
        if not lost:
            return {}
        taken = {place.line for place in places.values()}
        free = [box for box in map(build_task, list_drafts(note.content).values()) if box.line not in taken]
        found: dict[str, LinePlace] = {}
        for task in lost:
            same = [box for box in free if box.title == _read_title(task.title)]
            if same:
                found[task.id] = LinePlace.of(same[0])
                free.remove(same[0])
        return found

    def _write_state(self, text: str, number: int, line: TaskLine, task: Task) -> str:
        if line.title != _read_title(task.title):
            text = lines.write_title(text, number, task.title)
        if lines.MARKS[cast("TaskStatus", line.status)] != lines.MARKS[task.status]:
            text = lines.write_status(text, number, task.status, self._today())
        return text

    def _take_state(self, task: Task, line: TaskLine) -> Task:
        title = task.title if line.title == _read_title(task.title) else line.title
        status, values = cast("TaskStatus", line.status), {"title": title}
        if lines.MARKS[status] != lines.MARKS[task.status]:
            values |= status_fields(task.status, status, self._now())
        return task.with_changes(self._now(), **values)


def _read_title(title: str) -> str:
    """Return a title as it is read from its line, which ends before tags and dates."""
    line = read_line(f"- [ ] {title}")
    return line.title if line else title


_STATUS_WORDS = {
    "todo": "reopened", "idea": "reopened", "in_progress": "started", "done": "completed",
    "cancelled": "cancelled",
}  # fmt: skip
