"""Runs as they are shown afterwards: without secrets, and with where all their calls are."""

import json

import pytest

from panorama.app import App
from panorama.errors import NotFoundError
from panorama.store import runs
from tests.services.coding import Call, Run, run

pytestmark = pytest.mark.usefixtures("one_template")

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

    views = [call("runs.get", run=each).data for each in (failed, ended)]
    pages = [call("pages.run", run=each).data["markdown"] for each in (failed, ended)]

    assert "hunter2" not in json.dumps([views, pages, call("runs.list").data])
    assert views[0]["source"].splitlines()[:2] == ["password = •••", 'name = "hun" + "ter2"']
    assert (views[0]["output"], views[0]["error"]["message"]) == ("api_key=•••\n", "ValueError: token: •••")
    assert views[1]["result"] == '{"password":•••,"n":1}'
    assert "```\napi_key=•••\n```" in pages[0]


def test_whoever_runs_a_script_hears_all_it_says(run: Run) -> None:
    told = run(TELLING)

    assert (told["stdout"], told["error"]["message"]) == ("api_key=hunter2\n", "ValueError: token: hunter2")


def test_a_run_is_kept_whole_as_a_script_and_in_the_log(run: Run, call: Call, app: App) -> None:
    told = run(TELLING)

    call("save_script", name="telling", run=told["run_id"], summary="Tell.")

    assert 'password = "hunter2 and 3"' in call("scripts.get", script="telling").data["text"]
    with app.desk.database.reading() as session:
        kept = runs.found(session, told["run_id"])
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
