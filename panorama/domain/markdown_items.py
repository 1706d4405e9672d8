"""What a Markdown file becomes: the fields of its note and tasks, and how they join with what was changed here."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.changes import digest
from panorama.domain.items import TAGS, TEXT_CHARS, Item, folded, words
from panorama.domain.markdown import Document, TaskLine
from panorama.domain.plain import is_sequence

REMEMBERED_CHARS = 200
"""A longer text is remembered by its digest."""

NOON = time(12)
"""The time of day that a mere date stands for, in the person's zone; it is the same day in most other zones."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What an item takes from a file that changed, and the fields that were changed here too, which stay."""

    changes: Mapping[str, Any]
    conflicts: tuple[str, ...]


def note_fields(document: Document) -> dict[str, Any]:
    """Return what a file says about its note, without the project."""
    tags = words(document.tags[:TAGS])
    return {"title": document.title, "content": document.body, "tags": tags, "pinned": document.pinned}


def task_fields(line: TaskLine) -> dict[str, Any]:
    """Return what a line says about its task, without project and parent.

    A day of work that is planned (⏳) is the deadline if there is no other. Notes over a million characters are cut;
    they stand in the file's note.
    """
    due = line.deadline or line.scheduled
    return {
        "title": line.title,
        "status": line.status,
        "deadline": date.fromisoformat(due) if due else None,
        "recurrence": line.recurrence,
        "urgent": line.urgent,
        "important": line.important,
        "tags": words(line.tags[:TAGS]),
        "notes": line.notes[:TEXT_CHARS],
    }


def parts(lines: Iterable[TaskLine]) -> list[str]:
    """Return a key for each task of a file, by which it is known again: its title, and which one with that title."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for line in lines:
        title = folded(line.title)
        seen[title] += 1
        found.append(f"task:{title}:{seen[title]}")
    return found


def moment(written: str, *, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment that an ISO date or date-time of a file stands for; None if there is none or it is to come."""
    if not written:
        return None
    is_day = len(written) == len("2026-01-02")
    found = datetime.combine(date.fromisoformat(written), NOON) if is_day else datetime.fromisoformat(written)
    local = found if found.tzinfo else found.replace(tzinfo=zone)
    if local.astimezone(zone).date() > now.astimezone(zone).date():
        return None
    return min(local.astimezone(UTC), now)


def remembered(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as they are kept, in JSON, until the file is read again."""
    return {name: _plain(value) for name, value in fields.items()}


def joined(known: Mapping[str, Any], said: Mapping[str, Any], item: Item) -> Joined:
    """Return which fields of an item follow its file.

    `known` is what the file said last (`remembered`), `said` what it says now. A field follows if the file changed it
    and the item still has what the file said last.
    """
    changes: dict[str, Any] = {}
    conflicts: list[str] = []
    for name, value in said.items():
        new, now = _plain(value), _plain(getattr(item, name))
        if new in (known.get(name), now):
            continue
        if now == known.get(name):
            changes[name] = value
        else:
            conflicts.append(name)
    return Joined(changes, tuple(conflicts))


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str) and len(value) > REMEMBERED_CHARS:
        return {"digest": digest(value)}
    return list(value) if not isinstance(value, str) and is_sequence(value) else value
