"""Contents of files in a space: what one machine writes another one reads, keeps, moves and forgets."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from fastmcp import Client
from psycopg.sql import SQL, Identifier

from panorama.app import open_app
from panorama.cli.main import main
from panorama.config import read_settings
from panorama.errors import UnavailableError
from panorama.mcp.server import build_server
from tests.postgres.cutting_proxy import cutting_proxy
from tests.postgres.machines import PERSON, call, drop_spaces, machine

pytestmark = [pytest.mark.postgres, pytest.mark.anyio]

SPACE = "contents"
TEXT = "tiles for the kitchen\n" * 100_000
"""2.1 MB: three parts."""


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    """The address of a database without the space."""
    yield postgres_url
    drop_spaces(postgres_url, SPACE)


def count(url: str, table: str, space: str = SPACE) -> int:
    with psycopg.connect(url) as driver:
        row = driver.execute(SQL("SELECT count(*) FROM {}").format(Identifier(f"panorama_{space}", table))).fetchone()
        assert row
        return int(row[0])


async def test_a_file_that_one_machine_writes_is_read_on_another(url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "a", url, SPACE) as app:
        async with Client(build_server(app)) as client:
            written = await client.call_tool("write_file", {"name": "tiles.csv", "text": TEXT})
    with machine(tmp_path / "b", url, SPACE) as app:
        async with Client(build_server(app)) as client:
            read = await client.call_tool("get_file", {"file": "tiles.csv", "start": 2_000_000, "chars": 21})

    assert written.structured_content
    assert read.structured_content
    assert read.structured_content["data"]["text"] == TEXT[2_000_000:2_000_021]
    assert [name for name in ("a", "b") if (tmp_path / name / "files").exists()] == []


def test_an_old_version_is_restored_on_another_machine(url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "a", url, SPACE) as app:
        call(app, "write_file", name="plan.md", text="one")
        unit = app.calls.call("write_file", {"name": "plan.md", "text": "two"}, PERSON).metadata["undo"]
    with machine(tmp_path / "b", url, SPACE) as app:
        call(app, "undo", unit=unit)

        assert call(app, "get_file", file="plan.md")["text"] == "one"


def test_a_dry_run_stores_no_content_on_the_server(url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "a", url, SPACE) as app:
        call(app, "write_file", name="plan.md", text="one")
        source = (
            "from panorama import sdk\n"
            "sdk.files.write('plan.md', text='two')\nsdk.files.write('new.md', text='three')\n"
            "[sdk.files.get('plan.md').text, sdk.files.get('new.md').text]"
        )
        tried = call(app, "run_code", code=source, dry_run=True)

        assert tried["result"] == ["two", "three"]
        assert call(app, "get_file", file="plan.md")["text"] == "one"
    assert count(url, "contents") == 1


def test_a_purge_on_one_machine_forgets_what_another_wrote(url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "a", url, SPACE) as app:
        file = call(app, "write_file", name="secret.txt", text=TEXT)["id"]
        call(app, "write_file", name="plan.md", text="kept")
        call(app, "delete_item", item=file)
    with psycopg.connect(url) as driver:
        driver.execute("UPDATE panorama_contents.contents SET written_at = 'epoch'")
    with machine(tmp_path / "b", url, SPACE) as app:
        forgotten = app.calls.call("purge", {"days": 0, "confirm": True}, PERSON).to_dict()["data"]

        assert (forgotten["contents"], forgotten["content_bytes"]) == (1, len(TEXT))
        assert call(app, "get_file", file="plan.md")["text"] == "kept"
    assert (count(url, "contents"), count(url, "content_parts")) == (1, 1)


def test_a_backup_has_the_contents_and_another_space_gets_them_back(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with machine(tmp_path / "a", url, SPACE) as app:
        call(app, "write_file", name="tiles.csv", text=TEXT)
        backup = call(app, "create_backup", folder=str(tmp_path / "copies"), confirm=True)
        exported = call(app, "export_data", folder=str(tmp_path / "exports"), confirm=True)
        call(app, "write_file", name="tiles.csv", text="changed since")
    name = sha256(TEXT.encode()).hexdigest()
    assert (Path(backup["path"]) / "files" / name[:2] / name[2:]).read_text() == TEXT
    assert (Path(exported["path"]) / "files" / "tiles.csv").read_text() == TEXT

    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "b"))
    monkeypatch.setenv("PANORAMA_NO_DAEMON", "1")
    monkeypatch.setenv("PANORAMA_DATABASE_URL", url)
    monkeypatch.setenv("PANORAMA_SPACE", SPACE)
    assert main(["restore", backup["path"], "--yes"]) == 0

    with machine(tmp_path / "b", url, SPACE) as app:
        assert call(app, "get_file", file="tiles.csv", chars=20)["text"] == TEXT[:20]
    previous = [name for name in list_spaces(url) if "_before_" in name]
    with machine(tmp_path / "c", url, previous[0].removeprefix("panorama_")) as app:
        assert call(app, "get_file", file="tiles.csv")["text"] == "changed since"


def list_spaces(url: str) -> list[str]:
    with psycopg.connect(url) as driver:
        query = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'panorama_contents%'"
        return [str(row[0]) for row in driver.execute(query)]


def test_a_database_file_that_is_restored_keeps_the_contents_that_it_names(url: str, tmp_path: Path) -> None:
    from panorama.store.postgres.connections import parse_url
    from panorama.store.postgres.engine import PostgresDatabase
    from panorama.store.postgres.transfer.replace_space import replace_space

    with machine(tmp_path / "a", url, SPACE) as app:
        call(app, "write_file", name="plan.md", text="one")
        app.context.database.copy_to(tmp_path / "copy.db")
        call(app, "write_file", name="plan.md", text="two")
    with closing(PostgresDatabase(parse_url(url), SPACE)) as database:
        replace_space(database, tmp_path / "copy.db", datetime.now(UTC), is_own=True)

    with machine(tmp_path / "a", url, SPACE) as app:
        assert call(app, "get_file", file="plan.md")["text"] == "one"
    assert count(url, "contents") == 1


def test_contents_move_to_the_server_and_back(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("PANORAMA_HOME", str(home))
    monkeypatch.setenv("PANORAMA_NO_DAEMON", "1")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")
    with open_app(read_settings()) as app:
        call(app, "write_file", name="tiles.csv", text=TEXT)
        call(app, "write_file", name="plan.md", text="one")
        call(app, "write_file", name="plan.md", text="two")
        call(app, "write_file", name="lost.md", text="lost")
    (home / "files" / path_of(b"lost")).unlink()

    assert main(["move", "--to", url, "--space", SPACE, "--yes"]) == 0
    output = capsys.readouterr().err
    [aside] = home.glob("moved-*.files")
    there = count(url, "contents")
    assert main(["move", "--to", "sqlite", "--yes"]) == 0

    assert "1 content of a file could not be moved" in output
    assert (there, (aside / path_of(b"two")).read_text()) == (3, "two")
    with open_app(read_settings()) as app:
        assert call(app, "get_file", file="tiles.csv", chars=20)["text"] == TEXT[:20]
        assert call(app, "get_file", file="plan.md")["text"] == "two"
    assert (home / "files" / path_of(b"one")).read_text() == "one"


def path_of(content: bytes) -> str:
    name = sha256(content).hexdigest()
    return f"{name[:2]}/{name[2:]}"


def test_the_doctor_finds_missing_and_damaged_contents(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from panorama.cli.commands.doctor import run_checks

    with machine(tmp_path / "a", url, SPACE) as app:
        call(app, "write_file", name="plan.md", text="one")
        call(app, "write_file", name="list.md", text="two")
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "a"))
    monkeypatch.setenv("PANORAMA_DATABASE_URL", url)
    monkeypatch.setenv("PANORAMA_SPACE", SPACE)

    def check() -> tuple[str, str]:
        return next((item["state"], item["found"]) for item in run_checks() if item["check"] == "contents")

    before = check()
    with psycopg.connect(url) as driver:
        driver.execute("UPDATE panorama_contents.content_parts SET bytes = '' WHERE bytes = 'one'")
        driver.execute("DELETE FROM panorama_contents.contents WHERE size = 3 AND sha256 = %s", (digest(b"two"),))
    after = check()

    assert before == ("ok", "2 contents of files, 6 B")
    assert after[0] == "fail"
    assert after[1].startswith("1 missing, 1 damaged; the first is content ")


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def test_a_connection_that_is_cut_while_a_content_is_sent_leaves_nothing(
    url: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        cutting_proxy(tmp_path_factory.mktemp("p"), url) as (proxy, through),
        machine(tmp_path / "a", through, SPACE) as app,
    ):
        proxy.cut_at("cut here", "before")

        with pytest.raises(UnavailableError, match="nothing was changed"):
            call(app, "write_file", name="tiles.csv", text=TEXT + "cut here " * 1000)
        assert (call(app, "list_files"), count(url, "contents")) == ([], 0)
        assert call(app, "write_file", name="tiles.csv", text=TEXT)["size"] == len(TEXT)


KILLED = """
import os, signal, sys
from panorama.databases import open_backend
from panorama.config import read_settings

