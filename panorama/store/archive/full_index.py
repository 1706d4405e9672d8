"""Writes the words of every item into a database that has none of them yet."""

from collections.abc import Callable

from panorama.domain.changes import Origin
from panorama.domain.items.item import Item
from panorama.store.backend import Database, Session, noop
from panorama.store.items import rows

BATCH_ITEMS = 256
"""Items that are indexed in one transaction."""


def index_living_items(
    database: Database,
    origin: Origin,
    add: Callable[[Session, Item], None] = noop,
    report: Callable[[int, int], None] = noop,
) -> None:
    """Write the words of every living item.

    Args:
        add: Called for each item in the same transaction, to write what else follows from it.
        report: Called with the number of items that are done and their total; an exception that it raises ends it.
    """
    with database.reading() as session:
        ids = [id_ for kind in rows.NOUNS for id_ in rows.list_living(session, kind)]
    for start in range(0, len(ids), BATCH_ITEMS):
        with database.transaction(origin) as session:
            for item in rows.iter_items(session, ids[start : start + BATCH_ITEMS]):
                session.full_text.set_words(session, [rows.index_entry(item)], new=True)
                session.index_seconds = 0.0  # nobody waits for this transaction
                add(session, item)
                if item.has_rows:
                    session.long_texts.add(item.id)
        report(min(start + BATCH_ITEMS, len(ids)), len(ids))
