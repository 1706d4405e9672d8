"""Runs as they are shown afterwards: without secrets."""

import json

from panorama.app import App
from panorama.store import runs
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
