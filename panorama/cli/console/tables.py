"""Tables of answers. Pure: rows of an answer in, styled texts out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from rich.text import Text

from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.sizes import format_size
from panorama.domain.text.visible_text import drop_controls

Row = Mapping[str, Any]

RELATIVE_LIMIT = timedelta(days=60)
"""Deadlines beyond this are shown as dates."""

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)")
_OPEN = ("todo", "in_progress")
_STATUS_STYLES = {"in_progress": "cyan", "done": "green", "cancelled": "dim", "idea": "magenta"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column; a terminal cuts or folds its long cells.

    `width` is its maximum; `flexible` ones may be cut. A narrow terminal drops the columns with the highest `drop`
    first; 0 is never dropped.
    """

    name: str
    width: int | None = None
    right: bool = False
    fold: bool = False
    flexible: bool = False
    drop: int = 0

    @property
    def is_text(self) -> bool:
        """Whether its cells can be folded or cut without losing important content."""
        return self.fold or self.flexible


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows of cells under headings."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Text, ...], ...]


def safe_line(value: object, style: str = "") -> Text:
    """Return a value on one line without terminal controls; "" for None."""
    words = "" if value is None else str(value)
    return Text(drop_controls(" ".join(words.split())), style)


def safe_lines(text: str) -> str:
    """Return multi-line text without terminal controls."""
    return drop_controls(text, keep="\n\t")


def format_deadline(deadline: str | None, status: str, now: datetime) -> Text:
    """Format a deadline: red if an open task is late, yellow if it is due today."""
    if not deadline:
        return Text()
    moment = datetime.fromisoformat(deadline) if len(deadline) > len("2026-05-31") else None
    day = moment.astimezone(now.tzinfo).date() if moment else date.fromisoformat(deadline)
    clock = f" {moment.astimezone(now.tzinfo):%H:%M}" if moment else ""
    if status not in _OPEN:
        return Text(day.isoformat(), "dim")
    days = (day - now.date()).days
    late = moment < now if moment else days < 0
    if days < 0:
        return Text(f"{-days} d late", "red")
    if days == 0:
        return Text(f"today{clock}", "red" if late else "yellow")
    return Text(f"in {days} d" if timedelta(days=days) <= RELATIVE_LIMIT else day.isoformat())


def format_ago(at: str, now: datetime) -> str:
    """Format the time since: now, 5 min ago, 2026-05-31."""
    old = format_age(at, now)
    return f"{old} ago" if " " in old else old


def format_age(at: str, now: datetime) -> str:
    """Format the time since: now, 5 min, 3 h, 12 d; a date if it was long ago."""
    moment = datetime.fromisoformat(at)
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h"
    days = minutes // (24 * 60)
    return f"{days} d" if timedelta(days=days) <= RELATIVE_LIMIT else moment.date().isoformat()


def tasks(rows: Sequence[Row], names: Mapping[str, str], now: datetime) -> TextTable:
    """Build the table of tasks."""
    columns = (
        Column("id", drop=3), Column("title", fold=True), Column("status", drop=2), Column("deadline", drop=1),
        PROJECT_COLUMN,
    )  # fmt: skip
    return TextTable(columns, tuple(_task_row(row, names, now) for row in rows))


PROJECT_COLUMN = Column("project", width=18, flexible=True, drop=4)


def _task_row(row: Row, names: Mapping[str, str], now: datetime) -> tuple[Text, ...]:
    status = str(row["status"])
    title = safe_line(row["title"], "bold red" if row.get("urgent") else "bold" if row.get("important") else "")
    deadline = format_deadline(row.get("deadline"), status, now)
    return (
        safe_line(row["id"], "dim"),
        title,
        safe_line(status, _STATUS_STYLES.get(status, "")),
        deadline,
        format_project(row, names),
    )


def format_project(row: Row, names: Mapping[str, str]) -> Text:
    """Return the name of an item's project."""
    id_ = row.get("project")
    return safe_line(names.get(str(id_), id_))


def notes(rows: Sequence[Row], names: Mapping[str, str], now: datetime) -> TextTable:
    """Build the table of notes."""
    columns = (
        Column("id", drop=2),
        Column("title", fold=True),
        Column("chars", right=True, drop=3),
        Column("changed", drop=1),
        PROJECT_COLUMN,
    )
    return TextTable(columns, tuple(_note_row(row, names, now) for row in rows))


