"""Comparing models from the command line: scores, speed, and one's own notes."""

import pytest

from panorama.cli.commands.models import compare
from panorama.index.evaluation import sets

from ...index.embedders import service as answers
from ...index.embedders.service import Service
from ..conftest import Command
from .conftest import BODY, Given

pytestmark = pytest.mark.slow


def test_a_service_is_compared_with_what_ships(run: Command, remote: str, service: Service) -> None:
    result = run("models", "test", remote, "static", "--json")

    assert [(row["model"], row["size"]) for row in result.answer["data"]] == [(remote, 8), ("static", 256)]
    assert sum(map(len, service.texts)) >= 100


def test_vectors_that_change_their_size_end_the_test(run: Command, remote: str, service: Service) -> None:
    def grown(talk: answers.Talk) -> None:
        service.size = 8 + len(service.asked) // 9
        answers.proper(talk)

    service.always = grown

    result = run("models", "test", remote)

    assert (result.code, result.out) == (3, "")
    assert "after vectors of 8" in result.err


def test_a_test_shows_scores_by_kind_and_speed(run: Command) -> None:
    result = run("models", "test", "static")

    assert [line.split("  ")[0] for line in result.lines[1:6]] == ["name", "rare word", "paraphrase", "question", "all"]
    assert result.lines[7].split("  ")[0] == "model"
    assert "Searched 40 built-in queries among 60 notes" in result.err


def test_models_stand_under_each_other_in_each_kind(run: Command) -> None:
    result = run("models", "test", "minilm", "static")

    assert [line.split()[-4] for line in result.lines[1:5]] == ["minilm", "static", "minilm", "static"]


def test_the_better_model_scores_better(run: Command) -> None:
    minilm, static = run("models", "test", "minilm", "static", "--json").answer["data"]

    assert minilm["scores"][-1]["mrr_10"] > static["scores"][-1]["mrr_10"] > 0.5


def test_the_model_in_use_is_tested_when_none_is_named(run: Command) -> None:
    run("models", "use", "static")

    assert run("models", "test", "--json").answer["data"][0]["model"] == "static"


def test_without_a_model_there_is_nothing_to_test(run: Command) -> None:
    run("models", "use", "none")

    result = run("models", "test")

    assert (result.code, "Search by meaning is off." in result.err) == (2, True)


def test_ones_own_notes_are_looked_for_by_their_titles(run: Command, notes: None) -> None:
    result = run("models", "test", "static", "--own")

    assert result.lines[1].split() == ["title", "2", "static", "1.00", "1.00", "1.00"]
    assert "Searched 2 titles of your notes among 2 notes; results from so few are not reliable" in result.err


def test_ones_own_notes_are_read_page_by_page(run: Command, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "PAGE_ROWS", 3)
    monkeypatch.setattr(compare, "MAX_NOTES_READ", 8)
    for number in range(11):
        given("create_note", title=f"Ship {number}", content=BODY.format(number) * 2)

    result = run("models", "test", "static", "--own", "--json").answer

    assert result["data"][0]["texts"] == 9


def test_without_notes_of_ones_own_the_test_says_so(run: Command) -> None:
    result = run("models", "test", "static", "--own")

    assert (result.code, f"{sets.MIN_CHARS} characters" in result.err) == (1, True)


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
    result = run("models", "test", remote, "--own", stdin=b"n\n")

    assert (result.code, service.asked) == (1, [])
    assert "Nothing was sent." in result.err
