"""Choosing, comparing and forgetting models from the command line, and services that misbehave meanwhile."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from panorama.app import open_app
from panorama.cli.client import Client
from panorama.cli.commands.models import choose, compare
from panorama.cli.console import console
from panorama.config import read_settings
from panorama.index.embedders.http import Limits
from panorama.index.evaluation import sets
from panorama.store.items import passages
from panorama.store.items.passages import INDEXER, Passage
from panorama.store.log import marks

from ..index.embedders import service as answers
from ..index.embedders.added.folders import write_folder
from ..index.embedders.service import Reply, Service, serving
from .conftest import Command

pytestmark = pytest.mark.slow

Given = Callable[..., Any]
HASTY = Limits(documents=0.6, query=0.4, pause=1.0)
BODY = "This is about {}, in so many words that anybody who looks for it can find it by what is said of it here. "
SERVICES = ("ollama", "openai")


@pytest.fixture(autouse=True)
def unchosen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the environment decides, and nobody is waited for."""
    for name in ("PANORAMA_EMBEDDER", "OPENAI_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(choose, "TRIAL_LIMITS", HASTY)
    monkeypatch.setattr(choose, "MEASURE_SECONDS", 0.05)
    monkeypatch.setattr(compare, "LIMITS", HASTY)


@pytest.fixture
def service() -> Iterator[Service]:
    """A service that embeds."""
    with serving() as made:
        yield made


@pytest.fixture(params=SERVICES)
def remote(request: pytest.FixtureRequest, service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a model of the service, in each API in turn."""
    monkeypatch.setenv("OLLAMA_HOST", service.url)
    return "ollama:tiny" if request.param == "ollama" else f"openai:{service.url}/v1#tiny"


@pytest.fixture
def config(home: Path) -> Path:
    """The file of the settings."""
    return home / "config.toml"


@pytest.fixture
def notes(given: Given) -> None:
    """Two notes that can be looked for, and one that cannot."""
    for word in ("gardens", "steamships"):
        given("create_note", title=f"All {word}", content=BODY.format(word) * 2)
    given("create_note", title="Short", content="Too short.")


@pytest.fixture
def embedded(home: Path) -> None:
    """Two passages with vectors of the model `static`."""
    every = [Passage("n_0000000001", "note", at, f"text {at}", 0, 1) for at in range(2)]
    with open_app(read_settings()) as app, app.context.database.transaction(INDEXER) as session:
        passages.replace(session, {"n_0000000001": every})
        passages.save_vectors(session, passages.model_name("static", "d"), {each.digest: bytes(512) for each in every})


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone at the terminal."""
    monkeypatch.setattr(console, "is_interactive", lambda: True)


# What there is.


def test_the_list_shows_which_model_is_in_use_and_what_each_made(run: Command, embedded: None) -> None:
    told = run("models", "list")

    assert told.code == 0
    assert told.lines[1].split()[:3] == ["duo", "yes", "512"]
    assert told.lines[3].split()[:5] == ["static", "256", "2", "1.0", "kB"]
    assert "duo is in use by default; 2 passages in all" in told.err


def test_the_list_is_data_too(run: Command) -> None:
    told = run("models", "list", "--json").answer

    assert [told["data"][name] for name in ("used", "is_default", "passages")] == ["duo", True, 0]
    assert told["data"]["models"][2]["size"] == 256


def test_the_list_tells_that_the_environment_wins(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    run("models", "use", "static")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")

    told = run("models", "list")

    assert "PANORAMA_EMBEDDER=none is set and overrides config.toml" in told.err


# Choosing one.


@pytest.mark.parametrize("name", ["duo", "minilm", "static", "none"])
def test_a_model_that_is_chosen_is_in_use(run: Command, config: Path, name: str) -> None:
    told = run("models", "use", name)

    assert (told.code, told.out) == (0, f"{config} has embedder = {name}.\n")
    assert read_settings().embedder == name
    assert config.stat().st_mode & 0o777 == 0o600


def test_what_was_there_stays_as_it_is(run: Command, config: Path) -> None:
    config.write_bytes(b"# mine\r\nlog_days = 7   # a week\r\n\r\n# of others\r\n[other]\r\nb = 1\r\n")
    config.chmod(0o640)

    run("models", "use", "static")

    assert config.read_bytes() == (
        b'# mine\r\nlog_days = 7   # a week\r\nembedder = "static"\r\n\r\n# of others\r\n[other]\r\nb = 1\r\n'
    )
    assert config.stat().st_mode & 0o777 == 0o640


def test_another_choice_replaces_the_first_where_it_stands(run: Command, config: Path) -> None:
    config.write_text("embedder = 'static'  # fast\nlog_days = 7\n")

    run("models", "use", "minilm")

    assert config.read_text() == 'embedder = "minilm"  # fast\nlog_days = 7\n'


@pytest.mark.parametrize("words", [("default",), ("--default",)])
def test_the_choice_is_left_to_panorama_again(run: Command, config: Path, words: tuple[str, ...]) -> None:
    config.write_text('log_days = 7\nembedder = "static"\n')

    told = run("models", "use", *words)

    assert (told.code, config.read_text()) == (0, "log_days = 7\n")
    assert "leaves the choice to Panorama" in told.out


def test_the_same_choice_again_changes_nothing(run: Command, config: Path) -> None:
    run("models", "use", "static")
    before = config.stat().st_mtime_ns

    assert run("models", "use", "static").out == f"{config} has embedder = static already.\n"
    assert config.stat().st_mtime_ns == before


def test_the_work_that_is_left_is_told_with_how_long_it_takes(run: Command, embedded: None) -> None:
    told = run("models", "use", "minilm")

    assert "Search by meaning starts when 2 passages are embedded by minilm, in about 1 s." in told.err


def test_a_model_that_has_made_all_its_vectors_has_nothing_left_to_do(run: Command, embedded: None) -> None:
    assert "static has embedded everything." in run("models", "use", "static").err


def test_search_goes_on_with_the_old_model_until_the_new_one_is_ready(run: Command, embedded: None) -> None:
    with open_app(read_settings()) as app, app.context.database.transaction(INDEXER) as session:
        marks.set_served_model(session, "static", "d", 256)

    told = run("models", "use", "minilm", "--force")

    assert "Search uses static until 2 passages are embedded by minilm." in told.err


def test_the_environment_wins_over_the_choice_and_that_is_told(
    run: Command, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")

    told = run("models", "use", "static")

    assert (told.code, config.read_text()) == (0, 'embedder = "static"\n')
    assert "PANORAMA_EMBEDDER=none is set and overrides config.toml" in told.err


@pytest.mark.parametrize("name", ["minilmm", "ollama", "ollama:", "olama:x", "openai:#x", "openai:http://a", "MINILM"])
def test_a_name_that_is_no_models_is_refused(run: Command, config: Path, name: str) -> None:
    told = run("models", "use", name, "--force")

    assert (told.code, config.exists()) == (2, False)
    assert "→ " in told.err


def test_a_misspelt_name_has_candidates(run: Command) -> None:
    told = json.loads(run("models", "test", "minilmm", "--json").err)

    assert told["error"]["candidates"] == [{"id": "minilm"}]


@pytest.mark.parametrize("words", [(), ("static", "--default")])
def test_a_choice_is_one_name(run: Command, config: Path, words: tuple[str, ...]) -> None:
    assert (run("models", "use", *words).code, config.exists()) == (2, False)


def test_a_file_that_cannot_be_read_is_left_alone(run: Command, config: Path) -> None:
    config.write_text("log_days = = 7\n")

    told = run("models", "use", "static")

    assert (told.code, config.read_text()) == (2, "log_days = = 7\n")
    assert "Fix it and run this again" in told.err


def test_a_file_of_unusual_form_is_left_alone(run: Command, config: Path) -> None:
    config.write_text("[embedder]\nb = 1\n")

    told = run("models", "use", "static")

    assert (told.code, config.read_text()) == (3, "[embedder]\nb = 1\n")
    assert 'embedder = "static"' in told.err


def test_a_name_cannot_smuggle_in_another_setting(run: Command, config: Path) -> None:
    run("models", "use", 'ollama:x"\nhttp_port = 1 # ', "--force")

    assert read_settings().http_port == 0


# Services.


def test_a_service_that_embeds_is_taken(run: Command, config: Path, remote: str, service: Service) -> None:
    told = run("models", "use", remote)

    assert (told.code, read_settings().embedder) == (0, remote)
    assert service.asked


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answers.raw(b"<html>"), "gave an invalid answer: no vectors"),
        (answers.vectors([]), "gave an invalid answer: 0 vectors for 1 texts"),
        (answers.vectors([["a"]]), "gave an invalid answer"),
        (answers.vectors([[0.0] * 8]), "gave an invalid answer: a vector without a direction"),
        (answers.silence, "no complete answer came within"),
        (answers.trickle, "no complete answer came within"),
        (answers.hang_up, "the connection broke"),
        (answers.says({"error": "busy"}, 503), "it returned status 503"),
        (
            answers.says({"error": "model 'tiny' not found"}, 404),
            "refuses the model tiny (404: model 'tiny' not found)",
        ),
        (answers.says({}, 401), "does not accept the key (401)"),
        (answers.says({}, 301), "has moved (301)"),
    ],
)
def test_a_service_that_misbehaves_is_refused_before_anything_changes(
    run: Command, config: Path, remote: str, service: Service, reply: Reply, words: str
) -> None:
    service.always = reply

    told = run("models", "use", remote)

    assert (told.code, config.exists()) == (3, False)
    assert words in told.err
    assert "Nothing was changed; use --force to select it without a trial." in told.err


def test_a_service_that_is_not_there_is_refused_at_once(run: Command, config: Path) -> None:
    told = run("models", "use", "openai:http://127.0.0.1:9/v1#tiny")

    assert (told.code, config.exists()) == (3, False)
    assert "nothing answers at this address" in told.err


def test_a_wrong_key_of_a_service_on_this_machine_is_refused_with_where_the_right_one_is_looked_for(
    run: Command, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_OPENAI_KEY", "sk-wrong")
    service.always = answers.says({"error": {"message": "Incorrect API key: sk-wr*ng"}}, 401)

    told = run("models", "use", f"openai:{service.url}/v1#tiny")

    assert "set PANORAMA_OPENAI_KEY and run `panorama daemon restart` in the same shell" in told.err
    assert "keyring" not in told.err
    assert "sk-wr" not in told.err
    assert service.asked[0].headers["authorization"] == "Bearer sk-wrong"


@pytest.mark.parametrize(
    ("variable", "name", "words"),
    [
        ("PANORAMA_OPENAI_KEY", "openai:https://models.example.org/v1#tiny", "`keyring set panorama https://models"),
        ("OPENAI_API_KEY", "openai:https://api.openai.com/v1#tiny", "`keyring set panorama https://api.openai.com/v1`"),
        ("OLLAMA_HOST", "ollama:tiny", "OLLAMA_HOST is set in this shell"),
    ],
)
def test_what_only_this_shell_knows_is_told(
    run: Command, monkeypatch: pytest.MonkeyPatch, variable: str, name: str, words: str
) -> None:
    assert words not in run("models", "use", name, "--force").err

    monkeypatch.setenv(variable, "elsewhere.example.org")

    assert words in run("models", "use", name, "--force").err


def test_force_takes_a_service_untried(run: Command, remote: str, service: Service) -> None:
    service.always = answers.silence

    assert run("models", "use", remote, "--force").code == 0
    assert (read_settings().embedder, service.asked) == (remote, [])


def test_a_service_is_compared_with_what_ships(run: Command, remote: str, service: Service) -> None:
    told = run("models", "test", remote, "static", "--json")

    assert [(row["model"], row["size"]) for row in told.answer["data"]] == [(remote, 8), ("static", 256)]
    assert sum(map(len, service.texts)) >= 100


def test_vectors_that_change_their_size_end_the_test(run: Command, remote: str, service: Service) -> None:
    def grown(talk: answers.Talk) -> None:
        service.size = 8 + len(service.asked) // 9
        answers.proper(talk)

    service.always = grown

    told = run("models", "test", remote)

    assert (told.code, told.out) == (3, "")
    assert "after vectors of 8" in told.err


# Comparing.


def test_a_test_shows_scores_by_kind_and_speed(run: Command) -> None:
    told = run("models", "test", "static")

    assert [line.split("  ")[0] for line in told.lines[1:6]] == ["name", "rare word", "paraphrase", "question", "all"]
    assert told.lines[7].split("  ")[0] == "model"
    assert "Searched 40 built-in queries among 60 notes" in told.err


def test_models_stand_under_each_other_in_each_kind(run: Command) -> None:
    told = run("models", "test", "minilm", "static")

    assert [line.split()[-4] for line in told.lines[1:5]] == ["minilm", "static", "minilm", "static"]


def test_the_better_model_scores_better(run: Command) -> None:
    minilm, static = run("models", "test", "minilm", "static", "--json").answer["data"]

    assert minilm["scores"][-1]["mrr_10"] > static["scores"][-1]["mrr_10"] > 0.5


def test_the_model_in_use_is_tested_when_none_is_named(run: Command) -> None:
    run("models", "use", "static")

    assert run("models", "test", "--json").answer["data"][0]["model"] == "static"


def test_without_a_model_there_is_nothing_to_test(run: Command) -> None:
    run("models", "use", "none")

    told = run("models", "test")

    assert (told.code, "Search by meaning is off." in told.err) == (2, True)


def test_ones_own_notes_are_looked_for_by_their_titles(run: Command, notes: None) -> None:
    told = run("models", "test", "static", "--own")

    assert told.lines[1].split() == ["title", "2", "static", "1.00", "1.00", "1.00"]
    assert "Searched 2 titles of your notes among 2 notes; so few are not reliable" in told.err


def test_ones_own_notes_are_read_page_by_page(run: Command, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "PAGE_ROWS", 3)
    monkeypatch.setattr(compare, "MAX_NOTES_READ", 8)
    for number in range(11):
        given("create_note", title=f"Ship {number}", content=BODY.format(number) * 2)

    told = run("models", "test", "static", "--own", "--json").answer

    assert told["data"][0]["texts"] == 9


def test_without_notes_of_ones_own_the_test_says_so(run: Command) -> None:
    told = run("models", "test", "static", "--own")

    assert (told.code, f"{sets.MIN_CHARS} characters" in told.err) == (1, True)


def test_ones_own_notes_go_to_a_service_only_with_a_yes(
    run: Command, notes: None, remote: str, service: Service
) -> None:
    refused = run("models", "test", remote, "--own")

    assert (refused.code, service.asked) == (1, [])
    assert service.url in refused.err
    assert "Add --yes" in refused.err
    assert run("models", "test", remote, "--own", "--yes").code == 0
    assert "gardens" in str(service.texts)


@pytest.mark.usefixtures("person")
def test_a_no_at_the_terminal_sends_nothing(run: Command, notes: None, remote: str, service: Service) -> None:
    told = run("models", "test", remote, "--own", stdin=b"n\n")

    assert (told.code, service.asked) == (1, [])
    assert "Nothing was sent." in told.err


# Forgetting.


def test_removing_asks_and_then_tells_how_much_was_forgotten(run: Command, embedded: None) -> None:
    refused = run("models", "remove", "static")
    removed = run("models", "remove", "static", "--yes")

    assert (refused.code, "of static?" in refused.err) == (1, True)
    assert (removed.code, removed.out.startswith("Deleted 2 vectors of static")) == (0, True)
    assert run("models", "remove", "static", "--yes").code == 1


@pytest.mark.usefixtures("person")
def test_removing_asks_the_person_at_the_terminal(run: Command, embedded: None) -> None:
    told = run("models", "remove", "static", stdin=b"y\n")

    assert (told.code, "of static?" in told.err) == (0, True)


def test_the_model_in_use_is_not_removed(run: Command, embedded: None) -> None:
    run("models", "use", "static")

    told = run("models", "remove", "static", "--yes")

    assert (told.code, "Choose another first" in told.err) == (1, True)


# Models of one's own.


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
    told = run("models", "add", str(tmp_path))

    assert (told.code, "has no ONNX file" in told.err) == (2, True)


def test_a_model_that_was_not_added_cannot_be_chosen(run: Command) -> None:
    told = run("models", "use", "local:nothing")

    assert (told.code, "panorama models add DIR" in told.err) == (2, True)


# The rest.


@pytest.mark.parametrize("command", ["list", "add", "use", "remove", "test"])
def test_every_command_has_examples(run: Command, command: str) -> None:
    told = run("models", command, "--help")

    assert f"panorama models {command}" in told.out.partition("Examples")[2]


def test_a_daemon_that_runs_takes_the_new_model_over(
    process: Command, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PANORAMA_NO_DAEMON")
    monkeypatch.setenv("PANORAMA_LINGER_SECONDS", "30")
    process("models", "use", "none")
    process("status")
    try:
        told = process("models", "use", "static", "--force")

        assert "The daemon runs as process" in told.err
        with Client() as panorama:
            assert panorama.call("models.list", {}).data["used"] == "static"
    finally:
        process("daemon", "stop")
