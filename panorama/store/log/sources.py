"""Rows of the functions of sources, as last read from them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select

from panorama.store.backend import Session
from panorama.store.tables import source_functions


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFunction:
    """A function of a source; `definition` is what is known of it, {} if the source has it no longer."""

    source: str
    own_name: str
    name: str
    definition: Mapping[str, Any]


def list_functions(session: Session, sources: Collection[str]) -> list[StoredFunction]:
    """Return the functions of some sources, by source and name; also those that only keep their name."""
    columns = source_functions.c
    statement = select(columns.source, columns.own_name, columns.name, columns.definition)
    statement = statement.where(columns.source.in_(sources)).order_by(columns.source, columns.name)
    return [
        StoredFunction(source=row.source, own_name=row.own_name, name=row.name, definition=row.definition)
        for row in session.connection.execute(statement)
    ]


def replace_functions(session: Session, source: str, functions: Iterable[StoredFunction]) -> None:
    """Replace all functions of a source."""
    session.connection.execute(delete(source_functions).where(source_functions.c.source == source))
    rows = [
        {
            "source": source,
            "own_name": function.own_name,
            "name": function.name,
            "definition": dict(function.definition),
        }
        for function in functions
    ]
    if rows:
        session.connection.execute(insert(source_functions), rows)
