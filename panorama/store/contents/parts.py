"""Shared by all stores of contents: parts, digests and errors."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from panorama.errors import UnavailableError
from panorama.store.archive.safe_files import UnreadableError
from panorama.store.backend.contents import ContentStore

PART_BYTES = 1 << 20
"""The size of each part of a content except the last."""

_HINT = "Write the file again, or restore it from a backup."


def split_content(content: bytes) -> Iterator[bytes]:
    """Yield a content in parts of 1 MB; none for an empty one."""
    for start in range(0, len(content), PART_BYTES):
        yield content[start : start + PART_BYTES]


def join_parts(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of parts of any size in parts of 1 MB; the last one is smaller."""
    rest = bytearray()
    for part in parts:
        rest += part
        while len(rest) >= PART_BYTES:
            yield bytes(rest[:PART_BYTES])
            del rest[:PART_BYTES]
    if rest:
        yield bytes(rest)


def iter_verified(name: str, parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of a content, and compare its digest at the end.

    Raises:
        UnreadableError: The digest differs.
    """
    digest = sha256()
    for part in parts:
        digest.update(part)
        yield part
    if digest.hexdigest() != name:
        raise UnreadableError("is damaged")


def read_whole(store: ContentStore, name: str) -> bytes:
    """Return a content from its parts.

    Raises:
        UnavailableError: It is missing or damaged, or the store cannot be reached.
    """
    try:
        content = b"".join(store.iter_parts(name))
    except UnreadableError as error:
        raise missing_error(store.describe(name)) from error
    if sha256(content).hexdigest() != name:
        raise damaged_error(store.describe(name))
    return content


def is_intact(store: ContentStore, name: str) -> bool:
    """Return whether a content exists and has its digest."""
    try:
        for _ in iter_verified(name, store.iter_parts(name)):
            pass
    except UnreadableError:
        return False
    return True


def missing_error(place: str) -> UnavailableError:
    """Return the error for a content that is missing."""
    return UnavailableError(f"The content of the file is missing: there is no {place}.", hint=_HINT)


def damaged_error(place: str) -> UnavailableError:
    """Return the error for a content that has another digest than its name."""
    return UnavailableError(f"The content of the file is damaged: {place} is not what was written.", hint=_HINT)


def copying_error() -> UnavailableError:
    """Return the error for a deletion while contents are being copied."""
    return UnavailableError("The contents of files are being copied.", hint="Try again when that is done.")
