"""Search by meaning with a service that embeds, and what becomes of its misbehaviour."""

import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from panorama.index.embedders.lifecycle import ManagedEmbedder
from panorama.services.search import semantic_index as opening
from panorama.services.search.semantic import SemanticSearch
from tests.faults.house import OpenStore
from tests.faults.meanings import finds, followed, note, read_search_status, searched, until
from tests.index.embedders import service as services
from tests.index.embedders.service import Service, serving
from tests.services.lacking import NOWHERE, assert_search_by_words, impatient, recovers, service

__all__ = ["impatient", "service"]

pytestmark = pytest.mark.slow  # they wait for pauses to end, and for processors that others have


def openai(service: Service) -> str:
    """Return the name of a service's model."""
    return f"openai:{service.url}#tiny"


def test_an_embedding_service_that_is_down_is_said(home: Path) -> None:
    with followed(home, index_engine="exact", embedder=f"openai:{NOWHERE}#tiny") as house:
        assert NOWHERE in assert_search_by_words(house)["last_error"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (services.says({"error": {"message": "out of memory"}}, 500), "500"),
        (services.says({"data": "soon"}), "invalid answer"),
        (services.raw(b"<html>"), "invalid answer|JSON|answer"),
        (services.vectors([[0.0] * 8]), "invalid answer"),
        (services.hang_up, "reached|hung up|connection|answer"),
    ],
    ids=["error", "nonsense", "html", "zeros", "hanging up"],
)
def test_an_embedding_service_that_misbehaves_is_said_until_it_behaves(
    home: Path, service: Service, reply: services.Reply, words: str
) -> None:
    service.always = reply
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        status = assert_search_by_words(house)
        assert service.url in status["last_error"] or words in status["last_error"]

        service.always = None
        recovers(house, knows=False)


def late(talk: services.Talk) -> None:
    """Answer as it should, after a minute or when the test has seen enough."""
    talk.service.ended.wait(60)
    services.proper(talk)


@dataclass
class WaitCounts:
    """How many searches waited for the answer as long as they may, and how many for the model to be loaded."""

    answers: int = 0
    loads: int = 0


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> WaitCounts:
    """Counts what searches wait for."""
    waits = WaitCounts()
    wait, in_time = threading.Condition.wait, SemanticSearch._wait_for_hits

    def waited(self: threading.Condition, timeout: float | None = None) -> bool:
        waits.loads += bool(timeout) and threading.current_thread().name.startswith("meaning")
        return wait(self, timeout)

    def asked(*arguments: Any) -> Any:
        try:
            return in_time(*arguments)
        except TimeoutError:
            waits.answers += 1
            raise

    monkeypatch.setattr(threading.Condition, "wait", waited)
    monkeypatch.setattr(SemanticSearch, "_wait_for_hits", asked)
    monkeypatch.setattr(opening, "REMOTE_SEARCH_TIMEOUT", timedelta(seconds=0.3))
    return waits


def search_for_missing(house: OpenStore) -> list[str]:
    """Search twenty times, and return what was missing each time."""
    found = [searched(house, "steam engines")["metadata"]["index"] for _ in range(20)]
    assert {tuple(item["ran"]) for item in found} == {("keyword",)}
    return [item["missing"] for item in found]


@pytest.mark.slow
def test_one_search_waits_for_an_embedding_service_that_hangs_and_no_other_until_it_answers(
    home: Path, service: Service, waits: WaitCounts
) -> None:
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)
        waits.answers = waits.loads = 0
        service.always = late
        first = search_for_missing(house)
        until(lambda: "failed" in searched(house, "steam")["metadata"]["index"]["missing"], "the failure")
        asked = len(service.asked)
        until(lambda: len(service.asked) > asked, "another trial")
        then = search_for_missing(house)

        assert first[0].endswith("did not answer in time.")
        assert all("failed" in item for item in then)
        assert (waits.answers, waits.loads) == (1, 0)
        assert read_search_status(house)["model_state"] == "failing"
        service.ended.set()
        recovers(house, knows=False)


@pytest.mark.slow
def test_one_search_waits_for_a_model_that_is_loaded_too_slowly_and_no_other_until_it_is(
    home: Path, service: Service, waits: WaitCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ManagedEmbedder.__init__.__kwdefaults__, "idle", timedelta())
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)
        until(lambda: read_search_status(house)["model_state"] == "resting", "the release")
        waits.answers = waits.loads = 0
        service.always = late
        status = search_for_missing(house) + search_for_missing(house)

        assert all("load" in item or "did not answer in time" in item for item in status), status
        assert waits.loads == 1
        service.ended.set()
        recovers(house, knows=False)


@pytest.mark.slow
def test_an_embedding_service_whose_vectors_get_another_size_is_followed(home: Path, service: Service) -> None:
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)

        service.size = 16
        recovers(house, knows=False)

        assert read_search_status(house)["dimensions"] == 16


def test_a_model_that_is_another_one_under_the_same_name_is_followed(
    home: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", service.url)
    monkeypatch.setitem(ManagedEmbedder.__init__.__kwdefaults__, "idle", timedelta())
    with followed(home, index_engine="exact", embedder="ollama:tiny") as house:
        recovers(house, knows=False)
        before = house.app.meaning.ensure_open().chosen.model

        monkeypatch.setattr(services, "DIGEST", "sha256:new")
        until(
            lambda: note(house, "wild horses") and house.app.meaning.ensure_open().chosen.model != before,
            "the new model",
        )
        recovers(house, knows=False)

        assert house.app.meaning.ensure_open().chosen.model.digest == "sha256:new"


def test_a_service_that_is_given_up_holds_up_no_other_model(home: Path) -> None:
    with serving() as service, followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)

    with followed(home, index_engine="exact", embedder="static") as house:
        recovers(house)

        assert read_search_status(house)["model"] == "static"


def test_a_model_that_fails_in_a_search_is_said_by_the_status_at_once(home: Path, service: Service) -> None:
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)
        service.always = services.says({"error": {"message": "slow down"}}, 429)

        until(lambda: "limit" in searched(house, "steam")["metadata"]["index"].get("missing", ""), "the refusal")
        status = read_search_status(house)

        assert "429: slow down" in status["last_error"]
        assert "limits" in status["do"]


def fewer_than_a_batch_hang(talk: services.Talk) -> None:
    """Answer as it should, unless it is asked for some texts that are less than a batch."""
    if 1 < len(talk.asked.body["input"]) < 32:
        services.silence(talk)
    services.proper(talk)


def test_what_was_wrong_is_no_longer_said_while_the_rest_is_read(home: Path, service: Service) -> None:
    service.always = services.says({"error": {"message": "slow down"}}, 400)
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        for number in range(100):
            note(house, f"subject {number}")
        until(lambda: "400" in read_search_status(house).get("last_error", ""), "the error")

        service.always = fewer_than_a_batch_hang
        until(lambda: "last_error" not in read_search_status(house), "the end of the error")

        assert read_search_status(house)["pending"] > 0
        assert "being built" in searched(house, "subject")["metadata"]["index"]["missing"]


def test_a_service_is_asked_nothing_more_once_meaning_was_turned_off(home: Path, service: Service) -> None:
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        old = note(house, "quince")
        until(lambda: "semantic" in read_search_status(house)["modes"] and not read_search_status(house)["pending"])
    with followed(home, index_engine="exact", embedder="none"):
        pass
    known = len(service.asked)

    with followed(home, index_engine="exact", embedder="static") as house:
        new = note(house, "medlar")
        searched(house, "medlar")
        assert finds(house, "medlar", new)
        assert finds(house, "quince", old)

    assert service.asked[known:] == []
