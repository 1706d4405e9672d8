"""Steps of indexing: what is deleted, changed or read by another process meanwhile."""

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from panorama.errors import UnavailableError
from panorama.index.embedders.lazy import LazyEmbedder
from panorama.index.embedders.lifecycle import ManagedEmbedder
from panorama.index.points import Filter
from panorama.services.search import embedding_pipeline, index_sync
from panorama.services.search.index_sync import IndexSync
from panorama.store.backend import Session
from panorama.store.items import passages
from panorama.thread_priority import NICENESS

from .world import LONG, MODEL, FailingIndex, FakeEmbedder, World


def test_what_shrinks_while_the_index_is_built_leaves_nothing_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "REBUILD_THRESHOLD", 2)
    monkeypatch.setattr(index_sync, "CHANGES_PER_STEP", 2)
    monkeypatch.setattr(embedding_pipeline, "CHANGES_PER_STEP", 2)
    made = [world.do("create_note", title=f"Jam {number}", content=LONG)["id"] for number in range(4)]

    def shrink() -> None:
        if made:
            world.do("update_note", note=made.pop(), content="Short.")

    world.indexing.catch_up(moved=shrink)

    assert not made
    assert world.held() == world.wanted()


@pytest.fixture
def forget(world: World) -> Callable[..., None]:
    """What forgets the first note for good, once; beside it there is another one."""
    made = [str(world.do("create_note", title=title)["id"]) for title in ("Quince", "Plum")][:1]

    def forgotten(*_: object) -> None:
        if made:
            world.do("delete_item", item=made.pop())
            world.do("purge", days=0, confirm=True)

    return forgotten


def test_what_is_forgotten_while_the_index_is_built_leaves_it(world: World, forget: Callable[..., None]) -> None:
    while world.indexing.embed_next():
        pass

    world.indexing.rebuild(counted=forget)

    world.check()


def test_what_is_forgotten_while_it_is_read_leaves_no_passage(world: World, forget: Callable[..., None]) -> None:
    while world.indexing.embed_next(report=forget):
        pass

    world.check()
    with world.app.context.database.reading() as session:
        assert session.connection.exec_driver_sql("SELECT count(DISTINCT item) FROM passages").scalar_one() == 1


def test_what_is_forgotten_while_the_index_is_told_leaves_it(
    world: World, forget: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.indexing.rebuild()
    while world.indexing.embed_next():
        pass
    write = world.index.upsert
    monkeypatch.setattr(world.index, "upsert", lambda points, change: (forget(), write(points, change)))

    world.indexing.sync_all()

    world.check()


@pytest.mark.parametrize("is_read", [True, False], ids=["of what was read", "of what is read meanwhile"])
@pytest.mark.parametrize("taken", [0, 1, 300, 599])
def test_a_building_that_fails_on_its_way_leaves_the_next_one_whole(
    world: World, taken: int, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "REBUILD_THRESHOLD", 2)
    for more in range(0, 600, 100):
        notes = [{"tool": "create_note", "args": {"title": f"Jam {more + number}"}} for number in range(100)]
        world.do("batch", operations=notes)
    while is_read and world.indexing.embed_next():
        pass
    world.index.fails_after = taken

    with pytest.raises(UnavailableError, match="went down") as kept:  # whoever keeps it keeps what it came through
        world.indexing.catch_up()
    world.do("create_note", title="Plum")
    world.check()

    assert len(world.wanted()) == 601
    assert kept


@pytest.mark.parametrize(("notes", "is_built"), [(1, False), (3, True)])
def test_many_passages_are_built_beside_the_index_that_is_searched_in_however_few_changes(
    world: World, notes: int, is_built: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "REBUILD_THRESHOLD", 20)
    world.do("create_note", title="Plum")
    world.check()
    before = world.index.state().identity
    for number in range(notes):
        world.do("create_note", title=f"Jam {number}", content=LONG * 4)

    world.check()

    assert 10 * notes < len(world.wanted()) < 20 * notes
    assert (world.index.state().identity != before) == is_built


def test_a_text_is_never_embedded_twice(world: World) -> None:
    note = world.do("create_note", title="Jam", content=LONG)["id"]
    world.check()
    once = len(world.embedder.embedded)

    world.do("update_note", note=note, pinned=True)
    world.do("delete_item", item=note)
    world.check()
    world.do("undo")
    world.index = FailingIndex(MODEL)
    world.check()

    assert len(world.embedder.embedded) == once


def test_a_step_ends_with_the_item_that_reaches_so_many_texts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_pipeline, "TEXTS_PER_STEP", 2)
    for number in range(5):
        world.do("create_note", title=f"Jam {number}")

    world.indexing.embed_next()

    assert len(world.embedder.embedded) == 2
    world.check()


class PriorityEmbedder(FakeEmbedder):
    """Remembers with what claim on the processor it was loaded, and embedded documents."""

    niceness: int | None = None
    worked_at: int | None = None

    def load(self) -> None:
        """Look at the claim of the thread that loads."""
        self.niceness = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """Look at the claim of the thread that embeds."""
        self.worked_at = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        return super().embed_documents(texts)


