"""The contents of files as calls read and write them: those of a dry run are stored aside."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

from panorama.store.backend.contents import ContentStore
from panorama.store.contents.folder import FolderContents
from panorama.store.contents.parts import is_intact


class Contents:
    """A store of contents, and inside `use_scratch` a folder that is searched first and gets every new content."""

    def __init__(self, store: ContentStore) -> None:
        self._store = store
        self._scratch: ContextVar[FolderContents | None] = ContextVar("scratch_contents", default=None)

    @contextmanager
    def use_scratch(self, folder: Path) -> Generator[None]:
        """Store new contents in a folder, which is also searched first."""
        token = self._scratch.set(FolderContents(folder))
        try:
            yield
        finally:
            self._scratch.reset(token)

    def put(self, content: bytes) -> str:
        """Store a content durably and return its digest.

        Raises:
            UnavailableError: It cannot be stored; nothing was changed.
        """
        scratch = self._scratch.get()
        if scratch is None:
            return self._store.put(content)
        name = sha256(content).hexdigest()
        return name if is_intact(self._store, name) else scratch.put(content)

    def get(self, name: str) -> bytes:
        """Return the content with a digest.

        Raises:
            UnavailableError: It is missing, damaged, or cannot be read.
        """
        return self._find_store(name).get(name)

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return a range of a content without verifying it; the caller compares the digest of the whole.

        Raises:
            UnavailableError: It is missing, or cannot be read.
        """
        return self._find_store(name).read_range(name, start, size)

    def _find_store(self, name: str) -> ContentStore:
        scratch = self._scratch.get()
        return scratch if scratch and scratch.has(name) else self._store
