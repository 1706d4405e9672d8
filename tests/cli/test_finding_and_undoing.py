"""`search`, `history`, `undo`, `restore`, `calls`, `status`."""

from collections.abc import Callable
from typing import Any

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

    assert (found.code, found.out, found.err) == (0, "", "Nothing found\n")


def test_history_tells_who_changed_what_from_what(run: Command, given: Given) -> None:
    given("create_task", title="Tea")
    run("tasks", "done", "Tea")

    told = run("history", "Tea")

    assert "version 2 update now by panorama (tasks.update)" in told.out
    assert "status: todo → done" in told.out


def test_undo_takes_back_a_unit_that_history_names(run: Command, given: Given) -> None:
    task = given("create_task", title="Tea")
    unit = run("history", "Tea", "--json").answer["data"][0]["unit"]

    undone = run("undo", unit, "--json").answer

    assert undone["data"]["undone"][0]["id"] == task["id"]
    assert run("tasks", "--json").answer["data"] == []


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
    for each in ids:
        given("delete_item", item=each)

    refused = run("restore", "Tea")

    assert refused.code == 1
    assert all(each in refused.err for each in ids)


def test_the_call_log_tells_what_failed(run: Command) -> None:
    run("tasks", "add", "Tea")
    run("tasks", "done", "Coffee")

    every, failed = run("calls", "--json").answer["data"], run("calls", "--failed", "--slow").lines

    assert [row["name"] for row in every] == ["tasks.update", "tasks.create"]
    assert "not_found" in failed[1]
    assert len(failed) == 2


def test_status_tells_where_the_data_is(run: Command, given: Given, home: Any) -> None:
    given("create_task", title="Tea")

    told = run("status")

    assert str(home) in told.out
    assert "1 task," in told.out
    assert "Europe/Berlin" in told.out
