"""Add the functions of sources, whose Python names never move."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "source_functions",
        sa.Column("source", sa.String(40), primary_key=True),
        sa.Column("own_name", sa.Text, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("definition", sa.JSON, nullable=False),
    )
