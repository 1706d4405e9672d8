"""A private view of the store: a copy made at the first write, which nobody else sees, and which is thrown away."""

import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from panorama.errors import UnavailableError
from panorama.store.engine import Database

SPARE_BYTES = 64 << 20
"""What must stay free on the disk beside the copy."""


def waits() -> None:
    """Let the copy be made."""


class Aside:
    """What is written inside `entered` goes to the copy; what is read comes from it once there is one.

    Others read and write the real store meanwhile, and never wait for the copy.

    Args:
        asked: Is called for every MB that is copied; what it raises ends the copying, and nothing of it is left.
    """

    def __init__(self, database: Database, folder: Path, asked: Callable[[], None] = waits) -> None:
        self._database = database
        self._folder = folder
        self._asked = asked
        self._copy: Database | None = None
        self._lock = threading.Lock()

    @contextmanager
    def entered(self) -> Generator[None]:
        """Let the transactions of this context be those of the copy."""
        with self._database.elsewhere(self._chosen):
            yield

    @property
    def folder(self) -> Path:
        """Where everything lies that is thrown away."""
        return self._folder

    @property
    def is_written(self) -> bool:
        """Whether anything was written."""
        return self._copy is not None

    def close(self) -> None:
        """Throw everything away."""
        if self._copy is not None:
            self._copy.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _chosen(self, writes: bool) -> Database | None:
        if writes and self._copy is None:
            with self._lock:
                if self._copy is None:
                    self._copy = self._made()
        return self._copy

    def _made(self) -> Database:
        path = self._folder / "panorama.db"
        self._make_room()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._database.copy_to(path, lambda _done, _total: self._asked())
        return Database(path, is_durable=False)

    def _make_room(self) -> None:
        needed = sum(each.stat().st_size for each in self._database.path.parent.glob(self._database.path.name + "*"))
        free = shutil.disk_usage(self._database.path.parent).free
        if free < needed + SPARE_BYTES:
            raise UnavailableError(
                f"A dry run that writes needs {(needed + SPARE_BYTES) >> 20:,} MB for a copy of the database; "
                f"{free >> 20:,} MB are free.",
                hint="Free some space, or run it for real with atomic=true and take it back with undo.",
            )
