"""Add runs of scripts, what scripts keep between runs, and the place of a call in its run."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(12), nullable=False, unique=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("inputs", sa.JSON, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("isolation", sa.String(20), nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("output", sa.Text, nullable=False),
        sa.Column("error", sa.JSON, nullable=False),
        sa.Column("changes", sa.JSON, nullable=False),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("ms", sa.Float, nullable=False),
        sa.Column("peak_bytes", sa.Integer, nullable=False),
    )
    op.create_index("ix_runs_at", "runs", ["at"])
    op.create_table(
        "script_states",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.JSON, nullable=False),
    )
    op.create_index("ix_script_states_at", "script_states", ["at"])
    op.add_column("calls", sa.Column("position", sa.Integer, nullable=False, server_default="0"))
    op.create_index("ix_calls_unit", "calls", ["unit"])
