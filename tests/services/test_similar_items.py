"""Items like one item, and notes that may be duplicates."""

from collections.abc import Callable

import pytest

from panorama.calls import Answer
from panorama.domain.paging import PageRequest
from panorama.services.summaries import summarize_search
from tests.conftest import StandingClock
from tests.services.searching import OFF, SearchServices, StandInSearch, context, meaning

__all__ = ["context", "meaning"]


def test_items_like_one_are_those_near_to_it(context: SearchServices, meaning: StandInSearch) -> None:
    one, near = context.note("Quince jam"), context.note("Marmalade", "Boil the oranges.")
    meaning.hits = {near: 0.7}

    page = context.search.search_similar(one, PageRequest())

    assert [(row.title, row.why) for row in page.items] == [("Marmalade", ("semantic",))]
    assert meaning.asked[-1][0] == one


def test_without_meaning_items_like_one_share_its_telling_words(
    context: SearchServices, meaning: StandInSearch
) -> None:
    one = context.note("Quince jam", "Boil the quinces with sugar and cardamom.")
    context.note("Marmalade", "Oranges, sugar, cardamom.")
    context.note("Bicycle", "New tyres.")
    meaning.gap = OFF

    page = context.search.search_similar(one, PageRequest())

    assert [row.title for row in page.items] == ["Marmalade"]
    assert page.hint == "These share distinctive words with it."
    assert summarize_search(page).endswith("The model is loading. Ask again in a moment.")


def test_a_note_of_the_same_title_is_called_a_possible_duplicate(context: SearchServices, clock: StandingClock) -> None:
    first = context.note("Quince jam")
    clock.advance(days=3)

    hint = context.notes.create("QUINCE  jam").hint

    assert hint == f"Possible duplicate: {first} “Quince jam” (created 20 May 2026)."


def test_a_note_that_means_the_same_is_called_a_possible_duplicate(
    context: SearchServices, meaning: StandInSearch
) -> None:
    first = context.note("Jam of quinces", "Boil them.")
    meaning.hits = {first: 0.93}

    assert first in context.notes.create("Quince jam", "Boil the quinces.").hint


@pytest.mark.parametrize(("model", "score"), [("minilm", 0.8), ("ollama:other", 0.99)])
def test_what_is_only_alike_or_of_an_unmeasured_model_is_no_duplicate(
    context: SearchServices, meaning: StandInSearch, model: str, score: float
) -> None:
    first = context.note("Jam of quinces")
    meaning.hits, meaning.model = {first: score}, model

    assert context.notes.create("Quince jam").hint == ""


def test_the_minutes_of_another_day_are_no_duplicate(context: SearchServices, meaning: StandInSearch) -> None:
    first = context.note("Minutes 12 May")
    meaning.hits = {first: 0.97}

    assert context.notes.create("Minutes 19 May").hint == ""


def test_a_task_of_a_note_s_title_is_no_duplicate_and_one_of_a_task_s_title_is(context: SearchServices) -> None:
    context.note("Order seeds")
    task = context.tasks.create("Order seeds")

    assert task.hint == ""
    assert task.value.id in context.tasks.create("order seeds").hint


def test_without_a_model_only_titles_are_compared(context: SearchServices, meaning: StandInSearch) -> None:
    context.note("Jam of quinces")
    meaning.gap = OFF

    assert context.notes.create("Quince jam").hint == ""


def test_a_created_note_answers_its_hint_through_the_tool(call: Callable[..., Answer]) -> None:
    call("create_note", title="Tea")

    assert "Possible duplicate" in call("create_note", title="tea").metadata["hint"]
