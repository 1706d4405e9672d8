"""Rows of session lines, and their words in the index; no call reads all lines of a session to write some."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Row, func, insert, or_, select, update

from panorama.domain.items.session_lines import (
    BLOCK_LINES,
    LINE_FIELDS,
    LineType,
    SessionLine,
    Transcript,
    block_of,
    format_search_line,
)
from panorama.domain.items.sessions import LoggedSession
from panorama.store import tables
from panorama.store.backend import Session

_TABLE = tables.session_lines
_COLUMNS = tuple(_TABLE.c[name] for name in LINE_FIELDS)
_PRESENT = _TABLE.c.removed_at.is_(None)
_FETCHED = 1000


def next_position(session: Session, id_: str) -> int:
    """Return the position of the next line of a session; those of removed lines are not used again."""
    last = select(func.max(_TABLE.c.position)).where(_TABLE.c.session == id_)
    return (session.connection.execute(last).scalar() or 0) + 1


def append_lines(session: Session, item: LoggedSession, added: Sequence[SessionLine]) -> None:
    """Store lines and index their words; the title of `item` is that of its words in the index."""
    values = [{"session": item.id, **{name: getattr(line, name) for name in LINE_FIELDS}} for line in added]
    session.spend(values)
    before = _read_blocks(session, item.id, added[0].position, added[0].position)
    session.connection.execute(insert(_TABLE), values)
    after = _read_blocks(session, item.id, added[0].position, added[-1].position)
    session.full_text.replace_texts(session, item.KIND, item.id, item.title, before, after)


def set_presence(session: Session, item: LoggedSession, place: tuple[int, int], now: datetime, *, present: bool) -> int:
    """Remove the lines from a first to a last, or bring them back; return how many.

    The words of a session in the trash are not in the index.
    """
    before = _read_blocks(session, item.id, *place)
    where = _within(item.id, *place), (~_PRESENT if present else _PRESENT)
    changed = update(_TABLE).where(*where).values(removed_at=None if present else now)
    count = session.connection.execute(changed).rowcount
    if item.deleted_at is None:
        after = _read_blocks(session, item.id, *place)
        session.full_text.replace_texts(session, item.KIND, item.id, item.title, before, after)
    return count


def find_missing(session: Session, id_: str, positions: Sequence[int]) -> list[int]:
    """Return which of some positions are not those of a line."""
    where = _TABLE.c.session == id_, _TABLE.c.position.in_(positions), _PRESENT
    known = set(session.connection.execute(select(_TABLE.c.position).where(*where)).scalars())
    return [position for position in positions if position not in known]


def read_lines(
    session: Session, id_: str, start: int, chars: int, *, type: LineType | None = None
) -> tuple[tuple[SessionLine, ...], int | None]:
    """Return lines from a position on, at least one and otherwise up to so many characters of text.

    With them comes the position from which to read on, None at the end.
    """
    where = [_TABLE.c.session == id_, _PRESENT, _TABLE.c.position >= start]
    where += [_TABLE.c.type == type] if type else []
    statement = select(*_COLUMNS).where(*where).order_by(_TABLE.c.position).limit(_FETCHED + 1)
    lines = [_to_line(row) for row in session.connection.execute(statement)]
    shown: list[SessionLine] = []
    for line in lines[:_FETCHED]:
        chars -= len(line.text)
        if shown and chars < 0:
            break
        shown.append(line)
    return tuple(shown), lines[len(shown)].position if len(lines) > len(shown) else None


def iter_lines(session: Session, id_: str) -> Iterator[SessionLine]:
    """Yield all lines of a session in order; only some are in memory at a time."""
    statement = select(*_COLUMNS).where(_TABLE.c.session == id_, _PRESENT)
    rows = session.connection.execute(statement.order_by(_TABLE.c.position), execution_options=_STREAMED)
    for row in rows:
        yield _to_line(row)


def iter_texts_like(session: Session, id_: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the texts of a session's lines that have the ASCII letters of one of some names in order, 1,000 at most."""
    similar = [_TABLE.c.text.like(f"%{'%'.join(_ASCII_WORD.findall(name))}%") for name in names]
    where = _TABLE.c.session == id_, _PRESENT, or_(*similar)
    statement = select(_TABLE.c.text).where(*where).order_by(_TABLE.c.position).limit(_FETCHED)
    yield from session.connection.execute(statement).scalars()


_ASCII_WORD = re.compile("[A-Za-z0-9]+")
_STREAMED = {"yield_per": _FETCHED}


def load_transcript(session: Session, item: LoggedSession, most_chars: int | None = None) -> Transcript:
    """Return a session with its lines as search reads them, or the first blocks of so many characters."""
    blocks: dict[int, str] = {}
    chars = 0
    for number, block in _iter_blocks(session, _TABLE.c.session == item.id):
        blocks[number] = block
        chars += len(block)
        if most_chars is not None and chars >= most_chars:
            break
    return Transcript.of(item, (blocks.get(number, "") for number in range(1, max(blocks, default=0) + 1)))


def _read_blocks(session: Session, id_: str, first: int, last: int) -> dict[int, str]:
    """Return the texts of the blocks that hold some lines, by number."""
    begin, end = block_of(first), block_of(last)
    return dict(_iter_blocks(session, _within(id_, (begin - 1) * BLOCK_LINES + 1, end * BLOCK_LINES)))


def _iter_blocks(session: Session, where: ColumnElement[bool]) -> Iterator[tuple[int, str]]:
    """Yield number and text of the blocks of some lines; only the columns that search reads are fetched."""
    columns = _TABLE.c.position, _TABLE.c.type, _TABLE.c.speaker, _TABLE.c.text
    statement = select(*columns).where(where, _PRESENT).order_by(_TABLE.c.position)
    rows = session.connection.execute(statement, execution_options=_STREAMED)
    for number, lines in groupby(rows, lambda row: block_of(row[0])):
        yield number, "\n".join(format_search_line(*row[1:]) for row in lines)


def _within(id_: str, first: int, last: int) -> ColumnElement[bool]:
    return (_TABLE.c.session == id_) & _TABLE.c.position.between(first, last)


def _to_line(row: Row[Any] | Sequence[Any]) -> SessionLine:
    values: Mapping[str, Any] = dict(zip(LINE_FIELDS, row, strict=False))
    return SessionLine(**values)
