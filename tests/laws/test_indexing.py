"""Whatever is written, and wherever the model or the index fails, catching up makes the index equal to the store."""

import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.changes import digest
from panorama.domain.text.chunks import split_chunks
from panorama.errors import NotFoundError, PanoramaError, UnavailableError
from panorama.index.embedders.lazy import LazyEmbedder
from panorama.index.embedders.lifecycle import ManagedEmbedder
from panorama.index.exact_index import ExactIndex
from panorama.index.points import Filter, Model, Point
from panorama.services.search import embedding_pipeline, index_sync
from panorama.services.search.index_sync import IndexSync
from panorama.services.search.semantic_index import IndexedModel, SemanticIndex
from panorama.store.backend import Session
from panorama.store.items import passages, rows
from panorama.store.items.rows import NOUNS
from panorama.thread_priority import NICENESS

SIZE = 8
MODEL = Model(id="fake", digest="d1", size=SIZE)


@dataclass
class FakeEmbedder:
    """Makes a vector from a text's digest; counts what it was asked, and fails when it is told to."""

    id: str = MODEL.id
    digest: str = MODEL.digest
    size: int = SIZE
    max_tokens: int = 256
    batch: int = 64
    fails_in: int = -1
    embedded: list[str] = field(default_factory=list)

    @property
    def model(self) -> Model:
        """What it makes vectors as."""
        return Model(id=self.id, digest=self.digest, size=self.size)

    def load(self) -> None:
        """Do nothing: there is nothing to load."""

    def close(self) -> None:
        """Do nothing."""

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """Return a vector for each text."""
        self.fails_in -= 1
        if self.fails_in == 0:
            raise UnavailableError("The model is down.")
        self.embedded += texts
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Any:
        """Return the vector of a text."""
        words = f"{self.id} {self.digest} {text}"
        made = np.frombuffer(hashlib.sha256(words.encode()).digest()[:SIZE], np.uint8).astype(np.float32) + 1
        return made / np.linalg.norm(made)


