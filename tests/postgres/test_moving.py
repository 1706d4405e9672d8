"""Moving the data from the SQLite file to a space of PostgreSQL, and back."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfile

import pytest

from panorama.cli.main import main
from panorama.errors import ConflictError, ScriptError, UnavailableError
from panorama.store.archive import jsonl
from panorama.store.backend import Database
from panorama.store.sqlite.engine import SqliteDatabase
from tests.postgres.conftest import Command
from tests.postgres.machines import drop_spaces
from tests.sampled import sampled
from tests.whole import differing

pytestmark = pytest.mark.postgres

SPACE = "moving"
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the sample workspace."""
    return sampled(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def home(sample: Path, tmp_path: Path) -> Path:
    """A data directory with the sample workspace."""
    made = tmp_path / "data"
    made.mkdir()
    copyfile(sample, made / "panorama.db")
    return made


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    """The address of a database without the space."""
    yield postgres_url
    drop_spaces(postgres_url, SPACE)


def count_notes(url: str) -> int:
    from panorama.store.postgres.connections import parse_url
    from panorama.store.postgres.engine import PostgresDatabase

    with closing(PostgresDatabase(parse_url(url), SPACE)) as database, database.reading() as session:
        return int(session.connection.exec_driver_sql("SELECT count(*) FROM notes").scalar_one())


def test_every_row_comes_back_as_it_went(url: str, home: Path, sample: Path) -> None:
    from panorama.store.postgres.transfer import moving

    moving.fill_space(home, url, SPACE, NOW)
    moved = moving.set_file_aside(home, NOW)
    (home / "panorama.part").write_text("the beginning of a copy that was killed")
    moving.fill_file(url, SPACE, home)

    assert differing(home, sample.parent) == {}
    assert (moved.name, moved.stat().st_mode & 0o777) == ("moved-20260520T080000Z.db", 0o400)


def test_both_databases_export_the_same_lines(url: str, home: Path) -> None:
    from panorama.store.postgres.connections import parse_url
    from panorama.store.postgres.engine import PostgresDatabase
    from panorama.store.postgres.transfer import moving

    def list_lines(database: Database) -> dict[str, list[bytes]]:
        with closing(database), database.reading() as session:
            names = jsonl.list_tables()
            return {name: [jsonl.encode_line(row) for row in jsonl.iter_rows(session, name)] for name in names}

    moving.fill_space(home, url, SPACE, NOW)

    lines = list_lines(SqliteDatabase(home / "panorama.db"))
    assert lines["changes"]
    assert list_lines(PostgresDatabase(parse_url(url), SPACE)) == lines


def test_a_space_with_data_is_not_overwritten(url: str, home: Path) -> None:
    from panorama.store.postgres.transfer import moving

    moving.fill_space(home, url, SPACE, NOW)
    notes = count_notes(url)

    with pytest.raises(ConflictError, match="holds data already"):
        moving.fill_space(home, url, SPACE, NOW)

    assert (notes > 0, count_notes(url)) == (True, notes)


def test_a_file_is_not_overwritten(url: str, home: Path) -> None:
    from panorama.store.postgres.transfer import moving

    moving.fill_space(home, url, SPACE, NOW)
    before = (home / "panorama.db").read_bytes()

    with pytest.raises(ConflictError, match="already"):
        moving.fill_file(url, SPACE, home)

    assert (home / "panorama.db").read_bytes() == before


def test_a_move_and_a_restore_say_that_infinite_numbers_became_null(url: str, command: Command, tmp_path: Path) -> None:
    def set_properties(file: Path) -> None:
        with closing(sqlite3.connect(file)) as opened, opened:
            opened.execute("UPDATE notes SET properties = '{\"a\": NaN}'")

    command("", "", "notes", "add", "Tea", "--content", "Oolong")
    set_properties(tmp_path / "home" / "panorama.db")

    moved = command("", "", "move", "--to", url, "--space", SPACE, "--yes")
    copy = next((tmp_path / "home").glob("moved-*.db"))
    restored = command("", "", "restore", str(copy), "--yes")

    for code, seen in (moved, restored):
        assert code == 0
        assert "NaN or infinite numbers became null: PostgreSQL cannot store them." in " ".join(seen.split())
    assert count_notes(url) == 1


def test_a_move_that_is_cancelled_leaves_both_whole(url: str, home: Path, tmp_path: Path) -> None:
    from panorama.store.postgres.transfer import moving

    def stop_late(done: int, total: int) -> None:
        if done > total / 2:
            raise ScriptError("Nobody waits.")

    with pytest.raises(ScriptError):
        moving.fill_space(home, url, SPACE, NOW, stop_late)
    assert count_notes(url) == 0
    moving.fill_space(home, url, SPACE, NOW)
    notes = count_notes(url)
    (tmp_path / "back").mkdir()
    with pytest.raises(ScriptError):
        moving.fill_file(url, SPACE, tmp_path / "back", stop_late)

    assert (list((tmp_path / "back").iterdir()), count_notes(url)) == ([], notes)


def test_nothing_is_moved_while_another_panorama_serves_the_space(url: str, home: Path) -> None:
    from panorama.store.migrate import create_tables
    from panorama.store.postgres.connections import parse_url
    from panorama.store.postgres.engine import PostgresDatabase
    from panorama.store.postgres.transfer import moving

    with closing(PostgresDatabase(parse_url(url), SPACE)) as other:
        create_tables(other)
        with other.membership.serve(), pytest.raises(UnavailableError, match="in use"):
            moving.fill_space(home, url, SPACE, NOW)

    assert count_notes(url) == 0


def test_a_space_that_was_moved_is_kept_under_another_name(url: str, home: Path, tmp_path: Path) -> None:
    from panorama.store.postgres.transfer import moving

    moving.fill_space(home, url, SPACE, NOW)

    kept = moving.set_space_aside(url, SPACE, NOW)

    assert kept == "moving_moved_20260520080000"
    (tmp_path / "back").mkdir()
    moving.fill_file(url, kept, tmp_path / "back")


def test_the_command_moves_there_and_back(
    url: str, sample: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANORAMA_HOME", str(home))
    monkeypatch.setenv("PANORAMA_NO_DAEMON", "1")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")

    there = main(["move", "--to", url, "--space", SPACE, "--yes"])
    output = capsys.readouterr().err
    [kept] = home.glob("moved-*.db")
    config = (home / "config.toml").read_text()
    listed = main(["notes", "--json"])
    back = main(["move", "--to", "sqlite", "--yes"])

    assert (there, listed, back) == (0, 0, 0)
    assert f"space {SPACE} of postgresql://" in output
    assert kept.name in output
    assert f'space = "{SPACE}"' in config
    assert differing(home, sample.parent).keys() <= {"calls", "sqlite_sequence"}
    assert "database_url" not in (home / "config.toml").read_text()


def test_a_move_leaves_the_sources_and_a_backup_of_a_space_holds_them(
    url: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("HOME", str(home)), ("NO_DAEMON", "1"), ("EMBEDDER", "none")):
        monkeypatch.setenv(f"PANORAMA_{name}", value)
    sources = {"mcpServers": {"clock": {"command": "uvx", "args": ["mcp-server-time"], "allow": ["*"]}}}
    (home / "sources.json").write_text(json.dumps(sources))

    codes = [main(["move", "--to", url, "--space", SPACE, "--yes"]), main(["backup", str(tmp_path / "out")])]
    [made] = (tmp_path / "out").iterdir()
    (home / "sources.json").write_text('{"mcpServers": {}}')
    capsys.readouterr()
    codes += [main(["restore", str(made), "--yes"]), main(["move", "--to", "sqlite", "--yes"])]

    assert codes == [0, 0, 0, 0]
    shown = 'clock: {"command": "uvx", "args": ["mcp-server-time"], "allow": ["*"]} These sources are restored'
    assert shown in " ".join(capsys.readouterr().err.split())
    assert json.loads((made / "sources.json").read_text()) == sources
    assert json.loads((home / "sources.json").read_text()) == sources


def test_a_move_to_where_the_data_is_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANORAMA_HOME", str(home))

    assert main(["move", "--to", "sqlite", "--yes"]) == 2
    assert "in the data directory already" in capsys.readouterr().err
