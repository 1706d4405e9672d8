"""Where the lines of tasks are in their notes; kept up to date with every write of a note."""

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import delete, or_, text

from panorama.domain.changes import LINE_WORK_BYTES, PASSED_WORK_BYTES
from panorama.domain.items.item import Item
from panorama.domain.items.notes import Note
from panorama.domain.markdown.task_lines import LinePlace, compare_texts, follow_lines
from panorama.store.backend import Session
from panorama.store.tables import task_lines

_COLUMNS = ("task", "note", "line", "title", "anchor")
_LIST = text("SELECT task, line, title, anchor FROM task_lines WHERE note = :note")
_LINKED = text("SELECT DISTINCT note FROM task_lines WHERE note IN (SELECT value FROM json_each(:notes))")
_FIND = text("SELECT note, line, title, anchor FROM task_lines WHERE task = :task")
_MOVE = text("UPDATE task_lines SET line = :line, title = :title, anchor = :anchor WHERE task = :task")


def list_places(session: Session, note: str) -> dict[str, LinePlace]:
    """Return the places of the lines of tasks in a note, by task; also those of lines that are gone."""
    rows = session.connection.execute(_LIST, {"note": note}).all()
    return {row[0]: LinePlace(row[1], row[2], row[3]) for row in rows}


def find_place(session: Session, task: str) -> tuple[str, LinePlace] | None:
    """Return the note of a task's line and the line's place there; None if the task never had one."""
    row = session.connection.execute(_FIND, {"task": task}).first()
    return None if row is None else (row[0], LinePlace(row[1], row[2], row[3]))


def link_lines(session: Session, note: str, places: Mapping[str, LinePlace]) -> None:
    """Store the places of the lines of tasks in a note."""
    session.send(delete(task_lines).where(task_lines.c.task.in_(list(places))))
    rows = [(task, note, place.line, place.title, place.anchor) for task, place in places.items()]
    session.dialect.insert_rows(session.connection, task_lines, _COLUMNS, rows, is_awaited=False)


def unlink_lines(session: Session, note: str) -> None:
    """Remove the places of the lines of tasks in a note."""
    session.send(delete(task_lines).where(task_lines.c.note == note))


def list_linked_notes(session: Session, notes: Sequence[str]) -> set[str]:
    """Return which of some notes have, or had, lines of tasks."""
    return set(session.connection.execute(_LINKED, {"notes": json.dumps(notes)}).scalars()) if notes else set()


def follow_notes(session: Session, pairs: Sequence[tuple[Item, Item]]) -> None:
    """Find the lines of tasks again in those notes, old and new, whose texts were changed."""
    changed = {
        new.id: (old.content, new.content) for old, new in pairs
        if isinstance(old, Note) and isinstance(new, Note) and old.content != new.content
        and ("[" in old.content or "[" in new.content)
    }  # fmt: skip
    for note in list_linked_notes(session, list(changed)):
        places = list_places(session, note)
        difference = compare_texts(*changed[note])
        read_count = difference.read_count if difference else 0
        session.count_work(LINE_WORK_BYTES * read_count + PASSED_WORK_BYTES * len(places))
        found = follow_lines(places, difference)
        moved = [
            {"task": task, "line": place.line, "title": place.title, "anchor": place.anchor}
            for task, place in found.items()
            if place != places[task]
        ]
        if moved:
            session.count_work(LINE_WORK_BYTES * len(moved))
            session.connection.execute(_MOVE, moved)


def forget_items(session: Session, items: Sequence[str]) -> None:
    """Delete the places of purged tasks, and those in purged notes."""
    gone = or_(task_lines.c.task.in_(items), task_lines.c.note.in_(items))
    session.connection.execute(delete(task_lines).where(gone))
