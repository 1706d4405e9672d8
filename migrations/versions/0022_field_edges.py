"""Make edges of the fields that hold people and teams."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

HOLDERS = {
    "tasks": "assignee IS NOT NULL OR waiting_for IS NOT NULL",
    "sessions": "people <> ''",
    "events": "people <> ''",
    "people": "team IS NOT NULL OR manager IS NOT NULL",
}


def upgrade() -> None:
    # The edges are written in the background; a mark names each item until then.
    for table, condition in HOLDERS.items():
        op.execute(
            f"INSERT INTO marks (name, value) SELECT 'links ' || id, 1 FROM {table} "
            f"WHERE deleted_at IS NULL AND ({condition}) ON CONFLICT DO NOTHING"
        )
