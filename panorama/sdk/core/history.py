"""Batches, history, undo and status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from panorama.sdk.core import wire
from panorama.sdk.core.rows import Row
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Batch, Change, Item, Status, Undone


@explain_misuse
def batch(operations: Sequence[Mapping[str, Any]], atomic: bool = True, idempotency_key: str = "") -> Batch:
    """Run up to 100 operations in order, all or nothing; one undo reverts all.

    The argument "$0.data.id" is replaced by that value of an earlier result. None leaves a field; "" or [] clears it.

    Args:
        operations: [{"tool": "tasks.create", "args": {…}}], 1 to 100 of them.
        atomic: False: each step succeeds or fails on its own.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        `results` by position, each with tool, ok, data and summary, or error; how many `succeeded` and `failed`.

    Raises:
        InvalidInputError: The list is empty or too long, or a step is not allowed in it.
        SdkError: A step failed with this error; the whole batch was rolled back.
        ConflictError: The key was used for another call.

    Example:
        done = sdk.batch([
            {"tool": "projects.create", "args": {"name": "Cellar"}},
            {"tool": "tasks.create", "args": {"title": "Sweep it", "project": "$0.data.id"}},
        ])
        print(done.succeeded, done.results[1].data.id)
    """
    steps = operations if isinstance(operations, str) else [_normalize_step(step) for step in operations]
    return wire.call("batch", operations=steps, atomic=atomic, idempotency_key=idempotency_key or None)


def _normalize_step(step: Any) -> Any:
    """Return a step as it is sent; other names of `args` are accepted."""
    if not isinstance(step, Mapping):
        return step
    return {"args" if name == "arguments" else name: value for name, value in cast("Mapping[str, Any]", step).items()}


@explain_misuse
def history(item: str | Item | None = None, limit: int | None = None) -> list[Change]:
    """Show the last writes, or an item's changes.

    Args:
        item: Its id, its name, or its row; also of items in the trash. Left out: the last writes of all clients.
        limit: The most rows; all if left out.

    Returns:
        Rows with change, at, action, operation, client, unit (give it to undo), version, and fields as
        {name: [before, after]}. Without an item rows with unit, at, client, operation, action, kind, title, the number
        of `changes`, and undone.

    Raises:
        NotFoundError: No item has this name.
        ConflictError: Several items have this name; `candidates` lists them.
        InvalidInputError: `limit` is below 1.

    Example:
        task = sdk.tasks.update("Decide the grout colour", urgent=True)
        print(sdk.history(task)[0].fields["urgent"])
    """
    return wire.list_rows("history.list", limit, item=item)


@explain_misuse
def undo(
    unit: str | int | Change = "",
    skip_conflicts: bool = False,
    count: int = 1,
    redo: bool = False,
    confirm: bool = False,
) -> Undone:
    """Undo a write: a change, call, batch or import.

    If something was changed again since, nothing is undone and the conflicts are listed. An undo can be undone.

    Args:
        unit: A change (a row of history, or its number), or the `unit` of a call, batch or run. Left out: the last
            write that is not undone. In a script it cannot be the run itself: for that, let it fail with atomic=True.
        skip_conflicts: Undo the rest.
        count: How many last writes to undo, 1 to 50; not with `unit`.
        redo: Redo what the last undo reverted; not with `unit`.
        confirm: The user has agreed; needed for more than 20 changes, and for writes of another client.

    Returns:
        The `units`; whether it was a `redo`; how many changes were taken back (`count`), the first 50 of them as
        `undone` (id, kind, label, was); and `conflicts`: what was left.

    Raises:
        NotFoundError: There is no such unit, or nothing left to take back.
        ConflictError: It was changed since, or is taken back already.
        InvalidInputError: It is the script that is running, or `unit` is given with `count` or `redo`.
        ConfirmationError: The user has to agree first.

    Example:
        task = sdk.tasks.update("Decide the grout colour", important=True)
        print(sdk.undo(sdk.history(task)[0]).count)
    """
    change = unit.get("change", "") if isinstance(unit, Row) else unit
    return wire.call(
        "history.undo", unit=str(change), skip_conflicts=skip_conflicts, count=count, redo=redo, confirm=confirm
    )


@explain_misuse
def status() -> Status:
    """Show the date, time and time zone, and how much is stored where.

    Returns:
        now (a moment), today (a day), weekday, timezone, counts by kind, and the state of the store and of search.

    Example:
        print(sdk.status().today, sdk.status().counts["task"])
    """
    return wire.call("status")
