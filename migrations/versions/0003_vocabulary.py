"""Add views of the full text's vocabulary: how many items hold a word, and where it stands."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE search_words_vocabulary USING fts5vocab(search_words, row)")
        op.execute("CREATE VIRTUAL TABLE search_words_places USING fts5vocab(search_words, instance)")
