"""Add the daemons that serve the data, and the machine on which a job runs."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "daemons",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("process", sa.Integer, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("serves", sa.Text, nullable=False),
        sa.Column("duties", sa.JSON, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
    )
    for table in ("jobs", "schedules"):
        op.add_column(table, sa.Column("machine", sa.Text, nullable=False, server_default=""))
