"""Tables of projects, links, journal entries and tags, and the view of one item; pure."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from rich.text import Text

from panorama.cli.console.tables import (
    PROJECT_COLUMN,
    Column,
    Row,
    TextTable,
    format_ago,
    format_deadline,
    format_local_time,
    format_project,
    safe_line,
)
from panorama.domain.text.json_types import is_list

_PROJECT_STYLES = {"active": "", "planned": "magenta", "blocked": "red", "done": "green", "archived": "dim"}
_HIDDEN_FIELDS = {
    "id", "version", "title", "name", "last_name", "full_name", "text", "rank", "created_at", "updated_at",
    "deleted_at", "status_changed_at", "provenance", "chars", "zone", "sha256", "text_indexed",
}  # fmt: skip


def projects(rows: Sequence[Row], _: Mapping[str, str], now: datetime) -> TextTable:
    """Build the table of projects."""
    columns = (
        Column("id", drop=2), Column("name", fold=True), Column("status"), Column("target date", drop=3),
        Column("tags", width=24, flexible=True, drop=4),
    )  # fmt: skip
    return TextTable(columns, tuple(_project_row(row, now) for row in rows))


def _project_row(row: Row, now: datetime) -> tuple[Text, ...]:
    status = str(row["status"])
    is_open = "done" if status in ("done", "archived") else "todo"
    return (
        safe_line(row["id"], "dim"),
        safe_line(row["name"], "bold" if row.get("favorite") else ""),
        safe_line(status, _PROJECT_STYLES.get(status, "")),
        format_deadline(row.get("target_date"), is_open, now),
        safe_line(" ".join(f"#{tag}" for tag in row.get("tags", ()))),
    )


def links(rows: Sequence[Row], names: Mapping[str, str], _: datetime) -> TextTable:
    """Build the table of links."""
    columns = (
        Column("id", drop=2), Column("title", fold=True), Column("address", width=40, flexible=True, drop=3),
        PROJECT_COLUMN,
    )  # fmt: skip
    cells = tuple(
        (safe_line(row["id"], "dim"), safe_line(row["title"]), safe_line(row["url"]), format_project(row, names))
        for row in rows
    )
    return TextTable(columns, cells)


def journal(rows: Sequence[Row], _: Mapping[str, str], now: datetime) -> TextTable:
    """Build the table of journal entries."""
    columns = (Column("id", drop=3), Column("at", drop=2), Column("text", fold=True))
    return TextTable(
        columns,
        tuple((safe_line(row["id"], "dim"), format_local_time(row["at"], now), safe_line(row["text"])) for row in rows),
    )


def people(rows: Sequence[Row], names: Mapping[str, str], _: datetime) -> TextTable:
    """Build the table of people; those who left are dim."""
    columns = (
        Column("id", drop=2), Column("name", fold=True), Column("role", width=24, flexible=True, drop=5),
        Column("team", width=20, drop=4), Column("email", width=30, flexible=True, drop=3),
    )  # fmt: skip
    cells = tuple(
        (
            safe_line(row["id"], "dim"), safe_line(row["full_name"], "dim" if row.get("left_at") else ""),
            safe_line(row.get("role", "")), safe_line(names.get(row.get("team", ""), "")),
            safe_line(row.get("email", "")),
        )
        for row in rows
    )  # fmt: skip
    return TextTable(columns, cells)


def teams(rows: Sequence[Row], _names: Mapping[str, str], _now: datetime) -> TextTable:
    """Build the table of teams."""
    columns = (Column("id", drop=1), Column("name", fold=True))
    return TextTable(columns, tuple((safe_line(row["id"], "dim"), safe_line(row["name"])) for row in rows))


def tags(rows: Sequence[Row]) -> TextTable:
    """Build the table of tags."""
    columns = (Column("tag", fold=True), Column("items", right=True))
    return TextTable(columns, tuple((safe_line(row["tag"]), safe_line(f"{row['items']:,}")) for row in rows))


def tagged(rows: Sequence[Row]) -> TextTable:
    """Build the table of items of any kind."""
    columns = (Column("id", drop=2), Column("kind", drop=1), Column("title", fold=True))
    return TextTable(
        columns,
        tuple((safe_line(row["id"], "dim"), safe_line(row["kind"]), safe_line(row["title"])) for row in rows),
    )


def item_lines(item: Row, body: str, names: Mapping[str, str], now: datetime) -> list[Text]:
    """Render the title of an item and a line for each non-empty field."""
    label = next(str(item[name]) for name in ("full_name", "name", "title", "text", "kind") if name in item)
    about = f"{item['id']} · version {item['version']} · changed {format_ago(item['updated_at'], now)}"
    if item.get("deleted_at"):
        about += f" · deleted {format_ago(item['deleted_at'], now)}"
    lines = [safe_line(label, "bold"), safe_line(about, "dim")]
    for name, value in item.items():
        if name not in _HIDDEN_FIELDS and name != body and (shown := format_value(name, value, names, now)):
            lines.append(Text.assemble((f"{name.replace('_', ' '):>14}  ", "dim"), safe_line(shown)))
    return lines


def format_value(name: str, value: Any, names: Mapping[str, str], now: datetime) -> str:
    """Format a field's value; "" if it is empty."""
    if isinstance(value, bool):
        return ("yes" if value else "no") if value or name == "enabled" else ""
    if is_list(value):
        return " ".join(f"#{entry}" if name == "tags" else str(entry) for entry in value)
    text = str(value or "")
    if name.endswith(("_at", "_until")) or name == "at":
        return format_local_time(text, now).plain if text else ""
    if name in ("deadline", "target_date") and text:
        return f"{_format_day(text, now)} ({format_deadline(text, 'todo', now).plain})"
    return names.get(text, text)


def _format_day(text: str, now: datetime) -> str:
    if len(text) > len("2026-05-31"):
        return format_local_time(text, now).plain
    return f"{date.fromisoformat(text):%a %Y-%m-%d}"


def belonging(rows: Mapping[str, Sequence[Row]], now: datetime) -> list[Text]:
    """Render the items that belong to an item, with a heading for each kind."""
    lines: list[Text] = []
    for kind, items in rows.items():
        lines.append(safe_line(kind, "dim"))
        for row in items:
            due = format_deadline(row.get("deadline"), str(row.get("status", "")), now)
            label = row.get("title") or row.get("name") or row.get("text")
            about = [safe_line(row[name], "dim") for name in ("relation", "category", "why") if row.get(name)]
            parts = [safe_line(label), *([due] if due.plain else []), *about]
            lines.append(Text("  ").append_text(Text("  ").join(parts)))
    return lines
