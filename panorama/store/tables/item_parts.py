"""Tables of parts of items: other names, lines of sessions and notes, edges of the graph."""

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, String, Table, Text

from panorama.store.column_types import Utc
from panorama.store.tables.columns import index_where, metadata

other_names = Table(
    "other_names",
    metadata,
    Column("key", Text, primary_key=True),
    Column("item", String(12), primary_key=True, index=True),
    Column("is_short", Boolean, nullable=False),
)
"""The names besides its label by which an item is found, normalised."""

session_lines = Table(
    "session_lines",
    metadata,
    Column("session", String(12), ForeignKey("sessions.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("at", Utc, nullable=False),
    Column("type", String(12), nullable=False),
    Column("speaker", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("revises", Integer),
    Column("branch", Text, nullable=False),
    Column("confidence", Float),
    Column("removed_at", Utc),
    Index("ix_session_lines_type", "session", "type", "position"),
)

edges = Table(
    "edges",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("from_item", String(12), nullable=False),
    Column("to_item", String(12)),
    Column("kind", Text, nullable=False),
    Column("relation", String(12), index=True),
    Column("target", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("tail", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Index("ix_edges_from_item", "from_item", "kind", "to_item"),
    Index("ix_edges_to_item", "to_item", "kind", "from_item"),
    # In a hash index of PostgreSQL the target of a link may be longer than a third of a page.
    Index("ix_edges_key", "key", postgresql_using="hash"),
    index_where("ix_edges_tail", ["tail"], "tail <> ''", postgresql_using="hash"),
)

task_lines = Table(
    "task_lines",
    metadata,
    Column("task", String(12), primary_key=True),
    Column("note", String(12), nullable=False, index=True),
    Column("line", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("anchor", Text, nullable=False),
)
