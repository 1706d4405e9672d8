"""Finds mentions: items that name a person in their text without a link to them.

They are found when they are asked for, and not stored. The words of a name are looked up in the index of words, and
each text that has them is compared letter by letter.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from panorama.domain.items.events import Event
from panorama.domain.items.item import Item, normalize_name
from panorama.domain.items.people import Person
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.markdown.mentions import (
    Mention,
    find_mention,
    is_distinctive,
    iter_possible_names,
    list_names,
    prepare_text,
)
from panorama.domain.markdown.wiki_links import extract_sentence
from panorama.domain.text.tokens import Term, parse_terms
from panorama.store import session_lines
from panorama.store.backend import Session
from panorama.store.items import rows, search
from panorama.store.people import names
from panorama.store.read_limit import check_limit

MAX_COMPARED = 200
"""The maximum number of texts with the words of a name that are compared, the last written ones."""

MAX_READ_CHARS = 20_000
"""How much of a text is read for the names of people."""

LOADED_TOGETHER = 8
"""How many texts are read at a time: each may have 10 MB."""

_WITHOUT_MENTIONS = frozenset({"person", "team", "relation", "file"})


@dataclass(frozen=True, slots=True)
class MentioningItem:
    """An item that names a person, or a person who is named, and the sentence with the name."""

    item: Item
    why: str


def list_mentioning(
    session: Session, person: Person, limit: int, *, known: Collection[str] = (), with_attendees: bool = True
) -> tuple[list[MentioningItem], bool]:
    """Return the items that name a person, the last written first, and whether there may be more.

    Args:
        known: Ids of items that are left out.
        with_attendees: Whether a person is also named by the list of attendees.
    """
    keys = {normalize_name(name): name for name in list_names(person)}
    owners = names.list_owners(session, keys)
    own = [name for key, name in keys.items() if owners.get(key) == person.id]
    terms = [Term(term.words, quoted=True) for name in own for term in parse_terms(f'"{name}"')]
    if not terms:
        return [], False
    query = session.full_text.build_expression(terms, every=False)
    matches = session.full_text.search_expression(session, query, limit=MAX_COMPARED, reach=MAX_COMPARED)
    newest = sorted(matches, key=lambda match: -match.part)
    ids = [match.item for match in newest if match.kind and match.kind not in _WITHOUT_MENTIONS]
    left = [id_ for id_ in dict.fromkeys(ids) if id_ not in known]
    found = list(islice(_iter_mentioning(session, left, own, with_attendees), limit + 1))
    return found[:limit], len(found) > limit or len(matches) == MAX_COMPARED


def _iter_mentioning(
    session: Session, ids: Sequence[str], own: Sequence[str], with_attendees: bool
) -> Iterator[MentioningItem]:
    """Yield those of some items that have one of a person's names in their text."""
    for start in range(0, len(ids), LOADED_TOGETHER):
        part = ids[start : start + LOADED_TOGETHER]
        items = search.load_items(session, part)
        for item in (items[id_] for id_ in part if id_ in items):
            if why := _find_sentence(session, item, own, with_attendees):
                yield MentioningItem(item, why)


def _find_sentence(session: Session, item: Item, own: Sequence[str], with_attendees: bool) -> str:
    """Return the sentence in which an item has one of some names, "" if it has none."""
    attendees = _join_attendees(item) if with_attendees else ""
    for text in chain((attendees,), _iter_texts(session, item, own)):
        check_limit()
        prepared = prepare_text(text, check_limit)
        if mention := find_mention(prepared, own):
            return _quote(prepared, mention)
    return ""


def _iter_texts(session: Session, item: Item, own: Sequence[str]) -> Iterator[str]:
    """Yield the texts of an item that may have one of some names; of a session, lines with the letters of one."""
    yield item.label
    yield item.linked_text()
    if isinstance(item, LoggedSession) and item.has_rows:
        yield from session_lines.iter_texts_like(session, item.id, own)


def _join_attendees(item: Item) -> str:
    """Return the names of those who attend; someone who was not known when they were added is only named there."""
    return ", ".join(item.attendees) if isinstance(item, Event | LoggedSession) else ""


def _quote(prepared: str, mention: Mention) -> str:
    return extract_sentence(prepared, mention.start)


def list_mentioned(session: Session, item: Item, limit: int, *, known: Collection[str] = ()) -> list[MentioningItem]:
    """Return the people whom an item names in the beginning of its text.

    Args:
        known: Ids of people who are left out.
    """
    if item.KIND in _WITHOUT_MENTIONS or not names.has_people(session):
        return []
    prepared = prepare_text(_read_beginning(session, item))
    possible = {name for name in iter_possible_names(prepared) if is_distinctive(name)}
    owners = names.list_owners(session, possible)
    people = [id_ for id_ in dict.fromkeys(owners[key] for key in sorted(owners)) if id_ not in known]
    found: list[tuple[int, MentioningItem]] = []
    for person in search.load_items(session, people).values():
        own = [name for name in list_names(person) if owners.get(normalize_name(name)) == person.id]
        if mention := find_mention(prepared, own):
            found.append((mention.start, MentioningItem(person, _quote(prepared, mention))))
    return [mentioned for _, mentioned in sorted(found, key=lambda pair: pair[0])][:limit]


def _read_beginning(session: Session, item: Item) -> str:
    """Return the title and the beginning of an item's text, of a session with its lines."""
    blocks: Sequence[str] = ()
    if isinstance(item, LoggedSession) and item.has_rows:
        blocks = rows.read_rows(session, item, MAX_READ_CHARS).search_parts()[1:]
    return "\n".join((item.label, item.linked_text()[:MAX_READ_CHARS], _join_attendees(item), *blocks))
