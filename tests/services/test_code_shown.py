"""Runs as they are shown afterwards: without secrets, and with where all their calls are."""

import json

import pytest

from panorama.app import App
from panorama.errors import NotFoundError
from panorama.store.log import runs
from tests.services.coding import Call, Run, run

__all__ = ["run"]

TELLING = """\
password = "hunter2 and 3"
name = "hun" + "ter2"
print("api_key=" + name)
raise ValueError("token: " + name)
"""


def test_what_a_run_says_is_shown_without_its_secrets(run: Run, call: Call) -> None:
    failed = run(TELLING)["run_id"]
    ended = run('return {"password": "hunter2", "n": 1}')["run_id"]

    views = [call("runs.get", run=run_).data for run_ in (failed, ended)]
    pages = [call("pages.run", run=item).data["markdown"] for item in (failed, ended)]

    assert "hunter2" not in json.dumps([views, pages, call("runs.list").data])
    assert views[0]["source"].splitlines()[:2] == ["password = •••", 'name = "hun" + "ter2"']
    assert (views[0]["output"], views[0]["error"]["message"]) == ("api_key=•••\n", "ValueError: token: •••")
    assert views[1]["result"] == '{"password":•••,"n":1}'
    assert "```\napi_key=•••\n```" in pages[0]


def test_whoever_runs_a_script_hears_all_it_says(run: Run) -> None:
    result = run(TELLING)

    assert (result["stdout"], result["error"]["message"]) == ("api_key=hunter2\n", "ValueError: token: hunter2")


def test_a_run_is_kept_whole_as_a_script_and_in_the_log(run: Run, call: Call, app: App) -> None:
    result = run(TELLING)

    call("save_script", name="telling", run=result["run_id"], summary="Tell.")

    assert 'password = "hunter2 and 3"' in call("scripts.get", script="telling").data["text"]
    with app.context.database.reading() as session:
        kept = runs.find(session, result["run_id"])
    assert kept is not None
    assert kept.source == TELLING


@pytest.fixture
def long(run: Run) -> str:
    """A run of 205 calls."""
    return run("for _ in range(205): sdk.projects.list()")["run_id"]


def test_a_run_of_many_calls_says_how_many_are_not_shown_and_where_they_are(long: str, call: Call) -> None:
    view, page = call("runs.get", run=long).data, call("pages.run", run=long).data["markdown"]

    assert (view["called"], len(view["calls"])) == (205, 200)
    assert page.endswith(
        "and 5 more: `query` shows them, with collection `calls`, "
        f'where `{{"unit": "{long}", "position": {{"gt": 200}}}}`, sort `position`.\n'
    )


def test_what_the_page_of_a_run_says_finds_the_others(long: str, call: Call) -> None:
    found = call("query", collection="calls", where={"unit": long, "position": {"gt": 200}}, sort=["position"])

    assert [row["position"] for row in found.data] == [201, 202, 203, 204, 205]


def test_all_calls_of_a_run_are_listed_page_by_page(long: str, call: Call) -> None:
    first = call("runs.calls", run=long, limit=150)
    second = call("runs.calls", run=long, limit=150, cursor=first.metadata["next_cursor"])

    assert [row["position"] for row in (*first.data, *second.data)] == [*range(1, 206)]
    assert "next_cursor" not in second.metadata


def test_a_run_of_few_calls_says_nothing_of_others(run: Run, call: Call) -> None:
    few = run("sdk.projects.list()")["run_id"]

    assert " more" not in call("pages.run", run=few).data["markdown"]


def test_an_unknown_run_has_no_calls(call: Call) -> None:
    with pytest.raises(NotFoundError):
        call("runs.calls", run="x_0000000000")


WRITING = 'sdk.tasks.create("Tea")\nsdk.tasks.update("Old", notes="n")'


@pytest.fixture
def wrote(run: Run, call: Call) -> str:
    """A run that made a task and changed another."""
    call("create_task", title="Old")
    return run(WRITING)["run_id"]


def test_a_run_is_shown_with_what_it_changed_and_how_to_take_that_back(wrote: str, call: Call) -> None:
    view, page = call("runs.get", run=wrote).data, call("pages.run", run=wrote).data["markdown"]

    assert view["changes"] == {"created": 1, "updated": 1}
    assert view["stands"] == f"Undo {wrote} reverts those that were not changed since."
    assert [(entry["action"], entry["label"]) for entry in view["wrote"]] == [("create", "Tea"), ("update", "Old")]
    assert f"1 created, 1 updated. {view['stands']}" in page
    assert f'- update task “Old” ({view["wrote"][1]["item"]}): notes `""` → `"n"`' in page


def test_a_run_that_was_taken_back_is_shown_as_such(wrote: str, call: Call) -> None:
    call("undo", unit=wrote)

    view, page = call("runs.get", run=wrote).data, call("pages.run", run=wrote).data["markdown"]

    assert (view["changes"], view["wrote"]) == ({}, [])
    assert view["stands"] == "All its changes were undone (2 changes)."
    assert "## Changes\n\nAll its changes were undone (2 changes)." in page


def test_a_run_of_which_a_part_was_taken_back_is_shown_with_the_rest(wrote: str, call: Call) -> None:
    task = call("runs.get", run=wrote).data["wrote"][0]["item"]
    change = call("history", item=task).data[0]["change"]
    call("undo", unit=str(change))

    view = call("runs.get", run=wrote).data

    assert view["changes"] == {"updated": 1}
    assert view["stands"].startswith("1 of its 2 changes stands, the others were undone. Undo ")


def test_an_atomic_run_that_failed_is_shown_as_taken_back(run: Run, call: Call) -> None:
    failed = run('sdk.tasks.create("Tea")\n1 / 0', atomic=True)["run_id"]

    assert call("runs.get", run=failed).data["stands"] == "All its changes were undone (1 change)."


def test_a_dry_run_is_shown_as_one_that_changed_nothing(run: Run, call: Call) -> None:
    dry = run('sdk.tasks.create("Tea")', dry_run=True)["run_id"]

    view, page = call("runs.get", run=dry).data, call("pages.run", run=dry).data["markdown"]

    assert (view["changes"], view["wrote"]) == ({"created": 1}, [])
    assert "1 created. It was a dry run: nothing of this was changed." in page


def test_a_run_that_only_read_says_nothing_of_changes(run: Run, call: Call) -> None:
    read = run("sdk.tasks.list()")["run_id"]

    assert call("runs.get", run=read).data["stands"] == ""
    assert "Changes" not in call("pages.run", run=read).data["markdown"]
