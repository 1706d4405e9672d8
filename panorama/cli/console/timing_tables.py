"""Tables of schedules and reminders; pure."""

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from panorama.cli.console.tables import Column, Row, TextTable, format_local_time, safe_line


def schedules(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of schedules."""
    columns = (
        Column("id", drop=3), Column("name", fold=True), Column("job", drop=4), Column("when", drop=2),
        Column("next", drop=1), Column("problem", fold=True), Column("zone", drop=5),
    )  # fmt: skip
    return TextTable(columns, tuple(_schedule_row(row, now) for row in rows))


def _schedule_row(row: Row, now: datetime) -> tuple[Text, ...]:
    coming = (
        format_local_time(row["next_at"], now)
        if row.get("next_at")
        else safe_line("paused" if row.get("paused") else "ended", "dim")
    )
    when = safe_line(row["rule"] if row["trigger"] == "cron" else f"{row['trigger']} {row['rule']}")
    name, job = safe_line(row["name"], "bold"), safe_line(row["kind"])
    return (
        safe_line(row["id"], "dim"),
        name,
        job,
        when,
        coming,
        safe_line(row.get("problem"), "red"),
        safe_line(row["zone"]),
    )


def waiting_reminders(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of waiting reminders."""
    columns = (
        Column("reminder", drop=3), Column("title", fold=True), Column("due", drop=1), Column("late", drop=2),
        Column("missed", right=True, drop=4),
    )  # fmt: skip
    return TextTable(
        columns,
        tuple(
            (safe_line(row["reminder"], "dim"), safe_line(row["title"], "bold"), format_local_time(row["at"], now),
             safe_line(row.get("late"), "red"), safe_line(row.get("missed")))
            for row in rows
        ),
    )  # fmt: skip


def reminders(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of reminders."""
    columns = (
        Column("id", drop=2), Column("title", fold=True), Column("at", drop=1),
        Column("recurrence", flexible=True, drop=3), Column("on", drop=4),
    )  # fmt: skip
    return TextTable(
        columns,
        tuple(
            (
                safe_line(row["id"], "dim"),
                safe_line(row["title"], "bold"),
                format_local_time(row.get("snoozed_until") or row["at"], now),
                safe_line(row.get("recurrence")),
                safe_line("yes" if row.get("enabled") else "no"),
            )
            for row in rows
        ),
    )
