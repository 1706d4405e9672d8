"""Tables of sessions and their lines; pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.text import Text

from panorama.cli.console.tables import (
    PROJECT_COLUMN,
    Column,
    Row,
    TextTable,
    format_local_time,
    format_project,
    safe_line,
)


def sessions(rows: Sequence[Row], names: Mapping[str, str], now: datetime) -> TextTable:
    """Build the table of sessions."""
    columns = (
        Column("id", drop=3), Column("title", fold=True), Column("began", drop=1), Column("lines", right=True, drop=2),
        Column("attendees", width=24, flexible=True, drop=4), PROJECT_COLUMN,
    )  # fmt: skip
    return TextTable(columns, tuple(_session_row(row, names, now) for row in rows))


def _session_row(row: Row, names: Mapping[str, str], now: datetime) -> tuple[Text, ...]:
    return (
        safe_line(row["id"], "dim"),
        safe_line(row["title"], "italic" if row.get("kind") == "thinking" else ""),
        format_local_time(row["started_at"], now),
        safe_line(f"{row.get('line_count', 0):,}"),
        safe_line(", ".join(row.get("attendees", ()))),
        format_project(row, names),
    )


def session_lines(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of the lines of a session."""
    columns = (
        Column("line", right=True), Column("at", drop=3), Column("type", drop=2),
        Column("speaker", width=20, flexible=True, drop=1), Column("text", fold=True),
    )  # fmt: skip
    return TextTable(columns, tuple(_line_row(row, now) for row in rows))


def _line_row(row: Row, now: datetime) -> tuple[Text, ...]:
    marks = [f"revises {row['revises']}"] if row.get("revises") else []
    marks += [f"branch {row['branch']}"] if row.get("branch") else []
    about = f" ({', '.join(marks)})" if marks else ""
    return (
        safe_line(row["position"], "dim"),
        safe_line(f"{datetime.fromisoformat(row['at']).astimezone(now.tzinfo):%H:%M}", "dim"),
        safe_line(row.get("type", "").replace("_", " ")),
        safe_line(row.get("speaker")),
        safe_line(f"{row['text']}{about}"),
    )


def analysis(measures: Row) -> list[Text]:
    """Render what a session consists of, a line each."""
    counted = {"types": measures.get("types"), "speakers": measures.get("speakers")}
    lines = {
        name: ", ".join(f"{word} {count}" for word, count in (values or {}).items()) for name, values in counted.items()
    }
    lines["branches"] = ", ".join(measures.get("branches") or ())
    lines["confidence"] = "" if measures.get("confidence") is None else f"{measures['confidence']:g}"
    return [Text.assemble((f"{name:>14}  ", "dim"), safe_line(text)) for name, text in lines.items() if text]
