"""Reminders: times at which the user is notified."""

from __future__ import annotations

import builtins
from datetime import datetime

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Alert, Item, Reminder, Removed
from panorama.sdk.core.unset import UNSET

_EMPTY = {"reminder": None, "recurrence": "", "snoozed_until": "", "item": ""}
"""The value that clears each field in an update; sent for None."""

__all__ = ("acknowledge", "create", "delete", "get", "list", "snooze", "update", "waiting")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    enabled: bool | None = None, item: str | Item | None = None, limit: int | None = None
) -> builtins.list[Reminder]:
    """List reminders, the earliest first.

    Args:
        enabled: Only those that are switched on, or off.
        item: Only those about this item: its id, its name, or its row.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, title, at, recurrence, zone, snoozed_until, enabled and item (an id).

    Raises:
        NotFoundError: No item has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: `limit` is below 1.

    Example:
        for reminder in sdk.reminders.list(enabled=True):
            print(reminder.at, reminder.title)
    """
    return wire.list_rows("reminders.list", limit, enabled=enabled, item=item, detail="full")


@explain_misuse
def get(reminder: str | Reminder) -> Reminder:
    """Show one reminder.

    Args:
        reminder: Its id, its title, or its row.

    Returns:
        The reminder with all its fields.

    Raises:
        NotFoundError: No reminder has this name; `candidates` are the nearest.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a reminder.

    Example:
        sdk.reminders.create("Feed the sourdough", at="2026-05-31T09:00")
        print(sdk.reminders.get("Feed the sourdough").at)
    """
    return get_item("reminder", reminder)


@explain_misuse
def create(
    title: str,
    at: str | datetime,
    recurrence: str = "",
    item: str | Item | None = None,
    idempotency_key: str = "",
) -> Reminder:
    """Set a reminder for a time, once or recurring.

    For work with a deadline use sdk.tasks.create.

    Args:
        title: One line, 1 to 200 characters.
        at: A moment: 2026-05-31T15:00 (the person's zone), 2026-05-31T15:00+02:00, tomorrow 9:00, +2h, or a datetime.
        recurrence: Such as "every friday", or an RFC 5545 rule, daily or slower.
        item: The item it is about: its id, name or row.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new reminder.

    Raises:
        InvalidInputError: `at` is a day without a time, the title is empty, or `recurrence` is not such a rule.
        NotFoundError: No item has this name.
        ConflictError: Several items have this name, or the key was used for another call.

    Example:
        task = sdk.tasks.get("Decide the grout colour")
        reminder = sdk.reminders.create("Grout!", at="2026-05-31T15:00", item=task)
        print(reminder.id)
    """
    return wire.call(
        "reminders.create", title=title, at=at, recurrence=recurrence, item=item,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    reminder: str | Reminder,
    title: str = UNSET,
    at: str | datetime = UNSET,
    recurrence: str | None = UNSET,
    snoozed_until: str | datetime | None = UNSET,
    enabled: bool = UNSET,
    item: str | Item | None = UNSET,
) -> Reminder:
    """Change, snooze or switch off a reminder.

    Fields left out do not change; None or "" clears.

    Args:
        reminder: Its id, its title, or its row.
        title: One line, 1 to 200 characters.
        at: A moment: 2026-05-31T15:00, tomorrow 9:00, +2h, or a datetime.
        recurrence: Such as "every friday", or an RFC 5545 rule, daily or slower.
        snoozed_until: A moment: 2026-05-31T15:00, tomorrow 9:00, +2h, or a datetime.
        enabled: False switches it off.
        item: The item it is about: its id, name or row.

    Returns:
        The reminder as it is now.

    Raises:
        NotFoundError: No reminder or item has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: A moment is a day without a time, the title is empty, or it is not a reminder.

    Example:
        reminder = sdk.reminders.create("Call Petra", at="2026-05-31T09:00")
        sdk.reminders.update(reminder, snoozed_until="2026-05-31T11:00")
    """
    return wire.call_update(
        "reminders.update", _EMPTY, reminder=reminder, title=title, at=at, recurrence=recurrence,
        snoozed_until=snoozed_until, enabled=enabled, item=item,
    )  # fmt: skip


@explain_misuse
def waiting(limit: int | None = None) -> builtins.list[Alert]:
    """List unacknowledged reminders, the last fired first.

    Args:
        limit: The most rows; all if left out.

    Returns:
        Rows with id, reminder (an id), title, at, rung_at, late, missed, rings and item (an id).

    Raises:
        InvalidInputError: `limit` is below 1.

    Example:
        for alert in sdk.reminders.waiting():
            print(alert.title, alert.at, alert.late)
    """
    return wire.list_rows("reminders.waiting", limit)


@explain_misuse
def snooze(reminder: str | Reminder, until: str | datetime = "10m") -> Reminder:
    """Snooze a reminder that rang: it rings again later.

    Args:
        reminder: Its id, its title, or its row.
        until: Span, as 10m, 2h or 1d, or moment, as 2026-05-31T15:00 or a datetime.

    Returns:
        The reminder as it is now; `snoozed_until` is when it rings.

    Raises:
        NotFoundError: No reminder has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: The moment has passed or has another form, or it is not a reminder.

    Example:
        reminder = sdk.reminders.create("Call Petra", at="2026-05-31T09:00")
        sdk.reminders.snooze(reminder, until="2h")
    """
    return wire.call("reminders.snooze", reminder=reminder, until=until)


@explain_misuse
def acknowledge(reminder: str | Reminder) -> Reminder:
    """Acknowledge a fired reminder; it rings again only at its next occurrence.

    Args:
        reminder: Its id, its title, or its row.

    Returns:
        The reminder as it is now.

    Raises:
        NotFoundError: No reminder has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a reminder.

    Example:
        for alert in sdk.reminders.waiting():
            sdk.reminders.acknowledge(alert.reminder)
    """
    return wire.call("reminders.acknowledge", reminder=reminder)


@explain_misuse
def delete(reminder: str | Reminder) -> Removed:
    """Move a reminder to the trash.

    Undo brings it back.

    Args:
        reminder: Its id, its title, or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No reminder has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a reminder.

    Example:
        reminder = sdk.reminders.create("Nothing", at="2026-05-31T09:00")
        sdk.reminders.delete(reminder)
    """
    return delete_item("reminder", reminder)
