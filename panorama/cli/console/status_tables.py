"""Tables of Panorama's status, daemon, call log and doctor; pure."""

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from panorama.cli.console.tables import Column, Row, TextTable, format_age, format_pairs, safe_line
from panorama.domain.text.sizes import format_size, format_span
from panorama.kinds import name_kind


def status(data: Row) -> TextTable:
    """Render the state of the store, one line each."""
    counts: Row = data["counts"]
    now = datetime.fromisoformat(data["now"])
    values: dict[str, object] = {
        "now": f"{data['weekday']} {now:%Y-%m-%d %H:%M} ({data['timezone']})",
        "stored": ", ".join(_pluralize_kind(name, count) for name, count in counts.items()),
        "data": data["data"],
        "database": f"{format_size(data.get('database_bytes', 0))}, revision {data['revision']}",
        **_search_rows(data.get("search", {})),
        "jobs": ", ".join(f"{count} {state}" for state, count in data.get("jobs", {}).items()) or "none",
        "reminders": f"{data.get('reminders_waiting', 0)} rang and wait" if data.get("reminders_waiting") else "",
        "scripts": data.get("scripts", {}).get("isolation", ""),
        "last backup": data.get("last_backup", "none"),
    }
    rows = tuple((safe_line(name, "cyan"), safe_line(value)) for name, value in values.items() if value != "")
    return TextTable((Column("panorama"), Column(str(data["version"]), fold=True)), rows)


def _search_rows(search: Row) -> Row:
    """Return the rows about search; those about meaning only if there is something to report."""
    pending = search.get("pending", 0)
    waiting = "1 change waits" if pending == 1 else f"{pending:,} changes wait"
    index = f"{search.get('passages', 0):,} passages in {search.get('engine')}, {waiting}"
    about: Row = {"search": ", ".join(search.get("modes", ()))}
    if "model_state" in search:
        becoming = f", changing to {search['changing_to']}" if "changing_to" in search else ""
        if "changing_seconds" in search:
            becoming += f", {format_span(search['changing_seconds'])} left"
        about["meaning"] = f"{search['model']} ({search['model_state']}{becoming}), {index}"
        about["index"] = f"{search['index_state']}, {format_size(search.get('index_disk_bytes', 0))} on the disk"
    remarks = (str(search[name]) for name in ("missing", "remark", "last_error", "do") if name in search)
    wrong = " ".join(dict.fromkeys(remarks))
    return about | ({"remark": wrong} if wrong else {})


def daemon(data: Row) -> TextTable:
    """Render a daemon's status, one line each; nothing if none runs."""
    if not data:
        return TextTable((), ())
    clients = [str(client["name"]) for client in data["clients"]]
    lingers = data["linger_seconds"]
    values: dict[str, object] = {
        "process": data["pid"],
        "since": f"{datetime.fromisoformat(data['since']).astimezone():%Y-%m-%d %H:%M}",
        "data": data["home"],
        "socket": data["socket"],
        "http": data.get("http", "off"),
        "log": data["log"],
        "clients": f"{len(clients)} ({', '.join(clients)})" if clients else "none",
        "stays": "until it is stopped" if lingers is None else f"{lingers:g} seconds after its last client",
    }
    rows = tuple((safe_line(name, "cyan"), safe_line(value)) for name, value in values.items())
    return TextTable((Column("daemon"), Column(str(data["version"]), fold=True)), rows)


def daemons(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of the daemons of all machines."""
    columns = (
        Column("machine"), Column("host", drop=3), Column("process", right=True, drop=4), Column("version", drop=2),
        Column("age", drop=1), Column("serves", drop=5), Column("duties", fold=True),
    )  # fmt: skip
    return TextTable(columns, tuple(_daemon_row(row, now) for row in rows))


def _daemon_row(row: Row, now: datetime) -> tuple[Text, ...]:
    age = safe_line(format_age(row["started_at"], now), "dim")
    names = [safe_line(row[name]) for name in ("machine", "host", "process", "version")]
    return *names, age, safe_line(row["serves"]), safe_line(", ".join(row["duties"]))


def _pluralize_kind(kind: str, count: int) -> str:
    return f"{count:,} {'in the trash' if kind == 'trash' else name_kind(kind, count)}"


def calls(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of logged calls, with the long arguments last."""
    columns = (
        Column("age", drop=4), Column("client", width=12, drop=3), Column("call"), Column("ms", right=True, drop=2),
        Column("result"), Column("tokens", right=True, drop=6), Column("wrote", right=True, drop=5),
        Column("arguments", flexible=True, drop=7),
    )  # fmt: skip
    return TextTable(columns, tuple(_call_row(row, now) for row in rows))


def _call_row(row: Row, now: datetime) -> tuple[Text, ...]:
    result = safe_line("ok", "green") if row.get("success") else safe_line(row.get("code") or "failed", "red")
    numbers = [safe_line(f"{row.get(name, 0):,}") for name in ("tokens", "changes")]
    arguments = safe_line(format_pairs(row.get("arguments", {})), "dim")
    old, ms = safe_line(format_age(row["at"], now), "dim"), safe_line(f"{row.get('ms', 0):,.1f}")
    return old, safe_line(row.get("client")), safe_line(row["name"]), ms, result, *numbers, arguments


def checks(rows: Sequence[Row]) -> TextTable:
    """Build the table of the doctor's findings and fixes."""
    styles = {"ok": "green", "warn": "yellow", "fail": "bold red"}
    cells = tuple(
        (safe_line(row["state"], styles[row["state"]]), safe_line(row["check"], "bold"), _check_text(row))
        for row in rows
    )
    return TextTable((Column(""), Column("check"), Column("found", fold=True)), cells)


def _check_text(row: Row) -> Text:
    text = safe_line(row["found"])
    return Text.assemble(text, " ", safe_line(f"→ {row['mend']}", "cyan")) if row.get("mend") else text
