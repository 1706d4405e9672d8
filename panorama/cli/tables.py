"""Tables: what answers look like. Pure: rows of an answer in, styled texts out."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from rich.text import Text

Row = Mapping[str, Any]

FAR = timedelta(days=60)
"""A deadline that is farther away is shown as a date."""

_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)])
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)")
_OPEN = ("todo", "in_progress")
_STATUS = {"in_progress": "cyan", "done": "green", "cancelled": "dim", "idea": "magenta"}


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; a terminal cuts its cells where they are too long, or folds them; `spare` ones need a wide one."""

    name: str
    width: int | None = None
    right: bool = False
    fold: bool = False
    spare: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of cells under headings."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Text, ...], ...]


def line(value: object, style: str = "") -> Text:
    """Return a value as one line that cannot steer a terminal; None is empty."""
    words = "" if value is None else str(value)
    return Text(" ".join(words.split()).translate(_CONTROLS), style)


def lines(text: str) -> str:
    """Return text of several lines that cannot steer a terminal."""
    return text.translate({code: None for code in _CONTROLS if chr(code) not in "\n\t"})


def due(deadline: str | None, status: str, now: datetime) -> Text:
    """Return a deadline as a person says it: red if an open task is late, yellow if it is due today."""
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
    return Text(f"in {days} d" if timedelta(days=days) <= FAR else day.isoformat())


def ago(at: str, now: datetime) -> str:
    """Return how long ago a moment was in words: now, 5 min ago, 2026-05-31."""
    old = age(at, now)
    return f"{old} ago" if " " in old else old


def age(at: str, now: datetime) -> str:
    """Return how long ago a moment was: now, 5 min, 3 h, 12 d; a date if it was long ago."""
    moment = datetime.fromisoformat(at)
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h"
    days = minutes // (24 * 60)
    return f"{days} d" if timedelta(days=days) <= FAR else moment.date().isoformat()


def tasks(rows: Sequence[Row], names: Mapping[str, str], now: datetime) -> Sheet:
    """Return tasks: what, how far, until when, of which project."""
    columns = (Column("id"), Column("title", fold=True), Column("status"), Column("deadline"), _PROJECT)
    return Sheet(columns, tuple(_task(row, names, now) for row in rows))


_PROJECT = Column("project", width=18)


def _task(row: Row, names: Mapping[str, str], now: datetime) -> tuple[Text, ...]:
    status = str(row["status"])
    title = line(row["title"], "bold red" if row.get("urgent") else "bold" if row.get("important") else "")
    deadline = due(row.get("deadline"), status, now)
    return line(row["id"], "dim"), title, line(status, _STATUS.get(status, "")), deadline, _project(row, names)


def _project(row: Row, names: Mapping[str, str]) -> Text:
    id_ = row.get("project")
    return line(names.get(str(id_), id_))


def notes(rows: Sequence[Row], names: Mapping[str, str], now: datetime) -> Sheet:
    """Return notes: which, how long, when changed, of which project."""
    columns = (Column("id"), Column("title", fold=True), Column("chars", right=True), Column("changed"), _PROJECT)
    return Sheet(columns, tuple(_note(row, names, now) for row in rows))


def _note(row: Row, names: Mapping[str, str], now: datetime) -> tuple[Text, ...]:
    title, chars = line(row["title"], "bold" if row.get("pinned") else ""), f"{row.get('chars', 0):,}"
    return line(row["id"], "dim"), title, line(chars), line(ago(row["updated_at"], now)), _project(row, names)


def note_head(row: Row, names: Mapping[str, str], now: datetime) -> Text:
    """Return what stands above a note: its title, id, project, tags."""
    told = [row["id"], _project(row, names).plain, *(f"#{tag}" for tag in row.get("tags", ()))]
    told += [f"version {row['version']}", f"changed {ago(row['updated_at'], now)}"]
    return Text.assemble(line(row["title"], "bold"), "\n", line(" · ".join(filter(None, told)), "dim"))


