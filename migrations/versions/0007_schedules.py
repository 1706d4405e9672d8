"""Add schedules, when each reminder rings next, and the alerts of reminders that rang."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("trigger", sa.String(8), nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("begin", moment, nullable=False),
        sa.Column("missed", sa.String(8), nullable=False),
        sa.Column("paused", sa.Boolean, nullable=False),
        sa.Column("next_at", moment),
        sa.Column("last_at", moment),
        sa.Column("last_job", sa.String(12), nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("updated_at", moment, nullable=False),
    )
    op.create_index("ix_schedules_next_at", "schedules", ["next_at"])
    op.create_table(
        "alarms",
        sa.Column("reminder", sa.String(12), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("since", moment, nullable=False),
        sa.Column("due_at", moment),
    )
    op.create_index("ix_alarms_due_at", "alarms", ["due_at"])
    op.create_table(
        "alerts",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("reminder", sa.String(12), nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.Column("rung_at", moment, nullable=False),
        sa.Column("missed", sa.Integer, nullable=False),
        sa.Column("rings", sa.Integer, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("delivered_at", moment),
    )
    op.create_index("uq_alerts_occurrence", "alerts", ["reminder", "at"], unique=True)
    op.create_index("ix_alerts_rung_at", "alerts", ["rung_at"])
    op.create_index("ix_alerts_delivered_at", "alerts", ["delivered_at"])
    op.add_column("reminders", sa.Column("acknowledged_at", moment))
    # What was due before there was anything to ring is not rung now.
    now = datetime.now(UTC).replace(tzinfo=None)
    known = sa.text("INSERT INTO alarms (reminder, version, since, due_at) SELECT id, 0, :now, NULL FROM reminders")
    op.get_bind().execute(known.bindparams(sa.bindparam("now", now, sa.DateTime())))
