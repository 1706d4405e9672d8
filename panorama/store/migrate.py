"""Migrates a database to the current schema, after taking a copy of it."""

from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection

from panorama.errors import UnavailableError
from panorama.store.backend import Database
from panorama.store.tables import HEAD

_PACKAGE = Path(__file__).resolve().parents[1]


def bundled_path(name: str) -> Path:
    """Return a bundled folder (`migrations`, `scripts`), in a wheel or a checkout."""
    inside = _PACKAGE / "_shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def migrate(database: Database, *, backups: Path, now: datetime) -> None:
    """Migrate the database to `HEAD`; takes a few milliseconds if it is up to date.

    A non-empty file is copied to `backups` first.

    Raises:
        UnavailableError: The database is newer than the program, or belongs to another one, or another user has to
            migrate it.
    """
    revision = database.revision()
    if revision == HEAD:
        return
    if revision and revision > HEAD:
        raise UnavailableError(
            f"The database has revision {revision}; this Panorama knows up to {HEAD}. It was not touched.",
            hint="Upgrade Panorama (`uv tool upgrade panorama-mcp`), or choose another folder with PANORAMA_HOME.",
        )
    database.require_migratable()
    if revision and database.is_copied_before_migration:
        _make_folder(backups)
        database.copy_to(backups / f"before-{HEAD}-{now:%Y%m%dT%H%M%SZ}.db", is_awaited=True)
    _upgrade(database, HEAD)


def create_tables(database: Database, revision: str = "") -> None:
    """Upgrade a new or older database to a revision (default `HEAD`) without a copy."""
    _upgrade(database, revision or HEAD)


def _make_folder(backups: Path) -> None:
    try:
        backups.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"The folder {backups} for the copy before a migration cannot be created; nothing was changed.",
            hint="Move away what is at that path, and check that the data directory is writable.",
        ) from error


def _upgrade(database: Database, revision: str) -> None:
    with database.migrating() as connection:
        # Another process may have migrated it already: Alembic checks again while holding the write lock.
        upgrade(connection, revision)


def upgrade(connection: Connection, revision: str = HEAD) -> None:
    """Upgrade the database behind a connection in its open transaction."""
    from alembic import command  # 240 ms, needed once per version
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(bundled_path("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
