"""People: who the user knows, and how to reach them."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Person, PersonDashboard, Removed, Team
from panorama.sdk.core.unset import UNSET

_EMPTY = {
    "person": None, "name": None, "last_name": "", "aliases": (), "role": "", "email": "", "phone": "", "birthday": "",
    "team": "", "manager": "", "notes": "", "left_at": "",
}  # fmt: skip
"""The value that clears each field in an update; None is refused for the others."""

__all__ = ("create", "dashboard", "delete", "get", "list", "merge", "update")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    team: str | Team | None = None, manager: str | Person | None = None, limit: int | None = None
) -> builtins.list[Person]:
    """List people by name.

    Args:
        team: Only its members: its id, its name, or its row.
        manager: Only those who report to this person: id, name, or row.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, full_name, name, last_name, aliases, role, email, phone, birthday, team and manager (ids), notes,
        left_at, created_at.

    Raises:
        NotFoundError: No team or person has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: `limit` is below 1.

    Example:
        print([person.full_name for person in sdk.people.list()])
    """
    return wire.list_rows("people.list", limit, team=team, manager=manager, detail="full")


@explain_misuse
def get(person: str | Person) -> Person:
    """Show one person.

    Args:
        person: Id, full name, alias, e-mail address or row; "me" is the user.

    Returns:
        The person with all fields.

    Raises:
        NotFoundError: No person has this name; `candidates` are the closest.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a person.

    Example:
        sdk.people.create("Ana", last_name="Kovač", aliases=["Anka"])
        print(sdk.people.get("Anka").full_name)
    """
    return get_item("person", person)


@explain_misuse
def dashboard(person: str | Person) -> PersonDashboard:
    """Show everything about one person.

    Args:
        person: Id, full name, alias, e-mail address or row; "me" is the user.

    Returns:
        `person`, `next_birthday` and `turns` (the age reached then), and the first rows of `assigned` (open tasks, of
        which `waiting` wait for somebody else), `waited_for` (open tasks that wait for the person), `sessions` (the
        last), `events` (the next) and `mentions` (id, kind, title, why); `more` counts those left out.

    Raises:
        NotFoundError: No person has this name; `candidates` are the closest.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a person.

    Example:
        sdk.people.create("Ana", last_name="Kovač")
        board = sdk.people.dashboard("Ana Kovač")
        print(board.next_birthday, [task.title for task in board.assigned])
    """
    return wire.call("people.dashboard", person=person)


@explain_misuse
def create(
    name: str,
    last_name: str = "",
    aliases: Sequence[str] = (),
    role: str = "",
    email: str = "",
    phone: str = "",
    birthday: str = "",
    team: str | Team | None = None,
    manager: str | Person | None = None,
    notes: str = "",
    left_at: str = "",
    idempotency_key: str = "",
) -> Person:
    """Create a person: a contact, colleague, friend.

    Args:
        name: The first name, or the whole name; one line, up to 200 characters.
        last_name: One line, up to 200 characters.
        aliases: Other names, up to 50; "me" marks the user.
        role: One line, up to 200 characters.
        email: An address.
        phone: One line, up to 60 characters.
        birthday: A day, such as 1990-05-12 or 12 May.
        team: Its id, its name, or its row; none if left out.
        manager: Id, name, or row; none if left out.
        notes: Markdown, up to 1,000,000 characters.
        left_at: The day on which the person left.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new person.

    Raises:
        InvalidInputError: The name is empty, a text or the list of aliases is too long, or a date or address is wrong.
        NotFoundError: No team or manager has this name.
        ConflictError: Several have this name, another person is "me", or the key was used for another call.

    Example:
        person = sdk.people.create("Ana", last_name="Kovač", role="Electrician", birthday="1990-05-12")
        print(person.full_name)
    """
    return wire.call(
        "people.create", name=name, last_name=last_name, aliases=aliases, role=role, email=email, phone=phone,
        birthday=birthday, team=team, manager=manager, notes=notes, left_at=left_at,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    person: str | Person,
    name: str = UNSET,
    last_name: str | None = UNSET,
    aliases: Sequence[str] | None = UNSET,
    role: str | None = UNSET,
    email: str | None = UNSET,
    phone: str | None = UNSET,
    birthday: str | None = UNSET,
    team: str | Team | None = UNSET,
    manager: str | Person | None = UNSET,
    notes: str | None = UNSET,
    left_at: str | None = UNSET,
) -> Person:
    """Change fields of a person.

    Fields left out do not change; None, "" or [] clears.

    Args:
        person: Id, full name, alias, e-mail address or row.
        name: One line, 1 to 200 characters.
        last_name: One line, up to 200 characters.
        aliases: All other names; they replace those before.
        role: One line, up to 200 characters.
        email: An address.
        phone: One line, up to 60 characters.
        birthday: A day, such as 1990-05-12 or 12 May.
        team: Its id, its name, or its row.
        manager: Id, name, or row.
        notes: Markdown, up to 1,000,000 characters.
        left_at: The day on which the person left.

    Returns:
        The person with the new fields.

    Raises:
        NotFoundError: No person, team or manager has this name.
        ConflictError: Several have this name; `candidates` lists them. Or another person is "me".
        InvalidInputError: A text is empty or too long, a date or address is wrong, the manager reports to the person,
            or it is not a person.

    Example:
        person = sdk.people.create("Ana")
        sdk.people.update(person, last_name="Kovač", aliases=["Anka"])
    """
    return wire.call_update(
        "people.update", _EMPTY, person=person, name=name, last_name=last_name, aliases=aliases, role=role, email=email,
        phone=phone, birthday=birthday, team=team, manager=manager, notes=notes, left_at=left_at,
    )  # fmt: skip


@explain_misuse
def merge(person: str | Person, into: str | Person) -> Person:
    """Merge a duplicate into another person: names, fields and everything that refers to it; one undo.

    The other keeps its own fields; the duplicate goes to the trash.

    Args:
        person: The duplicate: id, name, or row.
        into: Who stays: id, name, or row.

    Returns:
        The person who stays.

    Raises:
        NotFoundError: No person has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: They are the same, or one reports to the other, also indirectly.

    Example:
        person = sdk.people.create("Ana Kovač")
        duplicate = sdk.people.create("A. Kovač", phone="0151 23456")
        print(sdk.people.merge(duplicate, into=person).phone)
    """
    return wire.call("people.merge", person=person, into=into)


@explain_misuse
def delete(person: str | Person) -> Removed:
    """Move a person to the trash; undo brings them back.

    Args:
        person: Id, full name, alias, e-mail address or row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No person has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a person.

    Example:
        person = sdk.people.create("Ana Kovač")
        sdk.people.delete(person)
    """
    return delete_item("person", person)
