"""The disk is full or cannot be written: calls fail with a clear sentence, leave nothing, and work afterwards."""

import resource
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from panorama.errors import UnavailableError

from .disks import unwritable
from .files import everything, is_sound, one, rows
from .house import OpenStore
from .servers import Server

pytestmark = pytest.mark.slow

PAGE = "words of a page that takes some room on a small disk. " * 400


@contextmanager
def fill_disk(disk: Path) -> Generator[None]:
    """Leave no room on a disk."""
    filler = disk / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            for size in (1 << 20, 4096):  # in pages alone it takes longer than what is to be hindered
                with suppress(OSError):
                    while file.write(b"x" * size):
                        pass
        yield
    finally:
        filler.unlink()


def test_a_write_to_a_full_disk_is_refused_and_leaves_nothing(small_disk: Path) -> None:
    with OpenStore.opened(small_disk / "home") as house:
        house.do("create_note", title="Tea", content="green")
        house.settle()
        before = everything(house.home)
        with fill_disk(small_disk):
            for _ in range(3):
                with pytest.raises(UnavailableError, match="nothing was changed") as refusal:
                    house.do("create_note", title="Long", content=PAGE)

            assert refusal.value.hint
            assert house.do("get_note", note="Tea")["data"]["content"] == "green"
            assert everything(house.home) == before
        made = house.do("create_note", title="Long", content=PAGE)

    assert one(small_disk / "home", "SELECT content FROM notes WHERE id = ?", made["data"]["id"]) == PAGE
    assert is_sound(small_disk / "home")


def test_a_server_on_a_full_disk_answers_each_call_and_recovers(small_disk: Path) -> None:
    home = small_disk / "home"
    with Server(home) as server:
        server.call("create_note", title="Tea", content="green")
        with fill_disk(small_disk):
            refused = [server.call("create_note", title=f"Long {n}", content=PAGE) for n in range(5)]
            read = server.call("get_note", note="Tea")
        kept = server.call("create_note", title="Long", content=PAGE)

    assert {answer["error"]["code"] for answer in refused} == {"unavailable"}
    assert read["data"]["content"] == "green"
    assert one(home, "SELECT group_concat(id) FROM notes WHERE title LIKE 'Long%'") == kept["data"]["id"]
    assert one(home, "SELECT count(*) FROM changes") == 2
    assert is_sound(home)


def test_writes_until_the_disk_is_full_keep_what_was_answered_and_nothing_else(small_disk: Path) -> None:
    kept: list[str] = []
    with OpenStore.opened(small_disk / "home") as house, suppress(UnavailableError):
        for number in range(1000):
            made = house.do("create_note", title=f"Note {number}", content=PAGE)
            kept.append(made["data"]["id"])

    assert 0 < len(kept) < 1000
    assert sorted(kept) == [row[0] for row in rows(small_disk / "home", "SELECT id FROM notes ORDER BY id")]
    assert is_sound(small_disk / "home")


def test_a_folder_that_is_full_is_no_place_for_a_new_store(small_disk: Path) -> None:
    with fill_disk(small_disk), pytest.raises(UnavailableError) as refusal, OpenStore.opened(small_disk / "home"):
        pass

    assert refusal.value.hint
    with OpenStore.opened(small_disk / "home") as house:
        assert house.do("create_note", title="Tea")["data"]["id"]


@contextmanager
def files_no_larger_than(size: int) -> Generator[None]:
    """Let this process grow no file beyond a size: a write past it fails with EFBIG."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_commit_that_fails_is_answered_as_failed_and_nothing_of_it_is_there(house: OpenStore) -> None:
    before = everything(house.home)
    written = (house.home / "panorama.db-wal").stat().st_size

    with files_no_larger_than(written + 8192), pytest.raises(UnavailableError, match="nothing was changed"):
        house.do("batch", operations=[{"tool": "create_note", "args": {"title": "Long", "content": PAGE}}] * 3)

    assert everything(house.home) == before
    assert house.do("create_note", title="Long", content=PAGE)["data"]["id"]
    house.settle()
    assert is_sound(house.home)


def test_a_disk_that_cannot_be_written_is_refused_at_the_start_and_left_alone(home: Path) -> None:
    with OpenStore.opened(home) as house:
        house.do("create_note", title="Tea")
    bytes_ = (home / "panorama.db").read_bytes()

    with unwritable(home), pytest.raises(UnavailableError) as refusal, OpenStore.opened(home) as house:
        house.do("create_note", title="Soup")

    assert refusal.value.hint
    assert (home / "panorama.db").read_bytes() == bytes_
    with OpenStore.opened(home) as house:
        assert house.do("create_note", title="Soup")["data"]["id"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outer").mkdir()

    opening = OpenStore.opened(tmp_path / "outer" / "home")

    with unwritable(tmp_path / "outer"), pytest.raises(UnavailableError, match="cannot be created") as refusal, opening:
        pass

    assert "PANORAMA_HOME" in refusal.value.hint


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("my notes")

    with pytest.raises(UnavailableError, match="cannot be"), OpenStore.opened(tmp_path / "home"):
        pass

    assert (tmp_path / "home").read_text() == "my notes"
