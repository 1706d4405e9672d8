"""What PostgreSQL does its own way inside a transaction."""

from pathlib import Path

from panorama.store import bulk_writes
from panorama.store.backend import Dialect, FullText, ProgressCallback, Session, Vocabulary, noop
from panorama.store.postgres.fulltext import TsvectorFullText
from panorama.store.postgres.vocabulary import TsvectorVocabulary


class PostgresDialect:
    """Words in `tsvector` columns, many rows in one statement, and copies as SQLite files."""

    full_text: FullText = TsvectorFullText()
    vocabulary: Vocabulary = TsvectorVocabulary()
    insert_rows = staticmethod(bulk_writes.insert_rows)
    update_rows = staticmethod(bulk_writes.update_rows)

    def write_snapshot(self, session: Session, target: Path, progress: ProgressCallback = noop) -> None:
        """Write what a session sees to a new file, while others go on writing."""
        raise NotImplementedError

    def list_sequences(self, session: Session) -> dict[str, int]:
        """Return the last number that each table with generated numbers gave."""
        raise NotImplementedError


DIALECT: Dialect = PostgresDialect()
