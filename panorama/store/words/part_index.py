"""Which parts of the texts of items an index of words holds, and how long a transaction writes them.

A text of 10 MB is indexed in one to three seconds, for which all other writes would wait. So a transaction writes and
removes parts for a short time only; the others follow in short transactions, before the call is answered (see
`panorama.store.items.long_texts`). Parts that are to be removed have no kind meanwhile, which no search asks for.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import bindparam, select, update

from panorama.domain.changes import digest
from panorama.domain.text.tokens import PART_CHARS, index_text, iter_parts
from panorama.store.backend import ItemText, KnownPart, KnownParts, Session
from panorama.store.tables import search_parts

TITLE_WEIGHT = 4.0
"""The weight of a word in the title relative to the body."""

MAX_WAITING_CHARS = 1 << 15
"""Parts that are written by one statement have so many characters together, or one more part."""

LONG_CHARS = 3 * PART_CHARS
"""Of a longer text only the first part is indexed at once, and none of as many parts is removed at once."""

DELETED_AT_ONCE = 16
"""Parts that are deleted before the next look at the time."""

MAX_INDEX_SECONDS = 0.06
"""After so long a transaction writes and removes no further parts; each takes up to 20 ms."""

HIDDEN_KIND = ""
"""The kind of parts that are to be removed."""

_KNOWN = select(search_parts.c.digest, search_parts.c.id, search_parts.c.kind).where(
    search_parts.c.item == bindparam("item_")
)


class NewPart(NamedTuple):
    """A part to write: its item, kind and name, and the words of the title and of the text."""

    item: str
    kind: str
    name: str
    title: str
    text: str


class PartIndex(ABC):
    """The base of every index of parts; a database adds its statements."""

    PART_CHARS: ClassVar[int] = PART_CHARS
    """The longest text of one part."""

    @abstractmethod
    def ask_known(self, session: Session, items: Sequence[str]) -> KnownParts:
        """Ask for the indexed parts of some items."""

    @abstractmethod
    def insert_parts(self, session: Session, parts: Sequence[NewPart]) -> None:
        """Insert parts that are not indexed yet, at least one."""

    @abstractmethod
    def delete_parts(self, session: Session, ids: Sequence[int]) -> None:
        """Delete some parts and their words."""

    def set_words(
        self, session: Session, texts: Sequence[ItemText], *, known: KnownParts | None = None, new: bool = False
    ) -> None:
        """Make the index hold these words for some items, and only these; parts that did not change are left alone.

        What takes too long for one transaction is left to `sync_parts`; the item is then in `session.long_texts`.
        """
        indexed: Mapping[str, Mapping[str, KnownPart]] = (
            {} if new else (known or self.ask_known(session, [text.item for text in texts]))()
        )
        waiting, waiting_chars = list[NewPart](), 0
        outdated: dict[str, list[int]] = {}
        for entry in texts:
            is_long, stored = len(entry.body) > LONG_CHARS, indexed.get(entry.item, {})
            parts = dict(islice(self.make_parts(entry.title, (entry.body,)), 1 if is_long else None))
            for name, part in parts.items():
                if name in stored:
                    if stored[name].kind != entry.kind:
                        _set_kind(session, [stored[name].id], entry.kind)
                    continue
                if waiting_chars > MAX_WAITING_CHARS:
                    self._write_parts(session, waiting)
                    waiting, waiting_chars = [], 0
                if session.index_seconds > MAX_INDEX_SECONDS:
                    is_long = True
                    break
                waiting.append(NewPart(entry.item, entry.kind, name, index_text(entry.title), part))
                waiting_chars += len(part)
            if is_long:
                session.long_texts.add(entry.item)
            else:
                outdated[entry.item] = [part.id for name, part in stored.items() if name not in parts]
        self._write_parts(session, waiting)
        self._remove_parts(session, outdated)

    def remove(self, session: Session, items: Sequence[str]) -> None:
        """Remove the words of some items; parts for which there is no time are hidden, and removed by `sync_parts`."""
        known = self.ask_known(session, items)()
        self._remove_parts(session, {item: [part.id for part in parts.values()] for item, parts in known.items()})

    def make_parts(self, title: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the parts in which texts are indexed, each with its digest and the title's as its name."""
        for number, text in enumerate(texts):
            if text or not number:
                yield from self._make_parts_of(title, number, text)

    def _make_parts_of(self, title: str, number: int, text: str) -> Iterator[tuple[str, str]]:
        """Yield the parts of one of several texts; the names of all but the first contain the number."""
        for part in iter_parts(text, self.PART_CHARS):
            yield digest(f"{title}\n{number}\n{part}" if number else f"{title}\n{part}"), index_text(part)

    def replace_texts(
        self, session: Session, kind: str, item: str, title: str, old: Mapping[int, str], new: Mapping[int, str]
    ) -> None:
        """Index some of an item's texts again, by number; the others are not read.

        What takes too long for one transaction is left to `sync_parts`; the item is then in `session.long_texts`.
        """
        outdated = {name for number, text in old.items() for name, _ in self._make_parts_of(title, number, text)}
        parts = dict(part for number, text in new.items() for part in self._make_parts_of(title, number, text))
        known = _list_known_of(session, item, {*outdated, *parts})
        for name, part in parts.items():
            if session.index_seconds > MAX_INDEX_SECONDS:
                session.long_texts.add(item)
                return
            self._set_part(session, NewPart(item, kind, name, title, part), known.get(name))
        self._remove_parts(session, {item: [known[name].id for name in outdated - parts.keys() if name in known]})

    def sync_parts(
        self, session: Session, kind: str, item: str, title: str, parts: Mapping[str, str], *, seconds: float
    ) -> bool:
        """Write and remove parts until the index holds these for an item, for some seconds; return whether it does."""
        end = time.monotonic() + seconds
        known = _list_known_of(session, item)
        for name, part in parts.items():
            if time.monotonic() > end:
                return False
            self._set_part(session, NewPart(item, kind, name, title, part), known.get(name))
        for name, part in known.items():
            if time.monotonic() > end:
                return False
            if name not in parts:
                self._delete_parts(session, [part.id])
        return True

    def _set_part(self, session: Session, part: NewPart, known: KnownPart | None) -> None:
        """Write a part that is not indexed yet, or show one that is hidden; its title is as the item has it."""
        if known is None:
            self._write_parts(session, [part._replace(title=index_text(part.title))])
        elif known.kind != part.kind:
            _set_kind(session, [known.id], part.kind)

    def _write_parts(self, session: Session, parts: Sequence[NewPart]) -> None:
        if parts:
            start = time.monotonic()
            self.insert_parts(session, parts)
            session.index_seconds += time.monotonic() - start

    def _delete_parts(self, session: Session, ids: Sequence[int]) -> None:
        start = time.monotonic()
        self.delete_parts(session, ids)
        session.index_seconds += time.monotonic() - start

    def _remove_parts(self, session: Session, ids_of: Mapping[str, Sequence[int]]) -> None:
        """Remove parts of some items; many of one item, and those for which there is no time, are only hidden."""
        few = {item: ids for item, ids in ids_of.items() if len(ids) <= LONG_CHARS // self.PART_CHARS}
        waiting = [id_ for ids in few.values() for id_ in ids]
        while waiting and session.index_seconds <= MAX_INDEX_SECONDS:
            self._delete_parts(session, waiting[:DELETED_AT_ONCE])
            del waiting[:DELETED_AT_ONCE]
        left = set(waiting)
        for item, ids in ids_of.items():
            if hidden := [id_ for id_ in ids if item not in few or id_ in left]:
                _set_kind(session, hidden, HIDDEN_KIND)
                session.long_texts.add(item)


def group_known(rows: Iterable[Sequence[Any]]) -> dict[str, dict[str, KnownPart]]:
    """Return parts by item and name, given as rows of item, name, number and kind."""
    known: dict[str, dict[str, KnownPart]] = {}
    for item, name, id_, kind in rows:
        known.setdefault(item, {})[name] = KnownPart(id_, kind)
    return known


def _list_known_of(session: Session, item: str, names: Collection[str] | None = None) -> dict[str, KnownPart]:
    """Return the indexed parts of an item by name: all, or those of some names."""
    statement = _KNOWN if names is None else _KNOWN.where(search_parts.c.digest.in_(names))
    return {row[0]: KnownPart(row[1], row[2]) for row in session.connection.execute(statement, {"item_": item})}


def _set_kind(session: Session, ids: Sequence[int], kind: str) -> None:
    session.send(update(search_parts).where(search_parts.c.id.in_(ids)).values(kind=kind))
