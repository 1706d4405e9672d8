"""The tables of `panorama sources`."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from panorama.cli.console.tables import Column, TextTable, safe_line
from panorama.domain.text.json_types import is_list, is_object
from panorama.sources.descriptions import format_place

_DECISION_STYLES = {"allow": "green", "ask": "yellow", "deny": "red"}
_REACH_WORDS = {
    "here": "this machine", "own": "your own account", "others": "other people", "anywhere": "any address",
}  # fmt: skip


def format_source(data: Mapping[str, Any]) -> list[Text]:
    """Format a source, one line for each of its keys."""
    return [safe_line(f"{key}: {_format_value(value)}") for key, value in data.items() if value]


def sources_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build the table of sources."""
    columns = (Column("source"), Column("kind"), Column("at", fold=True), Column("rules", fold=True, drop=1))
    return TextTable(columns, tuple(_source_row(row) for row in rows))


def functions_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build the table of a source's functions."""
    about = Column("about", flexible=True, drop=2)
    columns = (Column("function"), Column(""), Column("reads"), Column("seen by", drop=1), about)
    cells = tuple(
        (
            safe_line(row["name"]),
            safe_line(row["decision"], _DECISION_STYLES[row["decision"]]),
            safe_line("yes" if row["reads_only"] else "no"),
            safe_line(_REACH_WORDS[row["reach"]]),
            safe_line(row["description"], "dim"),
        )
        for row in rows
    )
    return TextTable(columns, cells)


def _source_row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    place = format_place(row)
    rules = "; ".join(f"{key} {', '.join(row[key])}" for key in _DECISION_STYLES if key in row)
    style = "dim" if row.get("disabled") else ""
    return safe_line(row["name"], style or "bold"), safe_line(row["kind"]), safe_line(place, style), safe_line(rules)


def _format_value(value: Any) -> str:
    if is_object(value):
        return ", ".join(f"{name}={part}" for name, part in value.items())
    return " ".join(map(str, value)) if is_list(value) else str(value)
