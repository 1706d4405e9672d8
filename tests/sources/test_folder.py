"""A folder as a source: what is read, written, and left out."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.domain.sources.functions import SourceResult
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from panorama.sources.config import SourceConfig
from panorama.sources.secrets import open_secrets
from panorama.sources.source import Deadline, Source, open_source

CallFolder = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files to read and files to leave alone."""
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "home"))
    root = tmp_path / "papers"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.md").write_text("hello")
    (root / "sub" / "b.md").write_text("there")
    (root / "sub" / "deep" / "c.bin").write_bytes(b"\x00\xff")
    (root / ".hidden.md").write_text("dots")
    return root


def open_folder(root: Path, **options: Any) -> Source:
    config = SourceConfig(name="papers", kind="folder", options={"path": str(root), **options})
    return open_source(config, open_secrets(root), root)


def call(source: Source, name: str, **arguments: Any) -> SourceResult:
    """Call a function of a folder."""
    functions = {function.name: function for function in source.list_functions(Deadline.after(5))}
    return source.call(functions[name], arguments, Deadline.after(5))


def list_paths(source: Source, **arguments: Any) -> list[str]:
    """Return the paths that a folder lists."""
    return [row["path"] for row in call(source, "list_files", **arguments).value]


def test_files_are_listed_by_path_pattern_and_folder(folder: Path) -> None:
    source = open_folder(folder)

    assert list_paths(source) == ["a.md", "sub/b.md", "sub/deep/c.bin"]
    assert list_paths(source, pattern="*.md", folder="sub") == ["sub/b.md"]
    assert list_paths(source, limit=1) == ["a.md"]


def test_hidden_files_are_shown_if_the_user_wants_it(folder: Path) -> None:
    assert ".hidden.md" in list_paths(open_folder(folder, hidden=True))


def test_text_is_read_and_other_files_are_stored(folder: Path) -> None:
    source = open_folder(folder)

    assert call(source, "read", path="sub/b.md").value == "there"
    [file] = call(source, "read_file", path="sub/deep/c.bin").files
    assert (file.name, file.content) == ("c.bin", b"\x00\xff")
    with pytest.raises(InvalidInputError, match="not text"):
        call(source, "read", path="sub/deep/c.bin")


def test_a_file_that_is_not_there_is_not_found(folder: Path) -> None:
    with pytest.raises(NotFoundError):
        call(open_folder(folder), "read", path="sub/z.md")


def test_a_folder_is_only_read_unless_the_user_allows_writing(folder: Path) -> None:
    names = [function.name for function in open_folder(folder).list_functions(Deadline.after(5))]
    writing = open_folder(folder, write=True).list_functions(Deadline.after(5))[-1]

    assert names == ["list_files", "read", "read_file"]
    assert (writing.name, writing.reads_only, writing.reach) == ("write", False, "here")


def test_a_written_file_is_whole_and_replaces_only_if_told(folder: Path) -> None:
    source = open_folder(folder, write=True)

    call(source, "write", path="new/d.md", text="one")
    with pytest.raises(ConflictError, match="already exists"):
        call(source, "write", path="new/d.md", text="two")
    call(source, "write", path="new/d.md", text="three", replace=True)

    assert (folder / "new" / "d.md").read_text() == "three"
    assert os.listdir(folder / "new") == ["d.md"]


def test_a_file_over_ten_megabytes_is_refused(folder: Path) -> None:
    (folder / "big.txt").write_bytes(b"x" * ((10 << 20) + 1))

    with pytest.raises(InvalidInputError, match="more than 10 MB"):
        call(open_folder(folder), "read", path="big.txt")


def test_a_folder_that_is_gone_is_unavailable(folder: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be opened"):
        list_paths(open_folder(folder / "gone"))


@pytest.mark.parametrize("place", ["home", "home/files", "."])
def test_panoramas_own_data_cannot_be_a_source(folder: Path, place: str) -> None:
    (folder.parent / "home" / "files").mkdir(parents=True)

    with pytest.raises(InvalidInputError, match="Panorama's own data"):
        open_folder(folder.parent / place)
