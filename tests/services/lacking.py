"""Stores whose search by meaning lacks a part: what they must still do, and what they must do once it is there."""

from collections.abc import Generator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from panorama.index.embedders.lifecycle import ManagedEmbedder
from panorama.index.qdrant import connection
from panorama.services.search import follower
from tests.faults.house import OpenStore
from tests.faults.meanings import converges, finds, note, read_search_status, until
from tests.index.embedders.service import Service, serving
from tests.index.qdrant_stand_in import StandIn, standing_in

NOWHERE = "http://127.0.0.1:9"
"""The port that discards everything; nothing listens there."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look, and try again what has failed, sooner than a person's daemon does."""
    monkeypatch.setattr(follower, "START_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(follower, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(follower, "MAX_RETRY_SECONDS", 0.1)
    monkeypatch.setattr(connection, "SPARE_SECONDS", 0.1)
    monkeypatch.setattr(connection, "WRITE_PAUSE_SECONDS", 0.05)
    for name in ("first_pause", "longest_pause"):
        monkeypatch.setitem(ManagedEmbedder.__init__.__kwdefaults__, name, timedelta(seconds=0.1))


@pytest.fixture
def service() -> Generator[Service]:
    """An embedding service."""
    with serving() as service:
        yield service


@pytest.fixture
def stand_in() -> Generator[StandIn]:
    """A stand-in for a Qdrant server that wants a key."""
    with standing_in("secret") as server:
        yield server


def assert_search_by_words(house: OpenStore) -> Mapping[str, Any]:
    """Check that a write and a search work without meaning, and that search and status say why; return the latter."""
    made = note(house, "quince jam")
    until(lambda: "last_error" in read_search_status(house), "the error")

    found = {mode: house.do("search", query="quince", mode=mode) for mode in ("hybrid", "semantic")}

    status = read_search_status(house)
    for answer in found.values():
        index = answer["metadata"]["index"]
        assert [row["id"] for row in answer["data"]] == [made]
        assert index["ran"] == ["keyword"]
        assert index["missing"]
        assert index["do"]
    assert found["semantic"]["metadata"]["index"]["missing"] in found["semantic"]["summary"]
    assert status["modes"] == ["keyword"]
    assert status["do"]
    return status


def recovers(house: OpenStore, *, knows: bool = True) -> None:
    """Check that search by meaning runs, finds what was written if the model knows, and that nothing is said of it."""
    made = note(house, "steam engines")
    converges(house)
    assert finds(house, "steam engines", made) or not knows
    until(lambda: "last_error" not in read_search_status(house), "the end of the error")
