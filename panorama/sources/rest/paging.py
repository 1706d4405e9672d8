"""Pages of services: three idioms behind one kind of cursor. Pure.

A cursor also serves to notice services that repeat a page, so that a script never reads the same rows for ever.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from panorama.errors import InvalidInputError, SourceError

Rows = list[dict[str, Any]]
"""Rows as the service returns them."""


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of one page, and the cursor of the next, "" if it is the last."""

    rows: Rows
    next_cursor: str = ""


def page_by_cursor(rows: Rows, cursor: str, next_cursor: object) -> Page:
    """Return a page of a service that names the next one.

    Raises:
        SourceError: The service names the page that it has just returned.
    """
    following = next_cursor if isinstance(next_cursor, str) else ""
    if following and following == cursor:
        raise SourceError("The service returned the same page twice.", hint="Ask for fewer rows with limit.")
    return Page(rows, following)


def page_by_offset(rows: Rows, cursor: str, size: int) -> Page:
    """Return a page of a service that takes an offset and tells no total: a short page is the last.

    The cursor is the offset of the next page and a digest of this one.

    Raises:
        SourceError: The page has the same rows as the one before: the service ignores the offset.
    """
    offset, digest = parse_offset(cursor), _digest_rows(rows)
    if rows and cursor and digest == cursor.partition(".")[2]:
        raise SourceError("The service returned the same page twice.", hint="Ask for fewer rows with limit.")
    return Page(rows, f"{offset + len(rows)}.{digest}" if len(rows) >= size else "")


def parse_offset(cursor: str) -> int:
    """Return the offset in a cursor of `page_by_offset`, 0 for the first page.

    Raises:
        InvalidInputError: It is not such a cursor.
    """
    return _parse_number(cursor.partition(".")[0]) if cursor else 0


def page_by_number(rows: Rows, number: int, size: int, page_count: int) -> Page:
    """Return a page of a service that numbers pages from 1 and tells how many there are; an empty one is the last.

    The cursor is the number of the next page and the size of all: with another size the numbers would mean other rows.
    """
    return Page(rows, f"{number + 1}.{size}" if rows and number < page_count else "")


def parse_page_number(cursor: str, size: int) -> tuple[int, int]:
    """Return the number and size in a cursor of `page_by_number`; for the first page 1 and `size`.

    Raises:
        InvalidInputError: It is not such a cursor.
    """
    number, _, first_size = cursor.partition(".")
    return (_parse_number(number), _parse_number(first_size)) if cursor else (1, size)


def _parse_number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise InvalidInputError("Invalid cursor.", hint="Pass the cursor of the page before, or none for the first page.")


def _digest_rows(rows: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:12]
