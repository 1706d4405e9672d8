"""Search with both arms: what each finds, what is said of it, and what it does without meaning."""

from typing import Any

import pytest

from panorama.app import App
from panorama.domain.paging import PageRequest
from panorama.domain.text.chunks import split_chunks
from panorama.errors import InvalidInputError
from panorama.services.search.search import Mode
from panorama.services.summaries import summarize_search
from tests.conftest import StandingClock
from tests.services.searching import OFF, SearchServices, StandInSearch, context, meaning
from tests.stored_rows import write_rows

__all__ = ["context", "meaning"]


def test_a_note_is_found_by_its_words_and_another_by_its_meaning(
    context: SearchServices, meaning: StandInSearch
) -> None:
    context.note("Fig tree", "Prune it in March.")
    near = context.note("Pear", "Cut back the branches in spring.")
    meaning.hits = {near: 0.6}

    rows = context.found("prune").items

    assert [(row.title, row.why) for row in rows] == [("Fig tree", ("keyword",)), ("Pear", ("semantic",))]


def test_what_both_find_says_so_and_stands_first(context: SearchServices, meaning: StandInSearch) -> None:
    context.note("Fig tree", "Prune it in March.")
    both = context.note("Pear", "When to prune.")
    meaning.hits = {both: 0.6}

    rows = context.found("prune").items

    assert (rows[0].title, rows[0].why) == ("Pear", ("keyword", "semantic"))


def test_one_common_word_of_many_stands_behind_the_nearest_meaning(
    context: SearchServices, meaning: StandInSearch
) -> None:
    for number in range(8):
        context.note(f"Invoice {number}", "Paid the water bill.")
    near = context.note("Leak", "Damp spot under the sink.")
    meaning.hits = {near: 0.5}

    assert context.titles("why does water drip from ceilings overnight")[0] == "Leak"


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_what_is_only_near_to_words_that_no_item_holds_is_said_to_be(
    context: SearchServices, meaning: StandInSearch, mode: Mode
) -> None:
    meaning.hits = {context.note("Coffee"): 0.3}

    page = context.found("xqzv blorp", mode)
    assert "No item contains any of these words" in page.hint
    assert "close in meaning, none contains the words" in summarize_search(page)
    assert context.found("coffee xqzv", "semantic").hint == ""


