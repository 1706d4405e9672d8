"""Parses the title of a new task as quick add, and describes the parsed fields."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.item import kind_of
from panorama.domain.items.tasks import Task
from panorama.domain.markdown.quick_add.dates import list_day_names
from panorama.domain.markdown.quick_add.line import MAX_LINE_CHARS, QuickAdd, parse_quick_add
from panorama.domain.text.json_types import is_sequence
from panorama.domain.time.calendar_words import WEEKDAYS
from panorama.domain.time.recurrence import describe_rule
from panorama.services.search.hints import join_hints
from panorama.store.backend import Session
from panorama.store.graph import edges
from panorama.store.items import overview
from panorama.store.items.tasks import Clock

NAMED_KINDS = frozenset(("person", "team", "project", "note"))
"""Kinds whose names may have a day in them that is no date: “Sunday Times”, “Freitag Verlag”."""

KEPT_REPETITION = "The repetition stays in the title, since not all of it is understood; set recurrence and deadline."


def read_title(session: Session, title: str, clock: Clock, given: Mapping[str, Any]) -> QuickAdd:
    """Return the task that a title means.

    Args:
        given: Fields by name; those with a value are not read from the title.
    """
    if len(title) > MAX_LINE_CHARS:
        return QuickAdd(title, {}, {})
    known = edges.resolve_keys(session, set(list_day_names(title)))
    names = [name for name, id_ in known.items() if kind_of(id_) in NAMED_KINDS]
    projects = {id_: row.name for id_, row in overview.list_projects(session).items()} if "@" in title else {}
    fields = [name for name, value in given.items() if value]
    return parse_quick_add(title, projects, now=clock.now, zone=clock.zone, given=fields, names=names)


def describe_taken(quick: QuickAdd, task: Task, zone: ZoneInfo) -> str:
    """Describe the fields parsed from a title, with their words, and a day that stays in it; "" for neither."""
    parts: list[str] = []
    for name in quick.fields:
        value = "" if name in ("project", "urgent", "important") else f" {_format_value(getattr(task, name), zone)}"
        if name == "recurrence" and task.deadline:
            from_completion = task.repeat_from == "done"
            value = f" {describe_rule(task.recurrence, task.deadline, zone, from_completion=from_completion)}"
        parts.append(f"{name}{value}" + (f" (“{quick.taken[name]}”)" if name in quick.taken else ""))
    taken = f"Taken from the title: {', '.join(parts)}." if parts else ""
    day = quick.kept_day
    preposition = "on" if day.casefold() in WEEKDAYS else "am"
    kept = f"“{day}” stays in the title; write “{preposition} {day}” if it is the day." if day else ""
    repetition = KEPT_REPETITION if quick.has_kept_repetition else ""
    return join_hints(taken, kept, repetition)


def _format_value(value: object, zone: ZoneInfo) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(zone):%a %Y-%m-%d %H:%M}"
    if isinstance(value, date):
        return f"{value:%a %Y-%m-%d}"
    return ", ".join(map(str, value)) if is_sequence(value) else str(value)
