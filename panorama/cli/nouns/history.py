"""`panorama history`, `recent`, `undo` and `redo`."""

from typing import Annotated, Any

from panorama.cli.client import Client
from panorama.cli.console import console, tables
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.options import AsJson, Limit, Yes, argument, examples, option

SkipConflicts = Annotated[bool, option("Skip what was changed since, and undo the rest.", "--skip-conflicts")]
UndoCount = Annotated[int, option("The number of last writes.", "--count")]


def history(
    item: Annotated[str | None, argument("Any item, by id or name; trashed ones by id.")] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Show the changes of an item, the newest first; without one, show the last writes."""
    with Client() as panorama:
        answer = panorama.list_rows("history.list", {"item": item}, limit)
        now = panorama.now
    if item is None:
        console.print_rows(answer, as_json, lambda: console.print_table(tables.recent_writes(answer.data, now)))
        return
    names = answer.metadata.get("names", {})
    changes = (tables.history(row, names, now) for row in answer.data)
    console.print_rows(answer, as_json, lambda: console.print_blocks(changes))


def recent(limit: Limit = 20, as_json: AsJson = False) -> None:
    """Show the last writes of all clients, the newest first: what, by whom, and the unit to undo."""
    history(None, limit, as_json)


def undo(
    unit: Annotated[str, argument("What to undo; by default the last write that is not undone.")] = "",
    skip_conflicts: SkipConflicts = False,
    count: UndoCount = 1,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Undo a write; each further undo takes the write before it. `panorama redo` restores it."""
    _undo({"unit": unit, "skip_conflicts": skip_conflicts, "count": count}, yes=yes, as_json=as_json)


def redo(
    skip_conflicts: SkipConflicts = False, count: UndoCount = 1, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Redo what the last undo reverted."""
    _undo({"skip_conflicts": skip_conflicts, "count": count, "redo": True}, yes=yes, as_json=as_json)


def _undo(arguments: dict[str, Any], *, yes: bool, as_json: bool) -> None:
    with Client() as panorama:
        answer = call_confirmed(panorama, "history.undo", arguments, yes=yes)
    console.print_result(answer, as_json, lambda: _print_undo_result(answer.data))


def _print_undo_result(data: dict[str, Any]) -> None:
    console.print_table(tables.undo_result(data))
    if (more := data.get("count", 0) - len(data.get("undone", ()))) > 0:
        console.print_message(f"… and {more:,} more")


COMMANDS = (
    (
        history,
        examples(
            "panorama history t_7k3q9xv2mh",
            'panorama history "Order seeds" --limit 3',
            "panorama history                    # the last writes, as `panorama recent`",
        ),
    ),
    (recent, examples("panorama recent", "panorama recent --limit 5")),
    (
        undo,
        examples(
            "panorama undo                       # the last write; again: the one before it",
            "panorama undo --count 3             # the last three writes",
            "panorama undo c_7k3q9xv2mh          # a call, a batch or an import: see `panorama history`",
            "panorama undo c_7k3q9xv2mh --skip-conflicts",
            "panorama undo --yes                 # does not ask before undoing more than 20 changes",
        ),
    ),
    (redo, examples("panorama redo", "panorama redo --count 2")),
)
"""The commands with their examples."""
