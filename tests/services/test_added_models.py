"""Search by meaning with a model of the user's own: found, moved to, damaged, swapped and removed."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from panorama.errors import ConflictError
from panorama.index.embedders.added.adding import add_folder
from panorama.services.search.models import Models
from tests.faults.house import OpenStore
from tests.faults.meanings import converges, finds, followed, note, read_search_status, until
from tests.index.embedders.added.folders import build_model, write_folder
from tests.services.lacking import assert_search_by_words, impatient, recovers

pytestmark = pytest.mark.slow  # they load models and follow the changes

__all__ = ["impatient"]

NAME = "local:small"


@pytest.fixture
def added(home: Path, tmp_path: Path) -> Path:
    """A model of the user's own; returns its folder in the data directory."""
    add_folder(home / "models", write_folder(tmp_path / "small"))
    return home / "models" / "small"


def list_models(house: OpenStore) -> Mapping[str, Mapping[str, Any]]:
    return {row["name"]: row for row in house.do("models.list")["data"]["models"]}


def test_notes_are_found_by_a_model_of_ones_own(home: Path, added: Path) -> None:
    with followed(home, index_engine="exact", embedder=NAME) as house:
        made = note(house, "lemon cake")
        converges(house)

        assert finds(house, "recipe for cake", made)
        assert [read_search_status(house)[name] for name in ("model", "dimensions")] == [NAME, 32]
        assert (list_models(house)[NAME]["size"], list_models(house)[NAME]["is_there"]) == (32, True)


def test_a_store_moves_to_it_and_back(home: Path, added: Path) -> None:
    for model in ("static", NAME, "static", NAME):
        with followed(home, index_engine="auto", embedder=model) as house:
            made = note(house, f"lemon cake for {model}")
            converges(house)

            assert read_search_status(house)["model"] == model
            assert finds(house, "lemon cake", made)


@pytest.mark.parametrize("damage", ["truncated", "missing", "another", "no manifest"])
def test_words_are_found_while_its_files_are_damaged(home: Path, added: Path, tmp_path: Path, damage: str) -> None:
    kept = shutil.copytree(added, tmp_path / "kept")
    if damage == "no manifest":
        (added / "model.json").unlink()
    elif damage == "missing":
        (added / "model.onnx").unlink()
    else:
        content = (added / "model.onnx").read_bytes()[:-1] if damage == "truncated" else build_model(seed=9)
        (added / "model.onnx").write_bytes(content)
    with followed(home, index_engine="exact", embedder=NAME) as house:
        status = assert_search_by_words(house)
        assert "small" in status["last_error"]
        assert "panorama models" in status["do"]

        shutil.copytree(kept, added, dirs_exist_ok=True)
        recovers(house, knows=False)


def test_words_are_found_when_it_is_swapped_while_it_is_in_use(home: Path, added: Path) -> None:
    with followed(home, index_engine="exact", embedder=NAME) as house:
        made = note(house, "lemon cake")
        converges(house)

        (added / "model.onnx").write_bytes(build_model(seed=9))
        assert finds(house, "lemon cake", made)  # the loaded model goes on

        with house.app.meaning.ensure_open().chosen.resident.acquire() as embedder:
            embedder.close()  # as after ten idle minutes
        until(lambda: not house.do("search", query="cake")["metadata"]["index"].get("model"), "the end of its memory")
        assert "model.onnx" in assert_search_by_words(house)["last_error"]


def test_it_is_removed_with_its_files_unless_it_is_in_use(home: Path, added: Path) -> None:
    with followed(home, index_engine="exact", embedder=NAME) as house:
        note(house, "lemon cake")
        converges(house)
        with pytest.raises(ConflictError):
            Models(house.app.context, NAME, home).remove(NAME)
    with followed(home, index_engine="exact", embedder="static") as house:
        note(house, "tea")
        converges(house)

        removed = Models(house.app.context, "static", home).remove(NAME)

        assert removed.vectors >= 1
        assert removed.size_bytes > 1000
        assert not added.exists()
        assert NAME not in list_models(house)
