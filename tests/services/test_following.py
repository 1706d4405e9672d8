"""Following: what is written is found by meaning soon, whatever it is, and nothing is left when the store is closed."""

import base64
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from panorama.app import open_app
from panorama.config import read_settings
from panorama.errors import UnavailableError
from panorama.index.embedders.lifecycle import ManagedEmbedder
from panorama.services.jobs.progress import Progress
from panorama.services.search import embedding_pipeline
from panorama.services.search import follower as following
from panorama.services.search.follower import Follower
from panorama.services.search.semantic import SemanticSearch
from tests.faults.house import OpenStore
from tests.faults.meanings import converges, finds, followed, note, read_search_status, searched, until, wanted

pytestmark = pytest.mark.slow  # the index's process goes last, and waits where all processors are busy


@pytest.fixture(autouse=True)
def begins_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Follow from the start, which a person's daemon leaves to its first calls."""
    monkeypatch.setattr(following, "START_DELAY_SECONDS", 0.0)


@pytest.fixture
def store(home: Path) -> Generator[OpenStore]:
    """A store that is followed, in memory."""
    with followed(home, index_engine="exact") as store:
        yield store


def test_what_is_written_is_found_by_meaning_without_being_asked_for(store: OpenStore) -> None:
    made = note(store, "quince jam")

    until(lambda: finds(store, "jam of quinces", made), "the note")


@pytest.mark.parametrize("engine", ["edge", "exact"])
def test_what_is_changed_deleted_and_put_back_is_followed(home: Path, engine: str) -> None:
    with followed(home, index_engine=engine) as store:
        made = note(store, "quince jam")
        store.do("update_note", note=made, title="Steam engines", content="They ran on coal.")
        until(lambda: finds(store, "coal engines", made), "the change")
        store.do("delete_item", item=made)
        until(lambda: not finds(store, "coal engines", made), "its end")
        store.do("undo")

        until(lambda: finds(store, "coal engines", made), "its return")
        converges(store)


def test_what_another_program_writes_is_noticed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.1)
    with followed(home) as one, followed(home) as other:
        made = note(one, "quince jam")

        until(lambda: finds(other, "jam of quinces", made), "the note")


def test_a_model_that_is_idle_is_released_and_comes_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.05)
    monkeypatch.setitem(ManagedEmbedder.__init__.__kwdefaults__, "idle", timedelta(seconds=0.2))
    with followed(home, embedder="minilm", index_engine="exact") as store:
        made = note(store, "quince jam")
        until(lambda: read_search_status(store).get("model_state") == "ready", "the model")
        until(lambda: read_search_status(store)["model_state"] == "resting", "its rest")

        assert finds(store, "preserved fruit", made)


def test_nothing_is_left_when_the_store_is_closed(home: Path) -> None:
    before = set(threading.enumerate()), set(os.listdir("/proc/self/fd")), psutil.Process().children(recursive=True)

    for engine in ("edge", "exact", "edge"):
        with followed(home, index_engine=engine) as store:
            made = note(store, "quince jam")
            assert finds(store, "quince jam", made) or True

    left = set(threading.enumerate()), set(os.listdir("/proc/self/fd")), psutil.Process().children(recursive=True)
    assert left == before


def test_a_store_that_is_closed_at_once_is_closed(home: Path) -> None:
    for wait in (0.0, 0.02, 0.1, 0.3):
        with followed(home) as store:
            note(store, f"quince jam {wait}")
            threading.Event().wait(wait)

    with followed(home) as store:
        converges(store)


