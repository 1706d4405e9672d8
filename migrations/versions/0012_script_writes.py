"""Add which writes replaced the file of a script, so that undo brings the former text back."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "script_writes",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("unit", sa.String(16), nullable=False),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("before", sa.String(64), nullable=False),
        sa.Column("after", sa.String(64), nullable=False),
        sa.Column("change", sa.Integer, nullable=False),
        sa.Column("undoes", sa.Integer, nullable=False),
    )
    op.create_index("ix_script_writes_unit", "script_writes", ["unit"])
