"""Finds the people whom attendees are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from panorama.domain.items.attendees import Attendee, parse_attendees
from panorama.domain.items.item import normalize_name
from panorama.store.backend import Session
from panorama.store.items import lookup

CreatePerson = Callable[[Attendee], tuple[str, str]]
"""Creates a person and returns their id and full name."""


@dataclass(frozen=True, slots=True)
class Attendance:
    """Attendees as they are stored, the ids of those who are known, and a hint on those whose name is not unique."""

    attendees: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    hint: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of an item."""
        return {"attendees": self.attendees, "people": self.people}


def resolve_attendees(session: Session, names: Iterable[str], create: CreatePerson | None = None) -> Attendance:
    """Find people by name, alias or e-mail address; those who are not known stay as they were given.

    Args:
        create: Creates the people who are not known; without it none is created.

    Raises:
        InvalidInputError: A name is too long, or there are more than 500.
    """
    shown: dict[str, str] = {}
    people: dict[str, None] = {}
    ambiguous: list[str] = []
    for attendee in parse_attendees(names):
        matches = _find_people(session, attendee)
        if len(matches) > 1:
            ambiguous.append(f"“{attendee.text}” is the name of {len(matches)} people")
        elif not matches and create:
            matches = [create(attendee)]
        label = attendee.text
        if len(matches) == 1:
            people[matches[0][0]] = None
            label = matches[0][1]
        shown.setdefault(normalize_name(label), label)
    hint = f"{', '.join(ambiguous)}: give an e-mail address or the full name." if ambiguous else ""
    return Attendance(tuple(shown.values()), tuple(people), hint)


def _find_people(session: Session, attendee: Attendee) -> list[tuple[str, str]]:
    """Return the people, as (id, full name), that the first text names that names any."""
    for name in attendee.names:
        if matches := lookup.list_exact(session, ["person"], normalize_name(name)):
            return [(id_, label) for _, id_, label in matches]
    return []


def describe_attendee(session: Session, name: str) -> tuple[str, str]:
    """Return the id of the person whom a name means, "" if it is not known, and the name as it is stored."""
    found = resolve_attendees(session, [name])
    return (found.people or ("",))[0], (found.attendees or ("",))[0]
