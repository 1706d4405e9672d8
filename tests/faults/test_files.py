"""Contents of files on a bad day: a full disk, a kill between content and row. The row never lies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from panorama.errors import UnavailableError

from .disks import unwritable
from .files import everything, is_sound, one
from .house import OpenStore
from .test_disk import files_no_larger_than, fill_disk

TEXT = "words of a file that takes some room on a small disk. " * 4000

KILLED = """
import os, signal, sys
from pathlib import Path
from panorama.services.items import files
from panorama.store.contents import folder
from tests.faults.house import OpenStore

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

with OpenStore.opened(Path(sys.argv[1])) as house:
    setattr(*{"content": (folder.os, "replace"), "row": (files.rows, "add")}[sys.argv[2]], killed)
    house.do("write_file", name="plan.md", text="one")
"""


def contents(home: Path) -> list[Path]:
    """Return every file that is kept for contents, whole or not."""
    return sorted(path for path in (home / "files").rglob("*") if path.is_file())


def test_a_content_that_does_not_fit_is_refused_and_leaves_nothing(small_disk: Path) -> None:
    with OpenStore.opened(small_disk / "home") as house:
        house.do("write_file", name="plan.md", text="one")
        house.settle()
        before, kept = everything(house.home), contents(house.home)
        with fill_disk(small_disk):
            for _ in range(3):
                with pytest.raises(UnavailableError, match="disk is full; nothing was changed") as refusal:
                    house.do("write_file", name="plan.md", text=TEXT)

            assert refusal.value.hint
            assert house.do("get_file", file="plan.md")["data"]["text"] == "one"
            assert (everything(house.home), contents(house.home)) == (before, kept)
        made = house.do("write_file", name="plan.md", text=TEXT)

    assert made["data"]["version"] == 2
    assert is_sound(small_disk / "home")


def test_a_content_that_is_cut_off_is_refused_and_leaves_nothing(house: OpenStore) -> None:
    before = everything(house.home)

    with files_no_larger_than(50_000), pytest.raises(UnavailableError, match="nothing was changed"):
        house.do("write_file", name="plan.md", text=TEXT)

    assert (everything(house.home), contents(house.home)) == (before, [])


def test_a_row_that_cannot_be_written_leaves_a_content_that_does_no_harm(house: OpenStore) -> None:
    before = everything(house.home)
    log = (house.home / "panorama.db-wal").stat().st_size

    with files_no_larger_than(max(log, len(TEXT)) + 8192), pytest.raises(UnavailableError, match="nothing was changed"):
        house.do("batch", operations=[{"tool": "write_file", "args": {"name": f"{n}", "text": TEXT}} for n in range(9)])

    assert everything(house.home) == before
    assert len(contents(house.home)) == 1
    assert house.do("write_file", name="plan.md", text=TEXT)["data"]["version"] == 1
    assert len(contents(house.home)) == 1


def test_a_folder_that_cannot_be_written_refuses_new_contents_and_gives_the_old_ones(house: OpenStore) -> None:
    house.do("write_file", name="plan.md", text="one")
    before = everything(house.home)

    with unwritable(house.home / "files"):
        with pytest.raises(UnavailableError, match="nothing was changed") as refusal:
            house.do("write_file", name="plan.md", text="two")
        assert house.do("get_file", file="plan.md")["data"]["text"] == "one"
        assert house.do("create_note", title="Soup")["data"]["id"]

    assert "files" in refusal.value.hint
    assert str(house.home) not in refusal.value.text()
    assert [row for row in everything(house.home) if row[0] == "files"] == [row for row in before if row[0] == "files"]


@pytest.mark.slow
@pytest.mark.parametrize(("at", "left"), [("content", ".part-"), ("row", "")])
def test_a_kill_before_the_row_leaves_no_file_and_the_next_write_is_whole(home: Path, at: str, left: str) -> None:
    with OpenStore.opened(home) as house:
        house.do("create_note", title="Tea")
        house.settle()
    before = everything(home)
    root = Path(__file__).parents[2]

    done = subprocess.run([sys.executable, "-c", KILLED, home, at], cwd=root, env=os.environ, check=False)

    assert done.returncode == -9
    assert everything(home) == before
    (orphan,) = contents(home)
    assert left in orphan.name
    with OpenStore.opened(home) as house:
        assert house.do("list_files")["data"] == []
        assert house.do("write_file", name="plan.md", text="one")["data"]["version"] == 1
        assert house.do("get_file", file="plan.md")["data"]["text"] == "one"
    assert one(home, "SELECT count(*) FROM files") == 1
    assert is_sound(home)
