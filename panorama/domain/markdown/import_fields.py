"""Converts Markdown files to the fields of notes and tasks, and merges them with changes made in Panorama."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.changes import digest
from panorama.domain.items.item import (
    ALIASES,
    TAGS,
    TEXT_CHARS,
    Item,
    normalize_aliases,
    normalize_name,
    normalize_tags,
)
from panorama.domain.items.notes import PLAIN_TYPE
from panorama.domain.markdown.front_matter import FILES_PROPERTY
from panorama.domain.markdown.parser import Document, TaskLine
from panorama.domain.text.json_types import is_sequence

SNAPSHOT_CHARS = 200
"""A longer text is remembered by its digest."""

NOON = time(12)
"""The local time of day used for a date without a time; it is the same day in most zones."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The fields to take from a changed file, and the fields kept because they also changed in Panorama."""

    changes: Mapping[str, Any]
    conflicts: tuple[str, ...]


def note_fields(document: Document, name: str, attachments: Mapping[str, str] = {}) -> dict[str, Any]:
    """Return the fields of a file's note, without the project.

    Args:
        name: The name of the file without its suffix: an alias if it is not the title, as is a `permalink`.
        attachments: The ids of the files that the note embeds or links, by name; they are listed in its properties.
    """
    listed = {FILES_PROPERTY: dict(attachments)} if attachments else {}
    known = {normalize_name(document.title)}
    permalink: object = document.properties.get("permalink")
    names = (*document.aliases, name, *([permalink] if isinstance(permalink, str) else []))
    aliases = [alias for alias in names if normalize_name(alias) not in known]
    return {
        "title": document.title,
        "type": document.type.lower() or PLAIN_TYPE,
        "content": document.body,
        "tags": normalize_tags(document.tags[:TAGS]),
        "pinned": document.pinned,
        "aliases": normalize_aliases(aliases[:ALIASES]),
        "properties": {**document.properties, **listed},
    }


def task_fields(line: TaskLine, zone: ZoneInfo) -> dict[str, Any]:
    """Return the fields of a line's task, without project and parent.

    Values without a field are added to the end of its notes. Notes over a million characters are cut; the file's note
    has them in full.
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
        "priority": line.priority,
        "start_at": date.fromisoformat(line.start) if line.start else None,
        "repeat_from": line.repeat_from,
        "tags": normalize_tags(line.tags[:TAGS]),
        "notes": notes[:TEXT_CHARS],
    }


def task_keys(lines: Iterable[TaskLine]) -> list[str]:
    """Return a key for each task of a file, to recognise it later: its title, and its number among equal titles."""
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for line in lines:
        title = normalize_name(line.title)
        seen[title] += 1
        keys.append(f"task:{title}:{seen[title]}")
    return keys


def parse_timestamp(written: str, *, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the instant of an ISO date or date-time; None if there is none or it is in the future."""
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
    """Return fields in the JSON form stored until the next import."""
    return {name: _to_json_value(value) for name, value in fields.items()}


def merge_fields(known: Mapping[str, Any], values: Mapping[str, Any], item: Item) -> MergeResult:
    """Return which fields of an item are updated from its file.

    `known` are the file's previous values (`remembered`), `values` the current ones. A field is updated if the file
    changed it and the item still has the previous value. A field that was not read before counts as unchanged.
    """
    changes: dict[str, Any] = {}
    conflicts: list[str] = []
    for name, value in values.items():
        new, now = _to_json_value(value), _to_json_value(getattr(item, name))
        before = known.get(name, now)
        if new in (before, now):
            continue
        if now == before:
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
