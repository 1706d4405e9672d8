"""The rows of the product's database, read as they are stored; the same for SQLite and PostgreSQL."""

from typing import Any

from sqlalchemy import inspect, text

from panorama.app import App
from panorama.domain.changes import Origin

_WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")


def read_rows(app: App, statement: str, **values: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a statement; `:name` in it stands for a value."""
    with app.context.database.reading() as session:
        return [tuple(row) for row in session.connection.execute(text(statement), values)]


def write_rows(app: App, statement: str, **values: Any) -> None:
    """Write rows as no operation would, without a line in the history."""
    with app.context.database.transaction(_WRITER) as session:
        session.connection.execute(text(statement), values)


def count_rows(app: App, *tables: str) -> dict[str, int]:
    """Return how many rows each table has."""
    return {name: read_rows(app, f"SELECT count(*) FROM {name}")[0][0] for name in tables}


def read_texts(app: App) -> str:
    """Return all texts that are in any table, also in those of the words."""
    with app.context.database.reading() as session:
        names = inspect(session.connection).get_table_names()
        rows = [row for name in names for row in session.connection.execute(text(f'SELECT * FROM "{name}"'))]
    return "\n".join(str(value) for row in rows for value in row if not isinstance(value, bytes))
