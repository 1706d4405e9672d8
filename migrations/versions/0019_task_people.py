"""Add who does a task, who it waits for, its start, priority and way of repeating, and areas."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("projects", sa.Column("area", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("tasks", sa.Column("start_at", sa.String(20)))
    op.add_column("tasks", sa.Column("priority", sa.Integer, nullable=False, server_default="0"))
    op.add_column("tasks", sa.Column("repeat_from", sa.String(4), nullable=False, server_default="due"))
    for name in ("assignee", "waiting_for"):
        op.add_column("tasks", sa.Column(name, sa.String(12)))
        is_set = sa.text(f"{name} IS NOT NULL")
        op.create_index(f"ix_tasks_{name}", "tasks", [name], sqlite_where=is_set, postgresql_where=is_set)
