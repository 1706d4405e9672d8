"""Spaces: each is a schema of the database, which holds the data of one person or team."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import psycopg
from psycopg import sql

from panorama.errors import InvalidInputError, NotFoundError, UnavailableError

SCHEMA_PREFIX = "panorama_"
"""Before the name of a space in the name of its schema, so that no space is `public` or a schema of the server."""

MARK = "Panorama"
"""The comment on a schema that is ours."""

MIN_VERSION = 14

MAX_NAME_CHARS = 40
"""The longest name of a space."""

_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_NAME_CHARS - 1}}}")
_LIST_HINT = "`panorama spaces list` shows those that this role may use."
_CREATE_HINT = "Create another one: CREATE DATABASE panorama TEMPLATE template0 ENCODING 'UTF8';"

LOCK_PREFIX = 0x50414E
"""The upper three bytes of the numbers of all our locks, "PAN" in ASCII."""

_WRITE_LOCK = 0x50414E4F << 32
"""The upper half of the number of a space's lock, "PANO" in ASCII; the lower half is the schema's number."""

TAKE_LOCK = (
    f"SELECT pg_advisory_xact_lock({_WRITE_LOCK} | coalesce(current_schema(), 'no_space')::regnamespace::oid::bigint), "
    "pg_current_xact_id()::text, has_table_privilege(to_regclass('changes'), 'INSERT')"
).encode()
"""Takes the space's lock until the end of the transaction; returns its number and whether the role may write.

The transaction is READ COMMITTED: at a higher level the snapshot would be older than the lock.
"""

BEGIN_WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED"
BEGIN_VIEW = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class ReadOnlyRoleError(UnavailableError):
    """The role may read the space, but not write it."""


def schema_name(space: str) -> str:
    """Return the name of a space's schema.

    Raises:
        InvalidInputError: It is not a name for a space.
    """
    if not _NAME.fullmatch(space):
        raise InvalidInputError(
            f"{space[:60]!r} is not a name for a space.",
            hint="Use up to 40 small letters, digits and underscores, beginning with a letter, such as `anna`.",
        )
    return SCHEMA_PREFIX + space


def name_for_previous(schema: str, state: str, now: datetime) -> str:
    """Return the name of the schema that keeps what a space held until now; it is the schema of a space too."""
    ending = f"_{state}_{now:%Y%m%d%H%M%S}"
    name = schema.removeprefix(SCHEMA_PREFIX)
    return f"{SCHEMA_PREFIX}{name[: MAX_NAME_CHARS - len(ending)]}{ending}"


def lock(connection: psycopg.Connection[Any]) -> None:
    """Take the write lock of the connection's space until the end of the open transaction."""
    connection.execute(TAKE_LOCK)


def check_server(connection: psycopg.Connection) -> None:
    """Check that a server is new enough and that its database stores every character.

    Raises:
        UnavailableError: The server is too old, or its database cannot store every character.
    """
    query = (
        "SELECT current_setting('server_version_num')::int / 10000, pg_encoding_to_char(encoding) "
        "FROM pg_database WHERE datname = current_database()"
    )
    row = connection.execute(query).fetchone()
    version, encoding = row or (0, "")
    if version < MIN_VERSION:
        raise UnavailableError(
            f"The database server is PostgreSQL {version}; Panorama needs {MIN_VERSION} or later.",
            hint="Use a newer server.",
        )
    if encoding != "UTF8":
        raise UnavailableError(f"The database stores texts as {encoding}, not as UTF8.", hint=_CREATE_HINT)


def create_schema(connection: psycopg.Connection, schema: str, owner: str = "") -> None:
    """Create the schema of a space unless it exists, mark it as ours, and act as its owner from then on.

    Args:
        owner: The role that a new schema belongs to; by default the connection's.

    Raises:
        UnavailableError: The role may not do so.
    """
    name = sql.Identifier(schema)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_WRITE_LOCK,))
    if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None:
        authorization = sql.SQL("AUTHORIZATION {}").format(sql.Identifier(owner)) if owner else sql.SQL("")
        with _explain_refusal(connection, schema):
            connection.execute(sql.SQL("CREATE SCHEMA {} {}").format(name, authorization))
    become_owner(connection, schema)
    connection.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(name, sql.Literal(MARK)))


