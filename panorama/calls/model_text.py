"""Compact text: the form of an answer for models, with few tokens."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from panorama.domain.text.json_types import SCALARS, dump_json, is_list, is_object

SHOWN_METADATA = ("next_cursor", "undo", "repeated", "hint")
"""The metadata shown to models; the rest is for programs."""

_EMPTY_IF_ZERO = frozenset({
    "redo",
    "favorite", "inactive", "urgent", "important", "pinned", "rank", "priority", "area",
    "in_progress", "done", "cancelled", "ideas",
    "overdue", "due_soon", "notes", "notes_touched", "tasks_touched", "reminders_waiting", "project", "task", "note",
    "link", "reminder", "journal", "file", "person", "team", "session", "event", "all_day", "trash", "more", "archived",
    "left_out", "conflict_count", "output_cut",
})  # fmt: skip
"""Flags and counters that are omitted when false or zero."""

_USUAL = {"repeat_from": "due"}
"""Values that are omitted because they are the usual ones."""

_LATER_TIMES = frozenset({"updated_at", "status_changed_at"})

SCRIPT_RESULT = "result"
"""Fields with a script's result, which are not changed."""


NAMED_REFERENCES = frozenset({"project", "team", "manager", "assignee", "waiting_for"})
"""Fields with ids of items that are shown by name."""


def compact(data: Any, names: Mapping[str, str]) -> Any:
    """Return data without empty fields, and with names in place of the ids of projects, people and teams.

    Args:
        names: The names by id.
    """
    if is_list(data):
        return [compact(entry, names) for entry in data]
    if not is_object(data):
        return data
    fields = {name: _compact_field(name, value, names) for name, value in data.items()}
    return {name: value for name, value in fields.items() if name == SCRIPT_RESULT or not _is_empty(name, value)}


def _compact_field(name: str, value: Any, names: Mapping[str, str]) -> Any:
    if name in NAMED_REFERENCES:
        return _name_references(value, names)
    return value if type(value) in SCALARS or name == SCRIPT_RESULT else compact(value, names)


def drop_repeated_times(item: Any) -> Any:
    """Return one item without the times that only repeat its `created_at`: nothing was changed since."""
    if not is_object(item) or "created_at" not in item:
        return item
    created = item["created_at"]
    return {name: value for name, value in item.items() if name not in _LATER_TIMES or value != created}


def _name_references(value: Any, names: Mapping[str, str]) -> Any:
    """Return an item's name in place of its id; in a history both before and after."""
    if is_list(value):
        return [_name_references(entry, names) for entry in value]
    return names.get(value, value) if isinstance(value, str) else compact(value, names)


def _is_empty(name: str, value: Any) -> bool:
    return (
        value is None
        or _USUAL.get(name) == value
        or (not value and (isinstance(value, str | list | dict) or name in _EMPTY_IF_ZERO))
    )


def render_data(data: Any, exact: Collection[str] = ()) -> str:
    """Render data for a model: tables for rows, lines for fields.

    Args:
        exact: Names of fields that are rendered unambiguously, even if empty.
    """
    if is_list(data):
        return "\n".join(_render_rows(data))
    if is_object(data):
        return "\n".join(_render_fields(data, exact))
    return "" if data is None else _render_inline(data)


def render_answer(summary: str, data: str, metadata: Mapping[str, Any]) -> str:
    """Render the summary, the data, and the relevant metadata."""
    lines = [f"{name}: {_render_inline(metadata[name])}" for name in SHOWN_METADATA if metadata.get(name)]
    return "\n".join([summary, *([data] if data else []), *lines])


def _render_fields(data: Mapping[str, Any], exact: Collection[str] = ()) -> list[str]:
    lines: list[str] = []
    last: list[str] = []
    for name, value in data.items():
        if name in exact:
            lines += _render_exact(name, value)
        elif value in ("", [], {}):
            continue
        elif _is_table(value):
            lines += [f"{name}:", *_render_rows(value)]
        elif is_object(value):
            lines += _render_object(name, value)
        elif isinstance(value, str) and "\n" in value:
            last += [f"{name}:", value]
        else:
            lines.append(f"{name}: {_render_inline(value)}")
    return lines + last


def _render_exact(name: str, value: Any) -> list[str]:
    """Render a value as JSON, except for unambiguous cases: rows of plain values as a table, and text that is not
    JSON.
    """
    if _is_table(value) and not any(is_list(cell) or is_object(cell) for row in value for cell in row.values()):
        return [f"{name}:", *_render_rows(value)]
    if is_object(value) and any(map(_is_table, value.values())):
        return [f"{name}:", *(line for key, entry in value.items() for line in _render_exact(key, entry))]
    if isinstance(value, str) and not _is_json(value):
        return [f"{name}:", value] if "\n" in value else [f"{name}: {value}"]
    return [f"{name}: {dump_json(value)}"]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return not text.strip()
    return True


def _render_object(name: str, value: Mapping[str, Any]) -> list[str]:
    """Render an object on one line, unless a field needs several lines."""
    if any(
        _is_table(entry) or is_object(entry) or (isinstance(entry, str) and "\n" in entry) for entry in value.values()
    ):
        return [f"{name}:", *_render_fields(value)]
    return [f"{name}: " + ", ".join(f"{key}={_render_inline(entry)}" for key, entry in value.items())]


def _is_table(value: Any) -> bool:
    return is_list(value) and bool(value) and all(is_object(row) for row in value)


def _render_rows(rows: Sequence[Any]) -> list[str]:
    """Render a header line, then a line per row; `-` for a missing value."""
    if not _is_table(rows):
        return [_render_inline(row) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return [" | ".join(columns), *(" | ".join(_render_cell(row.get(name)) for name in columns) for row in rows)]


def measure_line(row: Mapping[str, Any]) -> int:
    """Return the characters of a row's line in a table."""
    return sum(len(_render_cell(value)) + len(" | ") for value in row.values())


def _render_cell(value: Any) -> str:
    if value is None:
        return "-"
    text = _render_inline(value)
    plain = isinstance(value, str) and ("|" in text or text == "-")
    return dump_json(text) if plain else text


def _render_inline(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else dump_json(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_list(value) and all(isinstance(entry, str) and entry and "," not in entry for entry in value):
        return ",".join(value)
    return dump_json(value)
