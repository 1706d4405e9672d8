"""Read the links of texts with indented lines again: those in indented code are no links any more."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

LINKED_TEXTS = {
    "notes": "content", "tasks": "notes", "projects": "description", "journal": "text", "links": "description",
    "sessions": "summary", "people": "notes",
}  # fmt: skip
INDENTATIONS = ("    ", "\t", " \t", "  \t", "   \t")


def upgrade() -> None:
    # They are read in the background; a mark names each item until then.
    for table, column in LINKED_TEXTS.items():
        lines = [f"{start}{indentation}%[[%" for indentation in INDENTATIONS for start in ("", "%\n", "%\r")]
        is_indented = " OR ".join(f"{column} LIKE '{line}'" for line in lines)
        op.execute(
            f"INSERT INTO marks (name, value) SELECT 'links ' || id, 1 FROM {table} "
            f"WHERE deleted_at IS NULL AND {column} LIKE '%[[%' AND ({is_indented}) ON CONFLICT DO NOTHING"
        )
