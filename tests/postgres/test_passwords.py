"""Passwords of databases: where they come from, where a move puts them, and that nobody prints them."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import keyring
import pytest
from sqlalchemy import make_url

from panorama.store.postgres.administration.administration import SpaceAdministration
from panorama.store.postgres.connections import describe_url, parse_url, split_password
from tests.postgres.conftest import Command
from tests.postgres.roles import PASSWORD, create_roles
from tests.sources.test_secret_store import MemoryKeyring, ring

__all__ = ["ring"]  # a fixture

pytestmark = pytest.mark.postgres

FRED = "panorama_test_fred"
SECRET = "5ecret/p@ss"


@pytest.fixture
def no_ring() -> Iterator[None]:
    from keyring.backends.fail import Keyring

    before = keyring.get_keyring()
    keyring.set_keyring(Keyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def fred(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a person with an empty space, named as he is, and with no file of passwords."""
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    with create_roles(postgres_url, FRED) as urls:
        SpaceAdministration(parse_url(postgres_url)).create("fred", FRED)
        yield urls[FRED]


def asks_for_password(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(split_password(url)[0]).close()
    except psycopg.OperationalError:
        return True
    return False


@pytest.fixture
def bare(fred: str) -> str:
    """The same address without the password."""
    if not asks_for_password(fred):
        pytest.skip("this server asks nobody for a password")
    return split_password(fred)[0]


def test_a_password_comes_from_the_keyring(bare: str, ring: MemoryKeyring, command: Command) -> None:
    ring.values["panorama", bare] = PASSWORD

    assert command(bare, "fred", "tasks")[0] == 0
    assert command(f"{bare}?sslmode=prefer", "fred", "tasks", "add", "Order tiles")[0] == 0
    assert command(f"{bare}?password={quote(PASSWORD)}", "fred", "tasks")[0] == 0


def test_a_missing_password_is_named_with_the_command_that_stores_it(
    bare: str, no_ring: None, command: Command
) -> None:
    code, seen = command(bare, "fred", "tasks")

    assert (code, "asks for a password" in seen) == (3, True)
    assert f"keyring set panorama {bare}" in seen


def test_a_move_puts_the_password_into_the_keyring(
    fred: str, ring: MemoryKeyring, command: Command, tmp_path: Path
) -> None:
    command("", "", "tasks", "add", "Order tiles")

    code, seen = command("", "", "move", "--to", fred, "--space", "fred", "--yes")

    config = (tmp_path / "home" / "config.toml").read_text()
    assert (code, ring.values) == (0, {("panorama", describe_url(parse_url(fred))): PASSWORD})
    assert "stored in the system's keyring" in seen
    assert [secret in config + seen for secret in (PASSWORD, quote(PASSWORD), "w%C3%B6rd")] == [False] * 3
    assert "Order tiles" in command("", "", "tasks")[1]


def test_without_a_keyring_a_move_says_that_the_password_is_in_clear_text(
    fred: str, no_ring: None, command: Command, tmp_path: Path
) -> None:
    command("", "", "tasks", "add", "Order tiles")

    code, seen = command("", "", "move", "--to", fred, "--space", "fred", "--yes")

    config = tmp_path / "home" / "config.toml"
    assert (code, "config.toml contains the password in clear text" in seen) == (0, True)
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert "Order tiles" in command("", "", "tasks")[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda url: url.set(password=SECRET),
        lambda url: url.set(username="nobody", password=SECRET),
        lambda url: url.set(host="host.invalid", password=SECRET),
        lambda url: url.set(port=1, password=SECRET),
        lambda url: url.set(database="missing", password=SECRET),
        lambda url: url.set(password=SECRET).update_query_dict({"sslmoed": "x"}),
        lambda url: url.set(drivername="mysql", password=SECRET),
        lambda url: url.set(password=None).update_query_dict({"password": SECRET}),
    ],
)
def test_no_error_shows_the_password(
    fred: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., object]
) -> None:
    url = change(make_url(fred)).render_as_string(hide_password=False)  # type: ignore[attr-defined] (a URL)
    monkeypatch.setenv("PANORAMA_DEBUG", "1")

    seen = [command(url, "fred", *words)[1] for words in (["tasks"], ["doctor"], ["spaces"], ["status", "--json"])]
    seen.append(command("", "", "move", "--to", url, "--yes")[1])

    written = [path.read_text("utf-8", "replace") for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert [text for text in (*seen, *written) if "5ecret" in text] == []


@pytest.mark.parametrize("url", [f"postgresql://fred:{SECRET}@host/db", f"postgresql:/fred:{SECRET}@host/db", SECRET])
def test_an_address_that_cannot_be_read_is_not_shown(
    command: Command, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_DEBUG", "1")

    code, seen = command(url, "fred", "tasks")

    assert (code in (2, 3), "5ecret" in seen) == (True, False)
    assert "p@ss" not in seen


def test_moving_back_needs_the_right_to_rename_the_space(fred: str, no_ring: None, command: Command) -> None:
    command("", "", "tasks", "add", "Order tiles")
    command("", "", "move", "--to", fred, "--space", "fred", "--yes")

    code, seen = command("", "", "move", "--to", "sqlite", "--yes")

    assert (code, "GRANT CREATE ON DATABASE" in seen) == (3, True)
    assert "Order tiles" in command("", "", "tasks")[1]
