"""Add events."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("starts_at", sa.String(20), nullable=False),
        sa.Column("ends_at", sa.String(20), nullable=False),
        sa.Column("all_day", sa.Boolean, nullable=False),
        sa.Column("location", sa.Text, nullable=False),
        sa.Column("attendees", sa.Text, nullable=False),
        sa.Column("people", sa.Text, nullable=False),
        sa.Column("calendar", sa.Text, nullable=False),
        sa.Column("recurrence", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("status", sa.String(12), nullable=False),
    )
    op.create_index("ix_events_key", "events", ["key"])
    op.create_index("ix_events_starts_at", "events", ["starts_at"])
    condition = sa.text("recurrence <> '' AND deleted_at IS NULL")
    op.create_index("ix_events_recurring", "events", ["id"], sqlite_where=condition, postgresql_where=condition)
