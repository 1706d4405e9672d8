"""Stores the contents of files in a space."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import sha256
from typing import Any

import psycopg

from panorama.store.archive.safe_files import UnreadableError
from panorama.store.contents.parts import PART_BYTES, copying_error, missing_error, read_whole, split_content
from panorama.store.postgres.contents import content_rows
from panorama.store.postgres.errors import translate_errors

_LOCK = 0x50414E46 << 32
"""The upper half of the number of the lock that prevents deletions; the lower half is the schema's number."""

_RETAIN = f"SELECT pg_advisory_lock_shared({_LOCK} | current_schema()::regnamespace::oid::bigint)".encode()
_RELEASE = f"SELECT pg_advisory_unlock_shared({_LOCK} | current_schema()::regnamespace::oid::bigint)".encode()
_TRY_EXCLUDE = f"SELECT pg_try_advisory_xact_lock({_LOCK} | current_schema()::regnamespace::oid::bigint)".encode()


class TableContents:
    """Contents in the tables of a space, which every machine reads; each is written in one transaction.

    Args:
        connect: Opens a connection to the space outside of any transaction.
    """

    def __init__(self, connect: Callable[[], AbstractContextManager[psycopg.Connection[Any]]]) -> None:
        self._connect = connect

    def describe(self, name: str) -> str:
        """Return the name of a content in the database."""
        return f"content {name[:12]}… in the database"

    def put(self, content: bytes) -> str:
        """Store a content durably and return its digest; see `ContentStore`.

        Raises:
            UnavailableError: The server cannot be reached, or its disk is full.
        """
        name = sha256(content).hexdigest()
        if not self._refresh(name, content):
            self.put_parts(name, split_content(content))
        return name

    def put_parts(self, name: str, parts: Iterable[bytes]) -> None:
        """Store the content with a digest from its parts.

        Raises:
            UnreadableError: The parts have another digest; none of them is stored.
            UnavailableError: The server cannot be reached, or its disk is full.
        """
        with self._transaction() as driver:
            content_rows.write(driver, name, parts)

    def _refresh(self, name: str, content: bytes) -> bool:
        """Return whether a content exists and is intact, and if so update its timestamp."""
        with self._transaction() as driver:
            if not content_rows.refresh(driver, name, len(content)):
                return False
            return content_rows.has_parts(driver, name, split_content(content))

    def get(self, name: str) -> bytes:
        """Return the content with a digest.

        Raises:
            UnavailableError: It is missing, damaged, or the server cannot be reached.
        """
        return read_whole(self, name)

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return a range of a content without verifying it.

        Raises:
            UnavailableError: It is missing, or the server cannot be reached.
        """
        parts: list[bytes] = []
        with translate_errors(), self._connect() as driver:
            for number in range(start // PART_BYTES, (start + size - 1) // PART_BYTES + 1):
                first = max(0, start - number * PART_BYTES)
                last = min(PART_BYTES, start + size - number * PART_BYTES)
                found = content_rows.read(driver, name, number, first, last - first)
                if found is None:
                    raise missing_error(self.describe(name))
                parts.append(found[1])
        return b"".join(parts)

    def iter_parts(self, name: str) -> Generator[bytes]:
        """Yield a content in parts of 1 MB, each read on its own.

        Raises:
            UnreadableError: It is missing.
            UnavailableError: The server cannot be reached.
        """
        number, size = 0, 1
        while number * PART_BYTES < size:
            with translate_errors(), self._connect() as driver:
                found = content_rows.read(driver, name, number, 0, PART_BYTES)
            if found is None:
                raise UnreadableError("is missing")
            size, part = found
            yield part
            number += 1

    def has(self, name: str) -> bool:
        """Return whether a content exists, damaged or not."""
        with translate_errors(), self._connect() as driver:
            return content_rows.read(driver, name, 0, 0, 0) is not None

    def iter_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the digests of the existing contents, and their sizes in bytes."""
        with translate_errors(), self._connect() as driver:
            sizes = list(content_rows.list_sizes(driver))
        yield from sizes

    @contextmanager
    def retain(self) -> Generator[None]:
        """Prevent the deletion of contents inside the block, on any machine."""
        with translate_errors(), self._connect() as driver:
            driver.execute(_RETAIN)
            try:
                yield
            finally:
                with suppress(psycopg.Error):  # a lost connection has released it
                    driver.execute(_RELEASE)

    @contextmanager
    def exclude(self) -> Generator[None]:
        """Prevent contents from being retained inside the block, on any machine.

        Raises:
            UnavailableError: They are being copied, or the server cannot be reached.
        """
        with self._exclusive_transaction():
            yield

    def delete(self, names: Collection[str], *, before: float) -> tuple[int, int]:
        """Delete contents last written before a time (seconds since 1970); return their number and bytes.

        Raises:
            UnavailableError: They are being copied, or the server cannot be reached.
        """
        with self._exclusive_transaction() as driver:
            return content_rows.delete(driver, list(names), before)

    @contextmanager
    def _exclusive_transaction(self) -> Generator[psycopg.Connection[Any]]:
        with self._transaction() as driver:
            row = driver.execute(_TRY_EXCLUDE).fetchone()
            if row is None or not row[0]:
                raise copying_error()
            yield driver

    @contextmanager
    def _transaction(self) -> Generator[psycopg.Connection[Any]]:
        with translate_errors(), self._connect() as driver, driver.transaction():
            yield driver
