"""A space of a PostgreSQL database as the database of one data directory."""

from pathlib import Path

from panorama.store.backend import Maintenance, Snapshots
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.maintenance import PostgresMaintenance
from panorama.store.sqlite import snapshots


class PostgresBackend:
    """One space. Its copies are SQLite files, as those of every database are.

    Raises:
        InvalidInputError: The address or the name of the space cannot be used.
    """

    snapshots: Snapshots = snapshots

    def __init__(self, url: str, space: str, home: Path) -> None:
        self._url = parse_url(url)
        self._space = space
        self._home = home

    @property
    def maintenance(self) -> Maintenance:
        """Checks and replaces the space."""
        return PostgresMaintenance(self._url, self._space)

    def open(self, *, busy_seconds: float = 10.0) -> PostgresDatabase:
        """Open the space; it is created by the migration if there is none."""
        return PostgresDatabase(self._url, self._space, busy_seconds=busy_seconds)
