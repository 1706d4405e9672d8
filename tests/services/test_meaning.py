"""Search by meaning when a part of it is missing: what is asked is answered with keywords, and says what to do."""

import shutil
import sqlite3
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.index.embedders import bundled, minilm, static
from panorama.services.search import embedding_pipeline
from tests.faults.meanings import converges, finds, followed, note, read_search_status, searched, until
from tests.index.qdrant_stand_in import standing_in
from tests.services.lacking import assert_search_by_words, impatient, recovers

pytestmark = pytest.mark.slow  # they load a model and follow the changes

__all__ = ["impatient"]


# The model.


def test_a_model_whose_file_is_missing_is_said(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)
    with followed(home, index_engine="exact") as house:
        status = assert_search_by_words(house)
        assert "static-int8.npz" in status["last_error"] or "vocab.txt" in status["last_error"]
        assert status["do"] == "Install Panorama again."

        monkeypatch.undo()
        recovers(house)


def test_a_model_whose_file_is_damaged_is_said(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / bundled.MINILM.name).write_bytes(bundled.MINILM.path.read_bytes()[:-1])
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)

    with followed(home, index_engine="exact", embedder="minilm") as house:
        assert "is damaged" in assert_search_by_words(house)["last_error"]


def test_a_move_to_a_model_whose_file_is_damaged_is_reported_with_every_search(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with followed(home, index_engine="exact") as house:
        note(house, "quince jam")
        converges(house)
    for file in (bundled.STATIC, bundled.VOCABULARY):
        (tmp_path / file.name).write_bytes(file.path.read_bytes())
    (tmp_path / bundled.MINILM.name).write_bytes(bundled.MINILM.path.read_bytes()[:-1])
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)

    with followed(home, index_engine="exact", embedder="minilm") as house:
        until(lambda: "is damaged" in searched(house, "quince")["summary"], "the reason")
        answer = searched(house, "quince")

    assert "static is searched until minilm is ready: The model's file" in answer["summary"]
    assert answer["summary"].endswith("is damaged. Install Panorama again.")


@pytest.mark.slow
def test_words_are_found_when_the_default_model_s_table_is_truncated_while_it_is_in_use(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in (*bundled.DUO_FILES, bundled.STATIC):
        shutil.copy(file.path, tmp_path / file.name)
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)
    with followed(home, index_engine="exact", embedder="duo") as house:
        made = note(house, "apple cake")
        converges(house)
        assert finds(house, "Apfelkuchen", made)

        with (tmp_path / bundled.USE_TABLE.name).open("r+b") as table:
            table.truncate(1000)
        note(house, "Zwetschgen einkochen")

        assert "use-table.bin" in assert_search_by_words(house)["last_error"]


def test_without_onnx_runtime_the_better_model_is_said_to_miss_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with followed(home, index_engine="exact", embedder="minilm") as house:
        status = assert_search_by_words(house)

    assert "onnxruntime" in status["last_error"]
    assert "choose the embedder static" in status["do"]


@pytest.mark.slow
def test_without_onnx_runtime_and_a_choice_the_small_model_runs_and_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with followed(home, index_engine="exact", embedder="") as house:
        recovers(house)
        status = read_search_status(house)

    assert status["model"] == "static"
    assert "pip install onnxruntime" in status["remark"]


def test_a_model_that_does_not_exist_is_said_with_those_that_do(home: Path) -> None:
    with followed(home, index_engine="exact", embedder="minlm") as house:
        status = assert_search_by_words(house)

    assert "no embedder 'minlm'" in status["last_error"]
    assert "duo, minilm, static" in status["do"]


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
    monkeypatch.setattr(embedding_pipeline, "TEXTS_PER_STEP", 20)
    monkeypatch.setattr(minilm.MiniLM, "embed_documents", slowly)
    again: list[str] = []
    with followed(home, **engine) as house:
        for number in range(150):
            note(house, f"quince jam {number}")
        converges(house)
    answers: list[Mapping[str, Any]] = []
    seconds: list[int | None] = []
    with followed(home, embedder="minilm", **engine) as house:
        until(lambda: searched(house, "quince")["metadata"]["index"]["ran"] == ["keyword", "semantic"], "a search")
        made = note(house, "wild horses")
        while read_search_status(house).get("changing_to"):
            seconds.append(read_search_status(house).get("changing_seconds"))
            answers.append(searched(house, "wild horses", mode="semantic"))
        converges(house)
        assert finds(house, "wild horses", made)
        after = read_search_status(house)["model"]
    monkeypatch.setattr(static.StaticEmbedder, "embed_documents", lambda _, texts: again.extend(texts) or 1 / 0)
    with followed(home, **engine) as house:
        converges(house)
        assert finds(house, "wild horses", made)
        back = read_search_status(house)["model"]

    indexes = [answer["metadata"]["index"] for answer in answers]
    assert [left for left in seconds if left is not None]
    assert all(index.get("missing", LATE).endswith(LATE) for index in indexes)
    assert {index["model"] for index in indexes if "model" in index} >= {"static"}
    assert any(made in {row["id"] for row in answer["data"]} for answer in answers[:-1])
    assert (after, back, again) == ("minilm", "static", [])


# The folder of the index.


def test_an_index_that_says_another_size_than_its_model_has_is_moved_aside_and_built_anew(home: Path) -> None:
    with followed(home) as house:
        made = note(house, "steam engines")
        converges(house)
    (about,) = home.glob("index/g-*/made.json")
    about.write_text(about.read_text().replace('"size": 256', '"size": 400'))

    with followed(home) as house:
        converges(house)

        assert finds(house, "steam engines", made)
        assert (
            "The index was damaged (it says 400 dimensions, and static has 256)" in read_search_status(house)["remark"]
        )
    assert list(home.glob("index.damaged-*/g-*/made.json"))


# The database.


@pytest.mark.slow
def test_a_database_that_is_locked_while_it_is_followed_is_waited_for(home: Path) -> None:
    with followed(home, busy_seconds=0.2) as house:
        with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
            note(house, "quince jam")
            other.execute("BEGIN IMMEDIATE")
            until(lambda: "locked" in read_search_status(house).get("last_error", ""), "the error")
            assert house.do("search", query="quince")["data"]
            other.execute("ROLLBACK")

        recovers(house)


def test_nothing_is_opened_where_it_is_off(home: Path) -> None:
    with followed(home, embedder="none") as house:
        note(house, "quince jam")
        found = house.do("search", query="quince", mode="semantic")

    assert found["metadata"]["index"]["missing"] == "Search by meaning is off."
    assert "panorama models use default" in found["metadata"]["index"]["do"]
    assert not (home / "index").exists()
