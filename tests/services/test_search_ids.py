"""Search by ids: those that exist, those that do not, and ids within a sentence."""

import pytest

from panorama.app import App
from panorama.domain.paging import PageRequest
from panorama.services.search.search import Mode
from tests.services.searching import SearchServices, StandInSearch, context, meaning
from tests.stored_rows import write_rows

__all__ = ["context", "meaning"]


def test_an_id_comes_first_in_every_mode(context: SearchServices, meaning: StandInSearch) -> None:
    note, other = context.note("Tea"), context.note("Coffee")
    meaning.hits = {other: 0.9}

    first = [context.found(note, mode).items[0] for mode in ("hybrid", "keyword", "semantic")]

    assert [(row.id, row.why[0]) for row in first] == [(note, "id")] * 3


def test_an_id_is_found_in_any_case_and_as_it_is_read_aloud(context: SearchServices, meaning: StandInSearch) -> None:
    note, other = context.note("Tea"), context.note("Coffee")
    meaning.hits = {other: 0.9}

    for form in (note.upper(), f" {note.title()} ", note[:2] + note[2:].replace("0", "o").replace("1", "L")):
        assert [(row.id, row.why) for row in context.found(form).items] == [(note, ("id",))]


def test_ids_in_a_sentence_come_first_and_the_rest_behind(context: SearchServices, meaning: StandInSearch) -> None:
    context.note("Green")
    one, two = context.note("Tea"), context.note("Coffee")

    rows = context.found(f"is {two.upper()} or {one} the green one?").items

    assert [row.id for row in rows[:2]] == [two, one]
    assert all(row.why[0] == "id" for row in rows[:2])
    assert rows[2].title == "Green"


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_an_id_that_no_item_has_finds_nothing_but_what_mentions_it(
    context: SearchServices, meaning: StandInSearch, mode: Mode
) -> None:
    meaning.hits = {context.note("Coffee"): 0.9}

    nothing = context.found("N_JBTDG0EE1W", mode)
    mentions = context.note("Old ids", "It was n_jbtdg0ee1w then.")
    some = context.found("n_jbtdg0ee1w", mode)

    assert (nothing.items, nothing.hint) == ((), "No item has the id n_jbtdg0ee1w.")
    assert [row.id for row in some.items] == [mentions]
    assert some.hint == "No item has the id n_jbtdg0ee1w. These mention it."
    assert some.index == {"ran": ["keyword"]}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_what_holds_only_the_letter_of_an_id_does_not_mention_it(
    context: SearchServices, meaning: StandInSearch, mode: Mode
) -> None:
    meaning.hits = {context.note("Peat", "Up to 30 t and n tonnes, said jbtdg0ee1w."): 0.9}

    page = context.found("n_jbtdg0ee1w", mode)

    assert (page.items, page.hint) == ((), "No item has the id n_jbtdg0ee1w.")


@pytest.mark.parametrize("query", ["see n_jbtdg0ee1w please", "note N_JBTDG0EE1W", "is n_jbtdg0ee1w done?"])
def test_an_id_that_no_item_has_is_said_to_be_none_within_a_sentence(
    context: SearchServices, meaning: StandInSearch, query: str
) -> None:
    meaning.hits = {context.note("Please see this note: all is done"): 0.9}

    nothing = context.found(query)
    mentions = context.note("Old ids", "It was n_jbtdg0ee1w then.")
    some = context.found(query)

    unknown = "No item has the id n_jbtdg0ee1w."
    assert (nothing.items, nothing.hint) == ((), f"{unknown} Leave it out to look for the other words.")
    assert ([row.id for row in some.items], some.hint) == ([mentions], f"{unknown} These mention it.")


def test_an_unknown_id_beside_a_known_one_is_said_and_takes_nothing_away(context: SearchServices) -> None:
    green, tea = context.note("Green"), context.note("Tea")

    page = context.found(f"is {tea} or n_jbtdg0ee1w green?")

    assert [row.id for row in page.items] == [tea, green]
    assert "No item has the id n_jbtdg0ee1w." in page.hint


def test_many_unknown_ids_are_told_in_few_words(context: SearchServices) -> None:
    hint = context.found(" ".join(f"n_jbtdg0ee{number}" for number in range(10, 16))).hint

    assert hint.count("No item has the id") == 3
    assert hint.endswith("3 more of these ids were not found either.")


def test_of_an_id_that_is_not_found_is_said_where_the_item_is(
    app: App, context: SearchServices, meaning: StandInSearch
) -> None:
    gone, kept = context.note("Gone"), context.note("Kept")
    write_rows(app, "UPDATE notes SET deleted_at = '2026-05-20 08:00:00.000000' WHERE id = :gone", gone=gone)

    other = context.search.search(kept, PageRequest(), kinds=("task",))

    assert context.found(gone).hint == f"The note {gone} is in the trash."
    assert (other.items, "does not match the filters" in other.hint) == ((), True)


def test_a_name_that_looks_like_an_id_is_looked_for_like_any_words(
    context: SearchServices, meaning: StandInSearch
) -> None:
    near = context.note("Letters")
    meaning.hits = {near: 0.9}

    assert context.titles("n_characters") == context.titles("what is n_characters") == ["Letters"]
