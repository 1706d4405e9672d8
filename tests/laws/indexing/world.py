"""A store whose embedder and index fail on request, and how both are brought to agree again."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import uuid4

import numpy as np

from panorama.app import App
from panorama.calls import Conversation
from panorama.domain.changes import digest
from panorama.domain.text.chunks import split_chunks
from panorama.errors import UnavailableError
from panorama.index.exact_index import ExactIndex
from panorama.index.points import Model, Point
from panorama.services.search.index_sync import IndexSync
from panorama.services.search.semantic_index import IndexedModel, SemanticIndex
from panorama.store.items import rows
from panorama.store.items.rows import NOUNS

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

    def upsert(self, points: Any, change: int = 0) -> None:
        """Write points, and fail perhaps."""
        self._fail()
        super().upsert(points, change)
        self.points |= {point.chunk: point for point in points}
        self._fail()

    def delete(self, chunks: Any, change: int = 0) -> None:
        """Remove chunks, and fail perhaps."""
        self._fail()
        super().delete(chunks, change)
        for chunk in chunks:
            self.points.pop(chunk, None)
        self._fail()

    def build(self, points: Any, model: Any = None, change: int = 0) -> None:
        """Build anew, and fail perhaps."""
        self._fail()
        if self.fails_after is not None:
            list(islice(points, self.fails_after))
            self.fails_after = None
            raise UnavailableError("The index went down.")
        built = list(points)
        super().build(built, model, change)
        self.points = {point.chunk: point for point in built}
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
                    for chunk in split_chunks(*item.search_text()):
                        vector = self.embedder.embed_query(chunk.text).astype("<f2").astype("<f4").tobytes()
                        found[f"{id_}:{chunk.position}"] = digest(chunk.text), kind, project, item.updated_at, vector
        return found

    def held(self) -> dict[str, Held]:
        """What the index holds."""
        points = self.index.points
        assert dict(self.index.iter_digests()) == {name: value.digest for name, value in points.items()}
        return {
            name: (value.digest, value.kind, value.project, value.at, bytes(value.vector))
            for name, value in points.items()
        }

    def check(self) -> None:
        """Catch up, and compare."""
        self.index.fails_in = -1
        for embedder in (self.embedder, *self.known.values()):
            embedder.fails_in = -1
        self.house.catch_up()
        assert self.index.model == self.embedder.model
        assert self.held() == self.wanted()
        assert (self.indexing.measure_lag().unread, self.indexing.measure_lag().unindexed) == (0, 0)


LONG = "Quince jam sets well when the fruit is hardly ripe. " * 60
