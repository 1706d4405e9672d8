"""Reads the links of texts that were stored before links were followed, a short transaction at a time."""

import logging
import time
from collections.abc import Callable

from panorama.domain.items.item import Item, kind_of
from panorama.errors import PanoramaError
from panorama.store.backend import Database
from panorama.store.graph import edges
from panorama.store.items import rows
from panorama.store.items.passages import INDEXER

PORTION_SECONDS = 0.06
"""A transaction reads no further text after this time."""

BATCH_SIZE = 200
_log = logging.getLogger(__name__)


def read_unread_links(database: Database, should_stop: Callable[[], bool]) -> None:
    """Write the edges of all items that are marked; what cannot be written now is left to the next start."""
    try:
        while not should_stop() and _read_portion(database):
            pass
    except PanoramaError as error:
        _log.warning("the links of some items are not read yet: %s", error.message)


def _read_portion(database: Database) -> bool:
    """Read the links of the next items for a short time; return whether there were any."""
    with database.reading() as session:
        left = edges.list_unread(session, BATCH_SIZE)
    if not left:
        return False
    with database.transaction(INDEXER) as session:
        end, done = time.monotonic() + PORTION_SECONDS, 0
        for id_ in left:
            item: Item | None = rows.find(session, kind_of(id_) or "", id_)
            if item and item.deleted_at is None:
                edges.rebuild_item(session, item)
            done += 1
            if time.monotonic() > end:
                break
        edges.clear_unread(session, left[:done])
    return True