@contextmanager
def _explain_refusal(connection: psycopg.Connection, schema: str) -> Generator[None]:
    role = connection.info.user
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        space = schema.removeprefix(SCHEMA_PREFIX)
        raise UnavailableError(
            f"The role {role} may not create the space {space} in this database; nothing was changed.",
            hint=f"Ask the administrator of the database to run: panorama spaces create {space} --role {role}",
        ) from error


def become_owner(connection: psycopg.Connection, schema: str) -> str:
    """Act as the owner of a space until the end of the transaction, so that new tables are the owner's; return it.

    Raises:
        NotFoundError: There is no such space.
        UnavailableError: The role may not act as the owner.
    """
    owner, space = find_owner(connection, schema), schema.removeprefix(SCHEMA_PREFIX)
    if not owner:
        raise NotFoundError(f"There is no space {space} in this database.", hint=_LIST_HINT)
    try:
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(owner)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise UnavailableError(
            f"Only the owner of the space {space}, the role {owner}, may do this; nothing was changed.",
            hint=f"Ask {owner}, or the administrator of the database.",
        ) from error
    return owner


def require_owner(connection: psycopg.Connection, schema: str) -> None:
    """Check that the role may migrate the tables of a space, if there is one.

    Raises:
        UnavailableError: The role may not migrate them.
    """
    query = "SELECT pg_get_userbyid(nspowner), pg_has_role(nspowner, 'MEMBER') FROM pg_namespace WHERE nspname = %s"
    row = connection.execute(query, (schema,)).fetchone()
    if row and not row[1]:
        space = schema.removeprefix(SCHEMA_PREFIX)
        raise UnavailableError(
            f"The space {space} was made by an older version of Panorama; its owner, the role {row[0]}, has to "
            "migrate it; nothing was changed.",
            hint=f"Ask {row[0]} to run `panorama spaces migrate {space}`.",
        )


def find_owner(connection: psycopg.Connection, schema: str) -> str:
    """Return the role that owns the schema of a space, "" if there is none."""
    query = "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s"
    row = connection.execute(query, (schema,)).fetchone()
    return str(row[0]) if row else ""


def find_revision(connection: psycopg.Connection, schema: str) -> str:
    """Return the revision of a space's tables, "" if it does not exist or has none.

    Raises:
        UnavailableError: The schema belongs to another program, or the role may not use it.
    """
    query = (
        "SELECT obj_description(oid, 'pg_namespace'), EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid), "
        "CASE WHEN has_schema_privilege(oid, 'USAGE') THEN "
        "to_regclass(quote_ident(nspname) || '.alembic_version') IS NOT NULL END, "
        "pg_get_userbyid(nspowner), current_user FROM pg_namespace AS n WHERE nspname = %s"
    )
    row = connection.execute(query, (schema,)).fetchone()
    if row is None or not row[1]:
        return ""
    mark, _, has_revision, owner, role = row
    if has_revision is None:
        space = schema.removeprefix(SCHEMA_PREFIX)
        raise UnavailableError(
            f"The role {role} may not use the space {space}, which belongs to the role {owner}.",
            hint=f"Choose another one with the setting `space`, or ask {owner}: panorama spaces grant {space} {role}",
        )
    if mark != MARK or not has_revision:
        raise UnavailableError(
            f"The schema {schema} belongs to another program; it was not changed.",
            hint="Choose another name with the setting `space`.",
        )
    found = connection.execute(sql.SQL("SELECT version_num FROM {}.alembic_version").format(sql.Identifier(schema)))
    revision = found.fetchone()
    return str(revision[0]) if revision else ""
