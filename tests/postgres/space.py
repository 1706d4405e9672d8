"""A migrated space for tests, and how it is emptied and filled between two of them."""

from contextlib import closing
from pathlib import Path

from psycopg import sql

from panorama.store.migrate import create_tables
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.transfer.copies import load_rows
from panorama.store.sqlite.snapshots import open_readonly
from panorama.store.sqlite.stored_rows import StoredRows

_KEPT = ("alembic_version",)
_TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND relname <> ALL(%s) "
    "AND pg_relation_size(oid) > 0"
)


def open_space(url: str, name: str) -> PostgresDatabase:
    """Open a space that has all tables."""
    database = PostgresDatabase(parse_url(url), name)
    create_tables(database)
    return database


def empty_space(database: PostgresDatabase) -> None:
    """Remove all rows of a space, and begin its numbers again."""
    with database.connect() as driver:
        names = [row[0] for row in driver.execute(_TABLES, (database.schema, list(_KEPT)))]
        if names:
            tables = sql.SQL(", ").join(map(sql.Identifier, names))
            driver.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(tables))


def fill_space(database: PostgresDatabase, file: Path) -> None:
    """Give an empty space the rows of an SQLite file of the current schema."""
    with database.connect() as driver, closing(open_readonly(file)) as opened:
        source = StoredRows(opened)
        if source.count():
            driver.execute("BEGIN")
            load_rows(driver, source)
            driver.execute("COMMIT")
