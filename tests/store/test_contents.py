"""What every store of contents promises, wherever it is."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path
from threading import Thread

import pytest

from panorama.errors import UnavailableError
from panorama.store.archive.safe_files import UnreadableError
from panorama.store.contents.contents import Contents
from panorama.store.contents.copying import copy_contents
from panorama.store.contents.folder import FolderContents
from panorama.store.contents.parts import PART_BYTES, join_parts
from tests.store.content_stores import Stored, in_bucket, in_folder, in_tables

LATER = 4_000_000_000.0
"""A time after every content was written, in seconds since 1970."""

STORES = ["folder", pytest.param("tables", marks=pytest.mark.postgres), pytest.param("bucket", marks=pytest.mark.s3)]


@pytest.fixture(scope="session", params=STORES)
def open_store(request: pytest.FixtureRequest) -> Callable[[Path], AbstractContextManager[Stored]]:
    """Opens an empty store, of each kind in turn."""
    if request.param == "folder":
        return lambda path: nullcontext(in_folder(path))
    if request.param == "bucket":
        address = request.getfixturevalue("s3_address")
        return lambda path: in_bucket(address, path)
    space = request.getfixturevalue("postgres_space")
    return lambda _: in_tables(space)


@pytest.fixture
def stored(open_store: Callable[[Path], AbstractContextManager[Stored]], tmp_path: Path) -> Iterator[Stored]:
    """An empty store of each kind in turn."""
    with open_store(tmp_path / "files") as opened:
        yield opened


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


@pytest.mark.parametrize("size", [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES])
def test_a_content_of_any_size_comes_back_by_its_digest(stored: Stored, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    name = stored.store.put(content)

    assert (name, stored.store.get(name)) == (digest(content), content)
    assert b"".join(stored.store.iter_parts(name)) == content
    assert list(stored.store.iter_sizes()) == [(name, size)]


def test_a_content_exists_or_not(stored: Stored) -> None:
    name = stored.store.put(b"tea")

    assert (stored.store.has(name), stored.store.has(digest(b"milk"))) == (True, False)


def test_a_range_is_read_across_parts_and_behind_the_end(stored: Stored) -> None:
    name = stored.store.put(b"0" * (PART_BYTES - 2) + b"12345")

    ranges = [(PART_BYTES - 3, 4), (PART_BYTES, 2), (PART_BYTES + 1, 10), (PART_BYTES + 3, 5), (9 * PART_BYTES, 5)]

    assert [stored.store.read_range(name, *range_) for range_ in ranges] == [b"0123", b"34", b"45", b"", b""]


@pytest.mark.parametrize("damage", [b"", b"te", b"teA", b"teaa"])
def test_a_damaged_content_is_refused_and_repaired_when_it_is_put_again(stored: Stored, damage: bytes) -> None:
    name = stored.store.put(b"tea")
    stored.damage(name, damage)

    with pytest.raises(UnavailableError, match="damaged") as refusal:
        stored.store.get(name)

    assert refusal.value.hint
    assert stored.store.put(b"tea") == name
    assert (stored.store.get(name), list(stored.store.iter_sizes())) == (b"tea", [(name, 3)])


def test_a_missing_content_is_reported_as_missing(stored: Stored) -> None:
    name = stored.store.put(b"tea")
    stored.remove(name)

    for read in (lambda: stored.store.get(name), lambda: stored.store.read_range(name, 0, 1)):
        with pytest.raises(UnavailableError, match="missing") as refusal:
            read()
        assert refusal.value.hint
    with pytest.raises(UnreadableError, match="is missing"):
        list(stored.store.iter_parts(name))


def test_parts_with_another_digest_leave_nothing(stored: Stored) -> None:
    with pytest.raises(UnreadableError, match="is damaged"):
        stored.store.put_parts(digest(b"tea"), [b"te", b"A"])

    assert list(stored.store.iter_sizes()) == []


def test_parts_of_any_size_make_one_content(stored: Stored) -> None:
    content = b"tea" * PART_BYTES

    stored.store.put_parts(digest(content), [content[:5], b"", content[5:]])

    assert stored.store.get(digest(content)) == content


def test_what_breaks_off_between_parts_leaves_nothing(stored: Stored) -> None:
    def read_parts() -> Iterator[bytes]:
        yield b"t" * PART_BYTES
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stored.store.put_parts(digest(b"tea"), read_parts())

    assert list(stored.store.iter_sizes()) == []
    assert stored.store.get(stored.store.put(b"tea")) == b"tea"


def test_many_threads_may_put_the_same_content(stored: Stored) -> None:
    content = b"tea" * 100_000
    threads = [Thread(target=stored.store.put, args=(content,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert stored.store.get(digest(content)) == content
    assert list(stored.store.iter_sizes()) == [(digest(content), len(content))]


def test_old_contents_are_deleted_and_one_that_was_put_again_is_not_old(stored: Stored) -> None:
    old, again = stored.store.put(b"old"), stored.store.put(b"again")
    before = stored.age([old, again])
    stored.store.put(b"again")

    deleted = stored.store.delete([old, again, digest(b"none")], before=before)

    assert deleted == (1, 3)
    assert [name for name, _ in stored.store.iter_sizes()] == [again]
    assert stored.store.delete([again], before=LATER) == (1, 5)


def test_nothing_is_deleted_while_contents_are_copied(stored: Stored) -> None:
    name = stored.store.put(b"tea")

    with stored.store.retain(), stored.store.retain(), pytest.raises(UnavailableError, match="being copied"):
        stored.store.delete([name], before=LATER)

    assert stored.store.delete([name], before=LATER) == (1, 3)


def test_contents_are_copied_and_compared_and_the_missing_ones_are_named(stored: Stored, tmp_path: Path) -> None:
    source = FolderContents(tmp_path / "other")
    names = [source.put(content) for content in (b"", b"tea", b"milk" * PART_BYTES, b"lost", b"bad")]
    source.path(names[3]).unlink()
    source.path(names[4]).write_bytes(b"worse")
    stored.store.put(b"tea")

    missing = copy_contents(source, stored.store, names)

    assert sorted(missing) == sorted(names[3:])
    assert {name for name, _ in stored.store.iter_sizes()} == set(names[:3])
    back = FolderContents(tmp_path / "back")
    assert copy_contents(stored.store, back, names[:3]) == []
    assert [back.get(name) for name in names[:2]] == [b"", b"tea"]


def test_a_content_that_is_put_aside_is_seen_only_inside(stored: Stored, tmp_path: Path) -> None:
    contents = Contents(stored.store)
    name = contents.put(b"tea")

    with contents.use_scratch(tmp_path / "trial" / "files"):
        tried = contents.put(b"milk")
        assert contents.put(b"tea") == name
        assert (contents.get(tried), contents.get(name)) == (b"milk", b"tea")
        assert contents.read_range(tried, 1, 2) == b"il"

    assert not stored.store.has(tried)
    assert [name for name, _ in FolderContents(tmp_path / "trial" / "files").iter_sizes()] == [tried]


def test_others_put_meanwhile_into_the_store_itself(stored: Stored, tmp_path: Path) -> None:
    contents = Contents(stored.store)

    with contents.use_scratch(tmp_path / "trial"):
        other = Thread(target=contents.put, args=(b"tea",))
        other.start()
        other.join()

    assert stored.store.has(digest(b"tea"))
    assert not (tmp_path / "trial").exists()


def test_a_dry_run_that_fails_ends_the_scratch_too(stored: Stored, tmp_path: Path) -> None:
    contents = Contents(stored.store)
    with pytest.raises(ZeroDivisionError), contents.use_scratch(tmp_path / "trial"):
        raise ZeroDivisionError

    contents.put(b"tea")

    assert stored.store.has(digest(b"tea"))


def test_parts_are_joined_to_parts_of_one_size() -> None:
    parts = list(join_parts([b"a" * (PART_BYTES - 1), b"bcd", b"e" * 2 * PART_BYTES]))

    assert [len(part) for part in parts] == [PART_BYTES, PART_BYTES, PART_BYTES, 2]
