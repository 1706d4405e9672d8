"""Add relations, the edges of the graph, and three fields of notes."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

LINKED_TEXTS = {
    "notes": "content", "tasks": "notes", "projects": "description", "journal": "text", "links": "description",
}  # fmt: skip


def upgrade() -> None:
    op.add_column("notes", sa.Column("type", sa.Text, nullable=False, server_default="note"))
    op.add_column("notes", sa.Column("aliases", sa.Text, nullable=False, server_default=""))
    op.add_column("notes", sa.Column("properties", sa.JSON, nullable=False, server_default="{}"))
    op.create_table(
        "relations",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.Column("from_item", sa.String(12), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("to_item", sa.String(12), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_index("ix_relations_from_item", "relations", ["from_item"])
    op.create_index("ix_relations_to_item", "relations", ["to_item"])
    op.create_table(
        "edges",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("from_item", sa.String(12), nullable=False),
        sa.Column("to_item", sa.String(12)),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("relation", sa.String(12)),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("tail", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("ix_edges_from_item", "edges", ["from_item", "kind", "to_item"])
    op.create_index("ix_edges_to_item", "edges", ["to_item", "kind", "from_item"])
    op.create_index("ix_edges_relation", "edges", ["relation"])
    op.create_index("ix_edges_key", "edges", ["key"], postgresql_using="hash")
    has_tail = sa.text("tail <> ''")
    op.create_index(
        "ix_edges_tail", "edges", ["tail"], sqlite_where=has_tail, postgresql_where=has_tail, postgresql_using="hash"
    )
    # The links of existing texts are read in the background; a mark names each item until then.
    for table, column in LINKED_TEXTS.items():
        op.execute(
            f"INSERT INTO marks (name, value) SELECT 'links ' || id, 1 FROM {table} "
            f"WHERE deleted_at IS NULL AND {column} LIKE '%[[%'"
        )
