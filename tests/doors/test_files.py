"""The daemon's files, when somebody takes them away or puts others in their place: no write goes nowhere."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from panorama.transport.address import Address

from .conftest import wait
from .peer import COMMAND, MODERN, Peer

pytestmark = pytest.mark.slow


def titles(home: Path) -> list[str]:
    """Return the titles of all tasks, read beside the product."""
    with closing(sqlite3.connect(home / "panorama.db")) as database:
        return [row[0] for row in database.execute("SELECT title FROM tasks ORDER BY title")]


def restored(home: Path, copy: Path) -> None:
    """Put a copy of the database in place of the present one, under a living daemon."""
    for end in ("", "-wal", "-shm"):
        (home / f"panorama.db{end}").unlink(missing_ok=True)
    shutil.copyfile(copy, home / "panorama.db")


@pytest.fixture
def copy(home: Path, tmp_path: Path) -> Path:
    """A copy of the empty database."""
    shutil.copyfile(home / "panorama.db", tmp_path / "copy.db")
    return tmp_path / "copy.db"


def test_a_write_to_a_database_that_was_replaced_is_refused_and_the_next_is_kept(
    address: Address, home: Path, copy: Path, era: str
) -> None:
    with Peer(era) as peer:
        peer.call("create_task", title="Before")
        old = address.find_pid()
        restored(home, copy)

        refused = peer.call("create_task", title="Lost")
        wait(lambda: address.find_pid() not in (None, old))
        peer.call("create_task", title="Kept")

        assert refused["error"]["code"] == "unavailable"
        assert titles(home) == ["Kept"]


def test_a_data_directory_that_is_gone_is_made_anew(address: Address, home: Path) -> None:
    with Peer() as peer:
        peer.call("create_task", title="Before")
        old = address.find_pid()
        shutil.rmtree(home)

        wait(lambda: address.find_pid() not in (None, old))
        peer.call("create_task", title="Kept")

        assert titles(home) == ["Kept"]


def test_a_socket_that_was_taken_away_is_put_back(address: Address) -> None:
    with Peer() as peer:
        peer.call("status")
        old = address.find_pid()
        os.unlink(address.socket)

        with Peer(MODERN) as other:
            assert other.call("status")["data"]["today"]

        assert address.find_pid() == old


def test_a_lock_that_was_taken_away_leaves_one_daemon_in_the_end(address: Address) -> None:
    with Peer() as peer:
        peer.call("status")
        os.unlink(address.lock)

        wait(lambda: address.find_pid() is not None)
        assert peer.call("create_task", title="Tea")["data"]["title"] == "Tea"
        with open(address.log, encoding="utf-8") as log:
            output = log.read()
        assert (output.count(" serves "), output.count("leaves: its data directory")) == (2, 1)


def test_the_database_is_for_its_owner_alone_also_in_an_open_directory(address: Address, home: Path) -> None:
    home.chmod(0o755)
    (home / "panorama.db").chmod(0o644)

    with Peer() as peer:
        peer.call("create_task", title="Tea")

        modes = {path.name: path.stat().st_mode & 0o777 for path in home.glob("panorama.db*")}
        assert set(modes.values()) == {0o600}, modes


def test_a_listener_hears_again_when_somebody_else_starts_the_daemon(address: Address, era: str) -> None:
    with Peer(era) as reader:
        note = reader.call("create_note", title="Log", content="one")["data"]["id"]
        reader.listen(f"panorama://note/{note}")
        subprocess.run([*COMMAND, "daemon", "stop"], check=True, capture_output=True)

        with Peer() as other:
            wait(lambda: other.call("status")["data"])
            reader.hears("notifications/resources/updated")  # it may have changed meanwhile
            other.call("append_to_note", note=note, block="two")
            reader.hears("notifications/resources/updated")


def test_listening_alone_starts_a_daemon_that_was_stopped(address: Address) -> None:
    with Peer() as reader:
        reader.call("status")
        subprocess.run([*COMMAND, "daemon", "stop"], check=True, capture_output=True)

        reader.listen("panorama://today")

        assert address.find_pid() is not None


def restoring(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `panorama restore --backup`."""
    return subprocess.run([*COMMAND, "restore", *words], capture_output=True, text=True, timeout=90)


@pytest.mark.parametrize("runs", [True, False], ids=["with a living daemon", "without one"])
def test_a_copy_of_everything_is_put_in_place(address: Address, home: Path, copy: Path, runs: bool) -> None:
    with Peer() as peer:
        peer.call("create_task", title="Before")
        if not runs:
            subprocess.run([*COMMAND, "daemon", "stop"], check=True, capture_output=True)

        done = restoring(str(copy), "--yes")

        assert done.returncode == 0, done.stderr
        assert peer.call("list_tasks")["data"] == []
        (kept,) = (home / "backups").glob("replaced-*.db")
        with closing(sqlite3.connect(kept)) as database:
            assert database.execute("SELECT title FROM tasks").fetchall() == [("Before",)]


def test_a_damaged_database_is_replaced_too(address: Address, home: Path, copy: Path) -> None:
    (home / "panorama.db").write_bytes(b"this is no database" * 100)

    assert restoring(str(copy), "--yes").returncode == 0

    with Peer() as peer:
        assert peer.call("list_tasks")["data"] == []


def test_what_is_no_copy_changes_nothing(address: Address, home: Path, tmp_path: Path) -> None:
    (tmp_path / "no.db").write_bytes(b"this is no database" * 100)
    before = (home / "panorama.db").read_bytes()

    ends = [restoring(str(tmp_path / name), "--yes") for name in ("no.db", "missing.db")]

    assert [end.returncode for end in ends] == [2, 2]
    assert (home / "panorama.db").read_bytes() == before


def test_without_a_yes_nothing_is_put_in_place(address: Address, home: Path, copy: Path) -> None:
    before = (home / "panorama.db").read_bytes()

    done = restoring(str(copy))

    assert (done.returncode, "--yes" in done.stderr) == (1, True)
    assert (home / "panorama.db").read_bytes() == before
