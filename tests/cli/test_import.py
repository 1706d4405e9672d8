"""`panorama import markdown`: a folder of files becomes notes."""

from pathlib import Path
from typing import Any

import pytest

from panorama.cli.client import Client
from panorama.cli.console.console import progress

from .conftest import Command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two files of Markdown."""
    made = tmp_path / "vault"
    made.mkdir()
    (made / "Tea.md").write_text("# Tea\n\noolong\n")
    (made / "Milk.md").write_text("- [ ] buy milk\n")
    return made


def test_a_dry_run_tells_and_does_nothing(run: Command, folder: Path) -> None:
    result = run("import", "markdown", str(folder), "--dry-run")

    assert result.code == 0
    assert "Would import 2 notes" in result.out
    assert run("note", "--json").answer["data"] == []


def test_an_import_can_be_taken_back_whole(run: Command, folder: Path) -> None:
    taken = run("import", "markdown", str(folder), "--json").answer

    assert taken["data"]["notes_created"] == 2
    assert run("undo").code == 0
    assert run("note", "--json").answer["data"] == []


def test_a_relative_folder_is_meant_from_where_the_person_is(
    run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)

    taken = run("import", "markdown", "vault", "--json").answer

    assert taken["data"]["folder"] == str(folder)


def test_a_file_that_cannot_be_taken_is_named(run: Command, folder: Path) -> None:
    (folder / "Broken.md").write_bytes(b"\xff\xfe\x00broken")

    taken = run("import", "markdown", str(folder))

    assert taken.code == 1
    assert "Broken.md" in taken.out


def test_the_client_hears_how_far_an_import_is(home: Path, folder: Path) -> None:
    heard: list[tuple[int, int]] = []

    with Client() as panorama:
        panorama.call("import.markdown", {"folder": str(folder)}, lambda done, total, _: heard.append((done, total)))

    assert heard[-1] == (2, 2)


def test_no_bar_is_drawn_where_nobody_sees_it(capsys: Any) -> None:
    with progress("Reading") as moved:
        moved(1, 2, "Tea.md")

    assert capsys.readouterr() == ("", "")
