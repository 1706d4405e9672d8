"""Finds the people behind the names of attendees."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache
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

    def has_name(self, attendee: Attendee) -> bool:
        """Return whether an attendee is stored under this name, and some of the attendees are known."""
        return bool(self.people) and normalize_name(attendee.text) in map(normalize_name, self.attendees)


class AttendeeResolver:
    """Finds the people whom attendees are, by name, alias, e-mail address or id; creates them only if asked to."""

    def __init__(self, people: People) -> None:
        self._people = people

    def resolve(
        self, session: Session, names: Iterable[str], *, create_people: bool = False, before: Attendance | None = None
    ) -> Attendance:
        """Return the attendees as they are stored; those who are not known stay as they were given.

        Args:
            before: The attendees that the item has. A stored name that several people have, or nobody any more, still
                means the same people; if one of several names that nobody has is left out, all of them mean nobody.

        Raises:
            InvalidInputError: A name is too long, or there are more than 500.
        """
        before = before or Attendance()
        attendees = list(parse_attendees(names))
        given = {normalize_name(attendee.text) for attendee in attendees}
        find_unnamed = cache(lambda: _list_unnamed(session, before, given))
        list_uniquely_named = cache(lambda: _list_uniquely_named(session, before))
        shown: dict[tuple[str, str], str] = {}
        people: dict[str, None] = {}
        ambiguous: list[str] = []
        for attendee in attendees:
            matches = _find_people(session, attendee)
            if len(matches) > 1:
                named = list_uniquely_named() if before.has_name(attendee) else frozenset[str]()
                attending = [match for match in matches if match[0] in before.people and match[0] not in named]
                if not attending:
                    ambiguous.append(f"“{attendee.text}” is the name of {len(matches)} people")
                matches = attending
            elif not matches and before.has_name(attendee) and find_unnamed():
                people |= dict.fromkeys(find_unnamed())
            elif not matches and create_people:
                matches = [self._create(attendee)]
            for id_, label in matches or [("", attendee.text)]:
                people |= {id_: None} if id_ else {}
                shown.setdefault((normalize_name(label), id_), label)
        hint = f"{', '.join(ambiguous)}: give an e-mail address or the id." if ambiguous else ""
        return Attendance(_disambiguate(session, shown), tuple(people), hint)

    def find(self, session: Session, name: str) -> AttendeeFilter:
        """Return the filter for the attendees whom a name means; one who is not known is found as it is stored."""
        filters = [
            describe_person(session, rows.load(session, "person", id_))
            for attendee in parse_attendees([name])
            for id_, _ in _find_people(session, attendee)
        ]
        names = [known for found in filters for known in found.names]
        people = [id_ for found in filters for id_ in found.people]
        texts = self.resolve(session, [name]).attendees if len(people) != 1 else ()
        return AttendeeFilter(people, [*names, *texts])

    def _create(self, attendee: Attendee) -> tuple[str, str]:
        person = self._people.create(attendee.name, email=attendee.email).value
        return person.id, person.label


def describe_person(session: Session, person: Person) -> AttendeeFilter:
    """Return the filter for a person as attendee."""
    known = {normalize_name(name): name for name in (person.label, *person.list_other_names())}
    owners = list_owners(session, known)
    return AttendeeFilter([person.id], [name for key, name in known.items() if owners.get(key) == person.id])


def _find_people(session: Session, attendee: Attendee) -> list[tuple[str, str]]:
    """Return the people, as (id, full name), that the first text names that names any; an id names one, too."""
    for name in attendee.names:
        if kind_of(name) == "person" and (known := lookup.get_labels(session, [("person", name)])):
            return [(id_, label) for _, id_, label in known.values()]
        if matches := lookup.list_exact(session, ["person"], normalize_name(name)):
            return [(id_, label) for _, id_, label in matches]
    return []


def _list_unnamed(session: Session, before: Attendance, given: Set[str]) -> list[str]:
    """Return the people of an item whom none of its attendees names any more: renamed ones, or in the trash.

    It is unknown which of them a name without a person means, so there are none unless all such names are given.
    """
    named: set[str] = set()
    for attendee in parse_attendees(before.attendees):
        matches = _find_people(session, attendee)
        if not matches and normalize_name(attendee.text) not in given:
            return []
        named |= {id_ for id_, _ in matches}
    return [id_ for id_ in before.people if id_ not in named]


def _list_uniquely_named(session: Session, before: Attendance) -> Set[str]:
    """Return the people who are the only match of one of an item's attendees.

    An ambiguous name in the same item does not mean them.
    """
    found = (_find_people(session, attendee) for attendee in parse_attendees(before.attendees))
    return {matches[0][0] for matches in found if len(matches) == 1}


def _disambiguate(session: Session, shown: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    """Return the names of attendees, those of several people of one name with the e-mail address or id."""
    counts = Counter(key for key, _ in shown)
    texts: dict[str, None] = {}
    for (key, id_), label in shown.items():
        email = rows.load(session, "person", id_).email if counts[key] > 1 and id_ else ""
        texts[f"{label} <{email}>" if email else label if counts[key] == 1 or not id_ else id_] = None
    return tuple(texts)
