"""Create the first tables: items, changes, calls, idempotency keys, imports and full text."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LIVING = sa.text("deleted_at IS NULL")


def item_columns() -> list[sa.Column]:
    return [
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    ]


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    op.create_table(
        "projects",
        *item_columns(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("target_date", sa.Date),
        sa.Column("favorite", sa.Boolean, nullable=False),
        sa.Column("color", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
    )
    op.create_index(
        "uq_projects_living_key", "projects", ["key"], unique=True, sqlite_where=LIVING, postgresql_where=LIVING
    )
    op.create_table(
        "tasks",
        *item_columns(),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", name="fk_tasks_project")),
        sa.Column("deadline", sa.String(20)),
        sa.Column("urgent", sa.Boolean, nullable=False),
        sa.Column("important", sa.Boolean, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("scheduled_at", sa.DateTime(timezone=True)),
        sa.Column("scheduled_minutes", sa.Integer),
        sa.Column("recurrence", sa.Text, nullable=False),
        sa.Column("parent", sa.String(12), sa.ForeignKey("tasks.id", name="fk_tasks_parent")),
        sa.Column("completed_at", sa.DateTime(timezone=True)),
        sa.Column("status_changed_at", sa.DateTime(timezone=True)),
        sa.Column("provenance", sa.Text, nullable=False),
    )
    op.create_index("ix_tasks_key", "tasks", ["key"])
    op.create_index("ix_tasks_parent", "tasks", ["parent"])
    op.create_index("ix_tasks_project", "tasks", ["project", "deleted_at", "status", "updated_at", "deadline"])
    op.create_index("ix_tasks_due", "tasks", ["status", "deleted_at", "deadline", "project", "created_at"])
    op.create_index("ix_tasks_completed", "tasks", ["status", "deleted_at", "completed_at", "project"])
    op.create_index(
        "ix_tasks_closed",
        "tasks",
        ["status", "deleted_at", "status_changed_at", "created_at", "deadline", "project"],
    )
    op.create_index("ix_tasks_home", "tasks", ["id", "deleted_at", "project"])
    op.create_index("ix_tasks_created", "tasks", ["created_at", "deleted_at", "project"])
    op.create_table(
        "notes",
        *item_columns(),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", name="fk_notes_project")),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("pinned", sa.Boolean, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.create_index("ix_notes_key", "notes", ["key"])
    op.create_index("ix_notes_project", "notes", ["project"])
    op.create_index("ix_notes_updated", "notes", ["updated_at"])
    op.create_table(
        "links",
        *item_columns(),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", name="fk_links_project")),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
    )
    op.create_index("ix_links_key", "links", ["key"])
    op.create_index("ix_links_project", "links", ["project"])
    op.create_table(
        "reminders",
        *item_columns(),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("recurrence", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("snoozed_until", sa.DateTime(timezone=True)),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("item", sa.String(12)),
    )
    op.create_index("ix_reminders_key", "reminders", ["key"])
    op.create_index("ix_reminders_at", "reminders", ["at"])
    op.create_index("ix_reminders_item", "reminders", ["item"])
    op.create_table(
        "journal",
        *item_columns(),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_journal_at", "journal", ["at"])
    op.create_table(
        "changes",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(12), nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("call", sa.String(12), nullable=False),
        sa.Column("unit", sa.String(12), nullable=False),
        sa.Column("item", sa.String(12), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("action", sa.String(8), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("before", sa.JSON, nullable=False),
        sa.Column("after", sa.JSON, nullable=False),
        sa.Column("undoes", sa.Integer),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_changes_call", "changes", ["call"])
    op.create_index("ix_changes_unit", "changes", ["unit"])
    op.create_index("ix_changes_item", "changes", ["item", "id"])
    op.create_index("ix_changes_conversation", "changes", ["conversation", "id"])
    op.create_index("ix_changes_kind", "changes", ["kind", "at", "item"])
    op.create_table(
        "texts",
        sa.Column("digest", sa.String(32), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "calls",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("unit", sa.String(12), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(12), nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("ms", sa.Float, nullable=False),
        sa.Column("success", sa.Boolean, nullable=False),
        sa.Column("code", sa.String(20), nullable=False),
        sa.Column("chars", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("changes", sa.Integer, nullable=False),
    )
    op.create_index("ix_calls_id", "calls", ["id"])
    op.create_index("ix_calls_at", "calls", ["at"])
    op.create_table(
        "idempotency",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("digest", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
    )
    op.create_index("ix_idempotency_at", "idempotency", ["at"])
    op.create_table(
        "imports",
        sa.Column("folder", sa.Text, primary_key=is_sqlite, nullable=False),
        sa.Column("path", sa.Text, primary_key=is_sqlite, nullable=False),
        sa.Column("part", sa.Text, primary_key=is_sqlite, nullable=False),
        sa.Column("digest", sa.String(32), nullable=False),
        sa.Column("item", sa.String(12), nullable=False),
        sa.Column("fields", sa.JSON, nullable=False),
    )
    if not is_sqlite:
        op.create_index("ix_imports_path", "imports", ["path"], postgresql_using="hash")
    op.create_table(
        "search_parts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("item", sa.String(12), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("digest", sa.String(32), nullable=False),
    )
    op.create_index("ix_search_parts_item", "search_parts", ["item"])
    if is_sqlite:
        op.execute(
            "CREATE VIRTUAL TABLE search_words USING fts5"
            "(title, body, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