def files(rows: Sequence[Row], names: Mapping[str, str], now: datetime) -> Sheet:
    """Return files: which, of what type, how large, when written, of which project."""
    columns = (
        Column("id"), Column("name", fold=True), Column("type", width=18), Column("size", right=True),
        Column("changed"), _PROJECT,
    )  # fmt: skip
    return Sheet(columns, tuple(_file(row, names, now) for row in rows))


def _file(row: Row, names: Mapping[str, str], now: datetime) -> tuple[Text, ...]:
    kind, length, old = line(row["media_type"]), line(size(row["size"])), line(ago(row["updated_at"], now))
    return line(row["id"], "dim"), line(row["name"]), kind, length, old, _project(row, names)


def hits(rows: Sequence[Row], names: Mapping[str, str]) -> Sheet:
    """Return search hits, one line each."""
    columns = (Column("id"), Column("kind"), Column("title"), Column("project"), Column("snippet"))
    return Sheet(columns, tuple(_hit(row, names) for row in rows))


def _hit(row: Row, names: Mapping[str, str]) -> tuple[Text, ...]:
    return line(row["id"]), line(row["kind"]), line(row["title"]), _project(row, names), matched(row.get("snippet", ""))


_WHY: Mapping[str, str] = {"semantic": "by meaning", "id": "by its id", "title": "by its title"}


def hit(row: Row, names: Mapping[str, str]) -> Text:
    """Return a search hit as a block: what it is, and under that the words that matched."""
    found_by: Sequence[str] = row.get("why", ())
    why = "" if "keyword" in found_by else ", ".join(_WHY.get(each, each) for each in found_by)
    told = " · ".join(filter(None, (row["kind"], row["id"], _project(row, names).plain, why)))
    head = Text.assemble(line(row["title"], "bold"), "  ", line(told, "dim"))
    snippet = matched(row.get("snippet", ""))
    return Text.assemble(head, "\n  ", snippet) if snippet else head


def matched(snippet: str) -> Text:
    """Return a snippet in one line, what matched (between `**`) marked."""
    found = Text()
    for at, part in enumerate(line(snippet).plain.split("**")):
        found.append(part, "bold yellow" if at % 2 else "")
    return found


def history(row: Row, now: datetime) -> Text:
    """Return one change of an item: who did what when, and each field before and after."""
    taken_back = f", takes back {row['undoes']}" if row.get("undoes") else ""
    who = f"{ago(row['at'], now)} by {row.get('client', 'unknown')} ({row.get('operation', '-')}{taken_back})"
    head = f"version {row['version']}  {row['action']}  {who}"
    found = Text.assemble(line(head, "bold"), "  ", line(row["unit"], "dim"))
    for name, (before, after) in row.get("fields", {}).items():
        was = [line(_said(before, now), "red"), " → "] if before not in (None, "", []) else []
        found.append_text(Text.assemble("\n    ", line(name, "cyan"), ": ", *was, line(_said(after, now), "green")))
    return found


def _said(value: object, now: datetime) -> str:
    """Return a field's value; moments, which are stored in UTC, in the person's zone."""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return f"{datetime.fromisoformat(value).astimezone(now.tzinfo):%Y-%m-%d %H:%M}"
    return _value(value)


def _value(value: object) -> str:
    if value in (None, "", []):
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def schedules(rows: Sequence[Row], now: datetime) -> Sheet:
    """Return schedules: what runs, how often, when next."""
    columns = (
        Column("id"), Column("name", fold=True), Column("job"), Column("when"), Column("next"),
        Column("problem", fold=True), Column("zone", spare=True),
    )  # fmt: skip
    return Sheet(columns, tuple(_schedule(row, now) for row in rows))


def _schedule(row: Row, now: datetime) -> tuple[Text, ...]:
    coming = (
        local(row["next_at"], now) if row.get("next_at") else line("paused" if row.get("paused") else "ended", "dim")
    )
    when = line(row["rule"] if row["trigger"] == "cron" else f"{row['trigger']} {row['rule']}")
    name, job = line(row["name"], "bold"), line(row["kind"])
    return line(row["id"], "dim"), name, job, when, coming, line(row.get("problem"), "red"), line(row["zone"])


