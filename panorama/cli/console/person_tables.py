"""The lists of a person's dashboard; pure."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from rich.text import Text

from panorama.cli.console.noun_tables import belonging
from panorama.cli.console.tables import Row, format_local_time


def dashboard(board: Mapping[str, Any], names: Mapping[str, str], now: datetime) -> list[Text]:
    """Render the birthday and the lists of a person's dashboard that have rows."""
    lists = {
        name.replace("_", " "): [{**row, "why": _describe_row(row, names, now)} for row in board[name]]
        for name in ("assigned", "waited_for", "sessions", "events", "mentions")
        if board[name]
    }
    return [*_birthday_line(board), *belonging(lists, now)]


def _birthday_line(board: Mapping[str, Any]) -> list[Text]:
    if not board.get("next_birthday"):
        return []
    age = f", turns {board['turns']}" if board.get("turns") is not None else ""
    day = f"{date.fromisoformat(board['next_birthday']):%a %Y-%m-%d}"
    return [Text.assemble((f"{'next birthday':>14}  ", "dim"), f"{day}{age}")]


def _describe_row(row: Row, names: Mapping[str, str], now: datetime) -> str:
    """Return when a session or event is, whom a task waits for, or the sentence of a mention."""
    if moment := row.get("starts_at") or row.get("started_at"):
        return format_local_time(str(moment), now).plain
    if person := row.get("waiting_for"):
        return f"waits for {names.get(str(person), str(person))}"
    return str(row.get("why", ""))
