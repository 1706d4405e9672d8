"""Search by meaning when a part of it is missing: what is asked is answered with keywords, and says what to do."""

import sqlite3
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from panorama.index import server
from panorama.index.embedders import files, minilm, static
from panorama.index.embedders.resident import Resident
from panorama.services import following, reading
from tests.faults.house import House
from tests.faults.meanings import converges, finds, followed, note, searched, told, until
from tests.index.embedders import service as services
from tests.index.embedders.service import Service, serving
from tests.index.qdrant_stand_in import StandIn, standing_in

NOWHERE = "http://127.0.0.1:9"
"""The port that discards everything; nothing listens there."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look, and try again what has failed, sooner than a person's daemon does."""
    monkeypatch.setattr(following, "START_SECONDS", 0.0)
    monkeypatch.setattr(following, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(following, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(server, "AGAIN_SECONDS", 0.1)
    for name in ("first_pause", "longest_pause"):
        monkeypatch.setitem(Resident.__init__.__kwdefaults__, name, timedelta(seconds=0.1))


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


def speaks(house: House) -> Mapping[str, Any]:
    """Check that a write and a search work without meaning, and that search and status say why; return the latter."""
    made = note(house, "quince jam")
    until(lambda: "last_error" in told(house), "the error")

    found = {mode: house.do("search", query="quince", mode=mode) for mode in ("hybrid", "semantic")}

    said = told(house)
    for answer in found.values():
        index = answer["metadata"]["index"]
        assert [each["id"] for each in answer["data"]] == [made]
        assert index["ran"] == ["keyword"]
        assert index["missing"]
        assert index["do"]
    assert found["semantic"]["metadata"]["index"]["missing"] in found["semantic"]["metadata"]["hint"]
    assert said["modes"] == ["keyword"]
    assert said["do"]
    return said


def recovers(house: House, *, knows: bool = True) -> None:
    """Check that search by meaning runs, finds what was written if the model knows, and that nothing is said of it."""
    made = note(house, "steam engines")
    converges(house)
    assert finds(house, "steam engines", made) or not knows
    until(lambda: "last_error" not in told(house), "the end of the error")


# The model.


def test_a_model_whose_file_is_missing_is_said(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    with followed(home, index_engine="exact") as house:
        said = speaks(house)
        assert "static-int8.npz" in said["last_error"] or "vocab.txt" in said["last_error"]
        assert said["do"] == "Install Panorama again."

        monkeypatch.undo()
        recovers(house)


def test_a_model_whose_file_is_damaged_is_said(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / files.MINILM.name).write_bytes(files.MINILM.path.read_bytes()[:-1])
    monkeypatch.setattr(files, "FOLDER", tmp_path)

    with followed(home, index_engine="exact", embedder="minilm") as house:
        assert "is damaged" in speaks(house)["last_error"]


def test_without_onnx_runtime_the_better_model_is_said_to_miss_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with followed(home, index_engine="exact", embedder="minilm") as house:
        said = speaks(house)

    assert "onnxruntime" in said["last_error"]
    assert "choose the embedder static" in said["do"]


@pytest.mark.slow
def test_without_onnx_runtime_and_a_choice_the_small_model_runs_and_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with followed(home, index_engine="exact", embedder="") as house:
        recovers(house)
        said = told(house)

    assert said["model"] == "static"
    assert "pip install onnxruntime" in said["remark"]


def test_a_model_that_does_not_exist_is_said_with_those_that_do(home: Path) -> None:
    with followed(home, index_engine="exact", embedder="minlm") as house:
        said = speaks(house)

    assert "no embedder 'minlm'" in said["last_error"]
    assert "minilm, static" in said["do"]


# A service that embeds.


def openai(service: Service) -> str:
    """Return the name of a service's model."""
    return f"openai:{service.url}#tiny"


def test_an_embedding_service_that_is_down_is_said(home: Path) -> None:
    with followed(home, index_engine="exact", embedder=f"openai:{NOWHERE}#tiny") as house:
        assert NOWHERE in speaks(house)["last_error"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (services.says({"error": {"message": "out of memory"}}, 500), "500"),
        (services.says({"data": "soon"}), "nonsense"),
        (services.raw(b"<html>"), "nonsense|JSON|answer"),
        (services.vectors([[0.0] * 8]), "nonsense"),
        (services.hang_up, "reached|hung up|connection|answer"),
    ],
    ids=["error", "nonsense", "html", "zeros", "hanging up"],
)
def test_an_embedding_service_that_misbehaves_is_said_until_it_behaves(
    home: Path, service: Service, reply: services.Reply, words: str
) -> None:
    service.always = reply
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        said = speaks(house)
        assert service.url in said["last_error"] or words in said["last_error"]

        service.always = None
        recovers(house, knows=False)


def late(talk: services.Talk) -> None:
    """Answer as it should, after ten seconds or when the test has seen enough."""
    talk.service.ended.wait(10)
    services.proper(talk)


@pytest.mark.slow
def test_an_embedding_service_that_is_slow_does_not_delay_the_answers(home: Path, service: Service) -> None:
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)
        service.always = late
        found = [searched(house, "steam engines") for _ in range(20)]

        assert {tuple(each["metadata"]["index"]["ran"]) for each in found} == {("keyword",)}
        assert "in time" in found[0]["metadata"]["index"]["missing"]
        assert len(service.asked) < 20
        service.ended.set()
        recovers(house, knows=False)


@pytest.mark.slow
def test_an_embedding_service_whose_vectors_get_another_size_is_followed(home: Path, service: Service) -> None:
    with followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)

        service.size = 16
        recovers(house, knows=False)

        assert told(house)["dimensions"] == 16