@pytest.mark.skipif(
    sys.platform != "linux" or os.getpriority(os.PRIO_PROCESS, 0) >= NICENESS,
    reason="threads have no priority of their own, or the tests run with a lower one",
)
def test_the_model_is_not_loaded_by_a_thread_that_lets_others_go_first(world: World) -> None:
    embedder = PriorityEmbedder()
    resident: ManagedEmbedder[Any] = ManagedEmbedder(embedder)
    borrowed = LazyEmbedder(resident, MODEL, embedder, timedelta())
    world.do("create_note", title="Jam")

    IndexSync(world.app.context, borrowed, world.index).catch_up()
    resident.close()

    assert embedder.niceness == os.getpriority(os.PRIO_PROCESS, 0) < (embedder.worked_at or 0)


def test_what_was_embedded_is_kept_if_the_step_ahead_cannot_begin(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.embedder.batch = 4
    for number in range(160):
        world.do("create_note", title=f"Jam {number}")
    monkeypatch.setattr(embedding_pipeline, "TEXTS_PER_STEP", 80)
    touched, asked = passages.list_changes, list[int]()

    def locked(session: Session, mark: int, *rest: Any) -> Any:
        asked.append(mark)
        if len(asked) == 1:
            return touched(session, mark, *rest)
        while not world.embedder.embedded:
            time.sleep(0.001)
        raise UnavailableError("The database is locked.")

    monkeypatch.setattr(passages, "list_changes", locked)
    with pytest.raises(UnavailableError, match="locked"):
        world.indexing.catch_up()

    with world.app.context.database.reading() as session:
        kept = session.connection.exec_driver_sql("SELECT count(*) FROM vectors").scalar_one()
    assert 0 < kept == len(world.embedder.embedded)


def test_what_changed_last_counts_for_filters(world: World) -> None:
    project = world.do("create_project", name="Garden")["id"]
    note = world.do("create_note", title="Jam", content="Quince")["id"]
    world.check()

    world.do("update_note", note=note, project=project)
    world.check()

    (found,) = world.indexing.search_text("Jam\nQuince", 5, Filter(kinds=("note",), project=project))
    assert (found.item, round(found.score, 2)) == (note, 1.0)


def test_another_model_begins_anew(world: World) -> None:
    world.do("create_note", title="Jam", content="Quince")
    world.check()

    world.embedder = FakeEmbedder(digest="d2")
    world.check()

    assert world.embedder.embedded


def test_a_vector_that_is_forgotten_before_its_passage_is_kept_is_made_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_pipeline, "SAVE_INTERVAL_SECONDS", 0.0)
    world.embedder.batch = 1
    world.do("create_note", title="Jam", content=LONG)

    received: list[int] = []

    def forget_the_unused(count: int) -> None:
        received.append(count)
        if len(received) == 2:
            with world.app.context.database.transaction(passages.INDEXER) as session:
                passages.delete_vectors(session, passages.list_unused_vectors(session))

    while world.indexing.embed_next(report=forget_the_unused):
        pass

    world.check()
    assert len(world.embedder.embedded) == len(world.wanted()) + 1


def test_a_vector_that_is_needed_again_is_not_forgotten(world: World) -> None:
    note = world.do("create_note", title="Jam", content="Quince")["id"]
    world.check()
    world.do("update_note", note=note, content="Plum")
    world.check()
    with world.app.context.database.reading() as session:
        unused = passages.list_unused_vectors(session)
    world.do("undo")
    world.check()

    with world.app.context.database.transaction(passages.INDEXER) as session:
        passages.delete_vectors(session, unused)

    world.index = FailingIndex(MODEL)
    world.check()
    assert len(unused) == 1


def test_two_that_read_at_once_leave_what_the_later_one_saw(world: World) -> None:
    note = world.do("create_note", title="Jam", content="Quince")["id"]

    def write_and_let_another_read(_: int) -> None:
        if len(world.embedder.embedded) == 1:
            world.do("update_note", note=note, content="Plum")
            world.indexing.embed_next()

    world.indexing.embed_next(report=write_and_let_another_read)

    world.check()


@pytest.fixture
def write_meanwhile(world: World) -> Callable[[int], None]:
    """A note, and what writes it while its first text is embedded, and lets another process catch up."""
    note = world.do("create_note", title="Jam", content="Quince")["id"]

    def write(_: int) -> None:
        if len(world.embedder.embedded) == 1:
            world.do("update_note", note=note, content="Plum")
            world.indexing.catch_up()

    return write


def test_what_is_cut_anew_never_replaces_what_another_read_since(
    world: World, write_meanwhile: Callable[[int], None]
) -> None:
    while world.indexing.reembed_next("anew", write_meanwhile):
        pass

    world.index = FailingIndex(MODEL)
    world.check()


def test_a_slow_reader_does_not_take_back_how_far_another_has_come(
    world: World, write_meanwhile: Callable[[int], None]
) -> None:
    world.indexing.embed_next(report=write_meanwhile)

    assert world.indexing.measure_lag().unread == 0
    world.index = FailingIndex(MODEL)
    world.check()
