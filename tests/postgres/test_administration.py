"""`panorama spaces`: what whoever administers a database sees and does."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from panorama.cli.main import main
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from tests.cli.terminals import Terminal
from tests.postgres.roles import create_roles

pytestmark = pytest.mark.postgres

CARLA = 'panorama_test "Carla"; --é'
"""A role with all that would end a name in SQL."""


@pytest.fixture
def environment(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A data directory whose settings name the database; the spaces of a test are dropped after it."""
    for name, value in (("HOME", str(tmp_path)), ("DATABASE_URL", postgres_url), ("EMBEDDER", "none")):
        monkeypatch.setenv(f"PANORAMA_{name}", value)
    monkeypatch.setenv("PANORAMA_NO_DAEMON", "1")
    yield
    with psycopg.connect(postgres_url, autocommit=True) as driver:
        query = "SELECT nspname FROM pg_namespace WHERE nspname ~ '^panorama_(garden|made)'"
        for (name,) in driver.execute(query).fetchall():
            driver.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(name)))


@pytest.fixture
def spaces(environment: None, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs `panorama spaces`, and returns its code and all it printed."""

    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["spaces", *words])
        seen = capsys.readouterr()
        return code, seen.out + seen.err

    return run


@pytest.fixture
def carla(postgres_url: str) -> Iterator[str]:
    """The address of a role whose name is an attack."""
    with create_roles(postgres_url, CARLA) as urls:
        yield urls[CARLA]


def test_a_space_is_created_granted_listed_and_dropped(spaces: Callable[..., tuple[int, str]], carla: str) -> None:
    assert spaces("create", "garden")[0] == 0
    assert spaces("grant", "garden", CARLA, "--read-only")[0] == 0
    [row] = [row for row in json.loads(spaces("list", "--json")[1])["data"] if row["name"] == "garden"]
    assert (row["items"], row["roles"], row["size_bytes"] > 0) == (0, {CARLA: "read"}, True)
    assert spaces("grant", "garden", CARLA)[0] == 0
    with closing(PostgresDatabase(parse_url(carla), "garden")) as hers:
        assert hers.revision() == row["revision"]
    assert spaces("grant", "garden", CARLA, "--revoke")[0] == 0
    assert CARLA not in spaces()[1]
    assert spaces("drop", "garden", "--yes")[0] == 0
    assert "garden" not in spaces()[1]


def test_a_space_of_another_role_belongs_to_it_from_the_start(
    spaces: Callable[..., tuple[int, str]], carla: str
) -> None:
    spaces("create", "garden", "--role", CARLA)

    with psycopg.connect(carla, autocommit=True) as driver:
        driver.execute("ALTER TABLE panorama_garden.notes ADD COLUMN mine int")
        driver.execute("DROP SCHEMA panorama_garden CASCADE")


def test_an_empty_schema_that_an_administrator_made_becomes_a_space(
    spaces: Callable[..., tuple[int, str]], postgres_url: str, carla: str
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as driver:
        driver.execute(SQL("CREATE SCHEMA panorama_made AUTHORIZATION {}").format(Identifier(CARLA)))

    with closing(PostgresDatabase(parse_url(carla), "made")) as hers:
        from panorama.store.migrate import create_tables

        create_tables(hers)
        assert hers.revision()


@pytest.mark.slow
def test_a_space_is_dropped_only_after_its_name_was_typed_again(
    spaces: Callable[..., tuple[int, str]],
) -> None:
    spaces("create", "garden")

    for typed, code in (("yes", 1), ("garden", 0)):
        with Terminal(("spaces", "drop", "garden")) as terminal:
            terminal.until("Type garden to drop the space:")
            terminal.types(typed)
            assert terminal.ends() == code

    assert "0 items with their history" in terminal.seen
    assert "garden" not in spaces()[1]


def test_a_space_that_a_daemon_serves_is_not_dropped(spaces: Callable[..., tuple[int, str]], postgres_url: str) -> None:
    spaces("create", "garden")

    with closing(PostgresDatabase(parse_url(postgres_url), "garden")) as served, served.membership.serve():
        code, seen = spaces("drop", "garden", "--yes")

    assert (code, "is in use by panorama on" in seen) == (1, True)
    assert "garden" in spaces()[1]


@pytest.mark.parametrize(
    "name",
    ["", "Anna", "pg catalog", 'a"; DROP SCHEMA public; --', "a'b", "ä", "x" * 41, "1a", "../a", "a.b", "a\n", "a\0b"],
)
def test_names_that_are_none_are_refused_by_every_command(spaces: Callable[..., tuple[int, str]], name: str) -> None:
    commands = (["create", name], ["grant", name, "x"], ["migrate", name], ["drop", name, "--yes"])

    seen = [spaces(*words) for words in commands]

    assert [(code, "is not a name for a space" in text) for code, text in seen] == [(2, True)] * 4


@pytest.mark.parametrize("name", ["public", "pg_catalog", "information_schema", "pg_temp"])
def test_names_of_the_servers_own_schemas_are_usual_names(
    spaces: Callable[..., tuple[int, str]], postgres_url: str, name: str
) -> None:
    assert spaces("create", name)[0] == 0
    assert spaces("drop", name, "--yes")[0] == 0

    with psycopg.connect(postgres_url) as driver:
        assert driver.execute("SELECT to_regnamespace('public') IS NOT NULL").fetchone() == (True,)


def test_roles_that_are_everybody_or_nobody_are_refused(spaces: Callable[..., tuple[int, str]]) -> None:
    spaces("create", "garden")

    everybody = spaces("grant", "garden", "public")
    nobody = spaces("grant", "garden", "panorama_test_nobody")

    assert (everybody[0], "every role of the server" in everybody[1]) == (2, True)
    assert (nobody[0], "has no role" in nobody[1]) == (1, True)


def test_without_a_database_there_are_no_spaces(
    spaces: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PANORAMA_DATABASE_URL")

    code, seen = spaces()

    assert (code, "set database_url" in seen) == (2, True)
