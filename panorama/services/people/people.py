"""Operations on people."""

from collections.abc import Sequence
from typing import Any

from panorama.domain.items.item import (
    normalize_aliases,
    normalize_name,
    single_line,
    single_line_or_empty,
    validate_text,
)
from panorama.domain.items.people import SELF_ALIAS, Person, merge_fields, parse_birthday, parse_email
from panorama.domain.items.references import PersonRef, TeamRef
from panorama.domain.markdown.wiki_links import rename_links
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.text.wording import pluralize
from panorama.domain.time import times
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.base import LargeCall, Service, ServiceContext, drop_none
from panorama.services.graph.link_renames import LinkRenames
from panorama.services.jobs.portions import MAX_BATCH, apply_in_portions, is_large_unit
from panorama.services.search.hints import join_hints
from panorama.store.backend import Session
from panorama.store.items import listing, lookup, rows
from panorama.store.people import people

PHONE_CHARS = 60
MAX_NAMED = 3
"""The maximum number of people of the same name that a hint lists."""


class People(Service):
    """People: who the user knows, and how to reach them."""

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self._renames = LinkRenames(context)

    def list(self, page: PageRequest, team: TeamRef | None = None, manager: PersonRef | None = None) -> Page[Person]:
        """List people by name.

        To find one by other words use search; a person is named by id, full name, alias or e-mail address.

        Args:
            team: Its members.
            manager: Those who report to this person.
        """
        with self._reading() as session:
            return listing.list_items(
                session, "person", page, order=("key",), team=team or None, manager=manager or None
            )

    def create(
        self,
        name: str,
        last_name: str = "",
        aliases: tuple[str, ...] = (),
        role: str = "",
        email: str = "",
        phone: str = "",
        birthday: str = "",
        team: TeamRef | None = None,
        manager: PersonRef | None = None,
        notes: str = "",
        left_at: str = "",
    ) -> Result[Person]:
        """Create a person: a contact, colleague, friend.

        Check list_people or search first: the user may mean an existing person.

        Args:
            name: First name, or the full name.
            aliases: Other names; "me" marks the user.
            birthday: Such as 1990-05-12, or 12 May.
            notes: Markdown.
            left_at: Day on which the person left.
        """
        with self._writing() as session:
            values = self._validate_fields(
                name=name, last_name=last_name, aliases=aliases, role=role, email=email, phone=phone,
                birthday=birthday, notes=notes, left_at=left_at,
            )  # fmt: skip
            person = Person(
                **self._new_item_fields("person", self._now()),
                **values,
                team=team or None,
                manager=manager or None,
            )
            _check_self_alias(session, person)
            hint = _namesakes_hint(session, person)
            rows.add(session, person)
            return Result(person, hint=hint)

    def update(
        self,
        person: PersonRef,
        name: str | None = None,
        last_name: str | None = None,
        aliases: tuple[str, ...] | None = None,
        role: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        birthday: str | None = None,
        team: TeamRef | None = None,
        manager: PersonRef | None = None,
        notes: str | None = None,
        left_at: str | None = None,
    ) -> Result[Person]:
        """Change fields of a person.

        Omitted fields stay; "" or [] clears. To remove someone use delete_item; for a duplicate merge_person.

        Args:
            aliases: All of them.

        Raises:
            InvalidInputError: The manager reports to the person.
        """
        values = self._validate_fields(
            name=name, last_name=last_name, aliases=aliases, role=role, email=email, phone=phone,
            birthday=birthday, notes=notes, left_at=left_at,
        )  # fmt: skip
        renamed = ""
        if not values.keys().isdisjoint({"name", "last_name"}):
            with self._reading() as session:
                old: Person = rows.load(session, "person", person)
            renamed = self._renames.rename(old, old.with_changes(self._now(), **values).label)
        with self._writing() as session:
            old = rows.load(session, "person", person)
            if team is not None:
                values["team"] = team or None
            if manager is not None:
                _check_manager(session, person, manager)
                values["manager"] = manager or None
            new = old.with_changes(self._now(), **values)
            _check_self_alias(session, new)
            hint = join_hints(renamed, _namesakes_hint(session, new, old))
            rows.save(session, old, new)
            return Result(new, hint=hint, wrote=new is not old)

    def merge(self, person: PersonRef, into: PersonRef) -> Result[Person]:
        """Merge a duplicate into another person: names, fields and everything that refers to it; one undo.

        The other keeps its own fields; the duplicate goes to the trash.

        Args:
            person: The duplicate.
            into: The person who stays.

        Raises:
            InvalidInputError: They are the same, or one reports to the other through a third person.
        """
        if person == into:
            raise InvalidInputError("A person cannot be merged into itself.", hint="Name two different people.")
        now, moved = self._now(), set[str]()

        def move(session: Session, items: Sequence[str]) -> None:
            moved.update(people.move_references(session, items, person, into, now))
            moved.update(self._renames.rewrite_links(session, items, frozenset({person}), into))

        with self._reading() as session:
            self._merge_fields(session, person, into)
            referring = people.list_referring(session, person)
            sizes = listing.measure_texts(session, referring)
            is_large = session.origin is None and is_large_unit(len(referring), sum(sizes.values()))
        if is_large:  # the people are last, so that an interrupted merge can be repeated
            apply_in_portions(self._writing, referring, move, "moving references", lambda id_: sizes.get(id_, 0))
        with self._writing() as session:
            duplicate, kept, values = self._merge_fields(session, person, into)
            late = [id_ for id_ in people.list_referring(session, person) if id_ != person]
            rows.save(session, duplicate, duplicate.with_changes(now, deleted_at=now))
            rows.save(session, kept, kept.with_changes(now, **values))
            for start in range(0, len(late), MAX_BATCH):
                move(session, late[start : start + MAX_BATCH])
            current: Person = rows.load(session, "person", into)
            referring_items = pluralize(len(moved - {into}), "item refers", "items refer")
            return Result(current, hint=f"{referring_items} to “{current.label}” now." if moved - {into} else "")

    def split_merge(self, person: PersonRef, into: PersonRef) -> LargeCall | None:
        """Return a merge that changes too many items for one transaction; None for any other."""
        with self._reading() as session:
            referring = people.list_referring(session, person)
            chars = sum(listing.measure_texts(session, referring).values())
        if not is_large_unit(len(referring), chars):
            return None
        return LargeCall({"person": person, "into": into}, is_long=False)

    def _merge_fields(self, session: Session, person: str, into: str) -> tuple[Person, Person, dict[str, Any]]:
        """Return the duplicate, the person who stays, and the new fields of the latter.

        Raises:
            InvalidInputError: One reports to the other through a third person, or the fields are too long together.
        """
        duplicate: Person = rows.load(session, "person", person)
        kept: Person = rows.load(session, "person", into)
        values: dict[str, Any] = {**merge_fields(kept, duplicate), **_merged_manager(kept, duplicate)}
        values["aliases"] = normalize_aliases(values["aliases"])
        notes, _ = rename_links(values["notes"], frozenset({person}), into)
        values["notes"] = validate_text(notes, "notes")
        manager = values["manager"]
        if manager and not {person, into}.isdisjoint(people.list_managers(session, manager)):
            raise _circular_error()
        return duplicate, kept, values

    def _validate_fields(self, **fields: Any) -> dict[str, Any]:
        values = drop_none(**fields)
        zone, now = self._context.zone, self._now()
        if "name" in values:
            values["name"] = single_line(values["name"], "name")
        for field, limit in (("last_name", 200), ("role", 200), ("phone", PHONE_CHARS)):
            if field in values:
                values[field] = single_line_or_empty(values[field], field, limit=limit)
        if "aliases" in values:
            values["aliases"] = normalize_aliases(values["aliases"])
        if "email" in values:
            values["email"] = parse_email(values["email"])
        if "birthday" in values:
            values["birthday"] = parse_birthday(values["birthday"], now=now, zone=zone)
        if "notes" in values:
            values["notes"] = validate_text(values["notes"], "notes")
        if "left_at" in values:
            day = values["left_at"]
            values["left_at"] = times.parse_date(day, "left_at", now=now, zone=zone) if day.strip() else None
        return values