def parts():
    yield b"x" * (1 << 20)
    os.kill(os.getpid(), signal.SIGKILL)

settings = read_settings()
database = open_backend(settings).open()
database.contents(settings.home).put_parts("0" * 64, parts())
"""


def test_a_kill_between_parts_leaves_nothing(url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "a", url, SPACE):
        pass
    variables = {"PANORAMA_HOME": str(tmp_path / "a"), "PANORAMA_DATABASE_URL": url, "PANORAMA_SPACE": SPACE}

    ended = subprocess.run([sys.executable, "-c", KILLED], env=os.environ | variables, check=False)

    assert ended.returncode == -signal.SIGKILL
    assert (count(url, "contents"), count(url, "content_parts")) == (0, 0)


def test_a_backup_on_one_machine_holds_up_a_purge_on_another(url: str, tmp_path: Path) -> None:
    from panorama.store.postgres.connections import parse_url
    from panorama.store.postgres.engine import PostgresDatabase

    with machine(tmp_path / "a", url, SPACE) as app:
        name = app.context.database.contents(tmp_path).put(b"loose")
        later = (datetime.now(UTC) + timedelta(days=1)).timestamp()
        with closing(PostgresDatabase(parse_url(url), SPACE)) as other:
            mine, theirs = app.context.database.contents(tmp_path), other.contents(tmp_path)
            with mine.retain(), pytest.raises(UnavailableError, match="being copied"):
                theirs.delete([name], before=later)
            assert theirs.delete([name], before=later) == (1, 5)
