"""The registry of tables, and the columns and indexes that several have."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, String, Table, TextClause, text
from sqlalchemy.schema import SchemaItem

from panorama.store.column_types import Utc

metadata = MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_name)s", "fk": "fk_%(table_name)s_%(column_0_name)s"}
)

LIVING = "deleted_at IS NULL"


def item_table(name: str, *parts: SchemaItem) -> Table:
    """Return a table of items: the columns that each has, its own, and an index of those in the trash."""
    return Table(
        name,
        metadata,
        Column("id", String(12), primary_key=True),
        Column("version", Integer, nullable=False),
        Column("created_at", Utc, nullable=False),
        Column("updated_at", Utc, nullable=False),
        Column("deleted_at", Utc),
        *parts,
        index_where(f"ix_{name}_trash", ["deleted_at"], "deleted_at IS NOT NULL"),
    )


def project_column(*, index: bool = True) -> Column[Any]:
    """Return the column of the project to which an item belongs."""
    return Column("project", String(12), ForeignKey("projects.id"), index=index)


def index_where(
    name: str, columns: Sequence[str | TextClause], condition: str, *, unique: bool = False, **options: Any
) -> Index:
    """Return an index of the rows that meet a condition."""
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where, **options)
