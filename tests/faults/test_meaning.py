"""What befalls the index of meanings while it is used: no call fails by it, and it becomes what a fresh build gives."""

import os
import shutil
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.services.search.index_sync import IndexSync

from .disks import unwritable
from .house import OpenStore
from .meanings import assert_converged, converges, finds, followed, note, read_search_status, until
from .servers import Server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("impatient")]
SUBJECTS = ("quince jam", "steam engines", "moons of Jupiter")


@pytest.fixture
def house(home: Path) -> Generator[OpenStore]:
    """An open store with three notes that search by meaning finds."""
    with followed(home) as house:
        for subject in SUBJECTS:
            note(house, subject)
        converges(house)
        yield house


def index_processes() -> list[psutil.Process]:
    """Return the processes in which the index lives."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            if "panorama.index.edge_process" in process.cmdline():
                found.append(process)
    return found


def test_an_index_whose_folder_is_removed_is_built_anew(house: OpenStore) -> None:
    shutil.rmtree(house.home / "index")

    made = note(house, "sourdough bread")

    until(lambda: "folder was removed" in read_search_status(house).get("remark", ""), "the remark")
    converges(house)
    assert finds(house, "sourdough bread", made)


@pytest.mark.parametrize("is_open", [True, False], ids=["while it runs", "before it starts"])
def test_a_file_in_the_index_folders_place_is_moved_aside_and_the_index_built_anew(home: Path, is_open: bool) -> None:
    with followed(home) as house:
        before = note(house, "quince jam")
        converges(house)
        if is_open:
            _replaced_by_a_file(home / "index")
            _is_whole_again(house, before)
    if not is_open:
        _replaced_by_a_file(home / "index")
        with followed(home) as house:
            _is_whole_again(house, before)


def _replaced_by_a_file(folder: Path) -> None:
    """Put a file in the folder's place, again if whoever follows has made the folder anew in between."""
    file = folder.with_name("no folder")
    file.write_text("not an index")

    def is_there() -> bool:
        with suppress(OSError):
            shutil.rmtree(folder)
        with suppress(OSError):
            file.rename(folder)
        return not file.exists()

    until(is_there, "the file")


def _is_whole_again(house: OpenStore, before: str) -> None:
    made = note(house, "sourdough bread")
    assert house.do("search", query="sourdough")["data"][0]["id"] == made
    until(lambda: "Something else was at the path" in read_search_status(house).get("remark", ""), "the remark")
    converges(house)

    assert finds(house, "sourdough bread", made)
    assert finds(house, "quince jam", before)
    (aside,) = house.home.glob("index.damaged-*")
    assert aside.read_text() == "not an index"
    assert read_search_status(house)["engine"] == "edge"


def test_an_index_folder_that_cannot_be_written_is_replaced_by_memory(home: Path) -> None:
    (home / "index").mkdir(parents=True)
    with unwritable(home / "index"), followed(home) as house:
        made = note(house, "quince jam")
        converges(house)

        status = read_search_status(house)
        assert finds(house, "quince jam", made)

    assert status["engine"] == "exact"
    assert "cannot be used" in status["remark"]
    assert "Vectors are searched in memory instead." in status["remark"]
    with followed(home) as house:
        converges(house)
        assert read_search_status(house)["engine"] == "edge"


@pytest.mark.slow
def test_an_index_folder_that_can_be_written_no_more_hinders_no_call(house: OpenStore) -> None:
    with unwritable(house.home / "index"):
        for process in index_processes():
            process.kill()
        made = note(house, "sourdough bread")
        assert house.do("search", query="sourdough")["data"][0]["id"] == made
        until(lambda: "last_error" in read_search_status(house), "the error")

    converges(house)
    assert finds(house, "sourdough bread", made)


def test_an_index_whose_process_is_killed_goes_on(house: OpenStore) -> None:
    made: dict[str, str] = {}
    for subject in ("sourdough bread", "knitted socks", "wild horses"):
        for process in index_processes():
            process.kill()
        made[subject] = note(house, subject)

    converges(house)

    assert [subject for subject, id_ in made.items() if not finds(house, subject, id_)] == []


def test_an_index_whose_process_hangs_delays_no_call(house: OpenStore) -> None:
    for process in index_processes():
        os.kill(process.pid, signal.SIGSTOP)

    made = note(house, "sourdough bread")
    found = house.do("search", query="sourdough")
    status = read_search_status(house)
    for process in index_processes():
        os.kill(process.pid, signal.SIGCONT)

    assert (found["data"][0]["id"], status["engine"]) == (made, "edge")
    converges(house)


@contextmanager
def open_while_building(home: Path) -> Generator[OpenStore]:
    """Open a store with 4,001 notes just as a second process begins to build the index of the 4,000 it lacks."""
    with followed(home) as house:
        note(house, "quince jam")
        converges(house)
    with open_app(read_settings(home=home)) as app:  # nobody follows: written slowly they would be indexed one by one
        house = OpenStore(app, Conversation(id="v_faults", actor="tool", client="faults"))
        for more in range(0, 4000, 100):
            notes = [{"title": f"Note {more + number}", "content": f"About {more + number}."} for number in range(100)]
            house.do("batch", operations=[{"tool": "create_note", "args": item} for item in notes])
    with followed(home) as house:
        until(lambda: len(index_processes()) > 1, "the building")
        yield house


