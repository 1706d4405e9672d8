"""The schema on PostgreSQL: made by the same migrations, wide enough for what SQLite holds, sorted by code point."""

import pytest
from sqlalchemy import Connection, text

from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.tables import metadata
from tests.postgres.spaces import create_space

pytestmark = pytest.mark.postgres

_ELSEWHERE = ("alembic_version", "contents", "content_parts", "search_words", "search_terms")
"""The beginnings of the names of tables that are not among the shared ones."""

_COLUMNS = """
SELECT table_name, column_name, data_type, character_maximum_length, collation_name, is_nullable, column_default
FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, column_name
"""
_INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname"
_CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
_SEQUENCES = "SELECT sequencename, data_type::text FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1"
_SKIPPED = tuple(f"('{prefix}{name}" for name in _ELSEWHERE for prefix in ("", "ix_", "pk_"))


def describe_schema(connection: Connection) -> dict[str, list[str]]:
    """Return columns, indexes, constraints and sequences of a schema, without its own name."""
    schema = str(connection.execute(text("SELECT current_schema()")).scalar_one())
    queries = {"columns": _COLUMNS, "indexes": _INDEXES, "constraints": _CONSTRAINTS, "sequences": _SEQUENCES}
    return {
        name: [
            line
            for row in connection.execute(text(query))
            if not (line := str(tuple(row)).replace(f"{schema}.", "")).startswith(_SKIPPED)
        ]
        for name, query in queries.items()
    }


def test_a_schema_built_fresh_equals_one_built_by_migrations(space: PostgresDatabase, postgres_url: str) -> None:
    with create_space(postgres_url, "fresh", migrated=False) as fresh:
        with fresh.migrating() as connection:
            metadata.create_all(connection)
            built = describe_schema(connection)
        with space.reading() as session:
            migrated = describe_schema(session.connection)

    assert built == migrated


def test_numbers_have_64_bits_and_texts_no_length_and_the_order_of_code_points(space: PostgresDatabase) -> None:
    with space.reading() as session:
        connection = session.connection
        columns = connection.execute(text(_COLUMNS)).all()
        own = [row for row in columns if not row.table_name.startswith(_ELSEWHERE)]

        assert {row.data_type for row in own} == {
            "bigint", "text", "boolean", "double precision", "json", "bytea", "date", "timestamp with time zone",
        }  # fmt: skip
        assert {row.collation_name for row in own if row.data_type == "text"} == {"C"}
        assert {row[1] for row in connection.execute(text(_SEQUENCES))} == {"bigint"}
