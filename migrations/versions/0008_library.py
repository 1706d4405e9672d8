"""Add what a person decided on the scripts of the library, the texts they decided on, and whose run each run was."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "scripts",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("read_only", sa.Boolean, nullable=False),
        sa.Column("updated_at", moment, nullable=False),
    )
    op.create_table(
        "reviews",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.Column("verdict", sa.String(12), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("door", sa.String(12), nullable=False),
        sa.Column("client", sa.Text, nullable=False),
    )
    op.create_index("ix_reviews_name", "reviews", ["name", "number"])
    op.add_column("runs", sa.Column("script", sa.String(40), nullable=False, server_default=""))
    op.create_index("ix_runs_script", "runs", ["script", "number"])
    # What was asked for with its code is a kind of its own now: a schedule runs reviewed scripts alone.
    for table in ("jobs", "schedules"):
        op.execute(sa.text(f"UPDATE {table} SET kind = 'run_code' WHERE kind = 'run_script'"))
