"""Tables of scripts, decisions and runs; pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.text import Text

from panorama.cli.console.tables import Column, Row, TextTable, format_ago, format_pairs, format_plain, safe_line


def scripts(rows: Sequence[Row]) -> TextTable:
    """Build the table of scripts."""
    columns = (
        Column("script"), Column("state", drop=1), Column("by", drop=3), Column("runs", right=True, drop=2),
        Column("what it does", width=70, fold=True),
    )  # fmt: skip
    return TextTable(columns, tuple(map(_script_row, rows)))


def _script_row(row: Row) -> tuple[Text, ...]:
    style = {"draft": "yellow", "promoted": "green", "retired": "dim"}.get(row["state"], "")
    summary = row["summary"] + (f"; save it with --run {row['run']}" if row.get("run") else "")
    about = safe_line(row.get("problem") or summary, "red" if row.get("problem") else "")
    runs = f"{row['runs']}" if row.get("runs") else ""
    return safe_line(row["name"]), safe_line(row["state"], style), safe_line(row.get("by", "")), safe_line(runs), about


def versions(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of decisions on a script."""
    columns = (
        Column("version", right=True), Column("when", drop=1), Column("verdict"), Column("by", drop=2),
        Column("sha256", drop=3),
    )  # fmt: skip
    return TextTable(columns, tuple(_version_row(row, now) for row in rows))


def _version_row(row: Row, now: datetime) -> tuple[Text, ...]:
    verdict = f"{row['verdict']}, current" if row["current"] else row["verdict"]
    return (
        safe_line(row["version"] or ""),
        safe_line(format_ago(row["at"], now)),
        safe_line(verdict),
        safe_line(row["by"]),
        safe_line(row["digest"][:12]),
    )


def runs(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of runs."""
    columns = (
        Column("run"), Column("when", drop=2), Column("status", drop=1), Column("ms", right=True, drop=5),
        Column("calls", right=True, drop=4), Column("changes", drop=3), Column("script", width=60, flexible=True),
    )  # fmt: skip
    return TextTable(columns, tuple(_run_row(row, now) for row in rows))


def _run_row(row: Row, now: datetime) -> tuple[Text, ...]:
    status = row["status"]
    changes = ", ".join(f"{count} {noun}" for noun, count in row.get("changes", {}).items())
    style = {"failed": "red", "succeeded": "green"}.get(status, "yellow")
    how = f"{status} (dry run)" if row.get("dry_run") else status
    return (
        safe_line(row["id"]),
        safe_line(format_ago(row["at"], now)),
        safe_line(how, style),
        safe_line(f"{row['ms']:.0f}"),
        safe_line(row["calls"]),
        safe_line(changes),
        safe_line(row["script"], "dim"),
    )


def run_calls(rows: Sequence[Row]) -> TextTable:
    """Build the table of a run's calls."""
    columns = (
        Column("#", right=True, drop=2), Column("call"), Column("ms", right=True, drop=3),
        Column("changes", right=True, drop=1), Column("arguments", width=80, flexible=True, drop=4),
    )  # fmt: skip
    return TextTable(columns, tuple(map(_call_row, rows)))


def _call_row(call: Row) -> tuple[Text, ...]:
    failed = "" if call["success"] else f" ({call['code']})"
    given = {name: value for name, value in call["arguments"].items() if value not in ("", [], None, False)}
    name = safe_line(call["name"] + failed, "" if call["success"] else "red")
    arguments = safe_line(format_pairs(given), "dim")
    return (
        safe_line(call["position"]),
        name,
        safe_line(f"{call['ms']:.1f}"),
        safe_line(call["changes"] or ""),
        arguments,
    )


def script_options(properties: Mapping[str, Row], required: Sequence[str]) -> TextTable:
    """Build the table of a script's own options, with defaults."""
    columns = (Column("option"), Column("takes", drop=2), Column("default", flexible=True, drop=1))
    rows = tuple(_option_row(name, known, name in required) for name, known in properties.items())
    return TextTable((*columns, Column("what it is", fold=True)), rows)


def _option_row(name: str, known: Row, is_required: bool) -> tuple[Text, ...]:
    kind = str(known.get("type", "text")).replace("boolean", "").replace("string", "text").replace("integer", "number")
    default = "required" if is_required else format_plain(known["default"]) if "default" in known else ""
    option = safe_line(f"--{name.replace('_', '-')}", "cyan")
    return option, safe_line(kind), safe_line(default), safe_line(known.get("description"))
