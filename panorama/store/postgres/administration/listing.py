"""Lists the spaces that a role may use, with what they hold and who may use them."""

from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from psycopg.sql import SQL, Identifier

from panorama.store.items.rows import NOUNS
from panorama.store.postgres.administration.rights import REVISIONS
from panorama.store.postgres.spaces import MARK, SCHEMA_PREFIX

_SPACES = (
    "SELECT nspname, pg_get_userbyid(nspowner), (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint "
    "FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind = 'r') FROM pg_namespace AS n "
    "WHERE obj_description(oid, 'pg_namespace') = %s AND starts_with(nspname, %s) AND %s::text IN ('', nspname::text) "
    "AND has_schema_privilege(oid, 'USAGE') ORDER BY nspname"
)
_ROLES = (
    "SELECT coalesce(r.rolname, 'public'), EXISTS (SELECT 1 FROM pg_class AS c, aclexplode(c.relacl) AS t "
    "WHERE c.relnamespace = n.oid AND c.relname = 'changes' AND t.grantee = a.grantee AND t.privilege_type = 'INSERT') "
    "FROM pg_namespace AS n, aclexplode(n.nspacl) AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee "
    "WHERE n.nspname = %s AND a.privilege_type = 'USAGE' AND a.grantee <> n.nspowner ORDER BY 1"
)
_READABLE_TABLES = (
    "SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = %s AND c.relkind = 'r' AND has_table_privilege(c.oid, 'SELECT')"
)

Rights = Literal["write", "read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A space of a database.

    `items` counts what is not in the trash, and `roles` says what roles other than the owner may do with the space.
    """

    name: str
    owner: str
    revision: str
    items: int
    size_bytes: int
    roles: dict[str, Rights]


def list_spaces(driver: psycopg.Connection[Any], schema: str = "") -> list[Space]:
    """Return the spaces that the connection's role may use, by name, or only that of a schema."""
    rows = driver.execute(_SPACES, (MARK, SCHEMA_PREFIX, schema)).fetchall()
    return [_describe(driver, schema, owner, size) for schema, owner, size in rows]


def _describe(driver: psycopg.Connection[Any], schema: str, owner: str, size_bytes: int) -> Space:
    tables = {row[0] for row in driver.execute(_READABLE_TABLES, (schema,))}
    items = [noun.table.name for noun in NOUNS.values() if noun.table.name in tables]
    return Space(
        name=schema.removeprefix(SCHEMA_PREFIX),
        owner=owner,
        revision=_find_revision(driver, schema) if REVISIONS in tables else "",
        items=sum(_count(driver, Identifier(schema, table)) for table in items),
        size_bytes=size_bytes,
        roles={role: "write" if may_write else "read" for role, may_write in driver.execute(_ROLES, (schema,))},
    )


def _find_revision(driver: psycopg.Connection[Any], schema: str) -> str:
    table = Identifier(schema, REVISIONS)
    row = driver.execute(SQL("SELECT version_num FROM {}").format(table)).fetchone()
    return str(row[0]) if row else ""


def _count(driver: psycopg.Connection[Any], table: Identifier) -> int:
    row = driver.execute(SQL("SELECT count(*) FROM {} WHERE deleted_at IS NULL").format(table)).fetchone()
    return int(row[0]) if row else 0
