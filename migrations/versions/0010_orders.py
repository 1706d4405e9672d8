"""Add indexes that hold the order in which notes and tasks are listed."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

LIVING = sa.text("deleted_at IS NULL")
DUE_FIRST = sa.text("coalesce(deadline, '9999-99-99')")
STARTED_FIRST = sa.text("CASE WHEN status = 'in_progress' THEN 0 ELSE 1 END")


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    started_first = STARTED_FIRST if is_sqlite else sa.text(f"({STARTED_FIRST})")
    tasks = [DUE_FIRST, started_first, "rank", "created_at", "id"]
    op.create_index("ix_tasks_order", "tasks", tasks, sqlite_where=LIVING, postgresql_where=LIVING)
    notes = ["pinned", "updated_at", "id", *(["tags"] if is_sqlite else [])]
    op.create_index("ix_notes_order", "notes", notes, sqlite_where=LIVING, postgresql_where=LIVING)
