"""Add jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(12), nullable=False, unique=True),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("actor", sa.String(12), nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("unit", sa.String(12), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("current", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("result", sa.JSON, nullable=False),
        sa.Column("result_file", sa.String(12)),
        sa.Column("error", sa.JSON, nullable=False),
        sa.Column("checkpoint", sa.JSON, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("futile", sa.Integer, nullable=False),
        sa.Column("reached", sa.Integer, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("heartbeat", sa.DateTime(timezone=True)),
        sa.Column("is_stopping", sa.Boolean, nullable=False),
        sa.Column("is_told", sa.Boolean, nullable=False),
    )
    op.create_index("ix_jobs_ended_at", "jobs", ["ended_at"])
    op.create_index("ix_jobs_rank", "jobs", ["rank", "number"])
    op.create_index("ix_jobs_state", "jobs", ["state", "number"])