def _check_manager(session: Session, person: str, manager: str) -> None:
    if not manager:
        return
    if person == manager:
        raise InvalidInputError("A person cannot report to themselves.", hint="Choose another manager.")
    if person in people.list_managers(session, manager):
        raise _circular_error()


def _circular_error() -> InvalidInputError:
    return InvalidInputError(
        "The manager reports to this person, directly or through others.", hint="Choose another manager."
    )


def _check_self_alias(session: Session, person: Person) -> None:
    if SELF_ALIAS not in map(normalize_name, person.list_other_names()):
        return
    for _, id_, label in lookup.list_exact(session, ["person"], SELF_ALIAS):
        if id_ != person.id:
            raise ConflictError(
                f"“{label}” ({id_}) has the alias “{SELF_ALIAS}” already.",
                hint="Only one person is the user: change the aliases of that one first, or use merge_person.",
                candidates=[{"id": id_, "name": label}],
            )


def _namesakes_hint(session: Session, person: Person, before: Person | None = None) -> str:
    """Return a hint on others with a name or e-mail address that a person has now, "" if there are none."""
    keys = _list_keys(person) - (_list_keys(before) if before else frozenset())
    others = (found for key in sorted(keys) for found in lookup.list_exact(session, ["person"], key))
    known = {id_: label for _, id_, label in others if id_ != person.id}
    named = ", ".join(f"{id_} “{label}”" for id_, label in list(known.items())[:MAX_NAMED])
    return f"Possible duplicate: {named}. If it is the same person, use merge_person." if named else ""


def _list_keys(person: Person) -> frozenset[str]:
    """Return the names and the e-mail address of a person as they are looked up."""
    return frozenset(map(normalize_name, (person.label, *person.list_other_names())))


def _merged_manager(kept: Person, duplicate: Person) -> dict[str, str | None]:
    """Return the manager after a merge, if one of the two was that of the other."""
    manager = duplicate.manager if kept.manager in (None, duplicate.id) else kept.manager
    return {"manager": None if manager == kept.id else manager}
