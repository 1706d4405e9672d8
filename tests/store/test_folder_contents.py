"""Contents in a folder: whole files, each once, for their owner alone."""

import os
from hashlib import sha256
from pathlib import Path
from threading import Thread

import pytest

from panorama.errors import UnavailableError
from panorama.store.contents import folder as module
from panorama.store.contents.folder import FolderContents


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the contents go; it is not there yet."""
    return tmp_path / "files"


@pytest.fixture
def contents(folder: Path) -> FolderContents:
    """Contents in a folder of their own."""
    return FolderContents(folder)


def lying(folder: Path) -> list[str]:
    """Return every file below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_content_lies_under_its_digest_for_its_owner_alone(contents: FolderContents, folder: Path) -> None:
    name = contents.put(b"tea")

    path = folder / name[:2] / name[2:]
    assert contents.path(name) == path
    assert [path_.stat().st_mode & 0o777 for path_ in (folder, path.parent, path)] == [0o700, 0o700, 0o600]


def test_the_same_content_is_written_once(contents: FolderContents, folder: Path) -> None:
    path = contents.path(contents.put(b"tea"))
    inode = path.stat().st_ino

    contents.put(b"tea")

    assert path.stat().st_ino == inode
    assert len(lying(folder)) == 1


def test_no_error_names_a_folder_of_the_machine(contents: FolderContents, folder: Path) -> None:
    name = contents.put(b"tea")
    contents.path(name).unlink()

    with pytest.raises(UnavailableError) as refusal:
        contents.get(name)

    assert str(folder.parent) not in refusal.value.text()


def test_a_file_where_the_folder_should_be_is_told(contents: FolderContents, folder: Path) -> None:
    folder.write_text("mine")

    with pytest.raises(UnavailableError, match="nothing was changed"):
        contents.put(b"tea")

    assert folder.read_text() == "mine"


def test_what_breaks_off_leaves_nothing(
    contents: FolderContents, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        contents.put(b"tea")

    assert lying(folder) == []


def test_a_content_and_its_name_are_on_the_disk_before_it_is_answered(
    contents: FolderContents, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("only Linux shows the file of a descriptor")
    monkeypatch.setattr(module.os, "fsync", watched)
    name = contents.put(b"tea")

    above, below = str(folder), str(folder / name[:2])
    assert [synced_path for synced_path in synced if ".part-" not in synced_path] == [str(folder.parent), above, below]
    assert [os.path.dirname(item) for item in synced if ".part-" in item] == [below]
    assert ".part-" in synced[-2]


def test_many_threads_may_put_the_same_content(contents: FolderContents, folder: Path) -> None:
    content = b"tea" * 100_000
    threads = [Thread(target=contents.put, args=(content,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert contents.get(sha256(content).hexdigest()) == content
    assert len(lying(folder)) == 1
