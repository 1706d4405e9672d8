"""Choosing models from the command line: what ships, services, and what becomes of the setting."""

import json
from pathlib import Path

import pytest

from panorama.app import open_app
from panorama.cli.client import Client
from panorama.config import read_settings
from panorama.index.embedders.http import Limits
from panorama.store.items.passages import INDEXER
from panorama.store.log import marks

from ...index.embedders import service as answers
from ...index.embedders.service import Reply, Service
from ..conftest import Command

pytestmark = pytest.mark.slow
HASTY = Limits(documents=0.6, query=0.4, pause=1.0)


@pytest.mark.parametrize("name", ["duo", "minilm", "static", "none"])
def test_a_model_that_is_chosen_is_in_use(run: Command, config: Path, name: str) -> None:
    result = run("models", "use", name)

    assert (result.code, result.out) == (0, f"{config} has embedder = {name}.\n")
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

    result = run("models", "use", *words)

    assert (result.code, config.read_text()) == (0, "log_days = 7\n")
    assert "leaves the choice to Panorama" in result.out


def test_the_same_choice_again_changes_nothing(run: Command, config: Path) -> None:
    run("models", "use", "static")
    before = config.stat().st_mtime_ns

    assert run("models", "use", "static").out == f"{config} has embedder = static already.\n"
    assert config.stat().st_mtime_ns == before


def test_the_work_that_is_left_is_told_with_how_long_it_takes(run: Command, embedded: None) -> None:
    result = run("models", "use", "minilm")

    assert "Search by meaning starts when 2 passages are embedded by minilm, in about 1 s." in result.err


def test_a_model_that_has_made_all_its_vectors_has_nothing_left_to_do(run: Command, embedded: None) -> None:
    assert "static has embedded everything." in run("models", "use", "static").err


def test_search_goes_on_with_the_old_model_until_the_new_one_is_ready(run: Command, embedded: None) -> None:
    with open_app(read_settings()) as app, app.context.database.transaction(INDEXER) as session:
        marks.set_served_model(session, "static", "d", 256)

    result = run("models", "use", "minilm", "--force")

    assert "Search uses static until 2 passages are embedded by minilm." in result.err


def test_the_environment_wins_over_the_choice_and_that_is_told(
    run: Command, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")

    result = run("models", "use", "static")

    assert (result.code, config.read_text()) == (0, 'embedder = "static"\n')
    assert "PANORAMA_EMBEDDER=none is set and overrides config.toml" in result.err


@pytest.mark.parametrize("name", ["minilmm", "ollama", "ollama:", "olama:x", "openai:#x", "openai:http://a", "MINILM"])
def test_a_name_that_is_no_models_is_refused(run: Command, config: Path, name: str) -> None:
    result = run("models", "use", name, "--force")

    assert (result.code, config.exists()) == (2, False)
    assert "→ " in result.err


def test_a_misspelt_name_has_candidates(run: Command) -> None:
    answer = json.loads(run("models", "test", "minilmm", "--json").err)

    assert answer["error"]["candidates"] == [{"id": "minilm"}]


@pytest.mark.parametrize("words", [(), ("static", "--default")])
def test_a_choice_is_one_name(run: Command, config: Path, words: tuple[str, ...]) -> None:
    assert (run("models", "use", *words).code, config.exists()) == (2, False)


def test_a_file_that_cannot_be_read_is_left_alone(run: Command, config: Path) -> None:
    config.write_text("log_days = = 7\n")

    result = run("models", "use", "static")

    assert (result.code, config.read_text()) == (2, "log_days = = 7\n")
    assert "Fix it and run this again" in result.err


def test_a_file_of_unusual_form_is_left_alone(run: Command, config: Path) -> None:
    config.write_text("[embedder]\nb = 1\n")

    result = run("models", "use", "static")

    assert (result.code, config.read_text()) == (3, "[embedder]\nb = 1\n")
    assert 'embedder = "static"' in result.err


def test_a_name_cannot_smuggle_in_another_setting(run: Command, config: Path) -> None:
    run("models", "use", 'ollama:x"\nhttp_port = 1 # ', "--force")

    assert read_settings().http_port == 0


# Services.


def test_a_service_that_embeds_is_taken(run: Command, config: Path, remote: str, service: Service) -> None:
    result = run("models", "use", remote)

    assert (result.code, read_settings().embedder) == (0, remote)
    assert service.asked


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answers.raw(b"<html>"), "gave an invalid answer: no vectors"),
        (answers.vectors([]), "gave an invalid answer: 0 vectors for 1 texts"),
        (answers.vectors([["a"]]), "gave an invalid answer"),
        (answers.vectors([[0.0] * 8]), "gave an invalid answer: a vector of length zero"),
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

    result = run("models", "use", remote)

    assert (result.code, config.exists()) == (3, False)
    assert words in result.err
    assert "Nothing was changed; use --force to select it without a trial." in result.err


def test_a_service_that_is_not_there_is_refused_at_once(run: Command, config: Path) -> None:
    result = run("models", "use", "openai:http://127.0.0.1:9/v1#tiny")

    assert (result.code, config.exists()) == (3, False)
    assert "nothing answers at this address" in result.err


def test_a_wrong_key_of_a_service_on_this_machine_is_refused_with_where_the_right_one_is_looked_for(
    run: Command, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_OPENAI_KEY", "sk-wrong")
    service.always = answers.says({"error": {"message": "Incorrect API key: sk-wr*ng"}}, 401)

    result = run("models", "use", f"openai:{service.url}/v1#tiny")

    assert "set PANORAMA_OPENAI_KEY and run `panorama daemon restart` in the same shell" in result.err
    assert "keyring" not in result.err
    assert "sk-wr" not in result.err
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


def test_a_daemon_that_runs_takes_the_new_model_over(
    process: Command, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PANORAMA_NO_DAEMON")
    monkeypatch.setenv("PANORAMA_LINGER_SECONDS", "30")
    process("models", "use", "none")
    process("status")
    try:
        result = process("models", "use", "static", "--force")

        assert "The daemon runs as process" in result.err
        with Client() as panorama:
            assert panorama.call("models.list", {}).data["used"] == "static"
    finally:
        process("daemon", "stop")
