"""Add where a task comes from, and the checkbox lines of notes that are tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tasks", sa.Column("source_ref", sa.Text))
    is_set = sa.text("source_ref IS NOT NULL")
    op.create_index("ix_tasks_source_ref", "tasks", ["source_ref"], sqlite_where=is_set, postgresql_where=is_set)
    op.create_table(
        "task_lines",
        sa.Column("task", sa.String(12), primary_key=True),
        sa.Column("note", sa.String(12), nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("anchor", sa.Text, nullable=False),
    )
    op.create_index("ix_task_lines_note", "task_lines", ["note"])
