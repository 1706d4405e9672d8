"""Add where notes and sessions come from."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    is_set = sa.text("source_ref IS NOT NULL")
    for table in ("notes", "sessions"):
        op.add_column(table, sa.Column("source_ref", sa.Text))
        name = f"ix_{table}_source_ref"
        op.create_index(name, table, ["source_ref"], sqlite_where=is_set, postgresql_where=is_set)
