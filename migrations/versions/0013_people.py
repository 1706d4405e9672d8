"""Add people, teams, and the other names of items."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def _item_columns() -> list[sa.Column]:
    return [
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    ]


def upgrade() -> None:
    op.create_table(
        "people",
        *_item_columns(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("last_name", sa.Text, nullable=False),
        sa.Column("full_name", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("aliases", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("phone", sa.Text, nullable=False),
        sa.Column("birthday", sa.String(10), nullable=False),
        sa.Column("team", sa.String(12)),
        sa.Column("manager", sa.String(12)),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("left_at", sa.Date),
    )
    for name in ("key", "team", "manager"):
        op.create_index(f"ix_people_{name}", "people", [name])
    op.create_table(
        "teams", *_item_columns(), sa.Column("name", sa.Text, nullable=False), sa.Column("key", sa.Text, nullable=False)
    )
    living = sa.text("deleted_at IS NULL")
    op.create_index("uq_teams_living_key", "teams", ["key"], unique=True, sqlite_where=living, postgresql_where=living)
    op.create_table(
        "other_names",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("item", sa.String(12), primary_key=True),
        sa.Column("is_short", sa.Boolean, nullable=False),
    )
    op.create_index("ix_other_names_item", "other_names", ["item"])
