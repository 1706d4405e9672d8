"""Backups, exports and restores that are killed, filled up, or made while others write: whole, or not there."""

import os
import random
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from panorama.errors import PanoramaError, UnavailableError
from panorama.services.archive.restore import RestoreService
from panorama.services.jobs.progress import report_progress_to
from panorama.store.archive.atomic_folder import PART_PREFIX
from panorama.store.sqlite import snapshots
from tests.whole import differing

from .disks import mounted, unwritable
from .files import everything, is_sound, rows
from .house import OpenStore

pytestmark = pytest.mark.slow

FILES, FILE_BYTES = 200, 20_000
PATIENCE = 30
WORDS: dict[str, list[str]] = {"backup": ["backup"], "export": ["export"], "restore": ["restore"]}


@pytest.fixture
def full(house: OpenStore) -> OpenStore:
    """A store with 200 files, of which each takes its time to be copied."""
    chance = random.Random(5)
    for start in range(0, FILES, 50):
        item = [
            {"name": f"{number}.bin", "base64": b64encode(chance.randbytes(FILE_BYTES)).decode()}
            for number in range(start, start + 50)
        ]
        house.do("batch", operations=[{"tool": "write_file", "args": args} for args in item])
    house.settle()
    return house


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    """A disk of its own with room for 64 MB."""
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=64m", "tmpfs") as disk:
        yield disk


def make_copy(house: OpenStore, what: str, folder: Path) -> Path:
    return Path(house.do(what, folder=str(folder), confirm=True)["data"]["path"])


