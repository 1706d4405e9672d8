"""Search by meaning on a Qdrant server, and what becomes of its misbehaviour."""

from pathlib import Path

import pytest

from panorama.index.embedders.static import StaticEmbedder
from panorama.services.search import follower
from tests.faults.house import OpenStore
from tests.faults.meanings import converges, finds, followed, note, read_search_status, searched, until
from tests.index.qdrant_stand_in import StandIn
from tests.services.lacking import NOWHERE, assert_search_by_words, impatient, recovers, stand_in

__all__ = ["impatient", "stand_in"]

pytestmark = pytest.mark.slow  # they wait for pauses to end, and for processors that others have


def test_a_qdrant_server_that_is_down_is_said(home: Path) -> None:
    with followed(home, qdrant_url=NOWHERE) as house:
        assert "cannot be reached" in assert_search_by_words(house)["last_error"]


def test_a_qdrant_server_that_refuses_the_key_is_said_until_it_takes_it(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="wrong") as house:
        status = assert_search_by_words(house)
        stand_in.key = "wrong"
        recovers(house)

    assert "refused the key" in status["last_error"]
    assert "PANORAMA_QDRANT_KEY" in status["do"]


@pytest.mark.parametrize("url", ["localhost:6333", "ftp://localhost", "http://me:geheim@localhost:port", "http://[::1"])
def test_an_address_that_is_none_is_said_with_the_form_of_one(home: Path, url: str) -> None:
    with followed(home, qdrant_url=url) as house:
        status = assert_search_by_words(house)
        missing = searched(house, "quince")["metadata"]["index"]["missing"]

    assert status["last_error"] == missing
    assert "PANORAMA_QDRANT_URL" in missing
    assert "http://localhost:6333" in status["do"]
    assert "geheim" not in str(status)


def test_a_web_server_that_is_not_qdrant_is_said_until_there_is_one(home: Path, stand_in: StandIn) -> None:
    stand_in.says = b'{"hello": "world"}'
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        status = assert_search_by_words(house)
        stand_in.says = b""
        recovers(house)

    assert "is not Qdrant" in status["last_error"]
    assert "Check host, port" in status["do"]


def test_a_qdrant_server_that_never_answers_is_named_while_it_is_waited_for(home: Path, stand_in: StandIn) -> None:
    stand_in.waits = True
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        until(lambda: "did not answer in 2 s" in str(searched(house, "quince")["metadata"]["index"]))
        assert "did not answer in 2 s" in read_search_status(house)["remark"]
        stand_in.waits = False
        stand_in.delay.set()
        recovers(house)


@pytest.mark.slow
def test_a_qdrant_server_that_is_slow_does_not_delay_the_answers(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
        stand_in.waits = True
        found = [searched(house, "steam engines") for _ in range(20)]

        assert {tuple(item["metadata"]["index"]["ran"]) for item in found} == {("keyword",)}
        assert found[0]["metadata"]["index"]["missing"] == "The semantic index did not answer in time."
        stand_in.waits = False
        stand_in.delay.set()
        recovers(house)


def test_a_qdrant_server_that_has_everything_is_told_nothing_again(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
    stand_in.requests.clear()

    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        converges(house)

    assert stand_in.asked("PUT", "/points") == []


@pytest.mark.slow
def test_a_qdrant_server_that_lost_everything_is_told_all_again(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
        stand_in.drop()

        recovers(house)


def is_whole(server: StandIn, house: OpenStore) -> bool:
    """Tell whether the server holds everything, in vectors of the right size, and `status` says so."""
    return server.sizes == {StaticEmbedder.size} and len(server.points()) == read_search_status(house).get("passages")


@pytest.mark.parametrize("scope", [None, "changes", "index", "everything"])
def test_a_collection_whose_vectors_have_another_size_is_built_anew_by_itself_and_by_reindexing(
    home: Path, stand_in: StandIn, scope: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        made = note(house, "steam engines")
        converges(house)
    stand_in.resize(10)

    monkeypatch.setattr(follower, "START_DELAY_SECONDS", 60.0 if scope else 0.0)
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        if scope:
            house.do("reindex", scope=scope)
        converges(house)

        assert finds(house, "steam engines", made)
        assert is_whole(stand_in, house)
        assert "(10 instead of 256); it is rebuilt" in read_search_status(house)["remark"]


@pytest.mark.parametrize("notices", ["a search", "a write"])
def test_a_collection_whose_vectors_get_another_size_meanwhile_is_noticed_and_built_anew(
    home: Path, stand_in: StandIn, notices: str
) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        made = note(house, "steam engines")
        converges(house)

        stand_in.resize(10)
        if notices == "a write":
            note(house, "quince jam")
        else:
            assert searched(house, "steam engines")["metadata"]["index"]["ran"] == ["keyword"]

        until(lambda: is_whole(stand_in, house), "the collection")
        converges(house)
        assert finds(house, "steam engines", made)
        assert "it is rebuilt" in read_search_status(house)["remark"]


def test_a_server_that_answers_with_errors_alone_is_told_as_down(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
        stand_in.fails_with = 500
        searched(house, "steam engines")

        status = read_search_status(house)
        assert (status["modes"], status["index_state"]) == (["keyword"], "down")
        assert "refused a request (500): told to fail" in status["remark"]
        stand_in.fails_with = 0
        recovers(house)


def test_the_passages_that_a_server_holds_are_told(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        for subject in ("steam engines", "quince jam"):
            note(house, subject)
            converges(house)
            assert read_search_status(house)["passages"] == len(stand_in.points()) > 0