def _note_row(row: Row, names: Mapping[str, str], now: datetime) -> tuple[Text, ...]:
    title, chars = safe_line(row["title"], "bold" if row.get("pinned") else ""), f"{row.get('chars', 0):,}"
    return (
        safe_line(row["id"], "dim"),
        title,
        safe_line(chars),
        safe_line(format_ago(row["updated_at"], now)),
        format_project(row, names),
    )


def note_head(row: Row, names: Mapping[str, str], now: datetime) -> Text:
    """Render the header of a note: its title, id, project, tags."""
    parts = [row["id"], format_project(row, names).plain, *(f"#{tag}" for tag in row.get("tags", ()))]
    parts += [f"version {row['version']}", f"changed {format_ago(row['updated_at'], now)}"]
    return Text.assemble(safe_line(row["title"], "bold"), "\n", safe_line(" · ".join(filter(None, parts)), "dim"))


def files(rows: Sequence[Row], names: Mapping[str, str], now: datetime) -> TextTable:
    """Build the table of files."""
    columns = (
        Column("id", drop=2), Column("name", fold=True), Column("type", width=18, drop=5),
        Column("size", right=True, drop=1), Column("changed", drop=3), PROJECT_COLUMN,
    )  # fmt: skip
    return TextTable(columns, tuple(_file_row(row, names, now) for row in rows))


def _file_row(row: Row, names: Mapping[str, str], now: datetime) -> tuple[Text, ...]:
    kind, length, old = (
        safe_line(row["media_type"]),
        safe_line(format_size(row["size"])),
        safe_line(format_ago(row["updated_at"], now)),
    )
    return safe_line(row["id"], "dim"), safe_line(row["name"]), kind, length, old, format_project(row, names)


def hits(rows: Sequence[Row], names: Mapping[str, str]) -> TextTable:
    """Build the table of search hits."""
    columns = (
        Column("id", drop=3), Column("kind", drop=2), Column("title", fold=True), Column("project", width=18, drop=4),
        Column("snippet", width=60, flexible=True, drop=1),
    )  # fmt: skip
    return TextTable(columns, tuple(_hit_row(row, names) for row in rows))


def _hit_row(row: Row, names: Mapping[str, str]) -> tuple[Text, ...]:
    return (
        safe_line(row["id"]),
        safe_line(row["kind"]),
        safe_line(row["title"]),
        format_project(row, names),
        highlight_matches(row.get("snippet", "")),
    )


_MATCH_LABELS: Mapping[str, str] = {
    "semantic": "by meaning",
    "id": "by its id",
    "title": "by its title",
    "name": "by its name",
    "day": "by its day",
}


def hit(row: Row, names: Mapping[str, str]) -> Text:
    """Render a search hit as a block, with the matching words below."""
    found_by: Sequence[str] = row.get("why", ())
    why = "" if "keyword" in found_by else ", ".join(_MATCH_LABELS.get(way, way) for way in found_by)
    parts = " · ".join(filter(None, (row["kind"], row["id"], format_project(row, names).plain, why)))
    head = Text.assemble(safe_line(row["title"], "bold"), "  ", safe_line(parts, "dim"))
    snippet = highlight_matches(row.get("snippet", ""))
    return Text.assemble(head, "\n  ", snippet) if snippet else head


def highlight_matches(snippet: str) -> Text:
    """Return a snippet on one line, with matches (between `**`) highlighted."""
    text = Text()
    for at, part in enumerate(safe_line(snippet).plain.split("**")):
        text.append(part, "bold yellow" if at % 2 else "")
    return text


def history(row: Row, names: Mapping[str, str], now: datetime) -> Text:
    """Return one change of an item: who did what when, and each field before and after; projects by their names."""
    taken_back = f", undoes {row['undoes']}" if row.get("undoes") else ""
    who = f"{format_ago(row['at'], now)} by {row.get('client', 'unknown')} ({row.get('operation', '-')}{taken_back})"
    head = f"version {row['version']}  {row['action']}  {who}"
    text = Text.assemble(safe_line(head, "bold"), "  ", safe_line(row["unit"], "dim"))
    for name, pair in row.get("fields", {}).items():
        before, after = (names.get(value, value) if name == "project" and value else value for value in pair)
        was = [safe_line(_format_field(before, now), "red"), " → "] if before not in (None, "", []) else []
        text.append_text(
            Text.assemble("\n    ", safe_line(name, "cyan"), ": ", *was, safe_line(_format_field(after, now), "green"))
        )
    return text


def _format_field(value: object, now: datetime) -> str:
    """Format a field's value; times, which are stored in UTC, in the user's zone."""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return f"{datetime.fromisoformat(value).astimezone(now.tzinfo):%Y-%m-%d %H:%M}"
    return format_plain(value)


