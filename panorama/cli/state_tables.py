"""Tables of how Panorama itself does: its state, its daemon, its log of calls, what the doctor found; pure."""

import json
from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from panorama.cli.tables import Column, Row, Sheet, age, line, size


def status(data: Row) -> Sheet:
    """Return the state of the store, a line for each part of it."""
    counts: Row = data["counts"]
    now = datetime.fromisoformat(data["now"])
    told: dict[str, object] = {
        "now": f"{data['weekday']} {now:%Y-%m-%d %H:%M} ({data['timezone']})",
        "stored": ", ".join(_counted(name, count) for name, count in counts.items()),
        "data": data["data"],
        "database": f"{size(data.get('database_bytes', 0))}, revision {data['revision']}",
        **_search(data.get("search", {})),
        "jobs": ", ".join(f"{count} {state}" for state, count in data.get("jobs", {}).items()) or "none",
        "reminders": f"{data.get('reminders_waiting', 0)} rang and wait" if data.get("reminders_waiting") else "",
        "scripts": data.get("scripts", {}).get("isolation", ""),
        "last backup": data.get("last_backup", "none"),
    }
    rows = tuple((line(name, "cyan"), line(value)) for name, value in told.items() if value != "")
    return Sheet((Column("panorama"), Column(str(data["version"]), fold=True)), rows)


def _search(told: Row) -> Row:
    """Return how search does, and of meaning only what there is to say."""
    pending = told.get("pending", 0)
    waiting = "1 change waits" if pending == 1 else f"{pending:,} changes wait"
    held = f"{told.get('passages', 0):,} passages in {told.get('engine')}, {waiting}"
    about: Row = {"search": ", ".join(told.get("modes", ()))}
    if "model_state" in told:
        becoming = f", changing to {told['changing_to']}" if "changing_to" in told else ""
        about["meaning"] = f"{told['model']} ({told['model_state']}{becoming}), {held}"
        about["index"] = f"{told['index_state']}, {size(told.get('index_disk_bytes', 0))} on the disk"
    said = (str(told[name]) for name in ("missing", "remark", "last_error", "do") if name in told)
    wrong = " ".join(dict.fromkeys(said))
    return about | ({"remark": wrong} if wrong else {})


def daemon(data: Row) -> Sheet:
    """Return what a daemon tells of itself, a line for each part of it; nothing if none runs."""
    if not data:
        return Sheet((), ())
    clients = [str(each["name"]) for each in data["clients"]]
    lingers = data["linger_seconds"]
    told: dict[str, object] = {
        "process": data["pid"],
        "since": f"{datetime.fromisoformat(data['since']).astimezone():%Y-%m-%d %H:%M}",
        "data": data["home"],
        "socket": data["socket"],
        "http": data.get("http", "off"),
        "log": data["log"],
        "clients": f"{len(clients)} ({', '.join(clients)})" if clients else "none",
        "stays": "until it is stopped" if lingers is None else f"{lingers:g} seconds after its last client",
    }
    rows = tuple((line(name, "cyan"), line(value)) for name, value in told.items())
    return Sheet((Column("daemon"), Column(str(data["version"]), fold=True)), rows)


def _counted(kind: str, count: int) -> str:
    one, many = {"journal": ("journal entry", "journal entries"), "trash": ("in the trash", "in the trash")}.get(
        kind, (kind, f"{kind}s")
    )
    return f"{count:,} {one if count == 1 else many}"


def calls(rows: Sequence[Row], now: datetime) -> Sheet:
    """Return calls of the log; the arguments come last, because they are long."""
    columns = (
        Column("age"), Column("client", width=12), Column("call"), Column("ms", right=True), Column("result"),
        Column("tokens", right=True), Column("wrote", right=True), Column("arguments", spare=True),
    )  # fmt: skip
    return Sheet(columns, tuple(_call(row, now) for row in rows))


def _call(row: Row, now: datetime) -> tuple[Text, ...]:
    result = line("ok", "green") if row.get("success") else line(row.get("code") or "failed", "red")
    numbers = [line(f"{row.get(name, 0):,}") for name in ("tokens", "changes")]
    arguments = line(json.dumps(row.get("arguments", {}), ensure_ascii=False), "dim")
    old, ms = line(age(row["at"], now), "dim"), line(f"{row.get('ms', 0):,.1f}")
    return old, line(row.get("client")), line(row["name"]), ms, result, *numbers, arguments


def checks(rows: Sequence[Row]) -> Sheet:
    """Return what the doctor found, and how to mend it."""
    styles = {"ok": "green", "warn": "yellow", "fail": "bold red"}
    cells = tuple((line(row["state"], styles[row["state"]]), line(row["check"], "bold"), _finding(row)) for row in rows)
    return Sheet((Column(""), Column("check"), Column("found", fold=True)), cells)


def _finding(row: Row) -> Text:
    found = line(row["found"])
    return Text.assemble(found, " ", line(f"→ {row['mend']}", "cyan")) if row.get("mend") else found
