"""A private copy of the database for a dry run, made at its first write."""

import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from panorama.errors import UnavailableError
from panorama.store.backend import Database

SPARE_BYTES = 64 << 20
"""The disk space that must stay free besides the copy."""


class ScratchDatabase:
    """Writes inside `activate` go to the copy; reads come from it once there is one.

    Other contexts read and write the real store, and never wait for the copy.

    Args:
        check_cancel: Called for every MB copied; an exception that it raises ends the copying and deletes the copy.
        open_copy: Opens the copied file.
    """

    def __init__(
        self,
        database: Database,
        folder: Path,
        check_cancel: Callable[[], None],
        open_copy: Callable[[Path], Database],
    ) -> None:
        self._database = database
        self._folder = folder
        self._check_cancel = check_cancel
        self._open_copy = open_copy
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
                    self._copy = self._create()
        return self._copy

    def _create(self) -> Database:
        path = self._folder / "panorama.db"
        self._require_space()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._database.copy_to(path, lambda _done, _total: self._check_cancel())
        return self._open_copy(path)

    def _require_space(self) -> None:
        needed = self._database.size_bytes()
        free = shutil.disk_usage(next(path for path in self._folder.parents if path.is_dir())).free
        if free < needed + SPARE_BYTES:
            raise UnavailableError(
                f"A dry run that writes needs {(needed + SPARE_BYTES) >> 20:,} MB for a copy of the database; "
                f"{free >> 20:,} MB are free.",
                hint="Free some space, or run it for real with atomic=true and take it back with undo.",
            )
