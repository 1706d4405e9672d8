"""The Protocol of a store for the contents of files."""

from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol


class ContentStore(Protocol):
    """Contents by their sha256, each stored once. Safe to use from several threads, processes and machines.

    A content is stored durably before a row names it, so a crash leaves at most an unreferenced one.
    """

    def describe(self, name: str) -> str:
        """Return where a content is, for messages."""
        ...

    def put(self, content: bytes) -> str:
        """Store a content durably and return its digest.

        A damaged content is replaced. The timestamp of an existing one is updated, so that it is not deleted before a
        row names it.

        Raises:
            UnavailableError: It cannot be stored; nothing was changed.
        """
        ...

    def put_parts(self, name: str, parts: Iterable[bytes]) -> None:
        """Store the content with a digest from its parts, also where one with this digest exists.

        Raises:
            UnreadableError: The parts have another digest; none of them is stored.
            UnavailableError: It cannot be stored; nothing was changed.
        """
        ...

    def get(self, name: str) -> bytes:
        """Return the content with a digest.

        Raises:
            UnavailableError: It is missing, damaged, or cannot be read.
        """
        ...

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return a range of a content without verifying it; the caller compares the digest of the whole.

        Raises:
            UnavailableError: It is missing, or cannot be read.
        """
        ...

    def iter_parts(self, name: str) -> Generator[bytes]:
        """Yield a content in parts of about 1 MB, without verifying it; close it unless all are read.

        Raises:
            UnreadableError: It is missing, or cannot be read.
            UnavailableError: The store cannot be reached.
        """
        ...

    def has(self, name: str) -> bool:
        """Return whether a content exists, damaged or not."""
        ...

    def iter_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the digests of the existing contents, and their sizes in bytes."""
        ...

    def retain(self) -> AbstractContextManager[None]:
        """Prevent the deletion of contents inside the block."""
        ...

    def exclude(self) -> AbstractContextManager[None]:
        """Prevent contents from being retained inside the block.

        Raises:
            UnavailableError: They are retained, because they are being copied.
        """
        ...

    def delete(self, names: Collection[str], *, before: float) -> tuple[int, int]:
        """Delete contents last written before a time (seconds since 1970); return their number and bytes.

        Nothing is deleted while contents are being copied.

        Raises:
            UnavailableError: They are being copied.
        """
        ...