def start_command(home: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a command as a process of its own."""
    given = {"PANORAMA_HOME": str(home), "PANORAMA_NO_DAEMON": "1", "PANORAMA_EMBEDDER": "none"}
    command = [sys.executable, "-m", "panorama", *words]
    return subprocess.Popen(command, env={**os.environ, **given}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def appears(folder: Path, process: subprocess.Popen[bytes]) -> bool:
    """Wait until something is being written in a folder; False if the process ended before."""
    deadline = time.monotonic() + PATIENCE
    while not list(folder.glob(f"{PART_PREFIX}*")):
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline, "it never began"
        time.sleep(0.0005)
    return True


@pytest.mark.parametrize("what", ["backup", "export", "restore"])
def test_kill_9_leaves_a_whole_one_or_none_and_the_next_one_cleans_up(
    what: str, full: OpenStore, tmp_path: Path
) -> None:
    seed = int(os.environ.get("KILL_SEED", random.randrange(1 << 32)))
    print(f"KILL_SEED={seed}")  # noqa: T201 (it is printed if the test fails)
    chance, folder = random.Random(seed), tmp_path / "out"
    source = make_copy(full, "backup", tmp_path / "source") if what == "restore" else None
    killed, checked = 0, set[Path]()
    for number in range(12):
        target = folder / f"r{number}" if source else folder
        words = [*WORDS[what], str(source), "--to", str(target)] if source else [what, str(folder)]
        folder.mkdir(exist_ok=True)
        process = start_command(full.home, *words)
        if appears(folder, process):
            time.sleep(chance.uniform(0, 0.4))
            process.kill()
        killed += process.wait(PATIENCE) != 0

        for path in set(folder.glob("panorama-*")) - checked:
            full.do("backups.check", path=str(path))
            checked.add(path)
        for path in folder.glob("r*"):
            assert not differing_but_for_the_log(full.home, path)
        assert is_sound(full.home)

    assert killed, "nothing was killed in the middle"
    if what != "restore":
        whole = make_copy(full, what, folder)
        assert not list(folder.glob(f"{PART_PREFIX}*"))
        again = tmp_path / "again"
        RestoreService(tmp_path / "none", snapshots).restore(str(whole), str(again))
        assert not differing_but_for_the_log(full.home, again)


def differing_but_for_the_log(home: Path, again: Path) -> dict[str, Any]:
    return {name: rows_ for name, rows_ in differing(home, again).items() if name != "calls"}


@pytest.mark.parametrize("what", ["backup", "export"])
def test_a_disk_that_fills_up_meanwhile_ends_it_with_nothing_left(what: str, full: OpenStore, disk: Path) -> None:
    (disk / "mine.txt").write_text("mine")

    def fill(_done: int, _total: int, _at: str) -> None:
        if not (disk / "others").exists():
            room = os.statvfs(disk)
            with (disk / "others").open("wb") as file:
                file.write(bytes(room.f_bavail * room.f_frsize - (1 << 19)))

    with report_progress_to(fill), pytest.raises(UnavailableError, match="disk is full") as refusal:
        make_copy(full, what, disk / "new" / "out")

    assert refusal.value.hint
    assert {path.name for path in disk.iterdir()} == {"mine.txt", "others"}
    assert is_sound(full.home)


@pytest.mark.parametrize("what", ["backup", "export"])
def test_a_disk_without_room_is_refused_before_anything_is_written(
    what: str, full: OpenStore, small_disk: Path
) -> None:
    with pytest.raises(UnavailableError, match="MB are free") as refusal:
        make_copy(full, what, small_disk)

    assert refusal.value.hint
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("what", ["backup", "export"])
def test_a_restore_onto_a_full_disk_leaves_nothing(what: str, full: OpenStore, disk: Path, tmp_path: Path) -> None:
    source = make_copy(full, what, tmp_path / "source")

    def fill(_done: int, _total: int, _at: str) -> None:
        if not (disk / "others").exists():
            room = os.statvfs(disk)
            with (disk / "others").open("wb") as file:
                file.write(bytes(room.f_bavail * room.f_frsize - (1 << 19)))

    with pytest.raises(UnavailableError, match="full"):
        RestoreService(tmp_path / "none", snapshots, fill).restore(str(source), str(disk / "again"))

    assert {path.name for path in disk.iterdir()} == {"others"}


@pytest.mark.parametrize("what", ["backup", "export"])
def test_a_folder_that_cannot_be_written_is_refused(what: str, house: OpenStore, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    before = everything(house.home)

    with unwritable(folder), pytest.raises(UnavailableError, match="cannot be written") as refusal:
        make_copy(house, what, folder / "out")

    assert refusal.value.hint
    assert list(folder.iterdir()) == []
    assert everything(house.home) == before


def test_a_backup_that_fails_removes_no_older_one(house: OpenStore, tmp_path: Path) -> None:
    old = make_copy(house, "backup", tmp_path / "out")

    def fail(_done: int, _total: int, at: str) -> None:
        if at == "checking the database":
            raise PanoramaError("stopped")

    with report_progress_to(fail), pytest.raises(PanoramaError, match="stopped"):
        make_copy(house, "backup", tmp_path / "out")

    assert [path.name for path in (tmp_path / "out").iterdir()] == [old.name]


@pytest.mark.parametrize("what", ["backup", "export"])
def test_what_is_made_while_others_write_is_one_moment(what: str, full: OpenStore, tmp_path: Path) -> None:
    """Each write makes two items in one transaction: a copy of one moment has both or none, and none is skipped."""
    stop, answered = threading.Event(), 0

    def write() -> None:
        nonlocal answered
        while not stop.is_set():
            word = f"pair{answered}"
            item = [
                {"tool": "create_task", "args": {"title": word}},
                {"tool": "write_file", "args": {"name": word, "text": word}},
            ]
            full.do("batch", operations=item)
            answered += 1

    writer = threading.Thread(target=write)
    writer.start()
    while answered < 5:
        time.sleep(0.001)
    before = answered
    path = make_copy(full, what, tmp_path / "out")
    after = answered
    stop.set()
    writer.join()
    RestoreService(tmp_path / "none", snapshots).restore(str(path), str(tmp_path / "again"))

    tasks = [row[0] for row in rows(tmp_path / "again", "SELECT title FROM tasks WHERE title LIKE 'pair%'")]
    files = [row[0] for row in rows(tmp_path / "again", "SELECT name FROM files WHERE name LIKE 'pair%'")]
    assert sorted(tasks) == sorted(files) == sorted(f"pair{number}" for number in range(len(tasks)))
    assert before <= len(tasks) <= after + 1
    assert after > before, "nobody wrote meanwhile"
    assert is_sound(tmp_path / "again")
