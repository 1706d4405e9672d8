"""The index of meanings beside the truth: what it has to hold, what it holds, and what a fresh build of it finds."""

import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.changes import digest
from panorama.domain.text.chunks import split_chunks
from panorama.errors import UnavailableError
from panorama.index import edge_index
from panorama.index.embedders.static import StaticEmbedder
from panorama.index.exact_index import ExactIndex
from panorama.index.points import Filter, Model
from panorama.ports import Index
from panorama.services.search.index_sync import IndexSync
from panorama.store.items import rows
from panorama.store.items.rows import NOUNS

from .house import OpenStore

PATIENCE = 60.0
NEARLY = 0.01
"""How far what Edge finds may lie below the best: it compares codes first, and hundreds may be nearly alike."""

STATIC = Model(id=StaticEmbedder.id, digest=StaticEmbedder.digest, size=StaticEmbedder.size)


def until(so: Callable[[], object], what: str = "it") -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, f"{what} did not come about within {PATIENCE:g} s"
        threading.Event().wait(0.01)


def wanted(app: App) -> dict[str, str]:
    """Return what the index has to hold: the digest of each passage of each living item, cut from the store anew."""
    found: dict[str, str] = {}
    with app.context.database.reading() as session:
        for kind, noun in NOUNS.items():
            ids = session.connection.exec_driver_sql(f"SELECT id FROM {noun.table.name} WHERE deleted_at IS NULL")
            for id_ in ids.scalars().all():
                for chunk in split_chunks(*rows.load(session, kind, id_).search_text()):
                    found[f"{id_}:{chunk.position}"] = digest(chunk.text)
    return found


def fresh(app: App, embedder: StaticEmbedder) -> ExactIndex:
    """Return an index built from nothing but what the database keeps."""
    made = ExactIndex(STATIC)
    indexing = IndexSync(app.context, embedder, made)
    indexing.catch_up()
    return made


def assert_found_alike(index: Index, built: ExactIndex, vector: bytes) -> None:
    """Check that what an index finds is what a fresh build finds, but for the order of those that are nearly alike."""
    exact = {hit.chunk: hit.score for hit in built.search(vector, built.count(), Filter())}
    best = sorted(exact.values(), reverse=True)[:10]
    found = index.search(vector, 10, Filter())
    assert [hit.score for hit in found] == pytest.approx([exact[hit.chunk] for hit in found], abs=1e-5)
    assert [hit.score for hit in found] == pytest.approx(best, abs=NEARLY)


def assert_converged(home: Path, *queries: str, **settings: str) -> None:
    """Check that the index that a daemon has left is what a fresh build gives, which is what the store holds."""
    with open_app(read_settings(home=home, **settings)) as app, closing(StaticEmbedder()) as embedder:
        truth, built = wanted(app), fresh(app, embedder)
        with closing(edge_index.open_index(home / "index", STATIC)) as left:
            held = dict(left.iter_digests())
            assert (held, left.state().note) == (truth, "")
            assert dict(built.iter_digests()) == truth
            for query in queries:
                assert_found_alike(left, built, embedder.embed_query(query).tobytes())


def is_done(message: Mapping[str, Any]) -> bool:
    """Tell from what `status` says of search whether the index has heard of everything."""
    return "semantic" in message["modes"] and not message.get("pending") and not message.get("changing_to")


@contextmanager
def followed(home: Path, **chosen: Any) -> Generator[OpenStore]:
    """Open the store of a data directory in this process, with search by meaning, and follow what is written."""
    settings = {"timezone": "Europe/Berlin", "embedder": "static"} | chosen
    with open_app(read_settings(home=home, **settings)) as app, app.follow_changes():
        yield OpenStore(app, Conversation(id="v_faults", actor="tool", client="faults"))


def read_search_status(house: OpenStore) -> Mapping[str, Any]:
    """Return what `status` says of search."""
    return house.do("status")["data"]["search"]


def note(house: OpenStore, subject: str) -> str:
    """Write a note, which must not fail whatever the index does, and return its id."""
    return str(house.do("create_note", title=subject, content=f"All about {subject}.")["data"]["id"])


def searched(house: OpenStore, query: str, **arguments: Any) -> Mapping[str, Any]:
    """Search in a conversation of its own: in one, the same question again and again is refused."""
    asking = OpenStore(house.app, Conversation(id=f"v_{uuid4().hex}", actor="tool", client="faults"))
    return asking.do("search", query=query, **arguments)


def finds(house: OpenStore, subject: str, id_: str) -> bool:
    """Wait until search by meaning runs, and tell whether it finds a note by its subject."""

    def ran() -> bool:
        nonlocal answer
        answer = searched(house, subject, mode="semantic")
        return answer["metadata"]["index"]["ran"] == ["semantic"]

    answer: Mapping[str, Any] = {}
    until(ran, "search by meaning")
    return id_ in {row["id"] for row in answer["data"]}


def converges(house: OpenStore) -> None:
    """Wait until the index of an open store holds what it has to hold, and nothing waits."""

    def holds() -> bool:
        with suppress(UnavailableError):
            index = house.app.meaning.ensure_open().index
            return is_done(read_search_status(house)) and dict(index.iter_digests()) == wanted(house.app)
        return False

    until(holds, "the index")
