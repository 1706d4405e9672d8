"""Adding, listing and removing models from the command line."""

from pathlib import Path

import pytest

from ...index.embedders.added.folders import write_folder
from ..conftest import Command

pytestmark = pytest.mark.slow


def test_the_list_shows_which_model_is_in_use_and_what_each_made(run: Command, embedded: None) -> None:
    result = run("models", "list")

    assert result.code == 0
    assert result.lines[1].split()[:3] == ["duo", "yes", "512"]
    assert result.lines[3].split()[:5] == ["static", "256", "2", "1.0", "kB"]
    assert "duo is in use by default; 2 passages in all" in result.err


def test_the_list_is_data_too(run: Command) -> None:
    result = run("models", "list", "--json").answer

    assert [result["data"][name] for name in ("used", "is_default", "passages")] == ["duo", True, 0]
    assert result["data"]["models"][2]["size"] == 256


def test_the_list_tells_that_the_environment_wins(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    run("models", "use", "static")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")

    result = run("models", "list")

    assert "PANORAMA_EMBEDDER=none is set and overrides config.toml" in result.err


def test_removing_asks_and_then_tells_how_much_was_forgotten(run: Command, embedded: None) -> None:
    refused = run("models", "remove", "static")
    removed = run("models", "remove", "static", "--yes")

    assert (refused.code, "of static?" in refused.err) == (1, True)
    assert (removed.code, removed.out.startswith("Deleted 2 vectors of static")) == (0, True)
    assert run("models", "remove", "static", "--yes").code == 1


@pytest.mark.usefixtures("person")
def test_removing_asks_the_person_at_the_terminal(run: Command, embedded: None) -> None:
    result = run("models", "remove", "static", stdin=b"y\n")

    assert (result.code, "of static?" in result.err) == (0, True)


def test_the_model_in_use_is_not_removed(run: Command, embedded: None) -> None:
    run("models", "use", "static")

    result = run("models", "remove", "static", "--yes")

    assert (result.code, "Choose another first" in result.err) == (1, True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small model in the sentence-transformers layout."""
    return write_folder(tmp_path / "Small Model")


def test_a_model_is_added_listed_chosen_and_removed(run: Command, folder: Path, config: Path) -> None:
    added, listed = run("models", "add", str(folder)), run("models", "list")
    chosen, tested = run("models", "use", "local:small-model"), run("models", "test")
    refused = run("models", "remove", "local:small-model", "--yes")
    run("models", "use", "default")
    removed = run("models", "remove", "local:small-model", "--yes")

    assert (added.code, "Added local:small-model: 32 dimensions, mean pooling" in added.err) == (0, True)
    assert any(line.split()[:2] == ["local:small-model", "32"] for line in listed.lines)
    assert (chosen.code, tested.code, "local:small-model" in tested.out) == (0, 0, True)
    assert (refused.code, "is in use" in refused.err) == (1, True)
    assert (removed.code, "Deleted 0 vectors of local:small-model" in removed.out) == (0, True)
    assert "local:small-model" not in run("models", "list").out


def test_an_added_model_is_data_too(run: Command, folder: Path) -> None:
    row = run("models", "add", str(folder), "--name", "mine", "--query-prompt", "query: ", "--json").answer["data"]

    assert [row[name] for name in ("id", "size", "pooling", "query_prompt")] == ["local:mine", 32, "mean", "query: "]


def test_a_folder_that_is_no_model_is_refused_with_what_it_lacks(run: Command, tmp_path: Path) -> None:
    result = run("models", "add", str(tmp_path))

    assert (result.code, "has no ONNX file" in result.err) == (2, True)


def test_a_model_that_was_not_added_cannot_be_chosen(run: Command) -> None:
    result = run("models", "use", "local:nothing")

    assert (result.code, "panorama models add DIR" in result.err) == (2, True)


@pytest.mark.parametrize("command", ["list", "add", "use", "remove", "test"])
def test_every_command_has_examples(run: Command, command: str) -> None:
    result = run("models", command, "--help")

    assert f"panorama models {command}" in result.out.partition("Examples")[2]
