"""What keeping costs others: writers' waits while a store of 1 GB is backed up and exported, and what comes back."""

import os
import random
import shutil
import statistics
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.services.archive.restore import RestoreService
from panorama.store.sqlite import snapshots
from tests.whole import differing

from .measure import Board
from .stores import Town, fill_database

pytestmark = pytest.mark.benchmark

STORE_BYTES = int(os.environ.get("BENCH_KEEPING_BYTES", str(10**9)))
NOTE_WORDS, FILE_BYTES, FILES = 2500, 60_000, 1500
PAUSE = 0.005
"""Between two writes of a writer: some hundred a second of each, more than any person or model makes."""

WRITERS = 2
IDLE_SECONDS = 5


def large(home: Path) -> Path:
    """Make a store of about 1 GB, unless it is there: long notes, tasks, files; a tenth of the notes in the trash."""
    if (home / "complete").exists():
        return home
    town, chance = Town(), random.Random(3)
    pieces = [town.language.text(NOTE_WORDS) for _ in range(60)]
    with open_app(Settings(home=home, timezone="Europe/Berlin", embedder="none")) as app:
        projects = town.projects()
        fill_database(app.context.database, ((project, project) for project in projects))
        fill_database(app.context.database, (town.task(projects) for _ in range(5_000)))
        do(app, "batch", operations=[_file(chance, number) for number in range(50)])
        for start in range(50, FILES, 50):
            do(app, "batch", operations=[_file(chance, number) for number in range(start, start + 50)])
        while (app.settings.home / "panorama.db").stat().st_size < STORE_BYTES:
            fill_database(app.context.database, _notes(town, chance, pieces, projects))
    (home / "complete").touch()
    return home


def _notes(town: Town, chance: random.Random, pieces: list[str], projects: list[Any]) -> Iterator[tuple[Any, Any]]:
    for number in range(500):
        note = town.note(projects)
        words = chance.choice(pieces).split(" ")
        chance.shuffle(words)
        made = replace(note, content=" ".join(words))
        yield made, made.with_changes(town.now, deleted_at=town.now) if number % 10 == 0 else made


def _file(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "tool": "write_file",
        "args": {"name": f"{number}.bin", "base64": b64encode(chance.randbytes(FILE_BYTES)).decode()},
    }


def do(app: App, operation: str, **arguments: Any) -> Any:
    """Call an operation as a client of its own, so that no loop guard stops it."""
    client = Conversation(id=f"v_{random.random()}", actor="tool", client="bench")
    return app.calls.call(operation, arguments, client).data


class Writers:
    """Threads that write a task, a note or a line of the journal again and again, and remember how long each took."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._stop = threading.Event()
        self.waits: list[float] = []
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]

    @contextmanager
    def writing(self) -> Generator["Writers"]:
        """Write as long as this is open."""
        for thread in self._threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join()

    def _write(self, number: int) -> None:
        count = 0
        while not self._stop.is_set():
            count += 1
            begun = time.perf_counter()
            match count % 3:
                case 0:
                    do(self._app, "create_task", title=f"Task {number} {count}", tags=["bench"])
                case 1:
                    do(self._app, "create_note", title=f"Note {number} {count}", content="green tea " * 50)
                case _:
                    do(self._app, "add_journal_entry", text=f"line {number} {count}")
            self.waits.append((time.perf_counter() - begun) * 1000)
            time.sleep(PAUSE)


def format_percentiles(waits: list[float]) -> str:
    """Return the percentiles of some waits."""
    hundredths = statistics.quantiles(waits, n=100)
    return f"p50 {hundredths[49]:.1f} ms, p99 {hundredths[98]:.1f} ms, max {max(waits):.0f} ms of {len(waits):,}"


@pytest.fixture(scope="module")
def home(folder: Path) -> Path:
    """The data directory of a store of about 1 GB."""
    return large(folder / "keeping")


@pytest.fixture
def app(home: Path) -> Generator[App]:
    """That store, open."""
    with open_app(Settings(home=home, timezone="Europe/Berlin", embedder="none")) as product:
        yield product


def measured(board: Board, app: App, name: str, bar: str, work: Callable[[], Any]) -> Any:
    """Measure what writers wait without and with some work, and show it."""
    with Writers(app).writing() as idle:
        time.sleep(IDLE_SECONDS)
    with Writers(app).writing() as busy:
        begun = time.perf_counter()
        done = work()
        seconds = time.perf_counter() - begun
    size = (app.settings.home / "panorama.db").stat().st_size / 1e6
    board.show(
        f"{name} of {size:,.0f} MB: seconds", "", f"{seconds:.1f} s", f"{done['rows']:,} rows, {done['files']:,} files"
    )
    board.show(
        f"{name}: writers' wait", bar, format_percentiles(busy.waits), f"without it: {format_percentiles(idle.waits)}"
    )
    assert len(busy.waits) > 10
    return done


def test_writers_go_on_while_everything_is_backed_up(app: App, board: Board, tmp_path: Path) -> None:
    done = measured(
        board, app, "backup", "p99 ≤ 100 ms", lambda: do(app, "backup", folder=str(tmp_path / "b"), confirm=True)
    )

    checked = do(app, "backups.check", path=done["path"])
    assert done["is_complete"]
    assert checked["rows"] == done["rows"]


def test_writers_go_on_while_everything_is_exported(app: App, board: Board, tmp_path: Path) -> None:
    done = measured(board, app, "export", "", lambda: do(app, "export", folder=str(tmp_path / "e"), confirm=True))

    assert done["is_complete"]


def test_writers_go_on_while_a_dry_run_copies_the_store(app: App, board: Board) -> None:
    def tried() -> dict[str, Any]:
        ran = do(app, "run_code", code="sdk.tasks.create('Tried')", dry_run=True)
        assert not ran.get("error"), ran
        return {"rows": 1, "files": 0}

    measured(board, app, "dry run that writes", "max ≤ 100 ms", tried)


@pytest.mark.parametrize("how", ["backup", "export"])
def test_what_is_restored_is_equal(how: str, home: Path, board: Board, tmp_path: Path) -> None:
    with open_app(Settings(home=home, timezone="Europe/Berlin", embedder="none")) as app:
        app.recorder.flush()
        path = do(app, how, folder=str(tmp_path / "made"), confirm=True)["path"]
    begun = time.perf_counter()

    RestoreService(tmp_path / "none", snapshots).restore(path, str(tmp_path / "again"))

    seconds = time.perf_counter() - begun
    left = differing(home, tmp_path / "again")
    board.show(f"restore of {how}: rows that differ (the log goes on)", "0", str(sorted(left)), f"{seconds:.1f} s")
    assert left.keys() <= {"calls"}


def test_writers_go_on_while_the_trash_is_purged(home: Path, board: Board, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("backups", "run", "index"))
    with open_app(Settings(home=copy, timezone="Europe/Berlin", embedder="none")) as app:
        with Writers(app).writing() as busy:
            begun = time.perf_counter()
            done = do(app, "purge", days=0, confirm=True)
            seconds = time.perf_counter() - begun
        board.show("purge: seconds", "", f"{seconds:.1f} s", f"{done['items']}, {done['changes']:,} changes")
        board.show("purge: writers' wait", "", format_percentiles(busy.waits))
