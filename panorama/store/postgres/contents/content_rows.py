"""The rows of contents: one in `contents` for each, and its bytes in `content_parts`, 1 MB in a row.

The parts are stored uncompressed, so that a range of one is read without the rest of it.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from panorama.store.contents.parts import iter_verified, join_parts

TABLES = ("contents", "content_parts")
"""The tables, which are not among those that every kind of database has."""

_ADD = (
    "INSERT INTO contents (sha256, size, written_at) VALUES (%s, 0, clock_timestamp()) "
    "ON CONFLICT (sha256) DO UPDATE SET written_at = excluded.written_at RETURNING xmax = 0"
)
_COPY = "COPY content_parts (sha256, number, bytes) FROM STDIN (FORMAT BINARY)"
_SET_SIZE = "UPDATE contents SET size = %s WHERE sha256 = %s"
_REFRESH = "UPDATE contents SET written_at = clock_timestamp() WHERE sha256 = %s AND size = %s"
_DIGESTS = "SELECT sha256(bytes) FROM content_parts WHERE sha256 = %s ORDER BY number"
_READ = (
    "SELECT c.size, substring(p.bytes FROM %s FOR %s) FROM contents AS c "
    "LEFT JOIN content_parts AS p ON p.sha256 = c.sha256 AND p.number = %s WHERE c.sha256 = %s"
)
_DELETE = (
    "WITH deleted AS (DELETE FROM contents WHERE sha256 = ANY(%s) AND written_at < to_timestamp(%s) RETURNING size) "
    "SELECT count(*), coalesce(sum(size), 0)::bigint FROM deleted"
)


def write(driver: Connection[Any], name: str, parts: Iterable[bytes]) -> None:
    """Write a content in the open transaction; another writer of the same content waits for its end.

    Raises:
        UnreadableError: The parts have another digest.
    """
    row = driver.execute(_ADD, (name,)).fetchone()
    if row and not row[0]:
        driver.execute("DELETE FROM content_parts WHERE sha256 = %s", (name,))
    size = 0
    with driver.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(["text", "int8", "bytea"])
        for number, part in enumerate(join_parts(iter_verified(name, parts))):
            copy.write_row((name, number, part))
            size += len(part)
    driver.execute(_SET_SIZE, (size, name))


def refresh(driver: Connection[Any], name: str, size: int) -> bool:
    """Update the time at which a content was last written; return whether there is one of this size."""
    return driver.execute(_REFRESH, (name, size)).rowcount > 0


def has_parts(driver: Connection[Any], name: str, parts: Iterable[bytes]) -> bool:
    """Return whether the stored parts of a content are these."""
    stored = [bytes(row[0]) for row in driver.execute(_DIGESTS, (name,), binary=True)]
    return stored == [sha256(part).digest() for part in parts]


def read(driver: Connection[Any], name: str, number: int, start: int, size: int) -> tuple[int, bytes] | None:
    """Return the size of a content, and a range of one of its parts, b"" if it has no such part; None if missing."""
    row = driver.execute(_READ, (start + 1, size, number, name), binary=True).fetchone()
    return (row[0], bytes(row[1] or b"")) if row else None


def list_sizes(driver: Connection[Any]) -> Iterator[tuple[str, int]]:
    """Yield the digests of all contents, and their sizes in bytes."""
    yield from driver.execute("SELECT sha256, size FROM contents ORDER BY sha256")


def delete(driver: Connection[Any], names: list[str], before: float) -> tuple[int, int]:
    """Delete contents last written before a time (seconds since 1970); return their number and bytes."""
    row = driver.execute(_DELETE, (names, before)).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def copy_from_schema(driver: Connection[Any], schema: str, names: list[str]) -> None:
    """Copy those of some contents that another schema has, and this one has not."""
    for table in TABLES:
        statement = SQL("INSERT INTO {} SELECT * FROM {} WHERE sha256 = ANY(%s) ON CONFLICT DO NOTHING")
        driver.execute(statement.format(Identifier(table), Identifier(schema, table)), (names,))
