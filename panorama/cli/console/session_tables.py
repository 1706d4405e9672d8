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
from panorama.domain.text.json_types import is_object


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
    lines = {name: _format_counts(measures.get(name)) for name in ("types", "speakers")}
    lines["branches"] = ", ".join(measures.get("branches") or ())
    lines["confidence"] = "" if measures.get("confidence") is None else f"{measures['confidence']:g}"
    return [Text.assemble((f"{name:>14}  ", "dim"), safe_line(text)) for name, text in lines.items() if text]


def _format_counts(counts: object) -> str:
    return ", ".join(f"{word} {count}" for word, count in counts.items()) if is_object(counts) else ""


def events(rows: Sequence[Row], _: Mapping[str, str], now: datetime) -> TextTable:
    """Build the table of the calendar."""
    columns = (
        Column("id", drop=3), Column("when"), Column("title", fold=True),
        Column("attendees", width=24, flexible=True, drop=2), Column("place", width=18, flexible=True, drop=4),
    )  # fmt: skip
    return TextTable(columns, tuple(_event_row(row, now) for row in rows))


def _event_row(row: Row, now: datetime) -> tuple[Text, ...]:
    style = {"cancelled": "dim strike", "tentative": "italic"}.get(str(row.get("status")), "")
    return (
        safe_line(row["id"], "dim"),
        safe_line(_format_span(str(row["starts_at"]), str(row.get("ends_at") or ""), now)),
        safe_line(row["title"], style),
        safe_line(", ".join(row.get("attendees", ()))),
        safe_line(row.get("location")),
    )


def _format_span(start: str, end: str, now: datetime) -> str:
    """Return start and end: «Fri 29 May 09:00-12:00», «Fri 29 May», «Mon 6 Jul to Fri 17 Jul»."""
    begin, over = (datetime.fromisoformat(text) if text else None for text in (start, end or start))
    if begin is None or over is None:
        return ""
    if len(start) <= len("2026-05-31"):
        return _format_day(begin) if begin == over else f"{_format_day(begin)} to {_format_day(over)}"
    begin, over = begin.astimezone(now.tzinfo), over.astimezone(now.tzinfo)
    if begin.date() != over.date():
        return f"{_format_day(begin)} {begin:%H:%M} to {_format_day(over)} {over:%H:%M}"
    return f"{_format_day(begin)} {begin:%H:%M}" + (f"-{over:%H:%M}" if over > begin else "")


def _format_day(day: datetime) -> str:
    return f"{day:%a} {day.day} {day:%b}"
