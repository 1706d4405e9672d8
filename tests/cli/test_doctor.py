"""`panorama doctor`: finds what is wrong, says how to mend it, and leaves everything as it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from panorama.cli.commands import doctor
from panorama.cli.commands.service import detect_manager
from panorama.store.sqlite import maintenance

from .conftest import Command, CommandResult

pytestmark = pytest.mark.slow  # each starts a daemon or a process for scripts

MARK = 0x50414E4F


def _states(ran: CommandResult) -> dict[str, str]:
    return {row["check"]: row["state"] for row in ran.answer["data"]}


def test_a_sound_store_passes_every_check(run: Command) -> None:
    run("tasks", "add", "Tea")

    examined = run("doctor", "--json")

    assert examined.code == 0
    assert set(_states(examined).values()) <= {"ok", "warn"}
    assert {"python", "data directory", "disk", "soundness", "write lock", "search index"} <= set(_states(examined))


def test_an_address_of_qdrant_that_is_none_is_found_without_asking_anybody(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_EMBEDDER", "minilm")
    monkeypatch.setenv("PANORAMA_QDRANT_URL", "localhost:6333")

    examined = run("doctor")

    assert "it does not begin with http:// or https://" in examined.out
    assert "http://localhost:6333" in examined.out


def test_without_data_nothing_is_made(run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "none"))

    examined = run("doctor")

    assert examined.code == 0
    assert "does not exist yet" in examined.out
    assert not (tmp_path / "none").exists()


def test_looking_leaves_the_files_as_they_are(run: Command, home: Path) -> None:
    run("tasks", "add", "Tea")
    before = {path.name: path.read_bytes() for path in home.iterdir()}

    run("doctor")

    assert {path.name: path.read_bytes() for path in home.iterdir()} == before


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\0" + bytes(4080)])
def test_a_file_that_is_not_ours_is_told_and_not_touched(run: Command, home: Path, content: bytes) -> None:
    (home / "panorama.db").write_bytes(content)

    examined = run("doctor", "--json")

    assert examined.code == 1
    assert _states(examined)["database"] == "fail"
    assert (home / "panorama.db").read_bytes() == content


def test_a_damaged_file_is_found(run: Command, home: Path) -> None:
    for number in range(30):
        run("note", "add", f"Tea {number}", "--content", "oolong " * 500)
    path = home / "panorama.db"
    path.write_bytes(path.read_bytes()[: 8 * 4096] + b"\x55" * 4096 * 20)

    examined = run("doctor", "--json")

    assert examined.code == 1
    assert "fail" in {_states(examined).get(name) for name in ("soundness", "schema", "search index")}


def test_who_holds_the_write_lock_is_told(run: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "LOCK_SECONDS", 0.05)

    with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        examined = run("doctor", "--json")

    assert examined.code == 1
    assert _states(examined)["write lock"] == "fail"


def test_words_that_are_missing_from_the_search_index_are_found(run: Command, home: Path) -> None:
    run("tasks", "add", "Tea")
    with closing(sqlite3.connect(home / "panorama.db")) as other, other:
        other.execute("DELETE FROM search_parts")

    examined = run("doctor", "--json")

    assert _states(examined)["search index"] == "fail"


def test_a_newer_store_asks_for_an_upgrade(run: Command, home: Path) -> None:
    with closing(sqlite3.connect(home / "panorama.db")) as other, other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")

    examined = run("doctor")

    assert examined.code == 1
    assert "9999 is newer" in examined.out


def test_a_directory_that_others_can_read_is_a_warning(run: Command, home: Path) -> None:
    home.chmod(0o755)

    examined = run("doctor")

    assert examined.code == 0
    assert f"chmod 700 {home}" in examined.out


def test_settings_that_cannot_be_read_are_a_finding(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_TIMEZONE", "Atlantis/Sunk")

    examined = run("doctor", "--json")

    assert examined.code == 1
    assert _states(examined)["settings"] == "fail"
    assert _states(examined)["soundness"] == "ok"


def test_a_check_that_breaks_is_a_finding(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: doctor.Installation) -> doctor.CheckResult:
        raise RuntimeError("seven")

    monkeypatch.setitem(doctor._CHECKS, "disk", broken)

    assert "RuntimeError: seven" in run("doctor").out


def test_doctor_and_status_agree_on_the_size_of_the_database(run: Command) -> None:
    run("tasks", "add", "Tea")

    result = run("status").out.partition("database")[2].split(",")[0].strip()
    found = next(row["found"] for row in run("doctor", "--json").answer["data"] if row["check"] == "database")

    assert found.endswith(result)


def test_what_keeps_reminders_and_schedules_running_is_a_line(run: Command) -> None:
    def find_uptime() -> tuple[str, str]:
        row = next(row for row in run("doctor", "--json").answer["data"] if row["check"] == "uptime")
        return row["found"], row.get("mend", "")

    alone = find_uptime()
    file = detect_manager().file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("installed")

    assert alone == ("reminders and schedules run only while a client is open", "panorama service install")
    assert find_uptime() == ("reminders and schedules run at any time", "")


def test_a_command_that_no_shell_finds_is_a_warning_that_says_how_to_install_it(
    run: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    found = next(row for row in run("doctor", "--json").answer["data"] if row["check"] == "command")

    assert (found["state"], "uv tool install ." in found["mend"]) == ("warn", True)
