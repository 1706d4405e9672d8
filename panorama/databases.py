"""Opens the database and the store of contents that the settings name."""

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from panorama.config import Settings
from panorama.errors import InvalidInputError, UnavailableError
from panorama.store.backend import Backend, Database
from panorama.store.backend.contents import ContentStore
from panorama.store.log.marks import read_store_number
from panorama.store.sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from panorama.store.contents.s3 import S3Contents
    from panorama.store.postgres.administration.administration import SpaceAdministration


def open_backend(settings: Settings) -> Backend:
    """Return the database that the settings name, not opened yet.

    Raises:
        InvalidInputError: The address of the database is invalid.
        UnavailableError: The driver for PostgreSQL is not installed.
    """
    url = settings.database_url.get_secret_value()
    return open_postgres(url, settings.space, settings.home) if url else SqliteBackend(settings.home)


def open_postgres(url: str, space: str, home: Path) -> Backend:
    """Return a space of a PostgreSQL database, not opened yet.

    Raises:
        InvalidInputError: The address is invalid.
        UnavailableError: The driver is not installed.
    """
    with _explain_missing_driver():
        from panorama.store.postgres.backend import PostgresBackend  # the driver is an extra

    return PostgresBackend(url, space, home)


def open_administration(settings: Settings) -> "SpaceAdministration":
    """Return the spaces of the database that the settings name.

    Raises:
        InvalidInputError: The settings name no database, or its address is invalid.
        UnavailableError: The driver is not installed.
    """
    url = settings.database_url.get_secret_value()
    if not url:
        raise InvalidInputError(
            "There are no spaces: the data is in the file of the data directory.",
            hint="Spaces are in a PostgreSQL database: set database_url, or PANORAMA_DATABASE_URL for one command.",
        )
    with _explain_missing_driver():
        from panorama.store.postgres.administration.administration import SpaceAdministration
        from panorama.store.postgres.connections import parse_url

    return SpaceAdministration(parse_url(url))


@contextmanager
def _explain_missing_driver() -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise UnavailableError(
            "The setting database_url names a PostgreSQL database, whose driver is not installed.",
            hint="Install it: uv tool install 'panorama-mcp[postgres]', or pip install 'panorama-mcp[postgres]'.",
        ) from error


def open_contents(settings: Settings, database: Database, *, claims: bool = True) -> ContentStore:
    """Return the store of the contents of files; nothing is opened yet.

    Args:
        claims: As for `open_bucket`.

    Raises:
        InvalidInputError: The settings of an S3 store cannot be used.
        UnavailableError: Its client is not installed.
    """
    if settings.files_url:
        return open_bucket(settings, database, claims=claims)
    return database.contents(settings.home / "files")


def open_bucket(settings: Settings, database: Database, *, claims: bool = True) -> "S3Contents":
    """Return the S3 store of the settings, not opened yet.

    Args:
        claims: Whether the first content reserves the place for the database; false if it is not in use yet.

    Raises:
        InvalidInputError: The settings cannot be used.
        UnavailableError: The client is not installed.
    """
    try:
        from panorama.store.contents.s3 import S3Contents, S3Location  # the client is an extra
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise UnavailableError(
            "The setting files_url names an S3 store, whose client is not installed.",
            hint="Install it: uv tool install 'panorama-mcp[s3]', or pip install 'panorama-mcp[s3]'.",
        ) from error
    location = S3Location(
        url=settings.files_url, endpoint=settings.files_endpoint, region=settings.files_region,
        key_id=settings.files_key_id, key=settings.files_key.get_secret_value(),
    )  # fmt: skip
    read_number = partial(read_store_number, database) if claims else lambda: 0
    return S3Contents(location, settings.space, read_number, guard=database.contents(settings.home))
