"""Searched words that only purged items contain; they are removed from the log with the items."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from panorama.domain.items.item import Item
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.tokens import Term, fold_keep_offsets, index_text
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.tables import calls, changes, texts

MIN_WORD_CHARS = 3
"""A shorter word, or beginning of one, says too little to be looked for."""

_SEARCHING = ("query", "where")
"""The arguments that hold searched words."""

_WORD = re.compile(r"\w+")


def split_words(text: str) -> set[str]:
    """Return the words of a text as they are compared: folded, without accents."""
    return {word for word in _WORD.findall(fold_keep_offsets(index_text(text))) if len(word) >= MIN_WORD_CHARS}


def list_searched_words(session: Session, after: int, limit: int) -> tuple[set[str], int]:
    """Return the words that the next logged calls searched, and the number of the last call read (0 at the end)."""
    statement = select(calls.c.number, calls.c.arguments).where(calls.c.number > after)
    words: set[str] = set()
    last = 0
    for number, arguments in session.connection.execute(statement.order_by(calls.c.number).limit(limit)):
        last = number
        words.update(*map(split_words, _iter_searches(arguments)))
    return words, last


def _iter_searches(value: Any, *, is_search: bool = False) -> Iterator[str]:
    """Yield the texts that a call or its steps searched."""
    if isinstance(value, str):
        yield from [value] if is_search else []
    elif is_object(value):
        for name, entry in value.items():
            yield from _iter_searches(entry, is_search=is_search or name in _SEARCHING)
    elif is_list(value):
        for entry in value:
            yield from _iter_searches(entry, is_search=is_search)


def find_held_words(
    session: Session, kind: str, ids: Sequence[str], searched: Mapping[str, Collection[str]]
) -> set[str]:
    """Return which searched words some items hold, or held before.

    Args:
        searched: The words by the beginnings that find them, such as their stems.
    """
    return {
        word
        for id_ in ids
        for text in _iter_texts(session, kind, id_)
        for held in split_words(text)
        for size in range(MIN_WORD_CHARS, len(held) + 1)
        for word in searched.get(held[:size], ())
    }


def index_by_beginning(session: Session, words: Iterable[str]) -> dict[str, set[str]]:
    """Return search words by the prefixes of the words they match: the word itself and its stem."""
    found: dict[str, set[str]] = {}
    for word in words:
        for beginning in {word, session.vocabulary.stem(word) or word}:
            found.setdefault(beginning, set()).add(word)
    return found


def drop_living_words(session: Session, words: Iterable[str]) -> set[str]:
    """Return the words that find no living item."""
    text = session.full_text
    terms = {word: text.build_expression([Term((word,), prefix=True)], every=True) for word in words}
    return {word for word, expression in terms.items() if not text.count(session, expression, most=1)}


def _iter_texts(session: Session, kind: str, id_: str) -> Iterator[str]:
    """Yield the texts of an item, and those of its history."""
    if (item := rows.find(session, kind, id_)) is not None:
        found: Item = item
        yield " ".join(found.search_text())
        yield from rows.read_rows(session, found).search_parts()
    sides = select(changes.c.before, changes.c.after).where(changes.c.item == id_)
    for row in session.connection.execute(sides).all():
        for side in row:
            yield json.dumps(side, ensure_ascii=False)
            for part in side.values():
                if is_object(part) and "of" in part:
                    long = select(texts.c.text).where(texts.c.digest == part["of"])
                    yield session.connection.execute(long).scalar_one_or_none() or ""
