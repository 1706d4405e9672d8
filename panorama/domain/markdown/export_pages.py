"""Renders the Markdown pages of an export, and names their files.

The exact data are the JSON lines beside them; a page holds what Markdown can express.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.files import StoredFile
from panorama.domain.items.item import Item, kind_of
from panorama.domain.items.journal import JournalEntry
from panorama.domain.items.notes import PLAIN_TYPE, Note
from panorama.domain.items.projects import Project
from panorama.domain.items.reminders import Reminder
from panorama.domain.items.tasks import Task
from panorama.domain.markdown import front_matter
from panorama.domain.markdown.properties import split_properties
from panorama.domain.time.recurrence_phrases import parse_phrase

UNASSIGNED, JOURNAL, REMINDERS = "Without a project", "Journal", "Reminders"
NAME_BYTES = 180
"""The longest file name without its suffix; file systems allow 255 bytes."""

IMPORT_PREFIX = "import:"
"""The provenance prefix of a task imported from a checkbox in a note; its page shows no second checkbox."""

_UNUSABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f]')
_RESERVED = re.compile(r"(?i)con|prn|aux|nul|(com|lpt)\d|node_modules")
_TAG = re.compile(r"[^\W\d_][\w/-]*")
_BOXES = {"todo": "[ ]", "in_progress": "[/]", "done": "[x]", "cancelled": "[-]"}
_SIGNS = {"todo": "☐", "in_progress": "◐", "done": "☑", "cancelled": "☒"}
_PRIORITIES = {4: "🔺", 3: "⏫", 2: "🔼", 1: "🔽"}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_WEEKDAYS = {
    "MO": "monday", "TU": "tuesday", "WE": "wednesday", "TH": "thursday", "FR": "friday", "SA": "saturday",
    "SU": "sunday",
}  # fmt: skip


@dataclass(slots=True)
class UniqueNames:
    """File names that are unique in their folder, ignoring case."""

    taken: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def reserve(self, folder: str, name: str, ending: str = "") -> str:
        """Return a name that is unique in its folder and valid on every system."""
        stem, number = sanitize_file_name(name), 1
        name = f"{stem}{ending}"
        while (folder, name.casefold()) in self.taken:
            number += 1
            name = f"{stem} ({number}){ending}"
        self.taken.add((folder, name.casefold()))
        return name


def sanitize_file_name(text: str) -> str:
    """Return a file name for a title: no path, not hidden, not reserved by a system."""
    plain = _UNUSABLE.sub("-", unicodedata.normalize("NFC", text))
    cut = plain.encode()[:NAME_BYTES].decode(errors="ignore").strip().strip(".").strip()
    return f"{cut}_" if _RESERVED.fullmatch(cut) else cut or "Untitled"


def render_note_page(note: Note, project: str) -> str:
    """Render a note with its front matter; importing the page gives the same note."""
    body, source = split_properties(note.content)
    fields = _front_matter_fields(note, project) | {"pinned": note.pinned}
    fields |= {"type": note.type} if note.type != PLAIN_TYPE else {}
    fields |= {"aliases": list(note.aliases)} if note.aliases else {}
    return (
        front_matter.render(
            {**fields, **{name: value for name, value in note.properties.items() if name not in fields}}, source
        )
        + body
    )


def render_project_page(project: Project, parts: Iterable[str]) -> str:
    """Render a project: its fields, its description, and its items."""
    more: dict[str, Any] = {"status": project.status}
    more |= {"target_date": project.target_date.isoformat()} if project.target_date else {}
    more |= {"favorite": True} if project.favorite else {}
    more |= {"color": project.color} if project.color else {}
    head = front_matter.render(_front_matter_fields(project, project.name) | more)
    return head + _join_sections([project.description, *parts])


def render_unassigned_page(parts: Iterable[str]) -> str:
    """Render the items without a project; "" if there are none."""
    present = [part for part in parts if part]
    return front_matter.render({"title": UNASSIGNED}) + _join_sections(present) if present else ""


def render_journal_page(month: str, entries: Sequence[JournalEntry], zone: ZoneInfo) -> str:
    """Render a month of the journal, with a heading for each day."""
    lines, day = [front_matter.render({"title": f"{JOURNAL} {month}"})], ""
    for entry in entries:
        at = entry.at.astimezone(zone)
        if at.date().isoformat() != day:
            day = at.date().isoformat()
            lines.append(f"\n## {day}\n\n")
        lines.append(f"- {at:%H:%M} {entry.text}\n")
    return "".join(lines)


def render_reminders_page(reminders: Sequence[Reminder], labels: Mapping[str, str], zone: ZoneInfo) -> str:
    """Render all reminders, the next first."""
    return front_matter.render({"title": REMINDERS}) + "".join(
        _render_reminder(reminder, labels, zone) for reminder in reminders
    )


def render_tasks_section(tasks: Sequence[Task], zone: ZoneInfo) -> str:
    """Render tasks as checkboxes, each with its notes and subtasks below it."""
    known = {task.id for task in tasks}
    below: dict[str, list[Task]] = {}
    for task in tasks:
        below.setdefault(task.parent if task.parent and task.parent in known else "", []).append(task)
    return _render_section("Tasks", list(_iter_task_lines(below, zone)))


def render_list_section(heading: str, items: Sequence[Item]) -> str:
    """Render items as a list, one line each."""
    return _render_section(
        heading, [" ".join(["-", item.to_markdown_line(), *_hashtags(_get_tags(item))]) for item in items]
    )


def render_files_section(files: Sequence[tuple[StoredFile, str]]) -> str:
    """Render files as a list of links relative to the page."""
    return _render_section(
        "Files", [f"- [{file.name}](<{path}>)" if path else f"- {file.name}" for file, path in files]
    )


def _front_matter_fields(item: Item, project: str) -> dict[str, Any]:
    tags = _get_tags(item)
    properties: dict[str, Any] = {"title": item.label, "id": item.id}
    properties |= {"project": project} if project else {}
    properties |= {"tags": list(tags)} if tags else {}
    times = {"created": item.created_at, "updated": item.updated_at}
    return properties | {name: at.isoformat(timespec="seconds") for name, at in times.items()}


def _join_sections(parts: Iterable[str]) -> str:
    return "".join(f"\n{part.rstrip()}\n" for part in parts if part.strip())


def _render_section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {heading}", "", *lines]) if lines else ""


def _iter_task_lines(below: Mapping[str, Sequence[Task]], zone: ZoneInfo) -> Iterator[str]:
    """Yield the lines of tasks, each under its parent. Uses a stack because the nesting depth is unlimited."""
    waiting = [(task, "") for task in reversed(below.get("", ()))]
    while waiting:
        task, indent = waiting.pop()
        yield indent + _render_task(task, zone)
        inner = f"{indent}    "
        for line in _iter_details(task, zone):
            yield inner + line if line.strip() else ""
        waiting += [(child, inner) for child in reversed(below.get(task.id, ()))]


def _render_task(task: Task, zone: ZoneInfo) -> str:
    closed = _format_day(task.completed_at if task.status == "done" else task.status_changed_at, zone)
    from_completion = " when done" if task.repeat_from == "done" else ""
    marks = [
        _PRIORITIES.get(task.priority, "🔺" if task.urgent else "⏫" if task.important else ""),
        f"🔁 {phrase}{from_completion}" if (phrase := _recurrence_phrase(task.recurrence)) else "",
        f"🛫 {start}" if (start := _format_day(task.start_at, zone)) else "",
        f"⏳ {day}" if (day := _format_day(task.scheduled_at, zone)) else "",
        f"📅 {due}" if (due := _format_day(task.deadline, zone)) else "",
        f"✅ {closed}" if task.status == "done" and closed else "",
        f"❌ {closed}" if task.status == "cancelled" and closed else "",
        *_hashtags(task.tags),
    ]
    if task.status == "idea":
        return f"- 💡 {task.title}" + "".join(f" {mark}" for mark in marks if mark)
    has_box = kind_of(task.source_ref or "") == "note" or task.provenance.startswith(IMPORT_PREFIX)
    signs = _SIGNS if has_box else _BOXES
    return " ".join(["-", signs[task.status], task.title, *filter(None, marks)])


def _iter_details(task: Task, zone: ZoneInfo) -> Iterator[str]:
    """Yield the lines below a checkbox: fields that it cannot express, then the notes."""
    if isinstance(task.deadline, datetime):
        yield f"Due at {task.deadline.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key})"
    if task.scheduled_at:
        minutes = f" for {task.scheduled_minutes} minutes" if task.scheduled_minutes else ""
        yield f"Planned at {task.scheduled_at.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key}){minutes}"
    if task.recurrence and not _recurrence_phrase(task.recurrence):
        yield f"Repeats {task.recurrence}"
    yield from task.notes.splitlines()


def _recurrence_phrase(rule: str) -> str:
    """Return a recurrence rule in words, or "" if an import would not read them as the same rule."""
    parts = dict(part.split("=", 1) for part in rule.split(";") if "=" in part)
    unit, count = _UNITS.get(parts.get("FREQ", ""), ""), parts.get("INTERVAL", "1")
    days = [_WEEKDAYS.get(day, "") for day in parts.get("BYDAY", "").split(",") if day]
    phrase = f"every {unit}" if count == "1" else f"every {count} {unit}s"
    phrase += f" on {', '.join(days)}" if days else ""
    return phrase if unit and parse_phrase(phrase) == rule else ""


def _render_reminder(reminder: Reminder, labels: Mapping[str, str], zone: ZoneInfo) -> str:
    at = f"{reminder.at.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key})"
    repeats = f", repeats {reminder.recurrence}" if reminder.recurrence else ""
    label = labels.get(reminder.item or "", "")
    about = f", about “{label}”" if label else ""
    return f"- {at} {reminder.title}{about}{repeats}{'' if reminder.enabled else ', off'}\n"


def _format_day(moment: date | datetime | None, zone: ZoneInfo) -> str:
    if isinstance(moment, datetime):
        return moment.astimezone(zone).date().isoformat()
    return moment.isoformat() if moment else ""


def _get_tags(item: Item) -> tuple[str, ...]:
    return getattr(item, "tags", ())


def _hashtags(tags: Iterable[str]) -> list[str]:
    return [f"#{tag}" for tag in tags if _TAG.fullmatch(tag)]
