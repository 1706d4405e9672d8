"""Reindexing: what each scope does, that it may be stopped and goes on where it was, and that search goes on."""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.errors import UnavailableError
from panorama.index.embedders.static import StaticEmbedder
from panorama.index.embedders.static_worker import StaticProcessEmbedder
from panorama.services.jobs.progress import report_progress_to
from panorama.services.search import embedding_pipeline, follower, index_sync
from panorama.services.search.reindex import ReindexProgress
from tests.faults.house import OpenStore
from tests.faults.meanings import converges, followed, note, read_search_status, searched, until, wanted

pytestmark = pytest.mark.slow  # the index's process goes last, and waits where all processors are busy

SCOPES = ("changes", "index", "everything")


@pytest.fixture(autouse=True)
def begins_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Follow from the start, which a person's daemon leaves to its first calls."""
    monkeypatch.setattr(follower, "START_DELAY_SECONDS", 0.0)


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were embedded, in order."""
    texts: list[str] = []
    embed = StaticEmbedder.embed_documents

    def noted(self: StaticEmbedder, some: Sequence[str]) -> Any:
        texts.extend(some)
        return embed(self, some)

    monkeypatch.setattr(StaticEmbedder, "embed_documents", noted)
    monkeypatch.setattr(StaticProcessEmbedder, "batch", 4)
    return texts


@contextmanager
def unfollowed(home: Path, embedder: str = "static", index_engine: str = "exact") -> Generator[OpenStore]:
    """Open a store that nobody follows."""
    with open_app(read_settings(home=home, embedder=embedder, index_engine=index_engine)) as app:
        yield OpenStore(app, Conversation(id="v_tests", actor="tool", client="tests"))


@pytest.fixture
def store(home: Path) -> Generator[OpenStore]:
    """A store of twenty notes that nobody follows."""
    with unfollowed(home) as house:
        for number in range(20):
            note(house, f"quince jam {number}")
        yield house


def read_index(house: OpenStore) -> dict[str, str]:
    """Return what the index holds."""
    return dict(house.app.meaning.ensure_open().index.iter_digests())


@pytest.mark.parametrize("scope", SCOPES)
def test_every_scope_brings_the_index_up_to_date(store: OpenStore, scope: str) -> None:
    done = store.do("reindex", scope=scope)["data"]

    assert read_index(store) == wanted(store.app)
    assert (done["scope"], done["model"], done["passages"], done["embedded"]) == (scope, "static", 20, 20)


@pytest.mark.parametrize("scope", SCOPES)
def test_what_is_embedded_already_is_not_embedded_again(store: OpenStore, scope: str, embedded: list[str]) -> None:
    store.do("reindex")
    once = len(embedded)

    assert store.do("reindex", scope=scope)["data"]["embedded"] == 0
    assert len(embedded) == once == 20


def test_everything_finds_passages_that_were_lost(store: OpenStore) -> None:
    store.do("reindex")
    with store.app.context.database.transaction(embedding_pipeline.INDEXER) as session:
        session.connection.exec_driver_sql("DELETE FROM passages WHERE rowid % 2")
        session.connection.exec_driver_sql("DELETE FROM vectors WHERE rowid % 3")

    store.do("reindex", scope="everything")

    assert read_index(store) == wanted(store.app)


def test_everything_forgets_vectors_that_no_item_needs(store: OpenStore) -> None:
    made = note(store, "steam engines")
    store.do("reindex")
    store.do("update_note", note=made, content="Wild horses.")
    store.do("reindex")

    store.do("reindex", scope="everything")

    with store.app.context.database.reading() as session:
        kept = session.connection.exec_driver_sql("SELECT digest FROM vectors").scalars().all()
    assert sorted(kept) == sorted(set(wanted(store.app).values()))


class StoppedError(Exception):
    """Whoever waited is gone."""


@pytest.mark.parametrize("scope", SCOPES)
def test_one_that_is_stopped_goes_on_where_it_was(
    store: OpenStore, scope: str, embedded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.services.search.reindex.REPORT_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(embedding_pipeline, "SAVE_INTERVAL_SECONDS", 0.0)
    is_stopped, embed = threading.Event(), StaticEmbedder.embed_documents

    def waiting(self: StaticEmbedder, some: Sequence[str]) -> Any:
        assert len(embedded) < 8 or is_stopped.wait(10)
        return embed(self, some)

    monkeypatch.setattr(StaticEmbedder, "embed_documents", waiting)

    def gone(done: int, total: int, at: str) -> None:
        if at.startswith("8 texts"):
            is_stopped.set()
            raise StoppedError

    with pytest.raises(StoppedError), report_progress_to(gone):
        store.do("reindex", scope=scope)
    before = len(embedded)
    store.do("reindex", scope=scope)

    assert before < 20
    assert read_index(store) == wanted(store.app)
    assert len(embedded) == len(set(embedded)) == 20


def test_everything_that_is_stopped_between_two_steps_says_where_it_went_on(
    store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.services.search.reindex.REPORT_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(embedding_pipeline, "CHANGES_PER_STEP", 5)
    store.do("reindex")

    def gone(done: int, total: int, at: str) -> None:
        if done >= 10:
            raise StoppedError

    with pytest.raises(StoppedError), report_progress_to(gone):
        store.do("reindex", scope="everything")

    assert store.do("reindex", scope="everything")["data"]["resumed_at"] == 10
    assert store.do("reindex", scope="everything")["data"]["resumed_at"] == 0


def test_it_is_refused_where_search_by_meaning_is_off(home: Path) -> None:
    with open_app(read_settings(home=home)) as app:
        house = OpenStore(app, Conversation(id="v_tests", actor="tool", client="tests"))
        with pytest.raises(UnavailableError, match="is off") as refusal:
            house.do("reindex")

    assert "panorama models use default" in refusal.value.hint


def test_search_finds_the_same_while_everything_is_made_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_pipeline, "CHANGES_PER_STEP", 5)
    with followed(home) as house:
        for number in range(60):
            note(house, f"quince jam {number}")
        converges(house)
        until(lambda: ids(house) is not None, "search by meaning")
        before = ids(house)
        over = threading.Event()
        running = threading.Thread(target=lambda: (house.do("reindex", scope="everything"), over.set()))
        running.start()
        seen: list[list[str] | None] = []
        while not over.is_set():
            seen.append(ids(house))
        running.join()
        converges(house)

        assert ids(house) == before
    assert [entry for entry in seen if entry not in (before, None)] == []


def ids(house: OpenStore) -> list[str] | None:
    """Return what a search finds, in order; None if meaning did not answer in time."""
    answer = searched(house, "jam of quinces", mode="semantic")
    index = answer["metadata"]["index"]
    assert index.get("missing", "in time").endswith(("in time", "in time."))
    return [row["id"] for row in answer["data"]] if index["ran"] == ["semantic"] else None


def test_it_may_run_while_the_model_changes(home: Path) -> None:
    with followed(home, index_engine="exact") as house:
        for number in range(40):
            note(house, f"quince jam {number}")
        converges(house)

    with followed(home, index_engine="exact", embedder="minilm") as house:
        house.do("reindex", scope="everything")
        converges(house)

        assert read_search_status(house)["model"] == "minilm"


def test_what_the_background_does_meanwhile_is_told_and_counted(
    home: Path, embedded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.services.search.reindex.REPORT_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(embedding_pipeline, "CHANGES_PER_STEP", 20)
    heard: list[tuple[int, int, str]] = []
    is_asked, embed = threading.Event(), StaticEmbedder.embed_documents

    def slow(self: StaticEmbedder, some: Sequence[str]) -> Any:
        threading.Event().wait(0.2)
        made = embed(self, some)
        assert is_asked.wait(10)
        return made

    def hear(done: int, total: int, at: str) -> None:
        heard.append((done, total, at))
        is_asked.set()

    with unfollowed(home) as house:
        for number in range(60):
            note(house, f"quince jam {number}")
    monkeypatch.setattr(StaticEmbedder, "embed_documents", slow)
    with followed(home, index_engine="exact") as house:
        until(lambda: embedded, "the background")
        with report_progress_to(hear):
            done = house.do("reindex", scope="everything")["data"]
        converges(house)

    assert (done["embedded"], len(embedded), done["items"]) == (60, 60, 120)
    assert all(done <= total for done, total, _ in heard)
    assert len({total for _, total, _ in heard}) == 1
    assert [at for _, _, at in heard if at.startswith("24 texts embedded, ") and at.endswith(" s left")]
    assert heard[-1] == (121, 121, "search by meaning is up to date")


@pytest.mark.parametrize("scope", SCOPES)
def test_until_another_model_is_whole_the_one_before_is_searched(
    home: Path, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.services.search.reindex.REPORT_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(index_sync, "REBUILD_THRESHOLD", 8)
    monkeypatch.setattr(index_sync, "SYNC_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(embedding_pipeline, "CHANGES_PER_STEP", 5)
    with followed(home) as house:
        for number in range(40):
            note(house, f"quince jam {number}")
        converges(house)
    seen: list[tuple[str, int, str, str, int]] = []

    with unfollowed(home, embedder="minilm", index_engine="edge") as house:
        until(lambda: house.app.meaning.ensure_open().index.count() == 40, "the index")

        def look(done: int, total: int, at: str) -> None:
            search = read_search_status(house)
            changing_to = search.get("changing_to", "")
            count = house.app.meaning.ensure_open().index.count()
            seen.append((search["model"], count, changing_to, search["index_state"], search["pending"]))

        with report_progress_to(look):
            house.do("reindex", scope=scope)
        after, left = read_search_status(house), read_index(house) == wanted(house.app)

    assert {row[:4] for row in seen} >= {("static", 40, "minilm", "ready")}
    assert {row[:4] for row in seen} <= {("static", 40, "minilm", "ready"), ("minilm", 40, "", "ready")}
    assert len({row[4] for row in seen}) > 4
    assert (after["model"], after.get("changing_to"), after["pending"], left) == ("minilm", None, 0, True)


@dataclass
class AtWork:
    """What embeds."""

    embedded: int = 0


def test_progress_says_how_fast_it_is_and_what_is_left() -> None:
    heard: list[tuple[int, int, str]] = []
    seconds = iter(range(100))
    at_work = AtWork()
    watch = ReindexProgress(lambda *message: heard.append(message), at_work, lambda: float(next(seconds)))

    watch.start_phase(100)
    at_work.embedded = 30
    watch.report_embedded(30)
    watch.advance(10)

    assert [(done, total) for done, total, _ in heard] == [(0, 100), (0, 100), (10, 100)]
    assert "30 texts embedded" in heard[-1][2]
    assert "a second" in heard[-1][2]
    assert "left" in heard[-1][2]
