"""Grants a role the rights that it needs for a space, and nothing else, and revokes them.

Default privileges cover the tables of later migrations. The table with the revision is for reading only.
"""

from typing import Any

import psycopg
from psycopg.sql import SQL, Composable, Identifier

from panorama.errors import InvalidInputError, NotFoundError

REVISIONS = "alembic_version"

_WRITE = SQL("SELECT, INSERT, UPDATE, DELETE")
_READ = SQL("SELECT")
_REVOKE = (
    "REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {role}",
    "REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM {role}",
    "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM {role}",
    "REVOKE ALL ON SCHEMA {schema} FROM {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} REVOKE ALL ON TABLES FROM {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} REVOKE ALL ON SEQUENCES FROM {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} REVOKE ALL ON FUNCTIONS FROM {role}",
)
_GRANT = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT {tables} ON ALL TABLES IN SCHEMA {schema} TO {role}",
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT {tables} ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT EXECUTE ON FUNCTIONS TO {role}",
)
_GRANT_NUMBERS = (
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO {role}",
)
_WRITERS_OF_REVISIONS = (
    "SELECT DISTINCT r.rolname FROM pg_class AS c, aclexplode(c.relacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee "
    "WHERE c.relnamespace = %s::regnamespace AND c.relname = %s AND a.grantee <> c.relowner "
    "AND a.privilege_type <> 'SELECT'"
)


def require_role(driver: psycopg.Connection[Any], role: str) -> None:
    """Check that a server has a role.

    Raises:
        InvalidInputError: It is `public`, which means every role.
        NotFoundError: There is none.
    """
    if role.lower() == "public":  # PostgreSQL takes it for everybody, also in quotes
        raise InvalidInputError("public is not a role: it means every role of the server.", hint="Name one role.")
    if driver.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
        raise NotFoundError(
            f"The server has no role {role!r}; nothing was changed.",
            hint="Create it: CREATE ROLE name LOGIN PASSWORD '…';",
        )


def grant(driver: psycopg.Connection[Any], schema: str, role: str, *, is_read_only: bool) -> None:
    """Let a role use a space; what it may do is replaced. The connection acts as the owner."""
    revoke(driver, schema, role)
    _execute(driver, _GRANT, schema, role, _READ if is_read_only else _WRITE)
    if not is_read_only:
        _execute(driver, _GRANT_NUMBERS, schema, role)
    protect_revision(driver, schema)


def revoke(driver: psycopg.Connection[Any], schema: str, role: str) -> None:
    """Take all rights on a space from a role. The connection acts as the owner."""
    _execute(driver, _REVOKE, schema, role)


def protect_revision(driver: psycopg.Connection[Any], schema: str) -> None:
    """Let only the owner of a space change which revision its tables have."""
    table = Identifier(schema, REVISIONS)
    for (role,) in driver.execute(_WRITERS_OF_REVISIONS, (schema, REVISIONS)).fetchall():
        statement = SQL("REVOKE INSERT, UPDATE, DELETE ON {} FROM {}")
        driver.execute(statement.format(table, Identifier(role)))


def _execute(
    driver: psycopg.Connection[Any], statements: tuple[Any, ...], schema: str, role: str, tables: Composable = _READ
) -> None:
    for statement in statements:
        driver.execute(SQL(statement).format(schema=Identifier(schema), role=Identifier(role), tables=tables))
