"""Contents beside the database: kept whole, once, for their owner alone, and never believed when damaged."""

import os
from hashlib import sha256
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.errors import UnavailableError
from panorama.store.items import blobs as module
from panorama.store.items.blobs import Blobs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the contents go; it is not there yet."""
    return tmp_path / "files"


@pytest.fixture
def blobs(folder: Path) -> Blobs:
    """Contents in a folder of their own."""
    return Blobs(folder)


def lying(folder: Path) -> list[str]:
    """Return every file below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@given(content=st.binary(max_size=2000))
def test_what_is_put_comes_back_by_its_digest(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    blobs = Blobs(tmp_path_factory.mktemp("files"))

    name = blobs.put(content)

    assert name == sha256(content).hexdigest()
    assert blobs.get(name) == content


def test_a_content_lies_under_its_digest_for_its_owner_alone(blobs: Blobs, folder: Path) -> None:
    name = blobs.put(b"tea")

    path = folder / name[:2] / name[2:]
    assert blobs.path(name) == path
    assert [each.stat().st_mode & 0o777 for each in (folder, path.parent, path)] == [0o700, 0o700, 0o600]


def test_the_same_content_is_written_once(blobs: Blobs, folder: Path) -> None:
    path = blobs.path(blobs.put(b"tea"))
    inode = path.stat().st_ino

    blobs.put(b"tea")

    assert path.stat().st_ino == inode
    assert len(lying(folder)) == 1


def test_a_content_is_there_or_not(blobs: Blobs) -> None:
    name = blobs.put(b"tea")

    assert blobs.has(name)
    assert not blobs.has(sha256(b"milk").hexdigest())


def test_a_part_of_a_content_is_read(blobs: Blobs) -> None:
    name = blobs.put(b"0123456789")

    assert (blobs.read_range(name, 2, 3), blobs.read_range(name, 8, 5), blobs.read_range(name, 20, 5)) == (
        b"234",
        b"89",
        b"",
    )


@pytest.mark.parametrize("damage", [b"", b"te", b"teA", b"teaa"])
def test_a_damaged_content_is_refused_and_written_again_when_it_is_put_again(blobs: Blobs, damage: bytes) -> None:
    name = blobs.put(b"tea")
    blobs.path(name).write_bytes(damage)

    with pytest.raises(UnavailableError, match="damaged") as refusal:
        blobs.get(name)

    assert refusal.value.hint
    assert blobs.put(b"tea") == name
    assert blobs.get(name) == b"tea"


def test_a_missing_content_is_told(blobs: Blobs) -> None:
    name = blobs.put(b"tea")
    blobs.path(name).unlink()

    for read in (lambda: blobs.get(name), lambda: blobs.read_range(name, 0, 1)):
        with pytest.raises(UnavailableError, match="missing") as refusal:
            read()
        assert refusal.value.hint


def test_no_error_names_a_folder_of_the_machine(blobs: Blobs, folder: Path) -> None:
    name = blobs.put(b"tea")
    blobs.path(name).unlink()

    with pytest.raises(UnavailableError) as refusal:
        blobs.get(name)

    assert str(folder.parent) not in refusal.value.text()


def test_a_file_where_the_folder_should_be_is_told(blobs: Blobs, folder: Path) -> None:
    folder.write_text("mine")

    with pytest.raises(UnavailableError, match="nothing was changed"):
        blobs.put(b"tea")

    assert folder.read_text() == "mine"


def test_what_breaks_off_leaves_nothing(blobs: Blobs, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        blobs.put(b"tea")

    assert lying(folder) == []


def test_a_content_and_its_name_are_on_the_disk_before_it_is_answered(
    blobs: Blobs, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("only Linux shows the file of a descriptor")
    monkeypatch.setattr(module.os, "fsync", watched)
    name = blobs.put(b"tea")

    above, below = str(folder), str(folder / name[:2])
    assert [each for each in synced if ".part-" not in each] == [str(folder.parent), above, below]
    assert [os.path.dirname(each) for each in synced if ".part-" in each] == [below]
    assert ".part-" in synced[-2]


def test_many_threads_may_put_the_same_content(blobs: Blobs, folder: Path) -> None:
    content = b"tea" * 100_000
    threads = [Thread(target=blobs.put, args=(content,)) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert blobs.get(sha256(content).hexdigest()) == content
    assert len(lying(folder)) == 1


def test_what_is_put_aside_is_seen_inside_alone(blobs: Blobs, folder: Path, tmp_path: Path) -> None:
    kept = blobs.put(b"tea")

    with blobs.use_scratch(tmp_path / "trial" / "files"):
        tried = blobs.put(b"milk")
        assert blobs.put(b"tea") == kept
        assert (blobs.get(tried), blobs.get(kept)) == (b"milk", b"tea")

    assert not blobs.has(tried)
    assert lying(folder) == [f"{kept[:2]}/{kept[2:]}"]
    assert lying(tmp_path / "trial") == [f"files/{tried[:2]}/{tried[2:]}"]


def test_what_others_put_meanwhile_goes_where_it_always_goes(blobs: Blobs, folder: Path, tmp_path: Path) -> None:
    with blobs.use_scratch(tmp_path / "trial"):
        other = Thread(target=blobs.put, args=(b"tea",))
        other.start()
        other.join()

    assert len(lying(folder)) == 1
    assert not (tmp_path / "trial").exists()


def test_aside_ends_with_an_error_too(blobs: Blobs, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), blobs.use_scratch(tmp_path / "trial"):
        raise ZeroDivisionError

    blobs.put(b"tea")

    assert len(lying(folder)) == 1
