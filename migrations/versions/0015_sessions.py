"""Add sessions and their lines."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", name="fk_sessions_project")),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("attendees", sa.Text, nullable=False),
        sa.Column("people", sa.Text, nullable=False),
        sa.Column("location", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("line_count", sa.Integer, nullable=False),
    )
    for column in ("key", "project", "started_at"):
        op.create_index(f"ix_sessions_{column}", "sessions", [column])
    op.create_table(
        "session_lines",
        sa.Column(
            "session", sa.String(12), sa.ForeignKey("sessions.id", name="fk_session_lines_session"), primary_key=True
        ),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("type", sa.String(12), nullable=False),
        sa.Column("speaker", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("revises", sa.Integer),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("confidence", sa.Float),
        sa.Column("removed_at", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_session_lines_type", "session_lines", ["session", "type", "position"])
