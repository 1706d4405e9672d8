"""The Markdown tree of an export: what its pages hold and what its files are called, for a person and for an import.

The exact form of everything is the lines of JSON beside it; a page says what Markdown can say.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from zoneinfo import ZoneInfo

from panorama.domain import front_matter
from panorama.domain.files import StoredFile
from panorama.domain.items import Item
from panorama.domain.journal import JournalEntry
from panorama.domain.links import Link
from panorama.domain.notes import Note
from panorama.domain.projects import Project
from panorama.domain.recurrence_phrases import rrule
from panorama.domain.reminders import Reminder
from panorama.domain.tasks import Task

LOOSE, JOURNAL, REMINDERS = "Without a project", "Journal", "Reminders"
NAME_BYTES = 180
"""The longest name of a file without its ending; disks take 255 bytes."""

IMPORTED = "import:"
"""How the provenance of a task begins whose box stands in a note: its page shows no second box."""

_UNUSABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f]')
_RESERVED = re.compile(r"(?i)con|prn|aux|nul|(com|lpt)\d|node_modules")
_TAG = re.compile(r"[^\W\d_][\w/-]*")
_BOXES = {"todo": "[ ]", "in_progress": "[/]", "done": "[x]", "cancelled": "[-]"}
_SIGNS = {"todo": "☐", "in_progress": "◐", "done": "☑", "cancelled": "☒"}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_WEEKDAYS = {
    "MO": "monday", "TU": "tuesday", "WE": "wednesday", "TH": "thursday", "FR": "friday", "SA": "saturday",
    "SU": "sunday",
}  # fmt: skip


@dataclass(slots=True)
class Names:
    """Names of files, each once in its folder whatever its case."""

    taken: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def take(self, folder: str, wanted: str, ending: str = "") -> str:
        """Return a name that nothing else in a folder has, usable on every system."""
        stem, number = usable(wanted), 1
        name = f"{stem}{ending}"
        while (folder, name.casefold()) in self.taken:
            number += 1
            name = f"{stem} ({number}){ending}"
        self.taken.add((folder, name.casefold()))
        return name


def usable(text: str) -> str:
    """Return a title as the name of a file: no path, not hidden, no name that a system keeps for itself."""
    plain = _UNUSABLE.sub("-", unicodedata.normalize("NFC", text))
    cut = plain.encode()[:NAME_BYTES].decode(errors="ignore").strip().strip(".").strip()
    return f"{cut}_" if _RESERVED.fullmatch(cut) else cut or "Untitled"


def note_page(note: Note, project: str) -> str:
    """Return a note under its front matter; an import of the page gives the same note."""
    return front_matter.written(_head(note, project) | {"pinned": note.pinned}) + note.content


def project_page(project: Project, parts: Iterable[str]) -> str:
    """Return a project: its fields, its description, and what belongs to it."""
    more: dict[str, str | bool | list[str]] = {"status": project.status}
    more |= {"target_date": project.target_date.isoformat()} if project.target_date else {}
    more |= {"favorite": True} if project.favorite else {}
    more |= {"color": project.color} if project.color else {}
    head = front_matter.written(_head(project, project.name) | more)
    return head + _page([project.description, *parts])


def loose_page(parts: Iterable[str]) -> str:
    """Return what belongs to no project; "" if that is nothing."""
    found = [part for part in parts if part]
    return front_matter.written({"title": LOOSE}) + _page(found) if found else ""


def journal_page(month: str, entries: Sequence[JournalEntry], zone: ZoneInfo) -> str:
    """Return a month of the journal, a heading for each day."""
    lines, day = [front_matter.written({"title": f"{JOURNAL} {month}"})], ""
    for entry in entries:
        at = entry.at.astimezone(zone)
        if at.date().isoformat() != day:
            day = at.date().isoformat()
            lines.append(f"\n## {day}\n\n")
        lines.append(f"- {at:%H:%M} {entry.text}\n")
    return "".join(lines)


def reminders_page(reminders: Sequence[Reminder], labels: Mapping[str, str], zone: ZoneInfo) -> str:
    """Return all reminders, the next first."""
    return front_matter.written({"title": REMINDERS}) + "".join(_reminder(each, labels, zone) for each in reminders)


def tasks_part(tasks: Sequence[Task], zone: ZoneInfo) -> str:
    """Return tasks as boxes, each with its notes and subtasks below it."""
    known = {task.id for task in tasks}
    below: dict[str, list[Task]] = {}
    for task in tasks:
        below.setdefault(task.parent if task.parent and task.parent in known else "", []).append(task)
    return _part("Tasks", list(_boxes(below, zone)))


def links_part(links: Sequence[Link]) -> str:
    """Return links as a list."""
    return _part("Links", [f"- [{each.title}]({each.url})" + _about(each) for each in links])


def files_part(files: Sequence[tuple[StoredFile, str]]) -> str:
    """Return files as a list of links to where they lie, as seen from the page."""
    return _part("Files", [f"- [{each.name}](<{path}>)" if path else f"- {each.name}" for each, path in files])


def _head(item: Item, project: str) -> dict[str, str | bool | list[str]]:
    tags: tuple[str, ...] = getattr(item, "tags", ())
    made: dict[str, str | bool | list[str]] = {"title": item.label, "id": item.id}
    made |= {"project": project} if project else {}
    made |= {"tags": list(tags)} if tags else {}
    times = {"created": item.created_at, "updated": item.updated_at}
    return made | {name: at.isoformat(timespec="seconds") for name, at in times.items()}


def _page(parts: Iterable[str]) -> str:
    return "".join(f"\n{part.rstrip()}\n" for part in parts if part.strip())


def _part(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {heading}", "", *lines]) if lines else ""


def _about(link: Link) -> str:
    words = [" ".join(link.description.split()), *_hashed(link.tags)]
    return "".join(f" {word}" for word in words if word)


def _boxes(below: Mapping[str, Sequence[Task]], zone: ZoneInfo) -> Iterator[str]:
    """Give the lines of tasks, each under its parent; a stack, because a person may nest as deep as they like."""
    waiting = [(task, "") for task in reversed(below.get("", ()))]
    while waiting:
        task, indent = waiting.pop()
        yield indent + _box(task, zone)
        inner = f"{indent}    "
        for line in _details(task, zone):
            yield inner + line if line.strip() else ""
        waiting += [(each, inner) for each in reversed(below.get(task.id, ()))]


def _box(task: Task, zone: ZoneInfo) -> str:
    closed = _day(task.completed_at if task.status == "done" else task.status_changed_at, zone)
    marks = [
        "🔺" if task.urgent else "⏫" if task.important else "",
        f"🔁 {phrase}" if (phrase := _phrase(task.recurrence)) else "",
        f"📅 {due}" if (due := _day(task.deadline, zone)) else "",
        f"✅ {closed}" if task.status == "done" and closed else "",
        f"❌ {closed}" if task.status == "cancelled" and closed else "",
        *_hashed(task.tags),
    ]
    if task.status == "idea":
        return f"- 💡 {task.title}" + "".join(f" {mark}" for mark in marks if mark)
    signs = _SIGNS if task.provenance.startswith(IMPORTED) else _BOXES
    return " ".join(["-", signs[task.status], task.title, *filter(None, marks)])


def _details(task: Task, zone: ZoneInfo) -> Iterator[str]:
    """Give the lines below a task's box: what its marks cannot say, then its notes."""
    if isinstance(task.deadline, datetime):
        yield f"Due at {task.deadline.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key})"
    if task.scheduled_at:
        minutes = f" for {task.scheduled_minutes} minutes" if task.scheduled_minutes else ""
        yield f"Planned at {task.scheduled_at.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key}){minutes}"
    if task.recurrence and not _phrase(task.recurrence):
        yield f"Repeats {task.recurrence}"
    yield from task.notes.splitlines()


