"""The process of the embedded index: killed or hanging, while it is used and while it builds; and a full disk."""

import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from panorama.errors import UnavailableError
from panorama.index import edge_index
from panorama.index.child_process import EDGE_COMMAND
from panorama.index.edge_index import EdgeIndex
from panorama.index.frames import Frame, FrameStream
from panorama.index.generations import IndexFolder
from panorama.index.process_supervisor import open_request
from tests.faults.disks import mounted

from ..making_points import SMALL, many, point, toward
from .processes import ALL, POINTS, child, kill, opened, persistently, until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_template")]


def test_a_search_does_not_notice_that_the_process_was_killed(index: EdgeIndex) -> None:
    kill()

    assert index.search(toward(1), 1, ALL)[0].chunk == POINTS[0].chunk
    assert index.count() == 40


def test_a_write_after_the_process_was_killed_is_refused_clearly_and_works_when_repeated(index: EdgeIndex) -> None:
    kill()

    with pytest.raises(UnavailableError, match=r"stopped.*may be missing") as refused:
        index.upsert([point("n_new:0")])
    index.upsert([point("n_new:0")])

    assert "Repeat the write" in refused.value.hint
    assert index.count() == 41


def test_a_copy_in_memory_answers_while_the_process_is_away(folder: Path) -> None:
    with opened(folder, mirrored=100) as index:
        index.upsert(POINTS)
        os.kill(child().pid, signal.SIGSTOP)

        assert index.search(toward(1), 1, ALL)[0].chunk == POINTS[0].chunk
        assert index.state().status == "ready"
        os.kill(child().pid, signal.SIGCONT)


def test_a_search_waits_no_longer_than_a_second_for_a_process_that_hangs(index: EdgeIndex) -> None:
    os.kill(child().pid, signal.SIGSTOP)
    began = time.monotonic()

    with pytest.raises(UnavailableError, match="busy"):
        index.search(toward(1), 1, ALL)
    waited = time.monotonic() - began
    state = index.state()
    os.kill(child().pid, signal.SIGCONT)

    assert 0.9 < waited < 5
    assert state.count is None or state.count == 40
    assert index.search(toward(1), 1, ALL)[0].chunk == POINTS[0].chunk


def test_nothing_that_was_acknowledged_is_lost_however_often_the_process_is_killed(index: EdgeIndex) -> None:
    written = {item.chunk for item in POINTS}
    for round_ in range(5):
        for at in range(30):
            new = point(f"n_{round_}_{at}:0", 1, at)
            if at == 7 * round_ % 30:
                os.kill(child().pid, signal.SIGKILL)
            persistently(lambda new=new: index.upsert([new]))
            written.add(new.chunk)

    assert {chunk for chunk, _ in index.iter_digests()} == written
    assert index.state().note == ""


