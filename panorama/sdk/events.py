"""Events: what takes place at a time, once or again and again."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import date, datetime

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Event, EventStatus, Occurrence, Removed
from panorama.sdk.core.unset import UNSET

_EMPTY = {
    "event": None, "title": None, "starts_at": None, "ends_at": "", "location": "", "attendees": (), "calendar": "",
    "recurrence": "", "status": None, "create_people": None,
}  # fmt: skip
"""The value that clears each field in an update; sent for None."""

__all__ = ("create", "delete", "get", "list", "update")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    day: str | date = "",
    since: str | date = "",
    until: str | date = "",
    attendee: str = "",
    calendar: str | None = None,
    limit: int | None = None,
) -> builtins.list[Occurrence]:
    """List the calendar: events with their recurrences, and meetings; 7 days by default.

    Args:
        day: One day: 2026-05-31, friday, or a date.
        since: First day: 2026-05-31, monday, or a date; today if left out.
        until: Last day: 2026-05-31, +30d, or a date; the period has at most 366 days.
        attendee: Only with this person: a name, an alias, or an e-mail address.
        calendar: Only events of this calendar.
        limit: The most rows; all if left out.

    Returns:
        Rows in order of time, one for each occurrence; `kind` is "event" or "session".

    Raises:
        InvalidInputError: A day is none, the period is longer than 366 days, or `limit` is below 1.

    Example:
        for entry in sdk.events.list(day="friday"):
            print(entry.starts_at, entry.title, entry.attendees)
    """
    return wire.list_rows(
        "events.list", limit, day=day, since=since, until=until, attendee=attendee, calendar=calendar, detail="full"
    )


@explain_misuse
def get(event: str | Event) -> Event:
    """Show one event.

    Args:
        event: Its id, its title, or its row.

    Returns:
        The event with all its fields.

    Raises:
        NotFoundError: No event has this name; `candidates` are the nearest.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not an event.

    Example:
        event = sdk.events.create("Tiler comes", "2026-05-29T09:00")
        print(sdk.events.get(event).ends_at)
    """
    return get_item("event", event)


@explain_misuse
def create(
    title: str,
    starts_at: str | date | datetime,
    ends_at: str | date | datetime = "",
    location: str = "",
    attendees: Sequence[str] = (),
    calendar: str = "",
    recurrence: str = "",
    status: EventStatus = "confirmed",
    create_people: bool = False,
    idempotency_key: str = "",
) -> Event:
    """Create an event in the calendar: an appointment, a future meeting, a holiday.

    Args:
        title: One line, 1 to 200 characters.
        starts_at: A moment (2026-05-31T15:00, friday 3pm), or a day (2026-05-31) for an all-day event.
        ends_at: A moment (2026-05-31T16:00, 16:00, +2h), one hour later if left out; or the last day.
        location: One line.
        attendees: Names or e-mail addresses.
        calendar: The name of a calendar, such as work.
        recurrence: Such as every friday, or an RFC 5545 rule.
        status: "confirmed", "tentative" or "cancelled".
        create_people: Create a person for each unknown attendee.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new event.

    Raises:
        InvalidInputError: The title is empty, a time is none, or it ends before it begins.
        ConflictError: The key was used for another call.

    Example:
        sdk.events.create("Tiler comes", "2026-05-29T09:00", ends_at="12:00", attendees=["Ben"])
        sdk.events.create("Holiday", "2026-07-06", ends_at="2026-07-17")
    """
    return wire.call(
        "events.create", title=title, starts_at=starts_at, ends_at=ends_at, location=location, attendees=attendees,
        calendar=calendar, recurrence=recurrence, status=status, create_people=create_people,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    event: str | Event,
    title: str = UNSET,
    starts_at: str | date | datetime = UNSET,
    ends_at: str | date | datetime | None = UNSET,
    location: str | None = UNSET,
    attendees: Sequence[str] | None = UNSET,
    calendar: str | None = UNSET,
    recurrence: str | None = UNSET,
    status: EventStatus = UNSET,
    create_people: bool = False,
) -> Event:
    """Change or move an event, with all its recurrences; omitted fields stay, "" or [] clears.

    Args:
        event: Its id, its title, or its row.
        title: One line, 1 to 200 characters.
        starts_at: A moment (2026-05-31T15:00), or a day (2026-05-31); alone it moves the event, which keeps its length.
        ends_at: A moment (2026-05-31T16:00, 16:00, +2h), or the last day.
        location: One line.
        attendees: All its attendees; they replace those it had.
        calendar: The name of a calendar.
        recurrence: Such as every friday, or an RFC 5545 rule.
        status: "confirmed", "tentative" or "cancelled".
        create_people: Create a person for each unknown attendee.

    Returns:
        The event as it is now.

    Raises:
        NotFoundError: No event has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: A time is none, it ends before it begins, or it is not an event.

    Example:
        event = sdk.events.create("Tiler comes", "2026-05-29T09:00")
        sdk.events.update(event, starts_at="2026-05-30T10:00", status="tentative")
    """
    return wire.call_update(
        "events.update", _EMPTY, event=event, title=title, starts_at=starts_at, ends_at=ends_at, location=location,
        attendees=attendees, calendar=calendar, recurrence=recurrence, status=status, create_people=create_people,
    )  # fmt: skip


@explain_misuse
def delete(event: str | Event) -> Removed:
    """Move an event to the trash.

    Undo brings it back.

    Args:
        event: Its id, its title, or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No event has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not an event.

    Example:
        event = sdk.events.create("Cancelled call", "2026-05-29T09:00")
        sdk.events.delete(event)
    """
    return delete_item("event", event)
