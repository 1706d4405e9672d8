"""How long one call holds the write lock, over the operations at their largest allowed input; the ten longest holds."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Answer, Conversation
from panorama.config import Settings
from panorama.domain.changes import CLI_ACTOR
from panorama.errors import PanoramaError
from panorama.store.sqlite.engine import SqliteDatabase

from .measure import Board

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
BAR_MS = 250
LONGEST = 10
MANY = 3_000
"""Items in one project: a deletion, an undo or a renamed tag touches all of them."""

LARGE_CHARS = 10_000_000
PERSON = Conversation(id="v_benchmark", actor=CLI_ACTOR, client="benchmark")


class TimedLock:
    """A lock that notes how long it was held, how much of that its thread worked, in ms, and for which call."""

    def __init__(self) -> None:
        self.holds: list[tuple[float, float, str]] = []
        self.label = ""
        self._lock = threading.Lock()
        self._since = self._worked = 0.0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it."""
        is_mine = self._lock.acquire(blocking, timeout)
        if is_mine:
            self._since, self._worked = time.perf_counter(), time.thread_time()
        return is_mine

    def release(self) -> None:
        """Give it back."""
        held, worked = time.perf_counter() - self._since, time.thread_time() - self._worked
        self.holds.append((held * 1000, worked * 1000, self.label))
        self._lock.release()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """An empty store."""
    with open_app(Settings(home=tmp_path, timezone="Europe/Berlin", embedder="none")) as app:
        yield app


def test_the_longest_holds_of_the_write_lock(app: App, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, database = TimedLock(), app.context.database
    assert isinstance(database, SqliteDatabase)
    monkeypatch.setattr(database, "_write_lock", lock)

    for label, step in steps(app):
        lock.label = label
        try:
            step()
        except PanoramaError as error:
            board.show(label, "", f"refused: {error.message[:80]}")
    app.recorder.flush()

    worst = {label: (ms, worked) for ms, worked, label in sorted(lock.holds)}
    longest = sorted(worst.items(), key=lambda each: -each[1][0])[:LONGEST]
    for place, (label, (ms, worked)) in enumerate(longest, 1):
        board.show(
            f"{place}. longest hold of the write lock: {label}", f"≤ {BAR_MS} ms", f"{ms:.0f} ms",
            f"CPU of its thread: {worked:.0f} ms",
        )  # fmt: skip
    assert longest


def steps(app: App) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Return the calls that write most, by what they are."""

    def call(operation: str, /, **arguments: Any) -> Answer:
        return app.calls.call(operation, arguments, PERSON)

    chance = random.Random(24)
    words = [f"{chance.choice('bdfgklmnprst')}{chance.choice('aeiou')}{number:x}" for number in range(20_000)]
    prose = " ".join(chance.choice(words) for _ in range(LARGE_CHARS // 7))[:LARGE_CHARS]
    texts = {
        "empty lines": "\n" * LARGE_CHARS,
        "headings": "# a\n" * (LARGE_CHARS // 4),
        "words": prose,
        "one word": "x" * LARGE_CHARS,
        "links": "- knows [[b]]\n" * (LARGE_CHARS // 14),
        "links in one line": "[[a]] " * (LARGE_CHARS // 6),
        "links to many": "".join(f"[[{n}]]\n" for n in range(LARGE_CHARS // 12)),
        "fences": "[[a]]\n" + "```\n" * (LARGE_CHARS // 4 - 2),
        "tags": "#tag " * (LARGE_CHARS // 5),
    }
    for name, text in texts.items():
        yield (
            f"create_note of 10 MB of {name}",
            lambda name=name, text=text: call("create_note", title=name, content=text),
        )
        yield (
            f"append_to_note to 10 MB of {name}",
            lambda name=name: call("append_to_note", note=name, block="the end"),
        )
        yield f"delete_item of 10 MB of {name}", lambda name=name: call("delete_item", item=name)
        yield f"undo of that deletion ({name})", lambda: call("undo")
    yield "write_file of 10 MB", lambda: call("write_file", name="large.txt", text=prose)
    yield "create_task with long notes", lambda: call("create_task", title="Long", notes=prose[:1_000_000])
    batch = [
        {"tool": "create_note", "args": {"title": f"Note {n}", "content": prose[n * 9_000 : n * 9_000 + 9_000]}}
        for n in range(100)
    ]
    yield "batch of 100 notes of 9 KB", lambda: call("batch", operations=batch)
    yield "undo of that batch", lambda: call("undo", confirm=True)
    tasks = f"for n in range({MANY}): sdk.tasks.create(f'Task {{n}}', project=p, tags=['home'])"
    code = f"p = sdk.projects.create('Garden')\n{tasks}"
    yield f"script that creates {MANY:,} tasks", lambda: call("run_code", code=code)
    yield f"rename a tag of {MANY:,} tasks", lambda: call("tags.rename", tag="home", name="house")
    yield (
        f"delete a project with {MANY:,} tasks",
        lambda: call("delete_item", item="Garden", items="trash", confirm=True),
    )
    yield f"undo of that deletion ({MANY:,} tasks)", lambda: call("undo", confirm=True)
    yield f"undo of the script ({MANY:,} tasks)", lambda: call("undo", count=2, confirm=True)
    yield "purge of all of it", lambda: call("purge", days=0, confirm=True)
    yield "backup", lambda: call("backup")
