"""`panorama files`: listing, taking in, writing out."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command

Given = Callable[..., Any]
WHOLE = bytes(range(256)) * 400
"""More than one part of it comes over the wire."""


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder of the user's own, with one file in it."""
    (tmp_path / "all.bin").write_bytes(WHOLE)
    return tmp_path


def test_a_file_comes_back_as_it_was_taken_in(run: Command, disk: Path) -> None:
    added = run("files", "add", str(disk / "all.bin"))

    got = run("files", "get", "all.bin", "--to", str(disk / "back.bin"))

    assert "102,400 bytes, version 1" in added.out
    assert (got.code, got.out) == (0, "")
    assert (disk / "back.bin").read_bytes() == WHOLE


def test_without_a_target_a_file_goes_into_the_pipe_exactly(run: Command, given: Given) -> None:
    text = "\n# Tea\r\n\n- oolong\t…\n\n"
    given("write_file", name="tea.md", text=text)

    got = run("files", "get", "tea.md")

    assert (got.out, got.err) == (text, "")


def test_a_folder_as_target_gets_the_file_under_its_name(run: Command, given: Given, disk: Path) -> None:
    given("write_file", name="tea.md", text="oolong")

    run("files", "get", "tea.md", "--to", str(disk))

    assert (disk / "tea.md").read_text() == "oolong"


def test_a_file_whose_name_leads_elsewhere_is_not_written_there(
    run: Command, given: Given, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    file = given("write_file", name="tea.txt", text="oolong")["id"]
    with closing(sqlite3.connect(home / "panorama.db")) as database:
        database.execute("UPDATE files SET name = '../../victim.txt'")
        database.commit()

    got = run("files", "get", file, "--to", str(tmp_path / "in" / "deep"))
    named = run("files", "get", file, "--to", str(tmp_path / "mine.txt"))

    assert (got.code, named.code) == (2, 0)
    assert "Give the full path of the new file" in got.err
    assert [path.name for path in tmp_path.rglob("*.txt")] == ["mine.txt"]


def test_a_file_on_the_disk_is_written_over_only_by_force(run: Command, given: Given, disk: Path) -> None:
    given("write_file", name="tea.md", text="oolong")

    refused = run("files", "get", "tea.md", "--to", str(disk / "all.bin"))

    assert refused.code == 1
    assert "--force" in refused.err
    assert (disk / "all.bin").read_bytes() == WHOLE
    assert run("files", "get", "tea.md", "--to", str(disk / "all.bin"), "--force").code == 0
    assert (disk / "all.bin").read_text() == "oolong"


def test_a_damaged_content_is_not_written_out(run: Command, home: Path, disk: Path) -> None:
    run("files", "add", str(disk / "all.bin"))
    (path,) = (path for path in (home / "files").rglob("*") if path.is_file())
    path.write_bytes(WHOLE[:-1])

    got = run("files", "get", "all.bin", "--to", str(disk / "back.bin"))

    assert got.code == 3
    assert "damaged" in got.err
    assert not (disk / "back.bin").exists()


def test_a_second_take_of_a_name_is_its_next_version(run: Command, disk: Path) -> None:
    run("files", "add", str(disk / "all.bin"))
    (disk / "all.bin").write_text("short")

    again = run("files", "add", str(disk / "all.bin"), "--json").answer

    assert (again["data"]["version"], again["data"]["size"]) == (2, 5)


def test_files_are_listed(run: Command, given: Given, disk: Path) -> None:
    given("create_project", name="Garden")
    given("write_file", name="tea.md", text="oolong", project="Garden")
    run("files", "add", str(disk / "all.bin"))

    listed = run("files", "--project", "Garden")

    assert listed.lines[1].split()[1:] == ["tea.md", "text/markdown", "6", "B", "now", "Garden"]
    assert listed.err == "1 file\n"
    assert [row["name"] for row in run("files", "--name", ".bin", "--json").answer["data"]] == ["all.bin"]


def test_what_cannot_be_read_is_told(run: Command, disk: Path) -> None:
    missing, folder = run("files", "add", str(disk / "none.txt")), run("files", "add", str(disk))

    assert (missing.code, folder.code) == (2, 2)
    assert "cannot be read" in missing.err
    assert "cannot be read" in folder.err


def test_a_file_over_10_mb_is_refused(run: Command, disk: Path) -> None:
    (disk / "all.bin").write_bytes(bytes(10 * 1024 * 1024 + 1))

    assert "larger than" in run("files", "add", str(disk / "all.bin")).err


def test_an_empty_file_is_taken_in(run: Command, disk: Path) -> None:
    (disk / "empty.txt").touch()

    run("files", "add", str(disk / "empty.txt"))

    assert run("files", "get", "empty.txt").out == ""
    assert run("files", "get", "empty.txt", "--to", str(disk / "back.txt")).code == 0
    assert (disk / "back.txt").read_bytes() == b""


def test_a_file_that_is_called_like_a_command_can_be_read(run: Command, given: Given) -> None:
    given("write_file", name="get", text="oolong")

    assert run("files", "get", "get").out == "oolong"
