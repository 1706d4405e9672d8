"""Long texts: their words are written to the index in short transactions that follow the one that stores the text.

A mark, written with the text, names the item until its words are complete. So the work goes on after a crash.
"""

import logging
from collections.abc import Iterable

from sqlalchemy import select

from panorama.domain.items.item import Item, kind_of
from panorama.errors import PanoramaError
from panorama.store.backend import Database, Session
from panorama.store.items import passages, rows
from panorama.store.tables import marks

PORTION_SECONDS = 0.06
"""After so long a transaction writes no further part."""

_PREFIX = "words "
_log = logging.getLogger(__name__)


def save_marks(session: Session) -> None:
    """Remember the long texts of a transaction until their words are complete."""
    for id_ in session.long_texts:
        passages.set_mark(session, f"{_PREFIX}{id_}", 1)


def list_incomplete(session: Session) -> list[str]:
    """Return the items whose words are not complete."""
    names = session.connection.execute(select(marks.c.name).where(marks.c.name.startswith(_PREFIX))).scalars()
    return [name.removeprefix(_PREFIX) for name in names]


def complete_words(database: Database, items: Iterable[str]) -> None:
    """Bring the words of some items up to their texts; what cannot be written now is left to `complete_all`."""
    for id_ in items:
        try:
            while not _complete_item(database, id_):
                pass
        except PanoramaError as error:
            _log.warning("the words of %s are not complete yet: %s", id_, error.message)


def complete_all(database: Database) -> None:
    """Complete the words of all items that a process left behind.

    Raises:
        UnavailableError: The database cannot be read.
    """
    with database.reading() as session:
        items = list_incomplete(session)
    complete_words(database, items)


def _complete_item(database: Database, id_: str) -> bool:
    """Write the words of an item in portions; return False if the item was changed meanwhile."""
    kind = kind_of(id_) or ""
    with database.reading() as session:
        item: Item | None = rows.find(session, kind, id_)
        full_text = session.full_text
    title, body = item.search_text() if item and item.deleted_at is None else ("", None)
    parts = {} if body is None else full_text.make_parts(title, body)
    is_complete = False
    while not is_complete:
        with database.transaction(passages.INDEXER) as session:
            if rows.find_version(session, kind, id_) != (item and item.version):
                return False
            is_complete = full_text.sync_parts(session, kind, id_, title, parts, seconds=PORTION_SECONDS)
            if is_complete:
                passages.clear_mark(session, f"{_PREFIX}{id_}")
    return True
