"""A private copy of the store for a dry run, made at its first write."""

import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from panorama.store.backend import Database


class Scratch:
    """Writes inside `activate` go to the copy; reads come from it once there is one.

    Other contexts read and write the real store, and never wait for the copy.

    Args:
        folder: The temporary folder, which is deleted at the end.
        create_copy: Makes the copy and opens it.
    """

    def __init__(self, database: Database, folder: Path, create_copy: Callable[[], Database]) -> None:
        self._database = database
        self._folder = folder
        self._create_copy = create_copy
        self._copy: Database | None = None
        self._lock = threading.Lock()

    @contextmanager
    def activate(self) -> Generator[None]:
        """Make the transactions of this context use the copy."""
        with self._database.redirect(self._choose):
            yield

    @property
    def folder(self) -> Path:
        """The temporary folder."""
        return self._folder

    @property
    def is_written(self) -> bool:
        """Whether anything was written."""
        return self._copy is not None

    def close(self) -> None:
        """Delete everything."""
        if self._copy is not None:
            self._copy.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _choose(self, writes: bool) -> Database | None:
        if writes and self._copy is None:
            with self._lock:
                if self._copy is None:
                    self._copy = self._create_copy()
        return self._copy
