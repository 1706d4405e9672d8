"""SQLite as a database of Panorama: one file in the data directory."""

from pathlib import Path

from panorama.store.backend import Maintenance, Snapshots
from panorama.store.sqlite import snapshots
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.store.sqlite.maintenance import SqliteMaintenance

FILE_NAME = "panorama.db"


class SqliteBackend:
    """The database of one data directory."""

    snapshots: Snapshots = snapshots

    def __init__(self, home: Path) -> None:
        self._path = home / FILE_NAME

    @property
    def maintenance(self) -> Maintenance:
        """Checks and replaces the file."""
        return SqliteMaintenance(self._path)

    def open(self, *, busy_seconds: float = 10.0) -> SqliteDatabase:
        """Open the file; it is created by the migration if there is none."""
        return SqliteDatabase(self._path, busy_seconds=busy_seconds)
