"""Add tables for the contents of files, in PostgreSQL only: beside an SQLite file they are in a folder."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.create_table(
        "contents",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "content_parts",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", "number"),
        sa.ForeignKeyConstraint(["sha256"], ["contents.sha256"], ondelete="CASCADE"),
    )
    # Uncompressed, so that a range of a part is read without the rest of it.
    op.execute("ALTER TABLE content_parts ALTER COLUMN bytes SET STORAGE EXTERNAL")
