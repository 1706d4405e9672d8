"""Creates, lists, migrates, grants and drops the spaces of a database."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier
from sqlalchemy import URL

from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.store.migrate import create_tables, migrate
from panorama.store.postgres import spaces
from panorama.store.postgres.administration import listing, rights
from panorama.store.postgres.connections import create_single, driver_connection
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.errors import translate_errors

_LIST_HINT = "`panorama spaces list` shows those that this role may use."
_LOCK_WAIT = "SET LOCAL lock_timeout = '5s'"
_USERS = (
    "SELECT DISTINCT a.application_name FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.pid <> pg_backend_pid() AND l.granted AND l.objid = %s::regnamespace::oid "
    "AND l.classid::bigint >> 8 = %s AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "ORDER BY 1"
)


class SpaceAdministration:
    """The spaces of one database, for the role of its address."""

    def __init__(self, url: URL) -> None:
        self._url = url

    def list_spaces(self) -> list[listing.Space]:
        """Return the spaces that the role may use, by name."""
        with self._transaction() as driver:
            return listing.list_spaces(driver)

    def get(self, name: str) -> listing.Space:
        """Return a space that the role may use.

        Raises:
            NotFoundError: There is none of this name.
        """
        with self._transaction() as driver:
            for space in listing.list_spaces(driver, spaces.schema_name(name)):
                return space
        raise NotFoundError(f"There is no space {name} that this role may use.", hint=_LIST_HINT)

    def create(self, name: str, owner: str = "") -> listing.Space:
        """Create a space with its tables.

        Args:
            owner: The role that owns it; by default the connection's.

        Raises:
            ConflictError: The space exists.
            NotFoundError: The server has no such role.
            UnavailableError: The role may not create spaces, or not for this owner.
        """
        schema = spaces.schema_name(name)
        with self._transaction() as driver:
            spaces.check_server(driver)
            if spaces.find_revision(driver, schema):
                raise ConflictError(f"The space {name} already exists; nothing was changed.", hint=_LIST_HINT)
            if owner:
                rights.require_role(driver, owner)
            spaces.create_schema(driver, schema, owner)
        with closing(PostgresDatabase(self._url, name)) as database:
            create_tables(database)
        return self.get(name)

    def migrate(self, name: str, *, backups: Path, now: datetime) -> bool:
        """Bring the tables of a space up to date; return whether they were not.

        Raises:
            UnavailableError: The role is not its owner, or the space is newer than this program.
        """
        with closing(PostgresDatabase(self._url, name)) as database:
            before = database.revision()
            migrate(database, backups=backups, now=now)
            return database.revision() != before

    def grant(self, name: str, role: str, *, is_read_only: bool) -> None:
        """Let a role use a space.

        Raises:
            NotFoundError: There is no such space or role.
            InvalidInputError: The role owns the space.
            UnavailableError: Only the owner may do so.
        """
        with self._owning(name, role) as (driver, schema):
            rights.grant(driver, schema, role, is_read_only=is_read_only)

    def revoke(self, name: str, role: str) -> None:
        """Take all rights on a space from a role.

        Raises:
            NotFoundError: There is no such space or role.
            InvalidInputError: The role owns the space.
            UnavailableError: Only the owner may do so.
        """
        with self._owning(name, role) as (driver, schema):
            rights.revoke(driver, schema, role)

    def drop(self, name: str) -> None:
        """Drop a space with all it holds.

        Raises:
            NotFoundError: There is no such space.
            ConflictError: A daemon serves it.
            UnavailableError: Only the owner may do so.
        """
        schema = spaces.schema_name(name)
        with self._transaction() as driver:
            spaces.become_owner(driver, schema)
            driver.execute(_LOCK_WAIT)
            if users := [row[0] for row in driver.execute(_USERS, (schema, spaces.LOCK_PREFIX))]:
                raise ConflictError(
                    f"The space {name} is in use by {', '.join(users)}; nothing was changed.",
                    hint="Stop the daemon on that machine: panorama daemon stop",
                )
            driver.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema)))

    @contextmanager
    def _owning(self, name: str, role: str) -> Generator[tuple[psycopg.Connection[Any], str]]:
        """Open a transaction as the owner of a space that changes the rights of another role."""
        schema = spaces.schema_name(name)
        with self._transaction() as driver:
            rights.require_role(driver, role)
            if spaces.become_owner(driver, schema) == role:
                raise InvalidInputError(
                    f"The role {role} owns the space {name}, with all rights; nothing was changed.",
                    hint="Name another role.",
                )
            yield driver, schema

    @contextmanager
    def _transaction(self) -> Generator[psycopg.Connection[Any]]:
        engine = create_single(self._url, "pg_catalog")
        try:
            with translate_errors(), engine.connect() as connection, connection.begin():
                yield driver_connection(connection)
        finally:
            engine.dispose()