def local(at: str, now: datetime) -> Text:
    """Return a moment by the person's clock."""
    return line(f"{datetime.fromisoformat(at).astimezone(now.tzinfo):%Y-%m-%d %H:%M}")


def rung(rows: Sequence[Row], now: datetime) -> Sheet:
    """Return reminders that wait: of what, since when."""
    heads = ("reminder", "title", "due", "late", "missed")
    columns = tuple(Column(head, fold=head == "title", right=head == "missed") for head in heads)
    return Sheet(
        columns,
        tuple(
            (line(row["reminder"], "dim"), line(row["title"], "bold"), local(row["at"], now),
             line(row.get("late"), "red"), line(row.get("missed")))
            for row in rows
        ),
    )  # fmt: skip


def reminders(rows: Sequence[Row], now: datetime) -> Sheet:
    """Return reminders: of what, when, how often."""
    columns = (Column("id"), Column("title", fold=True), Column("at"), Column("recurrence"), Column("on"))
    return Sheet(
        columns,
        tuple(
            (line(row["id"], "dim"), line(row["title"], "bold"), local(row["at"], now), line(row.get("recurrence")),
             line("yes" if row.get("enabled") else "no"))
            for row in rows
        ),
    )  # fmt: skip


def trash(rows: Sequence[Row], now: datetime) -> Sheet:
    """Return what is in the trash."""
    columns = (Column("id"), Column("kind"), Column("title", fold=True), Column("deleted"))
    return Sheet(columns, tuple(_trashed(row, now) for row in rows))


def _trashed(row: Row, now: datetime) -> tuple[Text, ...]:
    return line(row["id"], "dim"), line(row["kind"]), line(row["label"]), line(ago(row["deleted_at"], now))


def undone(data: Row) -> Sheet:
    """Return what an undo took back, and what it left."""
    took = [
        (line(row["id"], "dim"), line(row["kind"]), line(row["label"]), line(f"{row['was']} taken back", "green"))
        for row in data.get("undone", ())
    ]
    left = [
        (line(row["id"], "dim"), line(row["kind"]), line(row["field"]), line(f"left: {row['why']}", "yellow"))
        for row in data.get("conflicts", ())
    ]
    return Sheet((Column("id"), Column("kind"), Column("what", fold=True), Column("fate", fold=True)), (*took, *left))


_JOB = {"running": "green", "failed": "red", "interrupted": "red", "cancelled": "yellow", "queued": "dim"}


def jobs(rows: Sequence[Row], now: datetime) -> Sheet:
    """Return jobs, a line for each."""
    columns = (Column("id"), Column("kind"), Column("state"), Column("", fold=True), Column("asked for"))
    return Sheet(columns, tuple(_job(row, now) for row in rows))


def _job(row: Row, now: datetime) -> tuple[Any, ...]:
    state = line(row["state"], _JOB.get(row["state"], ""))
    asked = line(ago(row["created_at"], now), "dim")
    return line(row["id"], "dim"), line(row["kind"]), state, line(how_far(row)), asked


def how_far(job: Row) -> str:
    """Return how far a job is, or what became of it, in a few words."""
    if job["state"] not in ("running", "queued"):
        return str(job.get("error", {}).get("message") or job.get("summary", ""))
    total, current = job.get("total", 0), job.get("current", 0)
    far = f"{current:,} of {total:,}" if total else f"{current:,}" if current else ""
    rate = f"{job['rate']:g} a second" if job.get("rate") else ""
    left = f"about {job['seconds_left']} s left" if job.get("seconds_left") is not None else ""
    return ", ".join(filter(None, (far, rate, left, job.get("message", ""))))


def size(count: int) -> str:
    """Return a number of bytes as a person reads it."""
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def problems(data: Row) -> Sheet:
    """Return what an import could not take, a line each."""
    rows = tuple(tuple(line(value) for value in row.values()) for row in data.get("problems", ()))
    names = list(data["problems"][0]) if rows else []
    return Sheet(tuple(Column(name, fold=True) for name in names), rows)