@pytest.mark.parametrize("query", ["number one", "one banana", "which one is the banana"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_small_word_that_was_left_out_is_told_where_no_other_is_held(
    context: SearchServices, query: str, mode: Mode
) -> None:
    context.note("Note one")

    page = context.found(query, mode)

    assert page.items == ()
    assert page.hint.startswith("“one” is very common and was ignored: search for it alone.")


def test_a_small_word_is_told_beside_what_is_only_near(context: SearchServices, meaning: StandInSearch) -> None:
    context.note("Note one")
    meaning.hits = {context.note("Coffee"): 0.3}

    assert "“one” is very common" in context.found("banana one").hint
    assert "“one” is very common" not in context.found("coffee one").hint


def test_small_words_that_many_items_hold_are_told_of_nowhere(context: SearchServices) -> None:
    for number in range(12):
        context.note(f"The tea {number}")

    assert context.found("the oolong").hint == ""


@pytest.mark.parametrize(
    ("narrowed", "text"),
    [
        ({}, ""),
        ({"kinds": ("task", "file")}, "Narrowed by kinds: leave it out to look everywhere."),
        ({"project": "p_0000000000"}, "Narrowed by project: leave it out to look everywhere."),
        (
            {"project": "p_0000000000", "since": "today", "until": "today"},
            "Narrowed by project, since and until: leave them out to look everywhere.",
        ),
        ({"mode": "keyword"}, "Mode keyword searches words only; use hybrid to search by meaning too."),
        ({"mode": "semantic"}, "Mode semantic searches by meaning only; use hybrid to search words too."),
    ],
)
def test_where_nothing_is_found_is_said_what_narrowed_the_search(
    context: SearchServices, narrowed: dict[str, Any], text: str
) -> None:
    context.note("Tea")

    page = context.search.search("oolong", PageRequest(), **narrowed)

    assert (page.items, page.hint) == ((), text)


def test_a_phrase_that_nothing_holds_is_said_to_be_looked_for_as_it_is(context: SearchServices) -> None:
    context.note("Tea, green")

    page = context.found('"green tea"')

    hint = "Quoted words match exactly and together: remove the quotes to find more."
    assert (page.items, page.hint) == ((), hint)


def test_what_narrowed_a_search_that_finds_is_not_told(context: SearchServices) -> None:
    context.note("Green tea")

    page = context.search.search('"green tea"', PageRequest(limit=1), kinds=("note",), mode="keyword")

    assert (len(page.items), page.hint) == (1, "")


def test_a_title_that_is_the_whole_query_comes_first(context: SearchServices, meaning: StandInSearch) -> None:
    near = context.note("About tea", "green tea, green tea, green tea")
    context.note("Green Tea", "leaves")
    meaning.hits = {near: 0.9}

    assert context.found("green tea").items[0].why == ("title", "keyword")
    assert context.titles("green tea")[0] == "Green Tea"


def test_the_snippet_of_a_meaning_is_the_passage_that_is_near(
    app: App, context: SearchServices, meaning: StandInSearch
) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "Words about the house. " * 15 for number in range(9))
    near = context.note("Long", text + "\n\nDamp spot under the sink.")
    last = split_chunks("Long", text + "\n\nDamp spot under the sink.")[-1]
    place = {"item": near, "position": last.position, "first": last.begin, "last": last.end}
    write_rows(app, "INSERT INTO passages VALUES (:item, :position, 'note', 'x', :first, :last)", **place)
    meaning.hits, meaning.positions = {near: 0.5}, {near: last.position}

    snippet = context.found("leak").items[0].snippet

    assert snippet.lstrip("…")[:40] in " ".join(text.split()) + " Damp"
    assert "Paragraph 0" not in snippet


def test_what_stands_far_behind_the_nearest_is_left_out(context: SearchServices, meaning: StandInSearch) -> None:
    near, far = context.note("Near"), context.note("Far")
    meaning.hits = {near: 0.6, far: 0.2}

    assert context.titles("something else") == ["Near"]


def test_what_is_in_the_trash_is_not_found_though_the_index_lags(
    app: App, context: SearchServices, meaning: StandInSearch
) -> None:
    gone, kept = context.note("Gone"), context.note("Kept")
    meaning.hits = {gone: 0.6, kept: 0.5, "n_zzzzzzzzzz": 0.5}
    write_rows(app, "UPDATE notes SET deleted_at = '2026-05-20 08:00:00.000000' WHERE id = :gone", gone=gone)

    assert context.titles("something else") == ["Kept"]


def test_the_filters_reach_the_index(context: SearchServices, meaning: StandInSearch) -> None:
    context.search.search("tea", PageRequest(), kinds=("task", "note"), since="2026-05-01", until="2026-05-02")

    expected = meaning.asked[0][1]
    assert expected.kinds == ("task", "note")
    assert expected.since is not None
    assert expected.until is not None
    assert (expected.until - expected.since).days == 2


def test_a_hit_of_meaning_that_the_filters_exclude_by_now_is_left_out(
    context: SearchServices, meaning: StandInSearch
) -> None:
    note = context.note("Tea leaves")
    meaning.hits = {note: 0.6}

    page = context.search.search("drink", PageRequest(), kinds=("task",))

    assert page.items == ()


def test_the_answer_says_what_ran_and_what_waits(context: SearchServices, meaning: StandInSearch) -> None:
    context.note("Tea")
    meaning.pending = 3

    assert context.found("tea").index == {"ran": ["keyword", "semantic"], "pending": 3, "model": "minilm"}
    assert context.found("tea", "keyword").index == {"ran": ["keyword"]}
    assert context.found("tea", "semantic").index == {"ran": ["semantic"], "pending": 3, "model": "minilm"}
    assert "3 newer changes are searched by words alone so far" in summarize_search(context.found("tea"))
    assert "3 newer changes are not searched yet" in summarize_search(context.found("tea", "semantic"))


def test_what_meaning_has_not_read_yet_is_found_by_one_of_the_words(
    context: SearchServices, meaning: StandInSearch
) -> None:
    old = context.note("Heating", "The boiler is loud.")
    meaning.hits = {old: 0.6}
    for number in range(3):
        context.note(f"Room {number}", "The thermostat shows 19 degrees.")
    read = context.titles("where is the broken thermostat")

    meaning.pending = 3

    assert read == ["Heating"]
    assert set(context.titles("where is the broken thermostat")) == {"Heating", "Room 0", "Room 1", "Room 2"}


def test_without_meaning_keywords_answer_and_the_reason_is_told(
    context: SearchServices, meaning: StandInSearch
) -> None:
    context.note("Tea")
    meaning.gap = OFF

    hybrid, semantic = context.found("tea"), context.found("tea", "semantic")

    assert hybrid.index == {"ran": ["keyword"], "missing": OFF.missing, "do": OFF.hint}
    assert [row.title for row in semantic.items] == ["Tea"]
    assert summarize_search(semantic).endswith(", by words alone: The model is loading. Ask again in a moment.")


def test_a_note_that_holds_the_whole_query_comes_alone_and_the_weaker_are_counted(
    context: SearchServices, meaning: StandInSearch
) -> None:
    sought = context.note("Wasps in the shed roof")
    others = [context.note(f"Note {number}") for number in range(4)]
    meaning.hits = {sought: 0.7, **dict.fromkeys(others, 0.4)}

    page = context.found("wasps shed roof")

    assert [row.id for row in page.items] == [sought]
    assert summarize_search(page) == "1 found, 4 weaker left out (see other modes)"
    assert len(context.found("wasps shed roof", "semantic").items) == 5


def test_beside_a_corrected_word_notes_of_the_same_meaning_are_shown(
    context: SearchServices, meaning: StandInSearch
) -> None:
    corrected = context.note("Huerto", "Los tomates")
    blight = context.note("Blight", "On all the plants again")
    meaning.hits = {blight: 0.4, corrected: 0.35}

    assert {row.id for row in context.found("Tomaten").items} == {corrected, blight}


def test_the_floor_leaves_out_no_note_that_holds_every_word(context: SearchServices, meaning: StandInSearch) -> None:
    ids = {context.note(f"Tea of sort {number}") for number in range(12)}
    meaning.hits = {context.note("Coffee"): 0.6}

    assert ids <= {row.id for row in context.found("tea").items}


def test_pages_of_both_arms_walk_every_hit_once(context: SearchServices, meaning: StandInSearch) -> None:
    ids = [context.note(f"Tea {number}") for number in range(9)]
    others = [context.note(f"Coffee {number}") for number in range(6)]
    meaning.hits = {**dict.fromkeys([others[0], *ids[:3]], 0.6), **dict.fromkeys(others[1:], 0.45)}
    strong = [*ids, others[0]]  # the other five are far behind the best

    rows: list[str] = []
    key: tuple[int, ...] | None = None
    while True:
        page = context.search.search("tea", PageRequest(limit=4, after=key))
        rows += [row.id for row in page.items]
        if not page.more:
            break
        key = page.keys[-1]

    assert sorted(rows) == sorted(strong)
    assert rows == [row.id for row in context.found("tea").items]


def test_of_two_alike_the_one_written_last_stands_first(context: SearchServices, clock: StandingClock) -> None:
    context.note("Tea", "leaves")
    clock.advance(days=300)
    context.note("Teas", "leaves")

    assert context.titles("leaves") == ["Teas", "Tea"]


def test_pages_begun_without_meaning_go_on_without_it(context: SearchServices, meaning: StandInSearch) -> None:
    ids = [context.note(f"Tea {number}") for number in range(9)]
    others = [context.note(f"Coffee {number}") for number in range(3)]
    meaning.gap = OFF
    first = context.search.search("tea", PageRequest(limit=4))
    meaning.gap, meaning.hits = None, dict.fromkeys([*others, *reversed(ids)], 0.6)

    rest = context.search.search("tea", PageRequest(limit=20, after=first.keys[-1]))

    assert sorted(row.id for row in (*first.items, *rest.items)) == sorted(ids)


@pytest.mark.parametrize("query", ['"fig tree"', "“fig tree”", "«fig tree»"])
def test_nothing_but_quoted_words_is_looked_for_literally(
    context: SearchServices, meaning: StandInSearch, query: str
) -> None:
    context.note("Fig tree")
    meaning.hits = {context.note("Tree of figs"): 0.9}

    assert context.titles(query) == ["Fig tree"]


def test_words_that_no_item_holds_are_said_to_be_so(context: SearchServices, meaning: StandInSearch) -> None:
    meaning.hits = {context.note("Boiler", "Repaired in winter."): 0.4}

    page = context.found("qwertyuiop")

    assert [row.title for row in page.items] == ["Boiler"]
    assert "No item contains any of these words" in page.hint


def test_a_period_that_ends_before_it_begins_is_refused(context: SearchServices) -> None:
    with pytest.raises(InvalidInputError, match="since"):
        context.search.search("tea", PageRequest(), since="2026-05-20", until="2026-05-10")
