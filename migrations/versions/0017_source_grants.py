"""Add what the user allowed of sources, for one definition of a function."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "source_grants",
        sa.Column("scope", sa.String(80), primary_key=True),
        sa.Column("function", sa.String(140), primary_key=True),
        sa.Column("digest", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
