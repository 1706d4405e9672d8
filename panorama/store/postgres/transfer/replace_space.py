"""Fills a space with the rows of an SQLite file; the rows it had stay in a space of their own."""

from contextlib import closing
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier
from sqlalchemy import Connection

from panorama.domain.withdrawal import Replacement
from panorama.store.backend import Session
from panorama.store.contents.folder import FolderContents
from panorama.store.items.files import list_digests
from panorama.store.migrate import create_tables, upgrade
from panorama.store.postgres import spaces, word_tables
from panorama.store.postgres.connections import driver_connection
from panorama.store.postgres.contents import content_rows
from panorama.store.postgres.dialect import DIALECT
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.functions import create_functions
from panorama.store.postgres.transfer.copies import load_rows
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.store.sqlite.snapshots import make_replacement, open_readonly
from panorama.store.sqlite.stored_rows import StoredRows

_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' ORDER BY relname"


def replace_space(
    database: PostgresDatabase, copy: Path, now: datetime, *, is_own: bool, contents: Path | None = None
) -> Replacement:
    """Replace the rows of a space by those of a validated copy, in one transaction.

    Args:
        is_own: Whether this data directory made the copy; otherwise what was approved in it is withdrawn.
        contents: A folder with contents of files that the copy names; it keeps the present ones that it names too.

    Raises:
        UnavailableError: Another Panorama serves the space, the role may not create schemas, or a disk is full; nothing
            was changed.
    """
    with TemporaryDirectory(prefix="panorama-restore-") as folder:
        fresh = Path(folder, "restored.db")
        with closing(SqliteDatabase(copy)) as source:
            source.copy_to(fresh)
        withdrawn = make_replacement(fresh, now, is_own=is_own)
        with closing(SqliteDatabase(fresh, is_durable=False)) as current:
            create_tables(current)
        with (
            database.membership.serve_alone(),
            database.migrating() as connection,
            closing(open_readonly(fresh)) as file,
        ):
            driver = driver_connection(connection)
            spaces.lock(driver)
            aside = _set_aside(connection, database.schema, now)
            upgrade(connection)
            word_tables.create_tables(connection)
            remarks = load_rows(driver, StoredRows(file))
            named = list_digests(Session(connection, None, DIALECT))
            if contents:
                _load_contents(driver, contents, named)
            if aside:
                content_rows.copy_from_schema(driver, aside, sorted(named))
    previous = f"the space {aside.removeprefix(spaces.SCHEMA_PREFIX)}" if aside else ""
    return Replacement(previous, withdrawn, remarks)


def _load_contents(driver: psycopg.Connection[Any], folder: Path, named: set[str]) -> None:
    """Write the contents of a folder that rows name."""
    source = FolderContents(folder)
    for name, _ in source.iter_sizes():
        if name in named:
            with closing(source.iter_parts(name)) as parts:
                content_rows.write(driver, name, parts)


def _set_aside(connection: Connection, schema: str, now: datetime) -> str:
    """Move the tables of a space to a new schema, and return its name; "" if there are none.

    The schema itself stays, with its rights and its lock.
    """
    driver = driver_connection(connection)
    tables = _list_tables(driver, schema)
    if not tables:
        return ""
    aside = spaces.name_for_previous(schema, "before", now)
    spaces.create_schema(driver, aside)
    for table in tables:
        driver.execute(SQL("ALTER TABLE {} SET SCHEMA {}").format(Identifier(schema, table), Identifier(aside)))
    driver.execute(SQL("SET LOCAL search_path = {}").format(Identifier(aside)))
    create_functions(connection)
    driver.execute(SQL("SET LOCAL search_path = {}").format(Identifier(schema)))
    return aside


def _list_tables(driver: psycopg.Connection[Any], schema: str) -> list[str]:
    return [row[0] for row in driver.execute(_TABLES, (schema,))]
