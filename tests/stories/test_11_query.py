"""Chapter 11: exact questions; each answer is the one that a plain loop finds."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError, PanoramaError

Row = dict[str, Any]
Ask = Callable[..., list[Row]]

TASKS: list[Row] = [
    {"title": "Äpfel", "status": "todo", "rank": 3, "urgent": True, "tags": ["shop", "food"], "deadline": "2026-05-19"},
    {"title": "banana", "status": "done", "rank": -1, "tags": ["food"], "scheduled_minutes": 30},
    {"title": "Cherry 100%", "status": "todo", "rank": 0, "deadline": "2026-05-21T15:00", "scheduled_minutes": 60},
    {"title": "date_under", "status": "idea", "rank": 3, "important": True, "tags": ["shop"], "notes": "A 100% note"},
    {"title": "elder", "status": "in_progress", "rank": 10, "deadline": "2026-06-30", "scheduled_minutes": 5},
    {"title": "fig", "status": "cancelled", "rank": 2, "deadline": "2026-05-20", "tags": ["foods"]},
]
BLANK: Row = {
    "rank": 0,
    "urgent": False,
    "important": False,
    "tags": [],
    "deadline": None,
    "scheduled_minutes": None,
    "notes": "",
}


@pytest.fixture
def ask(call: Callable[..., Answer]) -> Ask:
    """Asks the collection of six tasks, and returns the rows."""
    for task in TASKS:
        call("create_task", **task)

    def asked(**arguments: Any) -> list[Row]:
        return list(call("query", **{"collection": "tasks", "limit": 100, **arguments}).data)

    return asked


def looped(holds: Callable[[Row], bool]) -> list[str]:
    """Find tasks with a plain loop."""
    return sorted(task["title"] for task in TASKS if holds(BLANK | task))


def near_day(row: Row) -> str:
    """Return the day of a deadline, or a day after all."""
    return str(row["deadline"] or "9999")[:10]


def test_a_text_too_long_to_look_for_is_refused_with_the_limit(ask: Ask) -> None:
    with pytest.raises(InvalidInputError) as refused:
        ask(where={"notes": {"contains": "%" * 50_001}})

    assert "10,000" in refused.value.message


def test_a_page_of_long_texts_has_fewer_rows_and_goes_on(call: Callable[..., Answer]) -> None:
    for letter in "abc":
        call("create_note", title=letter, content=letter * 700_000)

    pages = [call("query", collection="notes", select=["title", "content"], sort=["title"], limit=500)]
    while cursor := pages[-1].metadata.get("next_cursor"):
        pages.append(
            call("query", collection="notes", select=["title", "content"], sort=["title"], limit=500, cursor=cursor)
        )

    assert [row["title"] for page in pages for row in page.data] == ["a", "b", "c"]
    assert max(len(page.data) for page in pages) < 3


FILTERS: list[tuple[Row, Callable[[Row], Any]]] = [
    ({}, lambda _: True),
    ({"status": "todo"}, lambda t: t["status"] == "todo"),
    ({"status": {"eq": "todo"}}, lambda t: t["status"] == "todo"),
    ({"status": {"ne": "todo"}}, lambda t: t["status"] != "todo"),
    ({"rank": {"lt": 2}}, lambda t: t["rank"] < 2),
    ({"rank": {"lte": 2}}, lambda t: t["rank"] <= 2),
    ({"rank": {"gt": 2}}, lambda t: t["rank"] > 2),
    ({"rank": {"gte": 3}}, lambda t: t["rank"] >= 3),
    ({"rank": {"gt": -1, "lt": 3}}, lambda t: -1 < t["rank"] < 3),
    ({"status": {"in": ["todo", "idea"]}}, lambda t: t["status"] in ("todo", "idea")),
    ({"status": {"nin": ["todo", "idea"]}}, lambda t: t["status"] not in ("todo", "idea")),
    ({"status": {"in": []}}, lambda _: False),
    ({"status": {"nin": []}}, lambda _: True),
    ({"title": {"contains": "a"}}, lambda t: "a" in t["title"].lower()),
    ({"title": {"contains": "100%"}}, lambda t: "100%" in t["title"]),
    ({"title": {"contains": "e_u"}}, lambda t: "e_u" in t["title"]),
    ({"title": {"contains": "%"}}, lambda t: "%" in t["title"]),
    ({"tags": {"contains": "food"}}, lambda t: "food" in t["tags"]),
    ({"tags": {"contains": "shop"}}, lambda t: "shop" in t["tags"]),
    ({"urgent": True}, lambda t: t["urgent"]),
    ({"urgent": False}, lambda t: not t["urgent"]),
    ({"urgent": {"ne": True}}, lambda t: not t["urgent"]),
    ({"deadline": {"lt": "2026-05-21"}}, lambda t: near_day(t) < "2026-05-21"),
    ({"deadline": {"lte": "2026-05-21"}}, lambda t: near_day(t) <= "2026-05-21"),
    ({"deadline": {"gt": "2026-05-21"}}, lambda t: t["deadline"] is not None and near_day(t) > "2026-05-21"),
    ({"deadline": {"gte": "2026-05-21"}}, lambda t: t["deadline"] is not None and near_day(t) >= "2026-05-21"),
    ({"deadline": "2026-05-20"}, lambda t: t["deadline"] == "2026-05-20"),
    ({"deadline": {"gte": "today", "lte": "+2d"}}, lambda t: "2026-05-20" <= near_day(t) <= "2026-05-22"),
    ({"deadline": None}, lambda t: t["deadline"] is None),
    ({"deadline": {"ne": None}}, lambda t: t["deadline"] is not None),
    ({"scheduled_minutes": {"ne": 30}}, lambda t: t["scheduled_minutes"] != 30),
    ({"scheduled_minutes": {"nin": [30, 60]}}, lambda t: t["scheduled_minutes"] not in (30, 60)),
    ({"scheduled_minutes": {"gt": 5}}, lambda t: (t["scheduled_minutes"] or 0) > 5),
    ({"not": {"scheduled_minutes": {"gt": 5}}}, lambda t: not (t["scheduled_minutes"] or 0) > 5),
    ({"not": {"status": "todo"}}, lambda t: t["status"] != "todo"),
    ({"or": [{"status": "todo"}, {"rank": 10}]}, lambda t: t["status"] == "todo" or t["rank"] == 10),
    ({"and": [{"status": "todo"}, {"rank": 3}]}, lambda t: t["status"] == "todo" and t["rank"] == 3),
    (
        {"urgent": False, "or": [{"rank": {"gt": 2}}, {"not": {"status": {"in": ["todo", "done"]}}}]},
        lambda t: not t["urgent"] and (t["rank"] > 2 or t["status"] not in ("todo", "done")),
    ),
    (
        {"not": {"or": [{"and": [{"status": "todo"}, {"rank": 3}]}, {"tags": {"contains": "food"}}]}},
        lambda t: not ((t["status"] == "todo" and t["rank"] == 3) or "food" in t["tags"]),
    ),
]


def test_a_filter_finds_what_a_plain_loop_finds(ask: Ask) -> None:
    wrong: dict[str, tuple[list[str], list[str]]] = {}

    for where, holds in FILTERS:
        found = sorted(row["title"] for row in ask(where=where))
        if found != looped(holds):
            wrong[str(where)] = found, looped(holds)

    assert wrong == {}


def test_a_selection_sends_these_fields_only(ask: Ask) -> None:
    found = ask(select=["title", "rank"], where={"rank": {"gt": 2}})

    assert all(set(row) == {"title", "rank"} for row in found)


def test_a_zero_that_was_selected_is_sent(ask: Ask) -> None:
    found = ask(select=["title", "rank", "urgent"], where={"title": {"contains": "Cherry"}})

    assert found == [{"title": "Cherry 100%", "rank": 0, "urgent": False}]


def test_rows_are_sorted_by_several_fields(ask: Ask) -> None:
    found = ask(select=["title", "rank"], sort=["-rank", "title"])

    expected = sorted((BLANK | task for task in TASKS), key=lambda task: (-task["rank"], task["title"]))
    assert [row["title"] for row in found] == [task["title"] for task in expected]


def test_a_limit_is_kept(ask: Ask) -> None:
    assert len(ask(limit=2)) == 2


def test_groups_are_counted(ask: Ask) -> None:
    found = ask(group_by=["status"])

    assert {row["status"]: row["count"] for row in found} == Counter(task["status"] for task in TASKS)


def test_groups_are_summed(ask: Ask) -> None:
    found = ask(group_by=["status"], sum=["scheduled_minutes"])

    sums = {row["status"]: row.get("sum_scheduled_minutes") or 0 for row in found}
    assert sums["todo"] == 60
    assert sums["done"] == 30


def test_one_sum_is_for_all(ask: Ask) -> None:
    found = ask(sum=["scheduled_minutes", "rank"])

    assert [(row["count"], row["sum_scheduled_minutes"], row["sum_rank"]) for row in found] == [(6, 95, 17)]


def test_a_sum_of_nothing_is_one_row_of_nothing(ask: Ask) -> None:
    found = ask(sum=["rank"], where={"status": "todo", "rank": 99})

    assert len(found) == 1
    assert not any(found[0].values())


def test_groups_of_two_fields_are_counted(ask: Ask) -> None:
    found = ask(group_by=["status", "rank"])

    expected = Counter((task["status"], task["rank"]) for task in TASKS)
    assert {(row["status"], row["rank"]): row["count"] for row in found} == expected


def test_groups_are_sorted_by_their_count(ask: Ask) -> None:
    found = ask(group_by=["status"], sort=["-count"])

    assert found[0]["status"] == "todo"
    assert [row["count"] for row in found] == sorted((row["count"] for row in found), reverse=True)


def test_a_project_is_meant_by_its_name(ask: Ask, call: Callable[..., Answer]) -> None:
    call("create_project", name="House")
    call("create_task", title="inside", project="House")

    found = ask(where={"project": "house"})

    assert [row["title"] for row in found] == ["inside"]


@pytest.mark.parametrize(
    "collection", ["projects", "tasks", "notes", "links", "reminders", "journal", "files", "changes", "calls"]
)
def test_every_collection_is_asked(call: Callable[..., Answer], app: Any, collection: str) -> None:
    call("create_project", name="a")
    call("create_note", title="b")
    call("create_link", url="c.org", title="c")
    call("create_reminder", title="d", at="2026-06-01T09:00")
    call("create_task", title="e")
    call("add_journal_entry", text="f")
    call("write_file", name="g.txt", text="g")
    app.recorder.flush()

    assert call("query", collection=collection).data


def test_changes_are_counted_by_client_and_action(ask: Ask) -> None:
    found = ask(collection="changes", group_by=["client", "action"])

    assert [(row["client"], row["action"], row["count"]) for row in found] == [("tests", "create", 6)]


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        ({"where": {"titel": "x"}}, "title"),
        ({"where": {"or": [{"not": {"dedline": "today"}}]}}, "deadline"),
        ({"select": ["statuss"]}, "status"),
        ({"sort": ["-rnak"]}, "rank"),
        ({"group_by": ["statu"]}, "status"),
        ({"sum": ["scheduled_minute"]}, "scheduled_minutes"),
        ({"where": {"rank": {"gtt": 1}}}, "gt"),
        ({"collection": "task"}, "tasks"),
    ],
)
def test_an_unknown_word_is_answered_with_the_nearest(ask: Ask, arguments: Row, near: str) -> None:
    with pytest.raises(PanoramaError) as refusal:
        ask(**arguments)

    assert refusal.value.code == "invalid_input"
    assert near in f"{refusal.value.message} {refusal.value.hint}".replace("_", " _ ").replace(" _ ", "_")


@pytest.mark.parametrize(
    "arguments",
    [
        {"where": {"rank": {"lt": "many"}}},
        {"where": {"rank": {"in": 3}}},
        {"where": {"rank": [1, 2]}},
        {"where": {"urgent": "perhaps"}},
        {"where": {"deadline": {"lt": "2026-02-30"}}},
        {"where": {"or": {"status": "todo"}}},
        {"where": {"not": []}},
        {"where": {"rank": {"contains": "3"}}},
        {"where": {"tags": {"contains": ["home", "garden"]}}},
        {"where": {"status": "Done"}},
        {"where": {"status": {"in": ["todo", "opne"]}}},
        {"where": {"title": {}}},
        {"where": {"rank": {"in": list(range(5000))}}},
        {"sum": ["title"]},
        {"sum": ["deadline"]},
        {"group_by": ["status"], "select": ["title"]},
        {"group_by": ["status"], "sort": ["title"]},
        {"select": ["key"]},
        {"where": {"deleted_at": None}},
        {"where": {"deadline": {"lt": None}}},
    ],
)
def test_what_makes_no_sense_is_refused(ask: Ask, arguments: Row) -> None:
    with pytest.raises(PanoramaError) as refusal:
        ask(**arguments)

    assert refusal.value.code == "invalid_input"
    assert refusal.value.hint


def test_deep_nesting_is_refused_in_words(ask: Ask) -> None:
    where: Row = {"status": "todo"}
    for _ in range(500):
        where = {"not": where}

    with pytest.raises(PanoramaError) as refusal:
        ask(where=where)

    assert refusal.value.code == "invalid_input"


def test_count_alone_tells_how_many_there_are(ask: Ask) -> None:
    every = ask(select=["id", "status"])

    assert ask(where={"status": "todo"}, count=True) == [{"count": sum(row["status"] == "todo" for row in every)}]