def test_a_model_that_is_another_one_under_the_same_name_is_followed(
    home: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", service.url)
    monkeypatch.setitem(Resident.__init__.__kwdefaults__, "idle", timedelta())
    with followed(home, index_engine="exact", embedder="ollama:tiny") as house:
        recovers(house, knows=False)
        before = house.app.meaning.opened().chosen.model

        monkeypatch.setattr(services, "DIGEST", "sha256:new")
        until(lambda: note(house, "wild horses") and house.app.meaning.opened().chosen.model != before, "the new model")
        recovers(house, knows=False)

        assert house.app.meaning.opened().chosen.model.digest == "sha256:new"


def test_a_service_that_is_given_up_holds_up_no_other_model(home: Path) -> None:
    with serving() as service, followed(home, index_engine="exact", embedder=openai(service)) as house:
        recovers(house, knows=False)

    with followed(home, index_engine="exact", embedder="static") as house:
        recovers(house)

        assert told(house)["model"] == "static"


# A Qdrant server.


def test_a_qdrant_server_that_is_down_is_said(home: Path) -> None:
    with followed(home, qdrant_url=NOWHERE) as house:
        assert "cannot be reached" in speaks(house)["last_error"]


def test_a_qdrant_server_that_refuses_the_key_is_said_until_it_takes_it(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="wrong") as house:
        said = speaks(house)
        stand_in.key = "wrong"
        recovers(house)

    assert "refused the key" in said["last_error"]
    assert "PANORAMA_QDRANT_KEY" in said["do"]


@pytest.mark.parametrize("url", ["localhost:6333", "ftp://localhost", "http://me:geheim@localhost:port", "http://[::1"])
def test_an_address_that_is_none_is_said_with_the_form_of_one(home: Path, url: str) -> None:
    with followed(home, qdrant_url=url) as house:
        said = speaks(house)
        missing = searched(house, "quince")["metadata"]["index"]["missing"]

    assert said["last_error"] == missing
    assert "PANORAMA_QDRANT_URL" in missing
    assert "http://localhost:6333" in said["do"]
    assert "geheim" not in str(said)


def test_a_web_server_that_is_not_qdrant_is_said_until_there_is_one(home: Path, stand_in: StandIn) -> None:
    stand_in.says = b'{"hello": "world"}'
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        said = speaks(house)
        stand_in.says = b""
        recovers(house)

    assert "is not Qdrant" in said["last_error"]
    assert "Check host, port" in said["do"]


@pytest.mark.slow
def test_a_qdrant_server_that_is_slow_does_not_delay_the_answers(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
        stand_in.waits = True
        found = [searched(house, "steam engines") for _ in range(20)]

        assert {tuple(each["metadata"]["index"]["ran"]) for each in found} == {("keyword",)}
        assert "in time" in found[0]["metadata"]["index"]["missing"]
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
        stand_in.collections.clear()

        recovers(house)


# Another model.

LATE = "did not answer in time."
SLOW = (pytest.param("edge", marks=pytest.mark.slow), pytest.param("server", marks=pytest.mark.slow))


@pytest.fixture(params=("exact", *SLOW))
def engine(request: pytest.FixtureRequest) -> Generator[Mapping[str, str]]:
    """The settings of each engine in turn."""
    if request.param == "server":
        with standing_in() as server:
            yield {"qdrant_url": server.url}
    else:
        yield {"index_engine": request.param}


def slowly(model: minilm.MiniLM, texts: Sequence[str], embed: Any = minilm.MiniLM.embed_documents) -> Any:
    """Embed as it should, but so slowly that others are served meanwhile."""
    threading.Event().wait(0.2)
    return embed(model, texts)


@pytest.mark.slow
def test_until_another_model_is_ready_the_one_before_is_searched(
    home: Path, engine: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "TEXTS_OF_A_STEP", 20)
    monkeypatch.setattr(minilm.MiniLM, "embed_documents", slowly)
    again: list[str] = []
    with followed(home, **engine) as house:
        for number in range(150):
            note(house, f"quince jam {number}")
        converges(house)
    answers: list[Mapping[str, Any]] = []
    with followed(home, embedder="minilm", **engine) as house:
        until(lambda: searched(house, "quince")["metadata"]["index"]["ran"] == ["keyword", "semantic"], "a search")
        made = note(house, "wild horses")
        while told(house).get("changing_to"):
            answers.append(searched(house, "wild horses", mode="semantic"))
        converges(house)
        assert finds(house, "wild horses", made)
        after = told(house)["model"]
    monkeypatch.setattr(static.Static, "embed_documents", lambda _, texts: again.extend(texts) or 1 / 0)
    with followed(home, **engine) as house:
        converges(house)
        assert finds(house, "wild horses", made)
        back = told(house)["model"]

    indexes = [each["metadata"]["index"] for each in answers]
    assert all(index.get("missing", LATE).endswith(LATE) for index in indexes)
    assert {index["model"] for index in indexes if "model" in index} >= {"static"}
    assert any(made in {row["id"] for row in each["data"]} for each in answers[:-1])
    assert (after, back, again) == ("minilm", "static", [])


# The database.


@pytest.mark.slow
def test_a_database_that_is_locked_while_it_is_followed_is_waited_for(home: Path) -> None:
    with followed(home) as house:
        with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
            note(house, "quince jam")
            other.execute("BEGIN IMMEDIATE")
            until(lambda: "locked" in told(house).get("last_error", ""), "the error")
            assert house.do("search", query="quince")["data"]
            other.execute("ROLLBACK")

        recovers(house)


def test_nothing_is_opened_where_it_is_off(home: Path) -> None:
    with followed(home, embedder="none") as house:
        note(house, "quince jam")
        found = house.do("search", query="quince", mode="semantic")

    assert found["metadata"]["index"]["missing"] == "Search by meaning is off."
    assert "panorama models use minilm" in found["metadata"]["index"]["do"]
    assert not (home / "index").exists()
