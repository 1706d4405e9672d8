"""Machines that use one space, one after another: data directories with the product in this process."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings

PERSON = Conversation(id="v_machines", actor="tool", client="tests")


@contextmanager
def machine(home: Path, url: str, space: str) -> Generator[App]:
    """Open the product on a machine: a data directory, and the space of a database."""
    settings = read_settings(home=home, database_url=url, space=space, embedder="none", toolsets="default,files")
    with open_app(settings) as app:
        yield app


def call(app: App, operation: str, **arguments: Any) -> Any:
    """Call an operation and return its data."""
    return app.calls.call(operation, arguments, PERSON).to_dict()["data"]


def drop_spaces(url: str, name: str) -> None:
    """Drop the spaces whose names begin with a name."""
    with psycopg.connect(url, autocommit=True) as driver:
        query = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)"
        for (schema,) in driver.execute(query, (f"panorama_{name}",)).fetchall():
            driver.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema)))
