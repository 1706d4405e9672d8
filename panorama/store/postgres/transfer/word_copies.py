"""Writes the parts of SQLite's full text into the tables of PostgreSQL's, many at once."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from psycopg import Connection

from panorama.store.items.long_texts import mark_name
from panorama.store.postgres.fulltext import PART_CHARS, is_correctable
from panorama.store.postgres.lexemes import render_vector
from panorama.store.sqlite.stored_rows import StoredPart

BATCH_PARTS = 500
"""Parts whose vectors are in memory at once."""

_DROP_INDEX = "DROP INDEX ix_search_words_words"
_CREATE_INDEX = "CREATE INDEX ix_search_words_words ON search_words USING gin (words)"
_COPY_PARTS = "COPY search_parts (id, item, kind, digest) FROM STDIN"
_COPY_WORDS = "COPY search_words (id, words) FROM STDIN"
_ADD_TERMS = "INSERT INTO search_terms SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"
_ADD_MARKS = "INSERT INTO marks (name, value) SELECT unnest(%s::text[]), 1 ON CONFLICT DO NOTHING"
_DELETE_WORDS = "DELETE FROM search_words WHERE id IN (SELECT id FROM search_parts WHERE item = ANY(%s))"
_DELETE_PARTS = "DELETE FROM search_parts WHERE item = ANY(%s)"


def copy_parts(driver: Connection[Any], parts: Iterable[StoredPart]) -> None:
    """Write parts to empty tables, in the open transaction.

    SQLite's parts may be longer than those of PostgreSQL; an item with such a part is marked instead, and indexed again
    at the next start.
    """
    driver.execute(_DROP_INDEX)
    rest, terms, long_items = iter(parts), set[str](), set[str]()
    while batch := list(islice(rest, BATCH_PARTS)):
        long_items.update(part.item for part in batch if len(part.body) > PART_CHARS)
        _copy_batch(driver, [part for part in batch if part.item not in long_items], terms)
    driver.execute(_ADD_TERMS, (sorted(terms),))
    items = sorted(long_items)
    driver.execute(_DELETE_WORDS, (items,))
    driver.execute(_DELETE_PARTS, (items,))
    driver.execute(_ADD_MARKS, ([mark_name(item) for item in items],))
    driver.execute(_CREATE_INDEX)


def _copy_batch(driver: Connection[Any], parts: list[StoredPart], terms: set[str]) -> None:
    """Write some parts, and add their words that correct misspelt ones to the terms."""
    with driver.cursor() as cursor:
        with cursor.copy(_COPY_PARTS) as copy:
            for part in parts:
                copy.write_row(part[:4])
        with cursor.copy(_COPY_WORDS) as copy:
            for part in parts:
                vector, lexemes = render_vector(part.title, part.body)
                terms.update(filter(is_correctable, lexemes - terms))
                copy.write_row((part.id, vector))
