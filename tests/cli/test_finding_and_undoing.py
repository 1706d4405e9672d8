"""`search`, `similar`, `history`, `undo`, `restore`, `calls`, `status`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import read_settings

from .conftest import Command

Given = Callable[..., Any]


def test_words_are_found_in_every_kind_and_only_in_those_asked_for(run: Command, given: Given) -> None:
    given("create_note", title="Tea", content="green oolong leaves")
    given("create_task", title="Buy green tea")

    every = run("search", "green", "tea")
    notes = run("search", "green", "--kind", "note", "--json").answer["data"]

    assert len(every.lines) == 3
    assert [row["kind"] for row in notes] == ["note"]


def test_nothing_found_is_said_and_no_error(run: Command) -> None:
    found = run("search", "oolong")

    assert (found.code, found.out, found.err) == (0, "", "Nothing found, by words alone\n")


def test_without_a_daemon_nobody_is_told_to_ask_for_the_meaning_again(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    given("create_note", title="Tea")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "minilm")

    index = run("search", "tea", "--json").answer["metadata"]["index"]
    shown = run("search", "tea").err + run("similar", "Tea").err + run("status").out

    assert index["missing"] == "Search by meaning runs in the daemon, and none is running."
    assert index["do"] == "Use Panorama without PANORAMA_NO_DAEMON."
    assert shown.count(f"{index['missing']} {index['do']}") == 3
    assert "Ask again" not in shown


def test_that_meaning_did_not_run_is_said_beside_what_words_alone_found_in_part(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    given("create_note", title="Tea")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "minilm")

    hint = run("search", "tea locomotive").err

    assert "these contain some of them" in hint
    assert "by words alone: Search by meaning runs in the daemon" in hint


def test_a_search_takes_the_days_of_the_last_change(run: Command, given: Given) -> None:
    given("create_note", title="Tea")

    found = [run("search", "tea", *days, "--json").answer["data"] for days in ((), ("--since", "today"))]
    before, later = run("search", "tea", "--until", "yesterday"), run("search", "tea", "--since", "tomorrow")

    assert [len(item) for item in found] == [1, 1]
    for search, side in ((before, "until"), (later, "since")):
        assert search.err.startswith(f"Nothing found with these filters, by words alone ({side} ")
        assert search.err.endswith(f")\nNarrowed by {side}: leave it out to look everywhere.\n")


def test_days_that_are_none_or_the_wrong_way_round_are_refused(run: Command) -> None:
    none = run("search", "tea", "--since", "someday")
    around = run("search", "tea", "--since", "2026-05-02", "--until", "2026-05-01")

    assert (none.code, around.code) == (2, 2)
    assert "since" in none.err
    assert "since must not be later than until." in around.err


def test_a_search_goes_on_behind_a_page(run: Command, given: Given) -> None:
    for number in range(3):
        given("create_note", title=f"Tea {number}")

    first = run("search", "tea", "--limit", "2", "--json").answer
    rest = run("search", "tea", "--cursor", first["metadata"]["next_cursor"], "--json").answer

    titles = [row["title"] for row in (*first["data"], *rest["data"])]
    assert sorted(titles) == ["Tea 0", "Tea 1", "Tea 2"]
    assert run("search", "tea", "--cursor", "nonsense").code == 2


def test_what_is_like_an_item_is_found_by_its_name(run: Command, given: Given) -> None:
    given("create_note", title="Tea", content="oolong leaves from the high mountain")
    near = given("create_note", title="Shopping", content="oolong leaves")
    given("create_task", title="Fetch oolong leaves")

    found = run("similar", "Tea", "--kind", "note", "--json").answer["data"]
    shown = run("similar", "Tea", "--limit", "1")

    assert [row["id"] for row in found] == [near["id"]]
    assert len(shown.lines) == 2
    assert "share distinctive words" in shown.err


def test_what_is_like_nothing_that_exists_is_refused(run: Command) -> None:
    refused = run("similar", "Nowhere")

    assert (refused.code, refused.out) == (1, "")
    assert "Nowhere" in refused.err


def test_history_tells_who_changed_what_from_what(run: Command, given: Given) -> None:
    given("create_task", title="Tea")
    run("tasks", "done", "Tea")

    result = run("history", "Tea")

    assert "version 2 update now by panorama (tasks.update)" in result.out
    assert "status: todo → done" in result.out


def test_history_names_the_project_an_item_came_from(run: Command, given: Given) -> None:
    given("create_project", name="House")
    given("create_task", title="Tea", project="House")
    run("tasks", "move", "Tea", "")

    assert "project: House → nothing" in run("history", "Tea").out


def test_undo_takes_back_a_unit_that_history_names(run: Command, given: Given) -> None:
    task = given("create_task", title="Tea")
    unit = run("history", "Tea", "--json").answer["data"][0]["unit"]

    undone = run("undo", unit, "--json").answer

    assert undone["data"]["undone"][0]["id"] == task["id"]
    assert run("tasks", "--json").answer["data"] == []


def test_undo_goes_one_write_back_each_time_and_redo_forward(run: Command) -> None:
    for title in ("Tea", "Cake"):
        run("tasks", "add", title)
    for _ in range(2):
        run("undo")

    back = run("redo", "--count", "2")

    assert back.code == 0
    assert len(run("tasks", "--json").answer["data"]) == 2


def test_undo_takes_back_the_last_three_writes(run: Command) -> None:
    for title in ("Tea", "Cake", "Milk", "Jam"):
        run("tasks", "add", title)

    undone = run("undo", "--count", "3")

    assert all(title in undone.out for title in ("Cake", "Milk", "Jam"))
    assert [row["title"] for row in run("tasks", "--json").answer["data"]] == ["Tea"]


def test_the_write_of_an_assistant_is_named_before_it_is_taken_back(run: Command, home: Path) -> None:
    with open_app(read_settings(home=home)) as app:
        app.calls.call("create_task", {"title": "Tea"}, Conversation("v_other", "tool", "claude"))

    refused = run("undo")

    assert refused.code == 1
    assert "“Tea” (tasks.create, claude, " in refused.err
    assert run("undo", "--yes").code == 0


@pytest.mark.parametrize("command", ["history", "recent"])
def test_the_last_writes_of_all_clients_are_listed(run: Command, given: Given, command: str) -> None:
    given("create_task", title="Tea")
    run("tasks", "done", "Tea")

    listed, rows = run(command), run(command, "--json").answer["data"]

    assert [(row["action"], row["title"]) for row in rows] == [("update", "Tea"), ("create", "Tea")]
    assert all(part in listed.out for part in ("create task", "Tea", rows[0]["unit"], rows[1]["client"]))


def test_a_conflict_is_listed_and_can_be_skipped(run: Command, given: Given) -> None:
    run("tasks", "add", "Tea")
    unit = run("history", "Tea", "--json").answer["data"][0]["unit"]
    given("update_task", task="Tea", title="Green tea")

    refused = run("undo", unit)

    assert refused.code == 1
    assert "title was changed" in refused.err
    assert "--skip-conflicts" in refused.err
    assert run("undo", unit, "--skip-conflicts").code == 0


def test_what_was_deleted_is_listed_and_comes_back_by_name(run: Command, given: Given) -> None:
    note = given("create_note", title="Tea")
    given("delete_item", item="Tea")

    assert note["id"] in run("restore").out
    restored = run("restore", "tea")

    assert restored.code == 0
    assert run("restore").err == "0 items\n"


def test_a_name_that_two_deleted_items_have_is_refused_with_both(run: Command, given: Given) -> None:
    ids = [given("create_note", title="Tea")["id"] for _ in range(2)]
    for id_ in ids:
        given("delete_item", item=id_)

    refused = run("restore", "Tea")

    assert refused.code == 1
    assert all(identifier in refused.err for identifier in ids)


def test_the_call_log_tells_what_failed(run: Command) -> None:
    run("tasks", "add", "Tea")
    run("tasks", "done", "Coffee")

    every, failed = run("calls", "--json").answer["data"], run("calls", "--failed", "--slow").lines
    misspelt = run("calls", "--source", "crmm").err

    assert [row["name"] for row in every] == ["tasks.update", "tasks.create"]
    assert "not_found" in failed[1]
    assert len(failed) == 2
    assert misspelt.endswith("`panorama sources` lists the sources.\n")


def test_status_tells_where_the_data_is(run: Command, given: Given, home: Any) -> None:
    given("create_task", title="Tea")

    result = run("status")

    assert str(home) in result.out
    assert "1 task," in result.out
    assert "Europe/Berlin" in result.out
