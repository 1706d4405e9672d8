"""Moves the data of a data directory between its SQLite file and a space of a PostgreSQL database."""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from psycopg.sql import SQL, Identifier

from panorama.domain.changes import CLI_ACTOR, Origin
from panorama.errors import ConflictError, UnavailableError
from panorama.store.backend import ContentStore, Database, ProgressCallback, noop
from panorama.store.contents.copying import copy_contents
from panorama.store.items.files import list_digests
from panorama.store.migrate import create_tables, migrate
from panorama.store.postgres import spaces
from panorama.store.postgres.connections import driver_connection, parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.errors import translate_errors
from panorama.store.postgres.transfer.copies import (
    load_rows,
    remove_file,
    require_same_file,
    unwritable_error,
    write_snapshot,
)
from panorama.store.sqlite.backend import FILE_NAME
from panorama.store.sqlite.driver import sqlite_connection
from panorama.store.sqlite.engine import SUFFIXES, SqliteDatabase
from panorama.store.sqlite.stored_rows import StoredRows
from panorama.store.tables import changes, metadata

_ORIGIN = Origin(actor=CLI_ACTOR, client="move", conversation="", operation="", call="", unit="")
READ_ONLY_MODE = 0o400
CONTENTS = "files"
"""The folder of the contents of files, in the data directory."""


class ContentStores(NamedTuple):
    """Open the stores of contents beside the database that is moved, and beside the one it is moved to."""

    source: Callable[[Database], ContentStore]
    target: Callable[[Database], ContentStore]


class FillResult(NamedTuple):
    """The result of filling a space: the digests of missing contents, and remarks on replaced values."""

    missing: list[str]
    remarks: tuple[str, ...]


def fill_space(
    home: Path,
    url: str,
    space: str,
    now: datetime,
    progress: ProgressCallback = noop,
    files: ContentStores | None = None,
) -> FillResult:
    """Write the rows of a data directory's file into a space without data, and compare them, in one transaction.

    The contents of files are copied first; those that are missing or damaged in the data directory are left out. The
    data directory and the space must not be written to meanwhile.

    Raises:
        ConflictError: The space holds data.
        UnavailableError: Another Panorama serves the space, or a database cannot be written; nothing was changed.
    """
    with (
        closing(SqliteDatabase(home / FILE_NAME)) as source,
        closing(PostgresDatabase(parse_url(url), space)) as target,
        target.membership.serve_alone(),
    ):
        migrate(source, backups=home / "backups", now=now)
        create_tables(target)
        with target.connect() as driver:
            _require_no_data(driver, space)
        with source.reading() as session:
            named = list_digests(session)
        files = files or _own_stores(home)
        missing = copy_contents(files.source(source), files.target(target), named, progress)
        with source.transaction(_ORIGIN) as session, target.migrating() as connection:
            driver = driver_connection(connection)
            spaces.lock(driver)
            _require_no_data(driver, space)
            names = SQL(", ").join(map(Identifier, metadata.tables))
            driver.execute(SQL("TRUNCATE {}, search_words, search_terms RESTART IDENTITY").format(names))
            remarks = load_rows(driver, StoredRows(sqlite_connection(session.connection)), progress)
    return FillResult(missing, remarks)


def _own_stores(home: Path) -> ContentStores:
    """Return the stores of the databases themselves."""

    def open_store(database: Database) -> ContentStore:
        return database.contents(home / CONTENTS)

    return ContentStores(open_store, open_store)


def _require_no_data(driver: psycopg.Connection[Any], space: str) -> None:
    """Check that nothing was ever stored in a space; starting a daemon with it does not count."""
    row = driver.execute(SQL("SELECT 1 FROM {} LIMIT 1").format(Identifier(changes.name))).fetchone()
    if row:
        raise ConflictError(
            f"The space {space} holds data already; nothing was changed.",
            hint=f"Choose another one with --space, or drop it first: panorama spaces drop {space}",
        )


def fill_file(
    url: str, space: str, home: Path, progress: ProgressCallback = noop, files: ContentStores | None = None
) -> list[str]:
    """Write the rows of a space to a new file of a data directory, and compare them; it must not be written to.

    The contents of files are copied too. Returns the digests of those that are missing or damaged in the space.

    Raises:
        ConflictError: The file exists.
        UnavailableError: Another Panorama serves the space, or the file cannot be written; it is removed then.
    """
    file = home / FILE_NAME
    if file.exists():
        raise ConflictError(f"{file} already exists; nothing was changed.", hint="Move it elsewhere first.")
    part = file.with_suffix(".part")
    files = files or _own_stores(home)
    try:
        remove_file(part)  # of a process that was killed
        with (
            closing(PostgresDatabase(parse_url(url), space)) as source,
            source.membership.serve_alone(),
            closing(SqliteDatabase(part, is_durable=False)) as target,
        ):
            _require_renamable(source)
            create_tables(source)
            with source.reading() as session:
                named = list_digests(session)
            missing = copy_contents(files.source(source), files.target(target), named, progress)
            with source.transaction(_ORIGIN) as session:
                digests = write_snapshot(driver_connection(session.connection), part, progress)
        require_same_file(part, digests)
        part.replace(file)
    except OSError as error:
        raise unwritable_error(file, error) from error
    finally:
        remove_file(part)
    return missing


def _require_renamable(database: PostgresDatabase) -> None:
    """Check that a space can be kept under another name after its rows were moved.

    Raises:
        NotFoundError: There is no such space.
        UnavailableError: The role is not its owner, or may not create schemas.
    """
    with translate_errors(), database.connect() as driver, driver.transaction():
        row = driver.execute("SELECT has_database_privilege(current_database(), 'CREATE')").fetchone()
        spaces.become_owner(driver, database.schema)
        role = driver.info.user
        if not (row and row[0]):
            raise UnavailableError(
                f"The role {role} may not rename its space after the move; nothing was changed.",
                hint="Ask the administrator of the database to run: "
                f"GRANT CREATE ON DATABASE {driver.info.dbname} TO {role};",
            )


def set_file_aside(home: Path, now: datetime) -> Path:
    """Rename the file that was moved and the folder of contents; return the new path of the file.

    The file becomes read-only.
    """
    file = home / FILE_NAME
    aside = file.with_name(f"moved-{now:%Y%m%dT%H%M%SZ}.db")
    if (home / CONTENTS).is_dir():
        (home / CONTENTS).replace(aside.with_suffix(".files"))
    for ending in reversed(SUFFIXES):
        present = file.with_name(file.name + ending)
        if present.exists():
            present.replace(aside.with_name(aside.name + ending))
    aside.chmod(READ_ONLY_MODE)
    return aside


def set_space_aside(url: str, space: str, now: datetime) -> str:
    """Rename a space that was moved, so that no daemon opens it; return its new name.

    Raises:
        UnavailableError: Another Panorama serves the space, or the role may not rename it.
    """
    with closing(PostgresDatabase(parse_url(url), space)) as database, translate_errors(), database.connect() as driver:
        name = spaces.name_for_previous(database.schema, "moved", now)
        driver.execute(SQL("ALTER SCHEMA {} RENAME TO {}").format(Identifier(database.schema), Identifier(name)))
    return name.removeprefix(spaces.SCHEMA_PREFIX)