class FailingIndex(ExactIndex):
    """An index in memory that fails when it is told to, before or after it did what it was asked.

    It remembers its points, and which of them would survive a power cut.
    """

    fails_in = -1
    fails_after: int | None = None
    """So many points are taken in by the next building, which fails then."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.points: dict[str, Point] = {}
        self.flushed: dict[str, Point] = {}

    def after_a_power_cut(self) -> "FailingIndex":
        """Return what is left of it: the same index as it was when it was written to the disk last."""
        left = FailingIndex(self.model)
        left._identity = self._identity
        left.upsert(list(self.flushed.values()))
        left.flush()
        return left

    def _fail(self) -> None:
        self.fails_in -= 1
        if self.fails_in == 0:
            raise UnavailableError("The index is down.")

    def upsert(self, points: Any) -> None:
        """Write points, and fail perhaps."""
        self._fail()
        super().upsert(points)
        self.points |= {each.chunk: each for each in points}
        self._fail()

    def delete(self, chunks: Any) -> None:
        """Remove chunks, and fail perhaps."""
        self._fail()
        super().delete(chunks)
        for each in chunks:
            self.points.pop(each, None)
        self._fail()

    def build(self, points: Any, model: Any = None) -> None:
        """Build anew, and fail perhaps."""
        self._fail()
        if self.fails_after is not None:
            list(islice(points, self.fails_after))
            self.fails_after = None
            raise UnavailableError("The index went down.")
        built = list(points)
        super().build(built, model)
        self.points = {each.chunk: each for each in built}
        self.flushed = dict(self.points)
        self._fail()

    def flush(self) -> None:
        """Fail perhaps, before it is written or after."""
        self._fail()
        self.flushed = dict(self.points)
        self._fail()


Held = tuple[str, str, str | None, datetime, bytes]
"""What an index holds of a passage: the digest of its text, what it may be filtered by, and its vector."""


@dataclass
class World:
    """A store, a model beside others that were chosen before, an index, and what follows the store."""

    app: App
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    index: FailingIndex = field(default_factory=lambda: FailingIndex(MODEL))
    talk: Conversation = field(default_factory=lambda: Conversation("v_laws", "tool", "laws"))
    known: dict[str, FakeEmbedder] = field(default_factory=dict[str, FakeEmbedder])

    @property
    def indexing(self) -> IndexSync:
        """What follows the store: begun anew each time, as after a crash."""
        return IndexSync(self.app.context, self.embedder, self.index)

    @property
    def house(self) -> SemanticIndex:
        """The house as it is opened each time: the model before is searched until the chosen one is ready."""
        held, before = self.index.model, self.known.get(self.index.model.id)
        is_changing = before is not None and held.id != self.embedder.id
        return SemanticIndex(
            self.index, self._side(self.embedder), self._side(before) if is_changing else None, "", timedelta()
        )

    def _side(self, embedder: Any) -> IndexedModel:
        return IndexedModel(embedder, embedder, IndexSync(self.app.context, embedder, self.index), embedder.model)

    def choose(self, number: int) -> None:
        """Choose another model."""
        self.known[self.embedder.id] = self.embedder
        id_ = f"fake {number}" if number else MODEL.id
        self.embedder = self.known.setdefault(id_, FakeEmbedder(id=id_))

    def do(self, operation: str, **arguments: Any) -> Any:
        """Call an operation."""
        return self.app.calls.call(operation, arguments, self.talk).data

    def project(self) -> str:
        """Make a project and return its id."""
        return str(self.do("create_project", name=f"Garden {uuid4()}")["id"])

    def wanted(self) -> dict[str, Held]:
        """What the index has to hold of each passage of each living item."""
        found: dict[str, Held] = {}
        with self.app.context.database.reading() as session:
            for kind, noun in NOUNS.items():
                ids = session.connection.exec_driver_sql(f"SELECT id FROM {noun.table.name} WHERE deleted_at IS NULL")
                for id_ in ids.scalars().all():
                    item = rows.load(session, kind, id_)
                    project = item.id if kind == "project" else getattr(item, "project", None)
                    for each in split_chunks(*item.search_text()):
                        vector = self.embedder.embed_query(each.text).astype("<f2").astype("<f4").tobytes()
                        found[f"{id_}:{each.position}"] = digest(each.text), kind, project, item.updated_at, vector
        return found

    def held(self) -> dict[str, Held]:
        """What the index holds."""
        points = self.index.points
        assert dict(self.index.iter_digests()) == {name: each.digest for name, each in points.items()}
        return {
            name: (each.digest, each.kind, each.project, each.at, bytes(each.vector)) for name, each in points.items()
        }

    def check(self) -> None:
        """Catch up, and compare."""
        self.index.fails_in = -1
        for embedder in (self.embedder, *self.known.values()):
            embedder.fails_in = -1
        self.house.catch_up()
        assert self.index.model == self.embedder.model
        assert self.held() == self.wanted()
        assert (self.indexing.measure_lag().unread, self.indexing.measure_lag().unheard) == (0, 0)


@pytest.fixture
def world(home: Path) -> Iterator[World]:
    """An empty store with an index."""
    with open_app(read_settings(home=home)) as app:
        yield World(app)


LONG = "Quince jam sets well when the fruit is hardly ripe. " * 60
Step = tuple[str, Any]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.integers(0, 3)),
        st.tuples(st.just("shorten"), st.integers(0, 9)),
        st.tuples(st.just("grow"), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 9)),
        st.tuples(st.just("undo"), st.just(0)),
        st.tuples(st.just("fail the index"), st.integers(1, 6)),
        st.tuples(st.just("fail the model"), st.integers(1, 3)),
        st.tuples(st.just("lose the index"), st.just(0)),
        st.tuples(st.just("cut the power"), st.just(0)),
        st.tuples(st.just("move"), st.integers(0, 9)),
        st.tuples(st.just("drop a project"), st.sampled_from(("keep", "trash"))),
        st.tuples(st.just("purge"), st.just(0)),
        st.tuples(st.just("change the model"), st.integers(0, 2)),
        st.tuples(st.just("catch up"), st.integers(0, 4)),
    ),
    max_size=14,
)
GOES_AND_COMES = [
    ("note", 3),
    ("catch up", 0),
    ("shorten", 0),
    *[("note", 0)] * 4,
    ("catch up", 2),
    ("move", 1),
    ("grow", 0),
]

NEVER_MEANWHILE = ("catch up", "cut the power", "lose the index", "change the model")
CHANGES = [
    *[("note", 3)] * 3,
    ("catch up", 0),
    ("change the model", 1),
    ("fail the model", 2),
    ("catch up", 0),
    ("fail the index", 4),
    ("catch up", 0),
    ("note", 0),
    ("catch up", 4),
    ("shorten", 0),
    ("lose the index", 0),
    ("delete", 1),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    STEPS, st.sampled_from((2, index_sync.REBUILD_THRESHOLD)), st.sampled_from((0.0, index_sync.SYNC_INTERVAL_SECONDS))
)
@example(GOES_AND_COMES, 2, index_sync.SYNC_INTERVAL_SECONDS)
@example(CHANGES, 2, 0.0)
def test_it_converges_from_every_failure(world: World, steps: list[Step], many: int, tell_seconds: float) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index_sync, "REBUILD_THRESHOLD", many)  # with two, the index is built of what is read meanwhile
        patched.setattr(index_sync, "SYNC_INTERVAL_SECONDS", tell_seconds)  # with none, it is told after each step
        patched.setattr(index_sync, "CHANGES_PER_STEP", 3)
        patched.setattr(embedding_pipeline, "CHANGES_PER_STEP", 3)
        Walk(world, steps).taken()


class Walk:
    """Steps that are taken one after another; some of them while others catch up."""

    def __init__(self, world: World, steps: Sequence[Step]) -> None:
        self.world = world
        self.steps = list(reversed(steps))
        self.notes: list[str] = []
        self.project = world.project()
        self.house: SemanticIndex | None = None

    def taken(self) -> None:
        """Take the steps, and see that the index holds what the store holds."""
        while self.steps:
            step, number = self.steps.pop()
            if step == "catch up":
                self.catch_up(number)
                continue
            self.house = None if step in NEVER_MEANWHILE else self.house
            if step == "cut the power":
                self.world.index = self.world.index.after_a_power_cut()
            elif step == "lose the index":
                self.world.index = FailingIndex(self.world.index.model)
            elif step == "change the model":
                self.world.choose(number)
            else:
                self.take(step, number)
        self.world.check()

    def catch_up(self, number: int) -> None:
        """Catch up, and let so many of the next steps happen meanwhile; after an odd number it is as after a crash."""
        meanwhile = [number]
        house = self.house = self.house or self.world.house
        was_changing = house.is_changing

        def moved() -> None:
            assert house.is_changing == was_changing  # what is not whole is not searched
            meanwhile[0] -= 1
            if meanwhile[0] >= 0 and self.steps and self.steps[-1][0] not in NEVER_MEANWHILE:
                self.take(*self.steps.pop())

        with suppress(UnavailableError):
            house.catch_up(moved=moved)
        if number % 2:
            self.house = None

    def take(self, step: str, number: Any) -> None:
        """Take a step that may happen at any time."""
        world = self.world
        if step == "note":
            self.notes.append(world.do("create_note", title=f"Jam {len(self.notes)}", content=LONG * number)["id"])
        elif step == "drop a project":
            with suppress(NotFoundError):  # it was undone
                world.do("delete_item", item=self.project, items=number, confirm=True)
            self.project = world.project()
        elif step == "undo" and self.notes:
            world.do("undo")
        elif step == "purge":
            world.talk = Conversation("v_laws", "tool", "laws")  # or the guard takes it for a loop
            world.do("purge", days=0, confirm=True)
        elif step == "fail the index":
            world.index.fails_in = number
        elif step == "fail the model":
            world.embedder.fails_in = number
        elif self.notes:
            with suppress(PanoramaError):  # it is in the trash already
                self.change(step, self.notes[number % len(self.notes)], number)

    def change(self, step: str, note: str, number: int) -> None:
        """Change a note."""
        if step == "delete":
            self.world.do("delete_item", item=note)
        elif step == "move":
            self.world.do("update_note", note=note, project=self.project if number % 2 else "none")
        elif step in ("shorten", "grow"):
            self.world.do("update_note", note=note, content="Short." if step == "shorten" else LONG * 3)


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
    monkeypatch.setattr(world.index, "upsert", lambda points: (forget(), write(points)))

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


class Loaded(FakeEmbedder):
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
    embedder = Loaded()
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

    told: list[int] = []

    def forget_the_unused(count: int) -> None:
        told.append(count)
        if len(told) == 2:
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
