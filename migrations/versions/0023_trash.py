"""Index the items in the trash, which are few."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

TABLES = (
    "projects", "tasks", "notes", "links", "reminders", "journal", "files", "people", "teams", "sessions", "events",
    "relations",
)  # fmt: skip


def upgrade() -> None:
    in_trash = sa.text("deleted_at IS NOT NULL")
    for table in TABLES:
        name = f"ix_{table}_trash"
        op.create_index(name, table, ["deleted_at"], sqlite_where=in_trash, postgresql_where=in_trash)
