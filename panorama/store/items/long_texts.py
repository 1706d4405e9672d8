"""Long texts: their words are written to the index in short transactions that follow the one that stores the text.

A mark, written with the text, names the item until its words are complete, so the work continues after a crash.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import and_, or_, select

from panorama.domain.items.item import Item, kind_of
from panorama.errors import PanoramaError
from panorama.store import tables
from panorama.store.backend import Database, Session
from panorama.store.items import passages, rows
from panorama.store.log import marks

PORTION_SECONDS = 0.06
"""A transaction writes no further part after this time."""

MAX_CHARS = 1 << 20
"""The number of characters in memory at a time, beside the rest of the last text."""

_PREFIX = "words "
_log = logging.getLogger(__name__)


def mark_name(id_: str) -> str:
    """Return the name of the mark of an item whose words are not complete."""
    return f"{_PREFIX}{id_}"


def save_marks(session: Session) -> None:
    """Mark the long texts of a transaction until their words are complete."""
    marks.set_marks(session, [mark_name(id_) for id_ in session.long_texts], 1)


def list_incomplete(session: Session) -> list[str]:
    """Return the items whose words are not complete."""
    names = marks.list_marks(session, _PREFIX)
    return [name.removeprefix(_PREFIX) for name in names]


def _never_stop() -> bool:
    return False


def complete_words(database: Database, items: Iterable[str], should_stop: Callable[[], bool] = _never_stop) -> None:
    """Bring the words of some items up to their texts; what cannot be written now is left to `complete_all`."""
    left = deque(items)
    try:
        while left and not should_stop():
            texts = _load_texts(database, left, should_stop)
            while texts and not should_stop():
                _write_portion(database, texts, left)
    except PanoramaError as error:
        _log.warning("the words of %d items are not complete yet: %s", len(left), error.message)


def complete_all(database: Database, should_stop: Callable[[], bool] = _never_stop) -> None:
    """Complete the words of all items that were left, by a process that is gone or a call that was cancelled.

    Raises:
        UnavailableError: The database cannot be read.
    """
    with database.reading() as session:
        items = list_incomplete(session)
    complete_words(database, items, should_stop)


def is_indexed(session: Session) -> bool:
    """Return whether every living item has its words in the index, and no deleted one has."""
    known = select(tables.search_parts.c.item).where(tables.search_parts.c.kind != "")
    for noun in rows.NOUNS.values():
        id_, alive = noun.table.c.id, noun.table.c.deleted_at.is_(None)
        wrong = select(id_).where(or_(and_(alive, id_.not_in(known)), and_(~alive, id_.in_(known)))).limit(1)
        if session.connection.execute(wrong).first():
            return False
    return session.full_text.has_all_parts(session)


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of an item at a version, in parts; an item that is deleted has none."""

    kind: str
    item: str
    version: int | None
    title: str
    parts: Mapping[str, str]


def _load_texts(database: Database, left: Iterable[str], should_stop: Callable[[], bool]) -> deque[_Text]:
    """Return the texts of the first items, as many as are not too long together; fewer if it is to stop."""
    texts: deque[_Text] = deque()
    chars = 0
    with database.reading() as session:
        for id_ in left:
            kind = kind_of(id_) or ""
            item: Item | None = rows.find(session, kind, id_)
            parts: dict[str, str] = {}
            title = ""
            if item and item.deleted_at is None:
                title, bodies = item.search_text()[0], rows.read_rows(session, item).search_parts()
                for name, part in session.full_text.make_parts(title, bodies):
                    if should_stop():
                        return texts
                    parts[name] = part
                chars += sum(map(len, bodies))
            texts.append(_Text(kind, id_, item and item.version, title, parts))
            if chars > MAX_CHARS:
                break
    return texts


def _write_portion(database: Database, texts: deque[_Text], left: deque[str]) -> None:
    """Write words for a short time; an item that was changed meanwhile is put last in `left`."""
    with database.transaction(passages.INDEXER) as session:
        end = time.monotonic() + PORTION_SECONDS
        while texts and (seconds := end - time.monotonic()) > 0:
            text = texts[0]
            is_current = rows.find_version(session, text.kind, text.item) == text.version
            if is_current:
                if not session.full_text.sync_parts(
                    session, text.kind, text.item, text.title, text.parts, seconds=seconds
                ):
                    return
                marks.clear_mark(session, mark_name(text.item))
            texts.popleft()
            left.rotate(-1)
            if is_current:
                left.pop()
