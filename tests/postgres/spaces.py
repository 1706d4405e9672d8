"""A space of PostgreSQL for a test: a schema of the shared database."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Connection, Engine, create_engine, make_url, text

from panorama.store import migrate
from panorama.store.backend import Database
from panorama.store.postgres import sql
from panorama.store.postgres.functions import create_functions


@dataclass(frozen=True)
class Space:
    """A schema, and connections that see only it."""

    engine: Engine

    @contextmanager
    def migrating(self) -> Generator[Connection]:
        """Open the transaction of a migration."""
        with self.engine.begin() as connection:
            create_functions(connection)
            yield connection


@contextmanager
def create_space(url: str, name: str, *, migrated: bool = True) -> Generator[Space]:
    """Yield a new schema with our tables; it is dropped at the end."""
    sql.register()
    engine = create_engine(
        make_url(url).set(drivername=sql.DRIVER),
        paramstyle="format",
        json_serializer=json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode,
        connect_args={"options": f"-c search_path={name} -c timezone=UTC"},
    )
    space = Space(engine)
    try:
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA IF EXISTS {name} CASCADE"))
            connection.execute(text(f"CREATE SCHEMA {name}"))
        if migrated:
            migrate.create_tables(cast("Database", space))
        yield space
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    finally:
        engine.dispose()