@pytest.fixture
def building(home: Path) -> Generator[OpenStore]:
    """An open store with 4,001 notes, of which the index is just being built."""
    with open_while_building(home) as house:
        yield house


def still_follows(house: OpenStore) -> None:
    """Write a note, and see that search by meaning finds it, as all the others."""
    made = note(house, "wild horses")
    converges(house)
    assert finds(house, "wild horses", made)


def test_a_building_whose_process_is_killed_is_begun_anew(building: OpenStore) -> None:
    for process in index_processes():
        process.kill()

    still_follows(building)


def test_an_index_whose_folder_is_removed_again_and_again_while_it_is_built_is_built_in_the_end(
    building: OpenStore,
) -> None:
    for _ in range(5):
        shutil.rmtree(building.home / "index", ignore_errors=True)
        threading.Event().wait(0.2)

    still_follows(building)


def test_what_fails_in_a_way_that_nobody_foresaw_is_said_by_status(
    house: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(IndexSync, "catch_up", lambda *_, **__: 1 / 0)
        note(house, "sourdough bread")
        until(lambda: "ZeroDivisionError" in read_search_status(house).get("last_error", ""), "the error")

    still_follows(house)


def nonsense(folder: Path) -> None:
    """Write nonsense into every file of the shard."""
    for file in folder.glob("g-*/shard/**/*"):
        if file.is_file():
            file.write_bytes(b"nonsense" * 16)


def emptied(folder: Path) -> None:
    """Empty the files of the shard's segments."""
    for file in folder.glob("g-*/shard/segments/**/*"):
        if file.is_file():
            file.write_bytes(b"")


def beheaded(folder: Path) -> None:
    """Forget which generation is the live one."""
    (folder / "live").write_text("g-nowhere")


def zeros(content: bytes) -> bytes:
    """Return pages that were never written."""
    return b"\0" * len(content)


def half(content: bytes) -> bytes:
    """Return a file whose second half was never written."""
    return content[: len(content) // 2] + b"\0" * (len(content) - len(content) // 2)


@pytest.mark.parametrize(
    "damage", [zeros, half, lambda content: os.urandom(len(content))], ids=["zeros", "half", "noise"]
)
def test_vectors_that_are_not_what_they_were_are_noticed_at_the_next_start(
    home: Path, damage: Callable[[bytes], bytes]
) -> None:
    with followed(home) as house:
        made = [note(house, subject) for subject in SUBJECTS]
        converges(house)
    for file in (home / "index").glob("g-*/shard/segments/*/vector_storage/vectors/*.mmap"):
        content = file.read_bytes()
        size = 384 * 4 * len(made)
        file.write_bytes(damage(content[:size]) + content[size:])

    with followed(home) as house:
        until(lambda: house.app.meaning.ensure_open().is_checked, "the comparison")
        converges(house)
        assert all(finds(house, subject, id_) for subject, id_ in zip(SUBJECTS, made, strict=True))

    assert_converged(home, *SUBJECTS)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [nonsense, emptied, beheaded], ids=lambda item: item.__name__)
def test_a_damaged_index_is_moved_aside_said_and_built_anew(home: Path, damage: Callable[[Path], None]) -> None:
    with followed(home) as house:
        made = note(house, "quince jam")
        converges(house)
    damage(home / "index")

    with followed(home) as house:
        until(lambda: "damaged" in read_search_status(house).get("remark", ""), "the remark")
        converges(house)
        assert finds(house, "quince jam", made)

    assert len(list(home.glob("index.damaged-*"))) == 1
    assert_converged(home, *SUBJECTS)


@pytest.mark.slow
def test_a_second_process_searches_in_memory_and_says_so(home: Path) -> None:
    settings = {"embedder": "static", "timezone": "Europe/Berlin"}
    with Server(home, **settings) as first:
        one = first.call("create_note", title="quince jam", content="All about quince jam.")["data"]["id"]
        until(lambda: first.call("status")["data"]["search"].get("engine") == "edge", "the index")
        with Server(home, **settings) as second:
            two = second.call("create_note", title="steam engines", content="All about them.")["data"]["id"]
            until(lambda: "semantic" in second.call("status")["data"]["search"]["modes"], "the second index")
            status = second.call("status")["data"]["search"]
            until(lambda: _ids(second, "quince jam") >= {one}, "the first's note")
            first.call("create_note", title="wild horses")
            until(lambda: _ids(first, "steam engines") >= {two}, "the second's note")

    assert status["engine"] == "exact"
    assert "Another program uses the index" in status["remark"]
    assert_converged(home, *SUBJECTS)


def _ids(server: Server, subject: str) -> set[str]:
    return {row["id"] for row in server.call("search", query=subject, mode="semantic")["data"]}


def test_two_that_follow_one_store_at_once_lose_nothing(home: Path) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(followed(home)) for _ in range(2)]
        for number in range(40):
            made = note(both[number % 2], f"quince jam {number}")
            both[1 - number % 2].do("update_note", note=made, content=f"Steam engines {number}.")

        for house in both:
            converges(house)

    assert_converged(home, *SUBJECTS)
