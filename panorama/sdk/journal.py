"""The journal: a log of days, line by line."""

from __future__ import annotations

import builtins
from datetime import date, datetime

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Entry, Removed
from panorama.sdk.core.unset import UNSET

_EMPTY = {"entry": None}
"""The value that clears each field in an update; sent for None."""

__all__ = ("create", "delete", "get", "list", "update")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    first_day: str | date | None = None, last_day: str | date | None = None, limit: int | None = None
) -> builtins.list[Entry]:
    """List journal entries, the newest first.

    Args:
        first_day: 2026-05-31, today, -3d, or a date; from the first entry on if left out.
        last_day: The last day of the period: 2026-05-31, today, -3d, or a date; up to the last entry if left out.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, text, at (a moment), created_at.

    Raises:
        InvalidInputError: A day has another form, or `limit` is below 1.

    Example:
        for entry in sdk.journal.list(first_day="-7d"):
            print(entry.at, entry.text)
    """
    return wire.list_rows("journal.list", limit, first_day=first_day, last_day=last_day, detail="full")


@explain_misuse
def get(entry: str | Entry) -> Entry:
    """Show one journal entry.

    Args:
        entry: Its id or its row.

    Returns:
        The entry: id, text, at (a moment), created_at.

    Raises:
        NotFoundError: There is no such entry.
        InvalidInputError: It is not a journal entry.

    Example:
        entry = sdk.journal.create("Tiles arrived")
        print(sdk.journal.get(entry.id).text)
    """
    return get_item("journal", entry)


@explain_misuse
def create(text: str, at: str | datetime = "", idempotency_key: str = "") -> Entry:
    """Add one line to the journal: what happened.

    For longer texts use sdk.notes.create.

    Args:
        text: One line, 1 to 2,000 characters.
        at: When it happened: 2026-05-31T15:00, 2026-05-31, yesterday 9:00, or a datetime; now if left out. A day
            without a time is now if it is today, else its noon.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new entry.

    Raises:
        InvalidInputError: The text is empty or too long, or `at` is no date, or a day in words that is to come.
        ConflictError: The key was used for another call.

    Example:
        entry = sdk.journal.create("Called the tile shop", at="2026-05-19T15:00")
        print(entry.id)
    """
    return wire.call("journal.create", text=text, at=at, idempotency_key=idempotency_key or None)


@explain_misuse
def update(entry: str | Entry, text: str = UNSET, at: str | datetime = UNSET) -> Entry:
    """Change the text or the time of a journal entry.

    Args:
        entry: Its id or its row.
        text: One line, 1 to 2,000 characters.
        at: When it happened, such as 2026-05-31T15:00, as for sdk.journal.create.

    Returns:
        The entry as it is now.

    Raises:
        NotFoundError: There is no such entry.
        InvalidInputError: The text is empty or too long, `at` is no date, or a day in words that is to come, or it is
            not a journal entry.

    Example:
        entry = sdk.journal.create("Tiles arived")
        sdk.journal.update(entry, text="Tiles arrived")
    """
    return wire.call_update("journal.update", _EMPTY, entry=entry, text=text, at=at)


@explain_misuse
def delete(entry: str | Entry) -> Removed:
    """Move a journal entry to the trash.

    Undo brings it back.

    Args:
        entry: Its id or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: There is no such entry.
        InvalidInputError: It is not a journal entry.

    Example:
        entry = sdk.journal.create("Nothing happened")
        sdk.journal.delete(entry)
    """
    return delete_item("journal", entry)
