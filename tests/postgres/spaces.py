"""A space for one test, which is dropped at its end."""

from collections.abc import Generator
from contextlib import closing, contextmanager

import psycopg
from psycopg import sql

from panorama.store import migrate
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase


@contextmanager
def create_space(url: str, name: str, *, migrated: bool = True) -> Generator[PostgresDatabase]:
    """Yield a new space, with our tables or with none."""
    with psycopg.connect(url, autocommit=True) as admin, closing(PostgresDatabase(parse_url(url), name)) as space:
        _drop(admin, space)
        try:
            if migrated:
                migrate.create_tables(space)
            yield space
        finally:
            _drop(admin, space)


def _drop(admin: psycopg.Connection, space: PostgresDatabase) -> None:
    admin.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(space.schema)))