def format_plain(value: object) -> str:
    """Format a value as text: lists with commas, an object as names and values; "" if it is empty."""
    if value is None or value in ("", [], {}):
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_object(value):
        return format_pairs(value)
    return ", ".join(map(format_plain, value)) if is_list(value) else str(value)


def format_report(result: object) -> str:
    """Render a result, one line for each name."""
    if not is_object(result):
        return format_plain(result)
    return "\n".join(f"{name.replace('_', ' '):>16}  {format_plain(value)}" for name, value in result.items())


def format_pairs(values: Mapping[str, Any]) -> str:
    """Format an object on one line: `project=Garden, urgent=yes`."""
    return ", ".join(f"{name}={format_plain(value)}" for name, value in values.items())


def format_local_time(at: str, now: datetime) -> Text:
    """Format a time in the user's zone."""
    return safe_line(f"{datetime.fromisoformat(at).astimezone(now.tzinfo):%Y-%m-%d %H:%M}")


def trash(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of the trash."""
    columns = (Column("id", drop=2), Column("kind", drop=3), Column("title", fold=True), Column("deleted", drop=1))
    return TextTable(columns, tuple(_trash_row(row, now) for row in rows))


def recent_writes(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of the last writes."""
    columns = (
        Column("unit", drop=2), Column("what", fold=True), Column("title", fold=True), Column("client", drop=3),
        Column("when", drop=1),
    )  # fmt: skip
    return TextTable(columns, tuple(_recent_write_row(row, now) for row in rows))


def _recent_write_row(row: Row, now: datetime) -> tuple[Text, ...]:
    undone = " (undone)" if row.get("undone") else ""
    return (
        safe_line(row["unit"], "dim"),
        safe_line(f"{row['action']} {row['kind']}{undone}"),
        safe_line(row["title"]),
        safe_line(row["client"]),
        safe_line(format_ago(row["at"], now)),
    )


def _trash_row(row: Row, now: datetime) -> tuple[Text, ...]:
    return (
        safe_line(row["id"], "dim"),
        safe_line(row["kind"]),
        safe_line(row["label"]),
        safe_line(format_ago(row["deleted_at"], now)),
    )


def undo_result(data: Row) -> TextTable:
    """Render the undone changes and the conflicts of an undo."""
    took = [
        (
            safe_line(row["id"], "dim"),
            safe_line(row["kind"]),
            safe_line(row["label"]),
            safe_line(f"{row['was']} undone", "green"),
        )
        for row in data.get("undone", ())
    ]
    left = [
        (
            safe_line(row["id"], "dim"),
            safe_line(row["kind"]),
            safe_line(row["field"]),
            safe_line(f"left: {row['why']}", "yellow"),
        )
        for row in data.get("conflicts", ())
    ]
    return TextTable(
        (Column("id", drop=1), Column("kind", drop=2), Column("what", fold=True), Column("fate", fold=True)),
        (*took, *left),
    )


_JOB_STYLES = {"running": "green", "failed": "red", "interrupted": "red", "cancelled": "yellow", "queued": "dim"}


def jobs(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of jobs."""
    columns = (
        Column("id", drop=2), Column("kind"), Column("state"), Column("", fold=True), Column("asked for", drop=1),
    )  # fmt: skip
    return TextTable(columns, tuple(_job_row(row, now) for row in rows))


def _job_row(row: Row, now: datetime) -> tuple[Any, ...]:
    state = safe_line(row["state"], _JOB_STYLES.get(row["state"], ""))
    asked = safe_line(format_ago(row["created_at"], now), "dim")
    return safe_line(row["id"], "dim"), safe_line(row["kind"]), state, safe_line(format_progress(row)), asked


def format_progress(job: Row) -> str:
    """Describe the progress or result of a job in a few words."""
    if job["state"] not in ("running", "queued"):
        return str(job.get("error", {}).get("message") or job.get("summary", ""))
    total, current = job.get("total", 0), job.get("current", 0)
    far = f"{current:,} of {total:,}" if total else f"{current:,}" if current else ""
    rate = f"{job['rate']:g} a second" if job.get("rate") else ""
    left = f"about {job['seconds_left']} s left" if job.get("seconds_left") is not None else ""
    return ", ".join(filter(None, (far, rate, left, job.get("message", ""))))


def problems(data: Row) -> TextTable:
    """Render the problems of an import, one line each."""
    rows = tuple(tuple(safe_line(value) for value in row.values()) for row in data.get("problems", ()))
    names = list(data["problems"][0]) if rows else []
    return TextTable(tuple(Column(name, fold=True) for name in names), rows)