def test_the_process_ends_with_a_program_that_is_killed_and_its_points_are_there(folder: Path) -> None:
    program = f"""
import os, signal, sys
from pathlib import Path
from panorama.index import edge_index
from tests.index.making_points import SMALL, many
index = edge_index.open_index(Path({str(folder)!r}), SMALL)
index.upsert(many(40))
print(index._serving._child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=os.getcwd(), check=False)

    with opened(folder) as index:
        assert {chunk for chunk, _ in index.iter_digests()} == {item.chunk for item in POINTS}
    until(lambda: not psutil.pid_exists(int(done.stdout)))


def test_an_index_is_there_again_when_it_is_opened_again(index: EdgeIndex, folder: Path) -> None:
    identity = index.state().identity
    index.close()

    with opened(folder, mirrored=100) as again:
        assert (again.count(), again.state().identity) == (40, identity)
        assert again.search(toward(1), 1, ALL)[0].chunk == POINTS[0].chunk


def test_an_index_that_was_closed_says_so_and_not_that_its_process_stopped(index: EdgeIndex) -> None:
    index.close()

    with pytest.raises(UnavailableError, match="The index is closed"):
        index.count()


def test_a_second_program_is_refused(index: EdgeIndex, folder: Path) -> None:
    with pytest.raises(UnavailableError, match="Another program uses the index"):
        edge_index.open_index(folder, SMALL)
    index.close()

    edge_index.open_index(folder, SMALL).close()


@pytest.mark.parametrize("chosen", [False, True], ids=["before the swap", "after it"])
def test_a_build_that_a_crash_ended_leaves_the_old_or_the_new_whole(
    index: EdgeIndex, folder: Path, chosen: bool
) -> None:
    index.close()
    folders = IndexFolder(folder)
    old = folders.find_live()
    new = folders.create_generation(SMALL)
    shutil.copytree(old.shard, new.shard) if old else None
    folders.set_live(new) if chosen else None

    with opened(folder) as again:
        assert (again.count(), again.state().note) == (40, "")
    assert [path.name for path in folder.glob("g-*")] == [(new if chosen or old is None else old).folder.name]


def test_the_process_of_a_build_may_be_killed_and_the_old_one_goes_on(index: EdgeIndex, folder: Path) -> None:
    def points() -> Iterator[object]:
        for at, item in enumerate(many(3000)):
            if at == 1500:
                kill()
            yield item

    with pytest.raises(UnavailableError, match="could not be built"):
        index.build(points())

    assert index.count() == 40
    assert len(list(folder.glob("g-*"))) == 1


def test_a_process_that_is_killed_during_a_build_of_another_leaves_the_build_whole(index: EdgeIndex) -> None:
    def points() -> Iterator[object]:
        serving = psutil.Process().children()[0]
        for at, item in enumerate(many(600)):
            if at == 300:
                serving.kill()
                assert index.search(toward(1), 1, ALL)
            yield item

    index.build(points())

    assert index.count() == 600


def test_a_full_disk_refuses_writes_and_leaves_what_was_flushed(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=192m", "tmpfs") as disk, opened(disk / "index") as index:
        index.upsert(POINTS)
        index.flush()
        refusals = _until_it_refuses(index, disk / "filler")
        state = index.state()
        (disk / "filler").unlink()
        persistently(lambda: index.upsert(many(41)[40:]))
        index.flush()

        assert all(
            "too little disk space" in refusal.message and "Free some space" in refusal.hint for refusal in refusals
        )
        assert (state.status == "ready") or "too little disk space" in state.note
        assert {item.chunk for item in many(41)} <= {chunk for chunk, _ in index.iter_digests()}
        assert not list(disk.glob("index.damaged-*"))


def _until_it_refuses(index: EdgeIndex, filler: Path) -> list[UnavailableError]:
    with filler.open("wb") as file, suppress(OSError):
        while file.write(b"x" * 65536):
            pass
    refusals: list[UnavailableError] = []
    for at in range(400):
        try:
            index.upsert(many(5000)[at * 10 : at * 10 + 256])
        except UnavailableError as refusal:
            refusals.append(refusal)
            if len(refusals) == 3:
                return refusals
    raise AssertionError("a full disk took everything")


def is_free(folder: Path) -> bool:
    """Tell whether nobody has an index: a child of one that was killed while it began it has, until it is begun."""
    with (folder / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_program_that_is_killed_while_it_builds_leaves_the_old_or_the_new_whole(folder: Path) -> None:
    program = f"""
from pathlib import Path
from panorama.index import edge_index
from tests.index.making_points import SMALL, many
index = edge_index.open_index(Path({str(folder)!r}), SMALL)
index.count()
print("ready", flush=True)
for count in range(1000, 9000, 1000):
    index.build(many(count))
    print(count, flush=True)
"""
    chance = random.Random(4)
    last = 0
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0, 3))
            running.kill()
            pids = [int(line) for line in running.stdout]
        last = pids[-1] if pids else last
        until(lambda: is_free(folder))

        with opened(folder) as index:
            assert index.count() in (last, (pids[-1] if pids else 0) + 1000)
            assert len(dict(index.iter_digests())) == index.count()
            assert index.state().note == ""
            last = index.count()

    def is_tidy() -> bool:
        edge_index.open_index(folder, SMALL).close()
        return len(list(folder.glob("g-*"))) == 1

    until(is_tidy)  # the process of who was killed writes on until it notices


def test_what_a_killed_program_asked_of_its_process_is_not_begun_after_it(folder: Path) -> None:
    folder.mkdir(parents=True)
    generation = IndexFolder(folder).create_generation(SMALL)
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            FrameStream(ours).send(Frame({**open_request(generation, is_new=True), "number": 1}))
        assert subprocess.run(EDGE_COMMAND, stdin=theirs.fileno(), timeout=60).returncode == 0
    assert not generation.shard.exists()