def test_an_error_of_ours_does_not_end_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(following, "PRELOAD_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(following, "MAX_RETRY_SECONDS", 0.05)
    with followed(home, index_engine="exact") as store:
        for name in ("maintain", "preload", "follow"):
            with monkeypatch.context() as broken:
                called = threading.Event()

                def fail(*_: object, called: threading.Event = called) -> None:
                    called.set()
                    raise ZeroDivisionError

                broken.setattr(SemanticSearch, name, fail)
                note(store, f"steam engines {name}")
                if name != "warm":  # it is warmed once
                    until(called.is_set, name)
        made = note(store, "quince jam")

        until(lambda: finds(store, "jam of quinces", made), "the note")


def test_numpy_is_there_before_any_thread_that_needs_it(home: Path) -> None:
    program = f"""
import sys
from dataclasses import replace
from pathlib import Path
from panorama.app import open_app
from panorama.config import Settings
with open_app(Settings(home=Path({str(home)!r}), embedder="static")) as app:
    assert "numpy" not in sys.modules
    means = app.meaning._means
    def embedder(name):
        assert "numpy" in sys.modules
        return means.opened_embedder(name)
    app.meaning._means = replace(means, opened_embedder=embedder)
    app.meaning.follow()
"""

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# What it tells.


class Ending:
    """A meaning that is at work until it is to end, and then has no index any more."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    def follow(self, stop: Callable[[], bool], *_: object) -> None:
        self.begun.set()
        while not stop():
            threading.Event().wait(0.01)
        raise UnavailableError("The index is closed.")

    def count_unread(self) -> int:
        return 0

    def maintain(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def test_who_leaves_in_the_middle_of_its_work_warns_of_nothing(
    store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    ending: Any = Ending()
    follower = Follower(ending, store.app.context.database)
    assert ending.begun.wait(10)
    assert follower.is_unfinished()

    follower.close()

    assert [message for message in caplog.messages if "search by meaning" in message] == []


def test_a_follower_that_has_caught_up_or_cannot_is_not_unfinished(store: OpenStore) -> None:
    ending: Any = Ending()
    ending.preload = lambda: None
    ending.follow = lambda *_: None
    follower = Follower(ending, store.app.context.database)
    until(lambda: not follower.is_unfinished(), "the end of the first round")

    def fail(*_: object) -> None:
        raise UnavailableError("The model is gone.")

    ending.follow = fail
    note(store, "quince jam")
    until(lambda: follower._is_failing, "the failure")

    assert not follower.is_unfinished()
    follower.close()


def test_it_tells_how_many_changes_are_read_and_how_much_is_embedded(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_pipeline, "CHANGES_PER_STEP", 10)
    received: list[tuple[int, int, str]] = []

    @contextmanager
    def standing() -> Generator[Progress]:
        yield lambda *far: received.append(far)

    with OpenStore.opened(home) as house:
        for number in range(35):
            note(house, f"quince jam {number}")
    with open_app(read_settings(home=home, embedder="static", index_engine="exact")) as app:
        follower = Follower(app.meaning, app.context.database, standing)
        until(lambda: received and received[-1][2] == "search by meaning is up to date", "the end")
        follower.close()

    embedded = [far for far in received if "embedded" in far[2]]
    assert [far[0] for far in embedded] == sorted(far[0] for far in embedded)
    assert {far[1] for far in embedded} == {35}
    assert (35, 35, "reading changes: 35 passages embedded") in embedded
    assert any(0 < far[0] < 35 for far in embedded)


# What is no text.

EMOJI = "🍵🌱🔥 " * 400
NOISE = base64.b64encode(random.Random(4).randbytes(60_000)).decode()
UNTOLD = {"emoji": EMOJI, "base64": NOISE}


@pytest.mark.parametrize("content", UNTOLD.values(), ids=UNTOLD)
def test_what_is_no_text_is_not_embedded_as_noise(store: OpenStore, content: str) -> None:
    made = store.do("create_note", title="Attachment", content=content)["data"]["id"]
    other = note(store, "quince jam")
    converges(store)

    passages = [chunk for chunk in wanted(store.app) if chunk.startswith(made)]
    assert len(passages) <= 1
    assert finds(store, "quince jam", other)
    assert [row["id"] for row in searched(store, "attachment", mode="keyword")["data"]] == [made]


def test_a_note_of_ten_megabytes_is_found_by_words_and_by_meaning(store: OpenStore) -> None:
    page = "Quince jam sets well when the fruit is hardly ripe, and the pan is wide. "
    content = (page * (10_000_000 // len(page)))[: 10_000_000 - 200] + "\n\nAt its end a zebra stands in the snow."

    made = store.do("create_note", title="Everything", content=content)["data"]["id"]
    other = note(store, "steam engines")

    assert [row["id"] for row in searched(store, "zebra", mode="keyword")["data"]] == [made]
    converges(store)
    assert finds(store, "steam engines", other)
    assert finds(store, "jam of quinces", made)


@pytest.mark.parametrize(
    "content", [*UNTOLD.values(), "Quince jam sets well in a wide pan. " * 277_000], ids=[*UNTOLD, "10 MB"]
)
def test_the_default_model_is_not_disturbed_by_it(home: Path, content: str) -> None:
    with followed(home, index_engine="exact", embedder="duo") as store:
        made = store.do("create_note", title="Attachment", content=content)["data"]["id"]
        other = note(store, "steam engines")

        until(
            lambda: not read_search_status(store).get("pending") and finds(store, "Dampfmaschinen", other),
            "the other note",
        )
        assert [row["id"] for row in searched(store, "attachment", mode="keyword")["data"]] == [made]
