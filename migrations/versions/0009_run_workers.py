"""Add which process runs a script, so that a run whose process was killed is noticed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

RUNNING = sa.text("status = 'running'")


def upgrade() -> None:
    op.add_column("runs", sa.Column("worker", sa.Text, nullable=False, server_default=""))
    op.create_index("ix_runs_running", "runs", ["number"], sqlite_where=RUNNING, postgresql_where=RUNNING)
