"""The models of search by meaning: what is kept of each, and forgetting what one made."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import ConfirmationError, ConflictError, NotFoundError
from panorama.services.jobs.progress import report_progress_to
from panorama.services.search import models
from panorama.services.search.models import ModelInfo, Models
from panorama.store.items import models as models_kept
from panorama.store.items import passages
from panorama.store.items.passages import INDEXER, Passage
from panorama.store.log import marks

Call = Callable[..., Answer]
Embed = Callable[..., None]
HALVES = bytes(2 * 8)
"""A vector of eight numbers as it is kept."""


@pytest.fixture
def embed(app: App) -> Embed:
    """Puts vectors of a model into the database: `embed("static", 3)`; the passages are the same for all models."""

    def put(model: str, count: int, digest: str = "d") -> None:
        every = [Passage("n_0000000001", "note", at, f"text {at}", 0, 1) for at in range(count)]
        name = passages.model_name(model, digest)
        with app.context.database.transaction(INDEXER) as session:
            passages.replace(session, {"n_0000000001": every})
            passages.save_vectors(session, name, {entry.digest: HALVES for entry in every})
            marks.set_mark(session, f"passages {name}", count)
            marks.set_mark(session, f"index here {name}", count)

    return put


@pytest.fixture
def using(app: App) -> Callable[[str], Models]:
    """The service as it is where a model is in use."""
    return lambda name: Models(app.context, name, app.settings.home)


@pytest.fixture
def row(call: Call) -> Callable[[str], Mapping[str, Any]]:
    """What the list says of a model."""
    return lambda name: next(model for model in call("models.list").data["models"] if model["name"] == name)


def _marks(app: App) -> set[str]:
    names = (f"{kind} {passages.model_name(model, 'd')}" for kind in ("passages", "index here") for model in MODELS)
    with app.context.database.reading() as session:
        return {name.split(" ")[-2] for name in names if marks.has_mark(session, name)}


MODELS = ("duo", "minilm", "static")


def test_the_list_names_what_can_be_chosen(call: Call) -> None:
    answer = call("models.list")

    names = ["duo", "minilm", "static", "trio", "none", "local:<name>", "ollama:<model>", "openai:<address>#<model>"]
    assert [model["name"] for model in answer.data["models"]] == names
    assert (answer.data["used"], answer.summary) == ("none", "Search by meaning is off")


def test_a_model_in_use_that_does_not_ship_is_listed_too(using: Callable[[str], Models]) -> None:
    found = using("ollama:tiny").list()

    used: list[ModelInfo] = [model for model in found.models if model.is_used]
    assert [(model.name, model.size) for model in used] == [("ollama:tiny", None)]


def test_without_a_choice_the_default_is_in_use(using: Callable[[str], Models]) -> None:
    found = using("").list()

    assert (found.used, found.is_default) == ("duo", True)
    assert using("").summarize_list(found) == "duo is in use by default"


def test_without_its_runtime_the_better_model_is_said_not_to_run(
    using: Callable[[str], Models], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models.registry, "find_spec", {}.get)

    found = using("").list()

    assert found.used == "static"
    assert "ONNX Runtime is not installed" in found.hint
    assert [model.is_there for model in found.models[:3]] == [False, False, True]


def test_what_each_model_made_is_counted(embed: Embed, row: Callable[[str], Mapping[str, Any]], call: Call) -> None:
    embed("ollama:old", 3)
    embed("static", 2)

    old = row("ollama:old")
    assert (old["passages"], old["vectors"], old["size_bytes"], old["size"]) == (2, 3, 48, 8)
    assert (row("static")["passages"], call("models.list").data["passages"]) == (2, 2)


def test_two_states_of_one_model_are_one_row(embed: Embed, row: Callable[[str], Mapping[str, Any]]) -> None:
    embed("ollama:old", 3, digest="before")
    embed("ollama:old", 3, digest="after")

    assert row("ollama:old")["vectors"] == 6


@pytest.mark.parametrize(("searched", "size", "count"), [("after", 12, 2), ("before", 8, 3), ("", 12, 2)])
def test_of_a_model_whose_size_changed_its_present_state_is_told(
    app: App, embed: Embed, row: Callable[[str], Mapping[str, Any]], searched: str, size: int, count: int
) -> None:
    embed("ollama:old", 3, digest="before")
    with app.context.database.transaction(INDEXER) as session:
        name = passages.model_name("ollama:old", "after")
        texts = models_kept.list_digests(session, passages.model_name("ollama:old", "before"), "", 2)
        passages.save_vectors(session, name, {text: bytes(2 * 12) for text in texts})
        marks.set_mark(session, f"passages {name}", 9)
        if searched:
            marks.set_served_model(session, "ollama:old", searched, size)

    found = row("ollama:old")

    assert (found["size"], found["passages"]) == (size, count)
    assert (found["vectors"], found["size_bytes"]) == (5, 3 * 16 + 2 * 24)


def test_removing_asks_first(embed: Embed, call: Call) -> None:
    embed("static", 3)

    with pytest.raises(ConfirmationError) as caught:
        call("models.remove", model="static")

    assert caught.value.question.startswith("Delete 3 vectors (0.0 MB) of static?")


def test_removing_forgets_one_models_vectors_and_no_other(
    embed: Embed, call: Call, row: Callable[[str], Mapping[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "BATCH_SIZE", 2)
    embed("minilm", 5)
    embed("static", 5)

    answer = call("models.remove", model="static", confirm=True)

    assert answer.summary.startswith("Deleted 5 vectors of static")
    assert (row("static")["vectors"], row("minilm")["vectors"]) == (0, 5)


def test_a_model_that_is_removed_begins_anew_when_it_is_chosen_again(app: App, embed: Embed, call: Call) -> None:
    embed("minilm", 2)
    embed("static", 2)

    call("models.remove", model="static", confirm=True)

    assert _marks(app) == {"minilm"}


def test_removing_changes_nothing_of_the_person_and_has_no_undo(
    embed: Embed, call: Call, rows: Callable[[], dict[str, int]]
) -> None:
    embed("static", 2)
    before = rows()

    answer = call("models.remove", model="static", confirm=True)

    assert rows() == before
    assert "undo" not in answer.metadata


def test_a_long_name_is_found_though_its_end_is_not_kept(embed: Embed, call: Call) -> None:
    name = f"openai:https://models.example.org/v1#{'long-' * 12}name"
    embed(name, 2)

    assert call("models.remove", model=name, confirm=True).data["vectors"] == 2


def test_the_model_in_use_is_not_removed(embed: Embed, using: Callable[[str], Models]) -> None:
    embed("duo", 2)

    for name in ("duo", ""):
        with pytest.raises(ConflictError, match="duo is in use"):
            using(name).remove("duo")


def test_a_model_that_is_searched_until_the_next_is_ready_is_not_removed(
    app: App, embed: Embed, using: Callable[[str], Models]
) -> None:
    embed("static", 2)
    with app.context.database.transaction(INDEXER) as session:
        marks.set_served_model(session, "static", "d", 8)

    with pytest.raises(ConflictError, match="static is searched until minilm has embedded everything"):
        using("minilm").remove("static")

    assert (
        using("minilm").summarize_list(using("minilm").list())
        == "minilm is in use, static is searched until it is ready"
    )
    assert using("none").remove("static").vectors == 2


def test_a_model_of_which_nothing_is_kept_is_refused_with_near_names(embed: Embed, call: Call) -> None:
    embed("static", 1)

    with pytest.raises(NotFoundError) as caught:
        call("models.remove", model="statik")

    assert caught.value.candidates == ({"id": "static"},)


def test_an_interrupted_removal_is_finished_by_the_next(
    embed: Embed, call: Call, row: Callable[[str], Mapping[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "BATCH_SIZE", 2)
    embed("static", 5)

    def hung_up(done: int, total: int, at: str) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError), report_progress_to(hung_up):
        call("models.remove", model="static", confirm=True)

    assert row("static")["vectors"] == 3
    assert call("models.remove", model="static", confirm=True).data["vectors"] == 3