def _phrase(rule: str) -> str:
    """Return a rule of repetition in words, if an import would read them as the same rule; else ""."""
    parts = dict(part.split("=", 1) for part in rule.split(";") if "=" in part)
    unit, count = _UNITS.get(parts.get("FREQ", ""), ""), parts.get("INTERVAL", "1")
    days = [_WEEKDAYS.get(day, "") for day in parts.get("BYDAY", "").split(",") if day]
    said = f"every {unit}" if count == "1" else f"every {count} {unit}s"
    said += f" on {', '.join(days)}" if days else ""
    return said if unit and rrule(said) == rule else ""


def _reminder(reminder: Reminder, labels: Mapping[str, str], zone: ZoneInfo) -> str:
    at = f"{reminder.at.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key})"
    repeats = f", repeats {reminder.recurrence}" if reminder.recurrence else ""
    label = labels.get(reminder.item or "", "")
    about = f", about “{label}”" if label else ""
    return f"- {at} {reminder.title}{about}{repeats}{'' if reminder.enabled else ', off'}\n"


def _day(moment: date | datetime | None, zone: ZoneInfo) -> str:
    if isinstance(moment, datetime):
        return moment.astimezone(zone).date().isoformat()
    return moment.isoformat() if moment else ""


def _hashed(tags: Iterable[str]) -> list[str]:
    return [f"#{tag}" for tag in tags if _TAG.fullmatch(tag)]
