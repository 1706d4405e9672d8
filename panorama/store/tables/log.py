"""The log: changes, calls, repeated calls, imports, and the positions of its readers."""

from sqlalchemy import JSON, Boolean, Column, Float, Index, Integer, PrimaryKeyConstraint, String, Table, Text

from panorama.store.column_types import Utc
from panorama.store.tables.columns import metadata

changes = Table(
    "changes",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Utc, nullable=False),
    Column("actor", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("call", String(12), nullable=False, index=True),
    Column("unit", String(12), nullable=False, index=True),
    Column("item", String(12), nullable=False),
    Column("kind", String(12), nullable=False),
    Column("action", String(8), nullable=False),
    Column("version", Integer, nullable=False),
    Column("before", JSON, nullable=False),
    Column("after", JSON, nullable=False),
    Column("undoes", Integer),
    Index("ix_changes_item", "item", "id"),
    Index("ix_changes_conversation", "conversation", "id"),
    Index("ix_changes_kind", "kind", "at", "item"),
    sqlite_autoincrement=True,
)

texts = Table(
    "texts",
    metadata,
    Column("digest", String(32), primary_key=True),
    Column("text", Text, nullable=False),
)

calls = Table(
    "calls",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(12), nullable=False, index=True),
    Column("unit", String(12), nullable=False, index=True),
    Column("at", Utc, nullable=False, index=True),
    Column("actor", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("ms", Float, nullable=False),
    Column("success", Boolean, nullable=False),
    Column("code", String(20), nullable=False),
    Column("chars", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("position", Integer, nullable=False, server_default="0"),
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("key", Text, primary_key=True),
    Column("digest", String(32), nullable=False),
    Column("at", Utc, nullable=False, index=True),
    Column("answer", JSON, nullable=False),
)

imports = Table(
    "imports",
    metadata,
    Column("folder", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("digest", String(32), nullable=False),
    Column("item", String(12), nullable=False),
    Column("fields", JSON, nullable=False),
    # Paths may be longer than a third of a page, the most that a key of PostgreSQL takes.
    PrimaryKeyConstraint("folder", "path", "part").ddl_if("sqlite"),
    Index("ix_imports_path", "path", postgresql_using="hash").ddl_if("postgresql"),
)

marks = Table(
    "marks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
)
