"""The journal: a log of days, line by line."""

from __future__ import annotations

import builtins
from datetime import date, datetime

from panorama.sdk import _wire
from panorama.sdk._one import removed, shown
from panorama.sdk._told import told
from panorama.sdk._types import Entry, Removed

__all__ = ("create", "delete", "get", "list", "update")


@told
def list(  # noqa: A001 (its name in scripts)
    first_day: str | date | None = None, last_day: str | date | None = None, limit: int | None = None
) -> builtins.list[Entry]:
    """List journal entries, the newest first.

    Args:
        first_day: 2026-05-31, today, -3d, or a date.
        last_day: The last day of the period.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, text, at (a moment), created_at.

    Example:
        for entry in sdk.journal.list(first_day="-7d"):
            print(entry.at, entry.text)
    """
    return _wire.rows("journal.list", limit, first_day=first_day, last_day=last_day, detail="full")


@told
def get(entry: str | Entry) -> Entry:
    """Show one journal entry.

    Args:
        entry: Its id or its row.

    Raises:
        NotFoundError: There is no such entry.

    Example:
        entry = sdk.journal.create("Tiles arrived")
        print(sdk.journal.get(entry.id).text)
    """
    return shown("journal", entry)


@told
def create(text: str, at: str | datetime = "", idempotency_key: str = "") -> Entry:
    """Add one line to the journal: what happened.

    For longer texts use sdk.notes.create.

    Args:
        text: One line, 1 to 2,000 characters.
        at: The moment it happened: 2026-05-31T15:00, or a datetime; now if left out.
        idempotency_key: The same key within a day gives the first answer again.

    Example:
        entry = sdk.journal.create("Called the tile shop", at="2026-05-19T15:00")
        print(entry.id)
    """
    return _wire.call("journal.create", text=text, at=at, idempotency_key=idempotency_key or None)


@told
def update(entry: str | Entry, text: str | None = None, at: str | datetime | None = None) -> Entry:
    """Change the text or the moment of a journal entry.

    Args:
        entry: Its id or its row.
        at: A moment: 2026-05-31T15:00, or a datetime.

    Raises:
        NotFoundError: There is no such entry.

    Example:
        entry = sdk.journal.create("Tiles arived")
        sdk.journal.update(entry, text="Tiles arrived")
    """
    return _wire.call("journal.update", entry=entry, text=text, at=at)


@told
def delete(entry: str | Entry) -> Removed:
    """Move a journal entry to the trash; undo brings it back.

    Args:
        entry: Its id or its row.

    Raises:
        NotFoundError: There is no such entry.

    Example:
        entry = sdk.journal.create("Nothing happened")
        sdk.journal.delete(entry)
    """
    return removed("journal", entry)
