"""The tables of the index of words in PostgreSQL, which stand for the virtual tables of SQLite."""

from sqlalchemy import Connection

_STATEMENTS = (
    "CREATE TABLE IF NOT EXISTS search_words (id bigint PRIMARY KEY REFERENCES search_parts, words tsvector NOT NULL)",
    # Compressed, but in the row as far as it fits: matching and ranking read it half as long.
    "ALTER TABLE search_words ALTER COLUMN words SET STORAGE MAIN",
    "CREATE INDEX IF NOT EXISTS ix_search_words_words ON search_words USING gin (words)",
    'CREATE TABLE IF NOT EXISTS search_terms (term text COLLATE "C" PRIMARY KEY)',
)


def create_tables(connection: Connection) -> None:
    """Create the tables in the current schema, which has the table of parts, unless they exist."""
    for statement in _STATEMENTS:
        connection.exec_driver_sql(statement)
