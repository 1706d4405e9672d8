"""What a Markdown file becomes: the fields of its note and tasks, and how they join with what was changed here."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.changes import digest
from panorama.domain.items.item import TAGS, TEXT_CHARS, Item, normalize_name, normalize_tags
from panorama.domain.markdown.front_matter import FILES_PROPERTY
from panorama.domain.markdown.parser import Document, TaskLine
from panorama.domain.markdown.properties import append_properties
from panorama.domain.text.json_types import is_sequence

SNAPSHOT_CHARS = 200
"""A longer text is remembered by its digest."""

NOON = time(12)
"""The time of day that a mere date stands for, in the person's zone; it is the same day in most other zones."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What an item takes from a file that changed, and the fields that were changed here too, which stay."""

    changes: Mapping[str, Any]
    conflicts: tuple[str, ...]


def note_fields(document: Document, attachments: Mapping[str, str] = {}) -> dict[str, Any]:
    """Return what a file says about its note, without the project.

    Args:
        attachments: The ids of the files that the note embeds or links, by name; they are listed in its properties.
    """
    listed = f"{FILES_PROPERTY}: {json.dumps(dict(attachments), ensure_ascii=False)}\n" if attachments else ""
    tags = normalize_tags(document.tags[:TAGS])
    content = append_properties(document.body, document.properties + listed)
    return {"title": document.title, "content": content, "tags": tags, "pinned": document.pinned}


def task_fields(line: TaskLine, zone: ZoneInfo) -> dict[str, Any]:
    """Return what a line says about its task, without project and parent.

    What a task has no field for stands at the end of its notes. Notes over a million characters are cut; they stand in
    the file's note.
    """
    notes = "\n\n".join(filter(None, (line.notes, "\n".join(line.unmapped))))
    return {
        "title": line.title,
        "status": line.status,
        "deadline": date.fromisoformat(line.deadline) if line.deadline else None,
        "scheduled_at": _to_moment(line.scheduled, zone) if line.scheduled else None,
        "recurrence": line.recurrence,
        "urgent": line.urgent,
        "important": line.important,
        "tags": normalize_tags(line.tags[:TAGS]),
        "notes": notes[:TEXT_CHARS],
    }


def task_keys(lines: Iterable[TaskLine]) -> list[str]:
    """Return a key for each task of a file, by which it is known again: its title, and which one with that title."""
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for line in lines:
        title = normalize_name(line.title)
        seen[title] += 1
        keys.append(f"task:{title}:{seen[title]}")
    return keys


def parse_timestamp(written: str, *, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment that an ISO date or date-time of a file stands for; None if there is none or it is to come."""
    if not written:
        return None
    moment = _to_moment(written, zone)
    if moment.astimezone(zone).date() > now.astimezone(zone).date():
        return None
    return min(moment, now)


def _to_moment(written: str, zone: ZoneInfo) -> datetime:
    is_day = len(written) == len("2026-01-02")
    moment = datetime.combine(date.fromisoformat(written), NOON) if is_day else datetime.fromisoformat(written)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def to_snapshot(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as they are kept, in JSON, until the file is read again."""
    return {name: _to_json_value(value) for name, value in fields.items()}


def merge_fields(known: Mapping[str, Any], values: Mapping[str, Any], item: Item) -> MergeResult:
    """Return which fields of an item follow its file.

    `known` is what the file said last (`remembered`), `said` what it says now. A field follows if the file changed it
    and the item still has what the file said last.
    """
    changes: dict[str, Any] = {}
    conflicts: list[str] = []
    for name, value in values.items():
        new, now = _to_json_value(value), _to_json_value(getattr(item, name))
        if new in (known.get(name), now):
            continue
        if now == known.get(name):
            changes[name] = value
        else:
            conflicts.append(name)
    return MergeResult(changes, tuple(conflicts))


def _to_json_value(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str) and len(value) > SNAPSHOT_CHARS:
        return {"digest": digest(value)}
    return list(value) if not isinstance(value, str) and is_sequence(value) else value
