"""How long one call works with the write lock, over the operations at their largest allowed input; the ten longest."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Answer, Conversation
from panorama.config import Settings
from panorama.domain.changes import CLI_ACTOR
from panorama.domain.markdown.task_lines import MAX_TASKS, MAX_TEXT_LINES
from panorama.errors import PanoramaError
from panorama.store.sqlite.engine import SqliteDatabase

from .measure import Board

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
BAR_MS = 250
LONGEST = 10
MANY = 3_000
"""Items in one project: a deletion, an undo or a renamed tag touches all of them."""

LARGE_CHARS = 10_000_000
Step = tuple[str, Callable[[], Answer]]
PERSON = Conversation(id="v_benchmark", actor=CLI_ACTOR, client="benchmark")


class TimedLock:
    """A lock that notes how long its thread worked with it, how long it was held, in ms, and for which call."""

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
        self.holds.append((worked * 1000, held * 1000, self.label))
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

    worst = {label: (worked, held) for worked, held, label in sorted(lock.holds)}
    longest = sorted(worst.items(), key=lambda entry: entry[1], reverse=True)[:LONGEST]
    for place, (label, (worked, held)) in enumerate(longest, 1):
        board.show(
            f"{place}. longest work with the write lock: {label}", f"≤ {BAR_MS} ms", f"{worked:.0f} ms",
            f"held for {held:.0f} ms: on a busy machine others ran meanwhile",
        )  # fmt: skip
    assert longest


def steps(app: App) -> Iterator[Step]:
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
    yield from list_line_steps(call)
    yield from list_batch_steps(call)
    yield from list_people_steps(call)
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


def list_line_steps(call: Callable[..., Answer]) -> Iterator[Step]:
    """Return edits of a note of as many lines as can be followed, as many of them tasks as can be."""
    for tail in ("", " 🔁 every week 📅 2026-05-20"):
        title = "recurring lines" if tail else "lines"
        boxes = "".join(f"- [ ] {title} {n} of them{tail}\n" for n in range(MAX_TASKS))
        content = boxes + "text\n" * (MAX_TEXT_LINES - 2 * MAX_TASKS - 2)
        others = "".join(f"- [ ] {n * 7919 % MAX_TASKS} x of {title} {n}{tail}\n" for n in range(MAX_TASKS))
        others += "- [ ] other\n" * (MAX_TEXT_LINES - 2 * MAX_TASKS - 2)
        yield f"create_note of {title}", partial(call, "create_note", title=title, content=content)
        yield f"create tasks of {title}", partial(call, "create_tasks_from_note", note=title)
        for label, text in (
            ("check", content.replace("[ ]", "[x]")), ("clear", "x"), ("reword", others),
        ):  # fmt: skip
            yield f"{label} all {title}", partial(call, "update_note", note=title, content=text)
            yield f"undo of that ({label} all {title})", partial(call, "undo", confirm=True)


def list_batch_steps(call: Callable[..., Answer]) -> Iterator[Step]:
    """Return atomic batches that read and write as much as they can."""
    first = {"tool": "create_task", "args": {"title": "First"}}
    large = "word " * 100_000
    batches = {
        "100 searches after a write": [
            first,
            *({"tool": "search", "args": {"query": f"links {n}"}} for n in range(99)),
        ],
        "100 changes of 10 MB": [
            {"tool": "update_note", "args": {"note": "words", "pinned": n % 2 == 0}} for n in range(100)
        ],
        "100 notes of 500 KB": [
            {"tool": "create_note", "args": {"title": str(n), "content": large}} for n in range(100)
        ],
        "100 notes of 50 links": [
            {
                "tool": "create_note",
                "args": {"title": f"Links {n}", "content": " ".join(f"[[{n} {m}]]" for m in range(50))},
            }
            for n in range(100)
        ],
        "100 deletions": [{"tool": "delete_item", "args": {"item": f"Links {n}"}} for n in range(100)],
    }
    for label, operations in batches.items():
        yield f"batch of {label}", partial(call, "batch", operations=operations)


def list_people_steps(call: Callable[..., Answer]) -> Iterator[Step]:
    """Return a merge of people with many tasks, and a new title for a note with many backlinks."""
    for name in ("Anna Long", "Anna Short"):
        yield f"create {name}", partial(call, "create_person", name=name)
    code = f"for n in range({MANY}): sdk.tasks.create(f'Of Anna {{n}}', assignee='Anna Short')"
    yield "script for a person", partial(call, "run_code", code=code)
    yield f"merge a person with {MANY:,} tasks", partial(call, "merge_person", person="Anna Short", into="Anna Long")
    yield "undo of that merge", partial(call, "undo", confirm=True)
    code = f"sdk.notes.create('Hub')\nfor n in range({MANY}): sdk.notes.create(f'Spoke {{n}}', content='[[Hub]]')"
    yield "script for a hub", partial(call, "run_code", code=code)
    yield f"new title for {MANY:,} backlinks", partial(call, "update_note", note="Hub", title="Centre")
    yield "undo of that title", partial(call, "undo", confirm=True)
