"""The disk of the index is full: no call fails by it, and search catches up once there is room."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from panorama.errors import UnavailableError

from .disks import mounted
from .meanings import assert_converged, converges, finds, followed, note, read_search_status, until
from .test_disk import PAGE, fill_disk
from .test_meaning import SUBJECTS, index_processes, open_while_building, still_follows

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("impatient")]


def enlarge(disk: Path) -> None:
    """Give a disk 400 MB."""
    subprocess.run(["mount", "-o", "remount,size=400m", disk], check=True)


def test_a_disk_too_small_for_the_index_is_said_and_hinders_no_call(home: Path) -> None:
    (home / "index").mkdir(parents=True)
    with mounted(home / "index", "-t", "tmpfs", "-o", "size=4m", "tmpfs") as disk, followed(home) as house:
        made = [note(house, subject) for subject in SUBJECTS]
        until(
            lambda: re.search("little disk space|No space", read_search_status(house).get("last_error", "")),
            "the error",
        )
        found = house.do("search", query="steam engines")
        status = read_search_status(house)
        enlarge(disk)

        assert (found["data"][0]["id"], found["metadata"]["index"]["ran"]) == (made[1], ["keyword"])
        assert found["metadata"]["index"]["missing"] in status["last_error"]
        assert re.search("Free some space|the free disk space", status["do"])
        converges(house)
        assert finds(house, "steam engines", made[1])
        until(lambda: "last_error" not in read_search_status(house), "the end of the error")
    assert not list(home.glob("index.damaged-*"))


def test_an_index_that_does_not_fit_leaves_the_disk_to_the_data(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=6m", "tmpfs") as disk, followed(disk / "home") as house:
        until(lambda: "last_error" in read_search_status(house), "the error")

        until(lambda: shutil.disk_usage(disk).free > 3 << 20, "room for the data")
        assert len(list((disk / "home" / "index").glob("g-*"))) <= 2  # the one to be opened, and one being built


@pytest.mark.slow
def test_an_index_whose_disk_fills_up_lags_and_catches_up_once_there_is_room(home: Path) -> None:
    (home / "index").mkdir(parents=True)
    with mounted(home / "index", "-t", "tmpfs", "-o", "size=200m", "tmpfs") as disk, followed(home) as house:
        for subject in SUBJECTS:
            note(house, subject)
        converges(house)
        with fill_disk(disk):
            for process in index_processes():
                process.kill()
            made = [note(house, f"sourdough bread {number}") for number in range(20)]
            until(lambda: "last_error" in read_search_status(house), "the error")
            found = [house.do("search", query="sourdough", mode=mode) for mode in ("hybrid", "keyword", "semantic")]

        assert all(item["data"] for item in found)
        converges(house)
        assert finds(house, "sourdough bread 7", made[7])
    assert not list(home.glob("index.damaged-*"))


def test_a_disk_that_fills_up_while_the_index_is_built_delays_it_until_there_is_room(home: Path) -> None:
    (home / "index").mkdir(parents=True)
    with mounted(home / "index", "-t", "tmpfs", "-o", "size=200m", "tmpfs") as disk, open_while_building(home) as house:
        with fill_disk(disk):
            until(lambda: "last_error" in read_search_status(house), "the error")

        still_follows(house)
    assert not list(home.glob("index.damaged-*"))


def test_a_full_disk_refuses_writes_alone_and_search_converges_once_there_is_room(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=300m", "tmpfs") as disk:
        with followed(disk / "home") as house:
            kept = note(house, "quince jam")
            converges(house)
            with fill_disk(disk):
                for number in range(5):
                    with pytest.raises(UnavailableError, match="nothing was changed"):
                        house.do("create_note", title=f"Long {number}", content=PAGE * 20)
                assert house.do("search", query="quince jam")["data"][0]["id"] == kept
            made = note(house, "steam engines")

            converges(house)
            assert finds(house, "steam engines", made)
        assert_converged(disk / "home", *SUBJECTS)
