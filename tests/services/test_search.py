"""Search with both arms: what each finds, what is said of it, and what it does without meaning."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.domain.paging import Page, PageRequest
from panorama.domain.text.chunks import split_chunks
from panorama.errors import InvalidInputError
from panorama.index.points import Filter
from panorama.services.items.notes import Notes
from panorama.services.items.tasks import Tasks
from panorama.services.search.results import SearchHit
from panorama.services.search.search import Mode, Search
from panorama.services.search.semantic import SemanticSearch
from panorama.services.search.semantic_results import SemanticHit, SemanticResult
from panorama.services.summaries import summarize_search
from tests.conftest import StandingClock

OFF = SemanticResult(missing="The model is loading.", hint="Ask again in a moment.")


@dataclass
class Told(SemanticSearch):
    """A meaning that finds what it is told to, and remembers what it was asked."""

    hits: dict[str, float] = field(default_factory=dict[str, float])
    positions: dict[str, int] = field(default_factory=dict[str, int])
    gap: SemanticResult | None = None
    pending: int = 0
    model: str = "minilm"
    asked: list[tuple[str, Filter]] = field(default_factory=list[tuple[str, Filter]])

    def begin_search(self, query: str, limit: int, wanted: Filter) -> Callable[[], SemanticResult]:
        """Return how to ask."""
        return lambda: self.search(query, limit, wanted)

    def search(self, query: str, limit: int, wanted: Filter) -> SemanticResult:
        self.asked.append((query, wanted))
        near = [
            SemanticHit(item=item, position=self.positions.get(item, 0), score=score)
            for item, score in self.hits.items()
        ]
        return self.gap or SemanticResult(hits=tuple(near[:limit]), pending=self.pending, model=self.model)

    def search_similar(self, item: str, limit: int, wanted: Filter) -> SemanticResult:
        return self.search(item, limit, wanted)

    def search_near_duplicates(self, title: str, body: str, wanted: Filter) -> SemanticResult:
        return self.search(f"{title}\n{body}", 8, wanted)


@pytest.fixture
def meaning() -> Told:
    """The meaning that is asked."""
    return Told()


@dataclass
class Desk:
    """Services over one store, with the meaning that was told."""

    search: Search
    notes: Notes
    tasks: Tasks

    def note(self, title: str, content: str = "") -> str:
        return self.notes.create(title, content).value.id

    def found(self, query: str, mode: Mode = "hybrid", limit: int = 50) -> Page[SearchHit]:
        return self.search.search(query, PageRequest(limit=limit), mode=mode)

    def titles(self, query: str, mode: Mode = "hybrid") -> list[str]:
        return [row.title for row in self.found(query, mode).items]


@pytest.fixture
def context(app: App, meaning: Told) -> Desk:
    """The services."""
    return Desk(Search(app.context, meaning), Notes(app.context, meaning), Tasks(app.context, meaning))


def test_a_note_is_found_by_its_words_and_another_by_its_meaning(context: Desk, meaning: Told) -> None:
    context.note("Fig tree", "Prune it in March.")
    near = context.note("Pear", "Cut back the branches in spring.")
    meaning.hits = {near: 0.6}

    rows = context.found("prune").items

    assert [(row.title, row.why) for row in rows] == [("Fig tree", ("keyword",)), ("Pear", ("semantic",))]


def test_what_both_find_says_so_and_stands_first(context: Desk, meaning: Told) -> None:
    context.note("Fig tree", "Prune it in March.")
    both = context.note("Pear", "When to prune.")
    meaning.hits = {both: 0.6}

    rows = context.found("prune").items

    assert (rows[0].title, rows[0].why) == ("Pear", ("keyword", "semantic"))


def test_one_common_word_of_many_stands_behind_the_nearest_meaning(context: Desk, meaning: Told) -> None:
    for number in range(8):
        context.note(f"Invoice {number}", "Paid the water bill.")
    near = context.note("Leak", "Damp spot under the sink.")
    meaning.hits = {near: 0.5}

    assert context.titles("why does water drip from ceilings overnight")[0] == "Leak"


def test_an_id_comes_first_in_every_mode(context: Desk, meaning: Told) -> None:
    wanted, other = context.note("Tea"), context.note("Coffee")
    meaning.hits = {other: 0.9}

    first = [context.found(wanted, mode).items[0] for mode in ("hybrid", "keyword", "semantic")]

    assert [(row.id, row.why[0]) for row in first] == [(wanted, "id")] * 3


def test_an_id_is_found_in_any_case_and_as_it_is_read_aloud(context: Desk, meaning: Told) -> None:
    wanted, other = context.note("Tea"), context.note("Coffee")
    meaning.hits = {other: 0.9}

    for said in (wanted.upper(), f" {wanted.title()} ", wanted[:2] + wanted[2:].replace("0", "o").replace("1", "L")):
        assert [(row.id, row.why) for row in context.found(said).items] == [(wanted, ("id",))]


def test_ids_in_a_sentence_come_first_and_the_rest_behind(context: Desk, meaning: Told) -> None:
    context.note("Green")
    one, two = context.note("Tea"), context.note("Coffee")

    rows = context.found(f"is {two.upper()} or {one} the green one?").items

    assert [row.id for row in rows[:2]] == [two, one]
    assert all(row.why[0] == "id" for row in rows[:2])
    assert rows[2].title == "Green"


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_an_id_that_no_item_has_finds_nothing_but_what_mentions_it(context: Desk, meaning: Told, mode: Mode) -> None:
    meaning.hits = {context.note("Coffee"): 0.9}

    nothing = context.found("N_JBTDG0EE1W", mode)
    mentions = context.note("Old ids", "It was n_jbtdg0ee1w then.")
    some = context.found("n_jbtdg0ee1w", mode)

    assert (nothing.items, nothing.hint) == ((), "No item has the id n_jbtdg0ee1w.")
    assert [row.id for row in some.items] == [mentions]
    assert some.hint == "No item has the id n_jbtdg0ee1w. These mention it."
    assert some.index == {"ran": ["keyword"]}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_what_holds_only_the_letter_of_an_id_does_not_mention_it(context: Desk, meaning: Told, mode: Mode) -> None:
    meaning.hits = {context.note("Peat", "Up to 30 t and n tonnes, said jbtdg0ee1w."): 0.9}

    page = context.found("n_jbtdg0ee1w", mode)

    assert (page.items, page.hint) == ((), "No item has the id n_jbtdg0ee1w.")


@pytest.mark.parametrize("query", ["see n_jbtdg0ee1w please", "note N_JBTDG0EE1W", "is n_jbtdg0ee1w done?"])
def test_an_id_that_no_item_has_is_said_to_be_none_within_a_sentence(context: Desk, meaning: Told, query: str) -> None:
    meaning.hits = {context.note("Please see this note: all is done"): 0.9}

    nothing = context.found(query)
    mentions = context.note("Old ids", "It was n_jbtdg0ee1w then.")
    some = context.found(query)

    unknown = "No item has the id n_jbtdg0ee1w."
    assert (nothing.items, nothing.hint) == ((), f"{unknown} Leave it out to look for the other words.")
    assert ([row.id for row in some.items], some.hint) == ([mentions], f"{unknown} These mention it.")


def test_an_unknown_id_beside_a_known_one_is_said_and_takes_nothing_away(context: Desk) -> None:
    green, tea = context.note("Green"), context.note("Tea")

    page = context.found(f"is {tea} or n_jbtdg0ee1w green?")

    assert [row.id for row in page.items] == [tea, green]
    assert "No item has the id n_jbtdg0ee1w." in page.hint


def test_many_unknown_ids_are_told_in_few_words(context: Desk) -> None:
    hint = context.found(" ".join(f"n_jbtdg0ee{number}" for number in range(10, 16))).hint

    assert hint.count("No item has the id") == 3
    assert hint.endswith("3 more of these ids were not found either.")


def test_of_an_id_that_is_not_found_is_said_where_the_item_is(app: App, context: Desk, meaning: Told) -> None:
    gone, kept = context.note("Gone"), context.note("Kept")
    with app.context.database.migrating() as connection:
        connection.exec_driver_sql("UPDATE notes SET deleted_at = '2026-05-20' WHERE id = ?", (gone,))

    other = context.search.search(kept, PageRequest(), kinds=("task",))

    assert context.found(gone).hint == f"The note {gone} is in the trash."
    assert (other.items, "does not match the filters" in other.hint) == ((), True)


def test_a_name_that_looks_like_an_id_is_looked_for_like_any_words(context: Desk, meaning: Told) -> None:
    near = context.note("Letters")
    meaning.hits = {near: 0.9}

    assert context.titles("n_characters") == context.titles("what is n_characters") == ["Letters"]


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_what_is_only_near_to_words_that_no_item_holds_is_said_to_be(context: Desk, meaning: Told, mode: Mode) -> None:
    meaning.hits = {context.note("Coffee"): 0.3}

    page = context.found("xqzv blorp", mode)
    assert "No item contains any of these words" in page.hint
    assert "close in meaning, none contains the words" in summarize_search(page)
    assert context.found("coffee xqzv", "semantic").hint == ""


@pytest.mark.parametrize("query", ["number one", "one banana", "which one is the banana"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_small_word_that_was_left_out_is_told_where_no_other_is_held(context: Desk, query: str, mode: Mode) -> None:
    context.note("Note one")

    page = context.found(query, mode)

    assert page.items == ()
    assert page.hint.startswith("“one” is very common and was ignored: search for it alone.")


def test_a_small_word_is_told_beside_what_is_only_near(context: Desk, meaning: Told) -> None:
    context.note("Note one")
    meaning.hits = {context.note("Coffee"): 0.3}

    assert "“one” is very common" in context.found("banana one").hint
    assert "“one” is very common" not in context.found("coffee one").hint


def test_small_words_that_many_items_hold_are_told_of_nowhere(context: Desk) -> None:
    for number in range(12):
        context.note(f"The tea {number}")

    assert context.found("the oolong").hint == ""


@pytest.mark.parametrize(
    ("narrowed", "said"),
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
    context: Desk, narrowed: dict[str, Any], said: str
) -> None:
    context.note("Tea")

    page = context.search.search("oolong", PageRequest(), **narrowed)

    assert (page.items, page.hint) == ((), said)


def test_a_phrase_that_nothing_holds_is_said_to_be_looked_for_as_it_is(context: Desk) -> None:
    context.note("Tea, green")

    page = context.found('"green tea"')

    said = "Quoted words match exactly and together: remove the quotes to find more."
    assert (page.items, page.hint) == ((), said)


def test_what_narrowed_a_search_that_finds_is_not_told(context: Desk) -> None:
    context.note("Green tea")

    page = context.search.search('"green tea"', PageRequest(limit=1), kinds=("note",), mode="keyword")

    assert (len(page.items), page.hint) == (1, "")


def test_a_title_that_is_the_whole_query_comes_first(context: Desk, meaning: Told) -> None:
    near = context.note("About tea", "green tea, green tea, green tea")
    context.note("Green Tea", "leaves")
    meaning.hits = {near: 0.9}

    assert context.found("green tea").items[0].why == ("title", "keyword")
    assert context.titles("green tea")[0] == "Green Tea"


def test_the_snippet_of_a_meaning_is_the_passage_that_is_near(app: App, context: Desk, meaning: Told) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "Words about the house. " * 15 for number in range(9))
    near = context.note("Long", text + "\n\nDamp spot under the sink.")
    last = split_chunks("Long", text + "\n\nDamp spot under the sink.")[-1]
    with app.context.database.migrating() as connection:
        row = (near, last.position, "note", "x", last.begin, last.end)
        connection.exec_driver_sql("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)", row)
    meaning.hits, meaning.positions = {near: 0.5}, {near: last.position}

    snippet = context.found("leak").items[0].snippet

    assert snippet.lstrip("…")[:40] in " ".join(text.split()) + " Damp"
    assert "Paragraph 0" not in snippet


def test_what_stands_far_behind_the_nearest_is_left_out(context: Desk, meaning: Told) -> None:
    near, far = context.note("Near"), context.note("Far")
    meaning.hits = {near: 0.6, far: 0.2}

    assert context.titles("something else") == ["Near"]


def test_what_is_in_the_trash_is_not_found_though_the_index_lags(app: App, context: Desk, meaning: Told) -> None:
    gone, kept = context.note("Gone"), context.note("Kept")
    meaning.hits = {gone: 0.6, kept: 0.5, "n_zzzzzzzzzz": 0.5}
    with app.context.database.migrating() as connection:
        connection.exec_driver_sql("UPDATE notes SET deleted_at = '2026-05-20' WHERE id = ?", (gone,))

    assert context.titles("something else") == ["Kept"]


def test_the_filters_reach_the_index(context: Desk, meaning: Told) -> None:
    context.search.search("tea", PageRequest(), kinds=("task", "note"), since="2026-05-01", until="2026-05-02")

    wanted = meaning.asked[0][1]
    assert wanted.kinds == ("task", "note")
    assert wanted.since is not None
    assert wanted.until is not None
    assert (wanted.until - wanted.since).days == 2


def test_a_hit_of_meaning_that_the_filters_exclude_by_now_is_left_out(context: Desk, meaning: Told) -> None:
    note = context.note("Tea leaves")
    meaning.hits = {note: 0.6}

    page = context.search.search("drink", PageRequest(), kinds=("task",))

    assert page.items == ()


def test_the_answer_says_what_ran_and_what_waits(context: Desk, meaning: Told) -> None:
    context.note("Tea")
    meaning.pending = 3

    assert context.found("tea").index == {"ran": ["keyword", "semantic"], "pending": 3, "model": "minilm"}
    assert context.found("tea", "keyword").index == {"ran": ["keyword"]}
    assert context.found("tea", "semantic").index == {"ran": ["semantic"], "pending": 3, "model": "minilm"}
    assert "3 newer changes are searched by words alone so far" in summarize_search(context.found("tea"))
    assert "3 newer changes are not searched yet" in summarize_search(context.found("tea", "semantic"))


def test_what_meaning_has_not_read_yet_is_found_by_one_of_the_words(context: Desk, meaning: Told) -> None:
    old = context.note("Heating", "The boiler is loud.")
    meaning.hits = {old: 0.6}
    for number in range(3):
        context.note(f"Room {number}", "The thermostat shows 19 degrees.")
    read = context.titles("where is the broken thermostat")

    meaning.pending = 3

    assert read == ["Heating"]
    assert set(context.titles("where is the broken thermostat")) == {"Heating", "Room 0", "Room 1", "Room 2"}


def test_without_meaning_keywords_answer_and_the_reason_is_told(context: Desk, meaning: Told) -> None:
    context.note("Tea")
    meaning.gap = OFF

    hybrid, semantic = context.found("tea"), context.found("tea", "semantic")

    assert hybrid.index == {"ran": ["keyword"], "missing": OFF.missing, "do": OFF.hint}
    assert [row.title for row in semantic.items] == ["Tea"]
    assert summarize_search(semantic).endswith(", by words alone: The model is loading. Ask again in a moment.")


def test_a_note_that_holds_the_whole_query_comes_alone_and_the_weaker_are_counted(context: Desk, meaning: Told) -> None:
    sought = context.note("Wasps in the shed roof")
    others = [context.note(f"Note {number}") for number in range(4)]
    meaning.hits = {sought: 0.7, **dict.fromkeys(others, 0.4)}

    page = context.found("wasps shed roof")

    assert [row.id for row in page.items] == [sought]
    assert summarize_search(page) == "1 found, 4 weaker left out (see other modes)"
    assert len(context.found("wasps shed roof", "semantic").items) == 5


def test_beside_a_corrected_word_notes_of_the_same_meaning_are_shown(context: Desk, meaning: Told) -> None:
    corrected = context.note("Huerto", "Los tomates")
    blight = context.note("Blight", "On all the plants again")
    meaning.hits = {blight: 0.4, corrected: 0.35}

    assert {row.id for row in context.found("Tomaten").items} == {corrected, blight}


def test_the_floor_leaves_out_no_note_that_holds_every_word(context: Desk, meaning: Told) -> None:
    ids = {context.note(f"Tea of sort {number}") for number in range(12)}
    meaning.hits = {context.note("Coffee"): 0.6}

    assert ids <= {row.id for row in context.found("tea").items}


def test_pages_of_both_arms_walk_every_hit_once(context: Desk, meaning: Told) -> None:
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


def test_of_two_alike_the_one_written_last_stands_first(context: Desk, clock: StandingClock) -> None:
    context.note("Tea", "leaves")
    clock.advance(days=300)
    context.note("Teas", "leaves")

    assert context.titles("leaves") == ["Teas", "Tea"]


def test_a_misspelt_word_is_repaired_for_its_words_and_asked_as_typed_for_its_meaning(
    context: Desk, meaning: Told
) -> None:
    context.note("Architect", "Her fee is due.")

    page = context.found("archetect fee")

    assert [row.title for row in page.items] == ["Architect"]
    assert page.hint == "Searched for “architect” instead of “archetect”, which no item contains."
    assert meaning.asked[-1][0] == "archetect fee"


@pytest.mark.parametrize(
    ("text", "query", "searched"),
    [
        ("new heat pump", "heatpump", "heat pump"),
        ("a butterfly bush", "butter fly", "butterfly"),
        ("Café Zürich", "zurihc", "zürich"),
        ("receive the parcel", "recieve parcel", "receive"),
        ("Entscheidungen am Montag", "Entschiedungen", "entscheidungen"),
        ("планируем встречу", "всречу", "встречу"),
    ],
)
def test_slips_of_many_sorts_are_repaired(context: Desk, text: str, query: str, searched: str) -> None:
    context.note("Plan", text)

    page = context.found(query)

    assert [row.title for row in page.items] == ["Plan"]
    assert f"“{searched}”" in page.hint


@pytest.mark.parametrize("query", ['"archetect"', "archetect*", "xyzzy", "arc", "1234", "residence"])
def test_what_is_quoted_begun_known_or_far_from_all_is_not_repaired(context: Desk, query: str) -> None:
    context.note("Plan", "architect, residual 1235")

    assert "Searched for" not in context.found(query).hint


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("dann zum Markt", "Wann ist der Termin"),
        ("vier Stühle", "Wie viel kostet das"),
        ("wegen der Miete", "Einwand gegen die Miete"),
        ("la nuca", "nunca llega el tren"),
    ],
)
def test_a_word_that_holds_sentences_together_is_no_misspelt_other_one(context: Desk, text: str, query: str) -> None:
    context.note("Plan", text)

    assert "Searched for" not in context.found(query).hint


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("QX-83K2", "qx83k2"),
        ("QX83K2", "QX-83K2"),
        ("XK 900 pump", "xk900"),
        ("model XK900", "XK 900"),
        ("RTX4090", "rtx 4090 x"),
    ],
)
def test_a_code_is_found_with_and_without_its_hyphen(context: Desk, text: str, query: str) -> None:
    context.note("Plan", f"reference {text} of May")
    context.note("Other", "reference QX 900 83 RTX 83K1")

    assert context.titles(query)[0] == "Plan"


def test_a_last_word_that_begins_another_is_not_repaired(context: Desk) -> None:
    context.note("Plan", "architect")

    assert (context.titles("archit"), context.found("archit").hint) == (["Plan"], "")


def test_a_last_word_that_is_known_is_not_taken_for_a_beginning(context: Desk) -> None:
    context.note("Car", "car")
    context.note("Floor", "carpet")

    assert context.titles("car") == ["Car"]


def test_items_like_one_are_those_near_to_it(context: Desk, meaning: Told) -> None:
    one, near = context.note("Quince jam"), context.note("Marmalade", "Boil the oranges.")
    meaning.hits = {near: 0.7}

    page = context.search.search_similar(one, PageRequest())

    assert [(row.title, row.why) for row in page.items] == [("Marmalade", ("semantic",))]
    assert meaning.asked[-1][0] == one


def test_without_meaning_items_like_one_share_its_telling_words(context: Desk, meaning: Told) -> None:
    one = context.note("Quince jam", "Boil the quinces with sugar and cardamom.")
    context.note("Marmalade", "Oranges, sugar, cardamom.")
    context.note("Bicycle", "New tyres.")
    meaning.gap = OFF

    page = context.search.search_similar(one, PageRequest())

    assert [row.title for row in page.items] == ["Marmalade"]
    assert page.hint == "These share distinctive words with it."
    assert summarize_search(page).endswith("The model is loading. Ask again in a moment.")


def test_a_note_of_the_same_title_is_called_a_possible_duplicate(context: Desk, clock: StandingClock) -> None:
    first = context.note("Quince jam")
    clock.advance(days=3)

    hint = context.notes.create("QUINCE  jam").hint

    assert hint == f"Possible duplicate: {first} “Quince jam” (created 20 May 2026)."


def test_a_note_that_means_the_same_is_called_a_possible_duplicate(context: Desk, meaning: Told) -> None:
    first = context.note("Jam of quinces", "Boil them.")
    meaning.hits = {first: 0.93}

    assert first in context.notes.create("Quince jam", "Boil the quinces.").hint


@pytest.mark.parametrize(("model", "score"), [("minilm", 0.8), ("ollama:other", 0.99)])
def test_what_is_only_alike_or_of_an_unmeasured_model_is_no_duplicate(
    context: Desk, meaning: Told, model: str, score: float
) -> None:
    first = context.note("Jam of quinces")
    meaning.hits, meaning.model = {first: score}, model

    assert context.notes.create("Quince jam").hint == ""


def test_the_minutes_of_another_day_are_no_duplicate(context: Desk, meaning: Told) -> None:
    first = context.note("Minutes 12 May")
    meaning.hits = {first: 0.97}

    assert context.notes.create("Minutes 19 May").hint == ""


def test_a_task_of_a_note_s_title_is_no_duplicate_and_one_of_a_task_s_title_is(context: Desk) -> None:
    context.note("Order seeds")
    task = context.tasks.create("Order seeds")

    assert task.hint == ""
    assert task.value.id in context.tasks.create("order seeds").hint


def test_without_a_model_only_titles_are_compared(context: Desk, meaning: Told) -> None:
    context.note("Jam of quinces")
    meaning.gap = OFF

    assert context.notes.create("Quince jam").hint == ""


def test_a_created_note_answers_its_hint_through_the_tool(call: Callable[..., Answer]) -> None:
    call("create_note", title="Tea")

    assert "Possible duplicate" in call("create_note", title="tea").metadata["hint"]


def test_pages_begun_without_meaning_go_on_without_it(context: Desk, meaning: Told) -> None:
    ids = [context.note(f"Tea {number}") for number in range(9)]
    others = [context.note(f"Coffee {number}") for number in range(3)]
    meaning.gap = OFF
    first = context.search.search("tea", PageRequest(limit=4))
    meaning.gap, meaning.hits = None, dict.fromkeys([*others, *reversed(ids)], 0.6)

    rest = context.search.search("tea", PageRequest(limit=20, after=first.keys[-1]))

    assert sorted(row.id for row in (*first.items, *rest.items)) == sorted(ids)


@pytest.mark.parametrize("query", ['"fig tree"', "“fig tree”", "«fig tree»"])
def test_nothing_but_quoted_words_is_looked_for_literally(context: Desk, meaning: Told, query: str) -> None:
    context.note("Fig tree")
    meaning.hits = {context.note("Tree of figs"): 0.9}

    assert context.titles(query) == ["Fig tree"]


def test_words_that_no_item_holds_are_said_to_be_so(context: Desk, meaning: Told) -> None:
    meaning.hits = {context.note("Boiler", "Repaired in winter."): 0.4}

    page = context.found("qwertyuiop")

    assert [row.title for row in page.items] == ["Boiler"]
    assert "No item contains any of these words" in page.hint


def test_a_period_that_ends_before_it_begins_is_refused(context: Desk) -> None:
    with pytest.raises(InvalidInputError, match="since"):
        context.search.search("tea", PageRequest(), since="2026-05-20", until="2026-05-10")
