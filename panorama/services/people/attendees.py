"""Finds the people behind the names of attendees."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from panorama.domain.items.attendees import Attendee, parse_attendees
from panorama.domain.items.item import kind_of, normalize_name
from panorama.domain.items.people import Person
from panorama.services.people.people import People
from panorama.store.backend import Session
from panorama.store.items import lookup, rows
from panorama.store.people.names import list_owners
from panorama.store.sessions import AttendeeFilter


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


class AttendeeResolver:
    """Finds the people whom attendees are, by name, alias, e-mail address or id; creates them only if asked to."""

    def __init__(self, people: People) -> None:
        self._people = people

    def resolve(self, session: Session, names: Iterable[str], *, create_people: bool = False) -> Attendance:
        """Return the attendees as they are stored; those who are not known stay as they were given.

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
            elif not matches and create_people:
                matches = [self._create(attendee)]
            label = attendee.text
            if len(matches) == 1:
                people[matches[0][0]] = None
                label = matches[0][1]
            shown.setdefault(normalize_name(label), label)
        hint = f"{', '.join(ambiguous)}: give the full name, an e-mail address or the id." if ambiguous else ""
        return Attendance(tuple(shown.values()), tuple(people), hint)

    def find(self, session: Session, name: str) -> AttendeeFilter:
        """Return the filter for the attendee whom a name means; one who is not known is found as the name is stored."""
        found = self.resolve(session, [name])
        if found.people:
            return describe_person(session, rows.load(session, "person", found.people[0]))
        return AttendeeFilter("", found.attendees)

    def _create(self, attendee: Attendee) -> tuple[str, str]:
        person = self._people.create(attendee.name, email=attendee.email).value
        return person.id, person.label


def describe_person(session: Session, person: Person) -> AttendeeFilter:
    """Return the filter for a person as attendee."""
    known = {normalize_name(name): name for name in (person.label, *person.list_other_names())}
    owners = list_owners(session, known)
    return AttendeeFilter(person.id, [name for key, name in known.items() if owners.get(key) == person.id])


def _find_people(session: Session, attendee: Attendee) -> list[tuple[str, str]]:
    """Return the people, as (id, full name), that the first text names that names any; an id names one, too."""
    for name in attendee.names:
        if kind_of(name) == "person" and (known := lookup.get_labels(session, [("person", name)])):
            return [(id_, label) for _, id_, label in known.values()]
        if matches := lookup.list_exact(session, ["person"], normalize_name(name)):
            return [(id_, label) for _, id_, label in matches]
    return []
