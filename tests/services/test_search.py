"""Search with both arms: what each finds, what is said of it, and what it does without meaning."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.domain.chunks import chunks
from panorama.domain.results import Page, Slice
from panorama.errors import InvalidInputError
from panorama.index.points import Filter
from panorama.services.meaning import Meaning
from panorama.services.nearest import Near, Nearest
from panorama.services.notes import Notes
from panorama.services.search import Mode, Search
from panorama.services.tasks import Tasks
from panorama.services.views import Found
from tests.conftest import StandingClock

OFF = Nearest(missing="The model is loading.", hint="Ask again in a moment.")


@dataclass
class Told(Meaning):
    """A meaning that finds what it is told to, and remembers what it was asked."""

    hits: dict[str, float] = field(default_factory=dict[str, float])
    positions: dict[str, int] = field(default_factory=dict[str, int])
    gap: Nearest | None = None
    pending: int = 0
    model: str = "minilm"
    asked: list[tuple[str, Filter]] = field(default_factory=list[tuple[str, Filter]])

    def asking(self, query: str, limit: int, wanted: Filter) -> Callable[[], Nearest]:
        """Return how to ask."""
        return lambda: self.nearest(query, limit, wanted)

    def nearest(self, query: str, limit: int, wanted: Filter) -> Nearest:
        self.asked.append((query, wanted))
        near = [Near(item=item, position=self.positions.get(item, 0), score=score) for item, score in self.hits.items()]
        return self.gap or Nearest(hits=tuple(near[:limit]), pending=self.pending, model=self.model)

    def like(self, item: str, limit: int, wanted: Filter) -> Nearest:
        return self.nearest(item, limit, wanted)

    def close_to(self, title: str, body: str, wanted: Filter) -> Nearest:
        return self.nearest(f"{title}\n{body}", 8, wanted)


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

    def found(self, query: str, mode: Mode = "hybrid", limit: int = 50) -> Page[Found]:
        return self.search.search(query, Slice(limit=limit), mode=mode)

    def titles(self, query: str, mode: Mode = "hybrid") -> list[str]:
        return [row.title for row in self.found(query, mode).items]


@pytest.fixture
def desk(app: App, meaning: Told) -> Desk:
    """The services."""
    return Desk(Search(app.desk, meaning), Notes(app.desk, meaning), Tasks(app.desk, meaning))


def test_a_note_is_found_by_its_words_and_another_by_its_meaning(desk: Desk, meaning: Told) -> None:
    desk.note("Fig tree", "Prune it in March.")
    near = desk.note("Pear", "Cut back the branches in spring.")
    meaning.hits = {near: 0.6}

    rows = desk.found("prune").items

    assert [(row.title, row.why) for row in rows] == [("Fig tree", ("keyword",)), ("Pear", ("semantic",))]


def test_what_both_find_says_so_and_stands_first(desk: Desk, meaning: Told) -> None:
    desk.note("Fig tree", "Prune it in March.")
    both = desk.note("Pear", "When to prune.")
    meaning.hits = {both: 0.6}

    rows = desk.found("prune").items

    assert (rows[0].title, rows[0].why) == ("Pear", ("keyword", "semantic"))


def test_one_common_word_of_many_stands_behind_the_nearest_meaning(desk: Desk, meaning: Told) -> None:
    for number in range(8):
        desk.note(f"Invoice {number}", "Paid the water bill.")
    near = desk.note("Leak", "Damp spot under the sink.")
    meaning.hits = {near: 0.5}

    assert desk.titles("why does water drip from ceilings overnight")[0] == "Leak"


def test_an_id_comes_first_in_every_mode(desk: Desk, meaning: Told) -> None:
    wanted, other = desk.note("Tea"), desk.note("Coffee")
    meaning.hits = {other: 0.9}

    first = [desk.found(wanted, mode).items[0] for mode in ("hybrid", "keyword", "semantic")]

    assert [(row.id, row.why[0]) for row in first] == [(wanted, "id")] * 3


def test_an_id_is_found_in_any_case_and_as_it_is_read_aloud(desk: Desk, meaning: Told) -> None:
    wanted, other = desk.note("Tea"), desk.note("Coffee")
    meaning.hits = {other: 0.9}

    for said in (wanted.upper(), f" {wanted.title()} ", wanted[:2] + wanted[2:].replace("0", "o").replace("1", "L")):
        assert [(row.id, row.why) for row in desk.found(said).items] == [(wanted, ("id",))]


def test_ids_in_a_sentence_come_first_and_the_rest_behind(desk: Desk, meaning: Told) -> None:
    desk.note("Green")
    one, two = desk.note("Tea"), desk.note("Coffee")

    rows = desk.found(f"is {two.upper()} or {one} the green one?").items

    assert [row.id for row in rows[:2]] == [two, one]
    assert all(row.why[0] == "id" for row in rows[:2])
    assert rows[2].title == "Green"


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_an_id_that_no_item_has_finds_nothing_but_what_mentions_it(desk: Desk, meaning: Told, mode: Mode) -> None:
    meaning.hits = {desk.note("Coffee"): 0.9}

    nothing = desk.found("N_JBTDG0EE1W", mode)
    mentions = desk.note("Old ids", "It was n_jbtdg0ee1w then.")
    some = desk.found("n_jbtdg0ee1w", mode)

    assert (nothing.items, nothing.hint) == ((), "No item has the id n_jbtdg0ee1w.")
    assert [row.id for row in some.items] == [mentions]
    assert some.hint == "No item has the id n_jbtdg0ee1w. These mention it."
    assert some.index == {"ran": ["keyword"]}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_what_holds_only_the_letter_of_an_id_does_not_mention_it(desk: Desk, meaning: Told, mode: Mode) -> None:
    meaning.hits = {desk.note("Peat", "Up to 30 t and n tonnes, said jbtdg0ee1w."): 0.9}

    page = desk.found("n_jbtdg0ee1w", mode)

    assert (page.items, page.hint) == ((), "No item has the id n_jbtdg0ee1w.")


@pytest.mark.parametrize("query", ["see n_jbtdg0ee1w please", "note N_JBTDG0EE1W", "is n_jbtdg0ee1w done?"])
def test_an_id_that_no_item_has_is_said_to_be_none_within_a_sentence(desk: Desk, meaning: Told, query: str) -> None:
    meaning.hits = {desk.note("Please see this note: all is done"): 0.9}

    nothing = desk.found(query)
    mentions = desk.note("Old ids", "It was n_jbtdg0ee1w then.")
    some = desk.found(query)

    unknown = "No item has the id n_jbtdg0ee1w."
    assert (nothing.items, nothing.hint) == ((), f"{unknown} Leave it out to look for the other words.")
    assert ([row.id for row in some.items], some.hint) == ([mentions], f"{unknown} These mention it.")


def test_an_unknown_id_beside_a_known_one_is_said_and_takes_nothing_away(desk: Desk) -> None:
    green, tea = desk.note("Green"), desk.note("Tea")

    page = desk.found(f"is {tea} or n_jbtdg0ee1w green?")

    assert [row.id for row in page.items] == [tea, green]
    assert "No item has the id n_jbtdg0ee1w." in page.hint


def test_many_unknown_ids_are_told_in_few_words(desk: Desk) -> None:
    hint = desk.found(" ".join(f"n_jbtdg0ee{number}" for number in range(10, 16))).hint

    assert hint.count("No item has the id") == 3
    assert hint.endswith("Nor are 3 more of these ids found.")


def test_of_an_id_that_is_not_found_is_said_where_the_item_is(app: App, desk: Desk, meaning: Told) -> None:
    gone, kept = desk.note("Gone"), desk.note("Kept")
    with app.desk.database.migrating() as connection:
        connection.exec_driver_sql("UPDATE notes SET deleted_at = '2026-05-20' WHERE id = ?", (gone,))

    other = desk.search.search(kept, Slice(), kinds=("task",))

    assert desk.found(gone).hint == f"The note {gone} is in the trash."
    assert (other.items, "not among what was asked for" in other.hint) == ((), True)


def test_a_name_that_looks_like_an_id_is_looked_for_like_any_words(desk: Desk, meaning: Told) -> None:
    near = desk.note("Letters")
    meaning.hits = {near: 0.9}

    assert desk.titles("n_characters") == desk.titles("what is n_characters") == ["Letters"]


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_what_is_only_near_to_words_that_no_item_holds_is_said_to_be(desk: Desk, meaning: Told, mode: Mode) -> None:
    meaning.hits = {desk.note("Coffee"): 0.3}

    assert "No item holds any of these words" in desk.found("xqzv blorp", mode).hint
    assert desk.found("coffee xqzv", "semantic").hint == ""


@pytest.mark.parametrize("query", ["number one", "one banana", "which one is the banana"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_small_word_that_was_left_out_is_told_where_no_other_is_held(desk: Desk, query: str, mode: Mode) -> None:
    desk.note("Note one")

    page = desk.found(query, mode)

    assert page.items == ()
    assert page.hint.startswith("“one” says little beside other words and was not looked for: ask for it alone.")


def test_a_small_word_is_told_beside_what_is_only_near(desk: Desk, meaning: Told) -> None:
    desk.note("Note one")
    meaning.hits = {desk.note("Coffee"): 0.3}

    assert "“one” says little" in desk.found("banana one").hint
    assert "“one” says little" not in desk.found("coffee one").hint


def test_small_words_that_many_items_hold_are_told_of_nowhere(desk: Desk) -> None:
    for number in range(12):
        desk.note(f"The tea {number}")

    assert desk.found("the oolong").hint == ""


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
        ({"mode": "keyword"}, "Mode keyword looks for the words alone; hybrid looks for their meaning, too."),
        ({"mode": "semantic"}, "Mode semantic looks for the meaning alone; hybrid looks for the words, too."),
    ],
)
def test_where_nothing_is_found_is_said_what_narrowed_the_search(
    desk: Desk, narrowed: dict[str, Any], said: str
) -> None:
    desk.note("Tea")

    page = desk.search.search("oolong", Slice(), **narrowed)

    assert (page.items, page.hint) == ((), said)


def test_a_phrase_that_nothing_holds_is_said_to_be_looked_for_as_it_is(desk: Desk) -> None:
    desk.note("Tea, green")

    page = desk.found('"green tea"')

    said = "Quoted words stand together, as they are: leave out the quotes to look further."
    assert (page.items, page.hint) == ((), said)


def test_what_narrowed_a_search_that_finds_is_not_told(desk: Desk) -> None:
    desk.note("Green tea")

    page = desk.search.search('"green tea"', Slice(limit=1), kinds=("note",), mode="keyword")

    assert (len(page.items), page.hint) == (1, "")


def test_a_title_that_is_the_whole_query_comes_first(desk: Desk, meaning: Told) -> None:
    near = desk.note("About tea", "green tea, green tea, green tea")
    desk.note("Green Tea", "leaves")
    meaning.hits = {near: 0.9}

    assert desk.found("green tea").items[0].why == ("title", "keyword")
    assert desk.titles("green tea")[0] == "Green Tea"


def test_the_snippet_of_a_meaning_is_the_passage_that_is_near(app: App, desk: Desk, meaning: Told) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "Words about the house. " * 15 for number in range(9))
    near = desk.note("Long", text + "\n\nDamp spot under the sink.")
    last = chunks("Long", text + "\n\nDamp spot under the sink.")[-1]
    with app.desk.database.migrating() as connection:
        row = (near, last.position, "note", "x", last.begin, last.end)
        connection.exec_driver_sql("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)", row)
    meaning.hits, meaning.positions = {near: 0.5}, {near: last.position}

    snippet = desk.found("leak").items[0].snippet

    assert snippet.lstrip("…")[:40] in " ".join(text.split()) + " Damp"
    assert "Paragraph 0" not in snippet


def test_what_stands_far_behind_the_nearest_is_left_out(desk: Desk, meaning: Told) -> None:
    near, far = desk.note("Near"), desk.note("Far")
    meaning.hits = {near: 0.6, far: 0.2}

    assert desk.titles("something else") == ["Near"]


def test_what_is_in_the_trash_is_not_found_though_the_index_lags(app: App, desk: Desk, meaning: Told) -> None:
    gone, kept = desk.note("Gone"), desk.note("Kept")
    meaning.hits = {gone: 0.6, kept: 0.5, "n_zzzzzzzzzz": 0.5}
    with app.desk.database.migrating() as connection:
        connection.exec_driver_sql("UPDATE notes SET deleted_at = '2026-05-20' WHERE id = ?", (gone,))

    assert desk.titles("something else") == ["Kept"]


def test_the_filters_reach_the_index(desk: Desk, meaning: Told) -> None:
    desk.search.search("tea", Slice(), kinds=("task", "note"), since="2026-05-01", until="2026-05-02")

    wanted = meaning.asked[0][1]
    assert wanted.kinds == ("task", "note")
    assert wanted.since is not None
    assert wanted.until is not None
    assert (wanted.until - wanted.since).days == 2


def test_a_hit_of_meaning_that_the_filters_exclude_by_now_is_left_out(desk: Desk, meaning: Told) -> None:
    note = desk.note("Tea leaves")
    meaning.hits = {note: 0.6}

    page = desk.search.search("drink", Slice(), kinds=("task",))

    assert page.items == ()


def test_the_answer_says_what_ran_and_what_waits(desk: Desk, meaning: Told) -> None:
    desk.note("Tea")
    meaning.pending = 3

    assert desk.found("tea").index == {"ran": ["keyword", "semantic"], "pending": 3, "model": "minilm"}
    assert desk.found("tea", "keyword").index == {"ran": ["keyword"]}
    assert desk.found("tea", "semantic").index == {"ran": ["semantic"], "pending": 3, "model": "minilm"}


def test_without_meaning_keywords_answer_and_the_reason_is_told(desk: Desk, meaning: Told) -> None:
    desk.note("Tea")
    meaning.gap = OFF

    hybrid, semantic = desk.found("tea"), desk.found("tea", "semantic")

    assert hybrid.index == {"ran": ["keyword"], "missing": OFF.missing, "do": OFF.hint}
    assert [row.title for row in semantic.items] == ["Tea"]
    assert semantic.hint == "These are keyword hits: The model is loading. Ask again in a moment."


def test_pages_of_both_arms_walk_every_hit_once(desk: Desk, meaning: Told) -> None:
    ids = [desk.note(f"Tea {number}") for number in range(9)]
    others = [desk.note(f"Coffee {number}") for number in range(6)]
    meaning.hits = dict.fromkeys([*others, *ids[:3]], 0.6)

    rows: list[str] = []
    key: tuple[int, ...] | None = None
    while True:
        page = desk.search.search("tea", Slice(limit=4, after=key))
        rows += [row.id for row in page.items]
        if not page.more:
            break
        key = page.keys[-1]

    assert sorted(rows) == sorted([*ids, *others])
    assert rows == [row.id for row in desk.found("tea").items]


def test_of_two_alike_the_one_written_last_stands_first(desk: Desk, clock: StandingClock) -> None:
    desk.note("Tea", "leaves")
    clock.advance(days=300)
    desk.note("Teas", "leaves")

    assert desk.titles("leaves") == ["Teas", "Tea"]


def test_a_misspelt_word_is_repaired_for_both_arms_and_told(desk: Desk, meaning: Told) -> None:
    desk.note("Architect", "Her fee is due.")

    page = desk.found("archetect fee")

    assert [row.title for row in page.items] == ["Architect"]
    assert page.hint == "Searched for “architect” instead of “archetect”, which no item holds."
    assert meaning.asked[-1][0] == "architect fee"


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
def test_slips_of_many_sorts_are_repaired(desk: Desk, text: str, query: str, searched: str) -> None:
    desk.note("Plan", text)

    page = desk.found(query)

    assert [row.title for row in page.items] == ["Plan"]
    assert f"“{searched}”" in page.hint


@pytest.mark.parametrize("query", ['"archetect"', "archetect*", "xyzzy", "arc", "1234", "residence"])
def test_what_is_quoted_begun_known_or_far_from_all_is_not_repaired(desk: Desk, query: str) -> None:
    desk.note("Plan", "architect, residual 1235")

    assert "Searched for" not in desk.found(query).hint


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("dann zum Markt", "Wann ist der Termin"),
        ("vier Stühle", "Wie viel kostet das"),
        ("wegen der Miete", "Einwand gegen die Miete"),
        ("la nuca", "nunca llega el tren"),
    ],
)
def test_a_word_that_holds_sentences_together_is_no_misspelt_other_one(desk: Desk, text: str, query: str) -> None:
    desk.note("Plan", text)

    assert "Searched for" not in desk.found(query).hint


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
def test_a_code_is_found_with_and_without_its_hyphen(desk: Desk, text: str, query: str) -> None:
    desk.note("Plan", f"reference {text} of May")
    desk.note("Other", "reference QX 900 83 RTX 83K1")

    assert desk.titles(query)[0] == "Plan"


def test_a_last_word_that_begins_another_is_not_repaired(desk: Desk) -> None:
    desk.note("Plan", "architect")

    assert (desk.titles("archit"), desk.found("archit").hint) == (["Plan"], "")


def test_a_last_word_that_is_known_is_not_taken_for_a_beginning(desk: Desk) -> None:
    desk.note("Car", "car")
    desk.note("Floor", "carpet")

    assert desk.titles("car") == ["Car"]


def test_items_like_one_are_those_near_to_it(desk: Desk, meaning: Told) -> None:
    one, near = desk.note("Quince jam"), desk.note("Marmalade", "Boil the oranges.")
    meaning.hits = {near: 0.7}

    page = desk.search.similar(one, Slice())

    assert [(row.title, row.why) for row in page.items] == [("Marmalade", ("semantic",))]
    assert meaning.asked[-1][0] == one


def test_without_meaning_items_like_one_share_its_telling_words(desk: Desk, meaning: Told) -> None:
    one = desk.note("Quince jam", "Boil the quinces with sugar and cardamom.")
    desk.note("Marmalade", "Oranges, sugar, cardamom.")
    desk.note("Bicycle", "New tyres.")
    meaning.gap = OFF

    page = desk.search.similar(one, Slice())

    assert [row.title for row in page.items] == ["Marmalade"]
    assert page.hint == "These share telling words with it. The model is loading. Ask again in a moment."


def test_a_note_of_the_same_title_is_called_a_possible_duplicate(desk: Desk, clock: StandingClock) -> None:
    first = desk.note("Quince jam")
    clock.advance(days=3)

    hint = desk.notes.create("QUINCE  jam").hint

    assert hint == f"Possible duplicate: {first} “Quince jam” (created 20 May 2026)."


def test_a_note_that_means_the_same_is_called_a_possible_duplicate(desk: Desk, meaning: Told) -> None:
    first = desk.note("Jam of quinces", "Boil them.")
    meaning.hits = {first: 0.93}

    assert first in desk.notes.create("Quince jam", "Boil the quinces.").hint


@pytest.mark.parametrize(("model", "score"), [("minilm", 0.8), ("ollama:other", 0.99)])
def test_what_is_only_alike_or_of_an_unmeasured_model_is_no_duplicate(
    desk: Desk, meaning: Told, model: str, score: float
) -> None:
    first = desk.note("Jam of quinces")
    meaning.hits, meaning.model = {first: score}, model

    assert desk.notes.create("Quince jam").hint == ""


def test_the_minutes_of_another_day_are_no_duplicate(desk: Desk, meaning: Told) -> None:
    first = desk.note("Minutes 12 May")
    meaning.hits = {first: 0.97}

    assert desk.notes.create("Minutes 19 May").hint == ""


def test_a_task_of_a_note_s_title_is_no_duplicate_and_one_of_a_task_s_title_is(desk: Desk) -> None:
    desk.note("Order seeds")
    task = desk.tasks.create("Order seeds")

    assert task.hint == ""
    assert task.value.id in desk.tasks.create("order seeds").hint


def test_without_a_model_only_titles_are_compared(desk: Desk, meaning: Told) -> None:
    desk.note("Jam of quinces")
    meaning.gap = OFF

    assert desk.notes.create("Quince jam").hint == ""


def test_a_created_note_answers_its_hint_through_the_tool(call: Callable[..., Answer]) -> None:
    call("create_note", title="Tea")

    assert "Possible duplicate" in call("create_note", title="tea").metadata["hint"]


def test_pages_begun_without_meaning_go_on_without_it(desk: Desk, meaning: Told) -> None:
    ids = [desk.note(f"Tea {number}") for number in range(9)]
    others = [desk.note(f"Coffee {number}") for number in range(3)]
    meaning.gap = OFF
    first = desk.search.search("tea", Slice(limit=4))
    meaning.gap, meaning.hits = None, dict.fromkeys([*others, *reversed(ids)], 0.6)

    rest = desk.search.search("tea", Slice(limit=20, after=first.keys[-1]))

    assert sorted(row.id for row in (*first.items, *rest.items)) == sorted(ids)


@pytest.mark.parametrize("query", ['"fig tree"', "“fig tree”", "«fig tree»"])
def test_nothing_but_quoted_words_is_looked_for_literally(desk: Desk, meaning: Told, query: str) -> None:
    desk.note("Fig tree")
    meaning.hits = {desk.note("Tree of figs"): 0.9}

    assert desk.titles(query) == ["Fig tree"]


def test_words_that_no_item_holds_are_said_to_be_so(desk: Desk, meaning: Told) -> None:
    meaning.hits = {desk.note("Boiler", "Repaired in winter."): 0.4}

    page = desk.found("qwertyuiop")

    assert [row.title for row in page.items] == ["Boiler"]
    assert "No item holds any of these words" in page.hint


def test_a_period_that_ends_before_it_begins_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidInputError, match="since"):
        desk.search.search("tea", Slice(), since="2026-05-20", until="2026-05-10")
