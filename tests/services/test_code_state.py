"""The state that scripts keep from run to run."""

import json

import pytest

from panorama.app import App
from panorama.calls import Conversation
from panorama.domain.scripts.scripts import Limits, count_state_bytes
from panorama.services.jobs.progress import report_progress_to
from panorama.store.items.passages import INDEXER
from panorama.store.log import runs
from tests.services.coding import Call, Run, run

__all__ = ["run"]


def test_runs_that_name_the_same_state_share_it(run: Run) -> None:
    run('sdk.state["seen"] = ["a"]', state="weekly")
    run('sdk.state["seen"].append("b")', state="weekly")

    assert run("return dict(sdk.state)", state="weekly")["result"] == {"seen": ["a", "b"]}
    assert run("return dict(sdk.state)", state="daily")["result"] == {}


def test_without_a_name_the_state_is_the_conversations(app: App, run: Run) -> None:
    run('sdk.state["mine"] = 1')
    other = Conversation(id="v_other", actor="tool", client="other")

    theirs = app.calls.call("run_code", {"code": "return dict(sdk.state)"}, other).data["result"]

    assert (run("return dict(sdk.state)")["result"], theirs) == ({"mine": 1}, {})


def test_a_state_that_two_runs_made_too_large_together_is_not_kept_by_the_second(app: App, run: Run) -> None:
    def meanwhile(current: int, total: int, message: str) -> None:
        if current:
            other = Conversation(id="v_other", actor="tool", client="other")
            code = {"code": 'sdk.state["theirs"] = "x" * 200_000', "state": "shared"}
            app.calls.call("run_code", code, other)

    with report_progress_to(meanwhile):
        result = run('sdk.progress(1, 2)\nsdk.tasks.list()\nsdk.state["mine"] = "x" * 200_000', state="shared")

    assert "sdk.state was not saved" in result["note"]
    assert run("return {name: len(kept) for name, kept in sdk.state.items()}", state="shared")["result"] == {
        "theirs": 200_000
    }


@pytest.mark.parametrize("text", ["x", "\u0436", '\\"', "\u3042"])
def test_a_state_of_exactly_what_it_may_hold_is_kept(run: Run, text: str) -> None:
    room = Limits().state_bytes - count_state_bytes({"a": b'""'})
    some, rest = divmod(room, len(json.dumps(text, ensure_ascii=False)[1:-1].encode()))

    kept = run(f"sdk.state['a'] = {text!r} * {some} + 'x' * {rest}")
    more = run(f"sdk.state['a'] = {text!r} * {some} + 'x' * {rest + 1}")

    assert ("error" in kept, kept["note"]) == (False, "")
    assert more["error"]["kind"] == "state_size"


def test_a_state_has_a_thousand_names_at_most_and_all_may_be_replaced(run: Run) -> None:
    filling = "for n in range(1000): sdk.state[str(n) + '\\n' * 60] = 1"

    first, other = run(filling), run("sdk.state.clear()\nfor n in range(1000): sdk.state['\\n' * 60 + str(n)] = 1")
    more = run("sdk.state['more'] = 1")

    assert (first["note"], other["note"], "error" in first or "error" in other) == ("", "", False)
    assert (more["error"]["kind"], "1,000 names" in more["error"]["message"]) == ("state_size", True)
    assert run("return len(sdk.state)")["result"] == 1000


def test_a_state_that_is_too_large_may_be_read_and_made_smaller(app: App, run: Run) -> None:
    with app.context.database.transaction(INDEXER) as session:
        runs.save_state(session, "name:old", {"a": "x" * 200_000, "b": "x" * 200_000}, (), app.context.now())

    assert run("return len(sdk.state)", state="old")["result"] == 2
    assert "error" not in run('del sdk.state["a"]', state="old")
    assert run("return len(sdk.state)", state="old")["result"] == 1


def test_what_is_removed_from_the_state_is_gone(run: Run) -> None:
    run('sdk.state["a"] = 1\nsdk.state["b"] = 2')
    run('del sdk.state["a"]')

    assert run("return dict(sdk.state)")["result"] == {"b": 2}


def test_two_runs_that_write_other_names_of_one_state_keep_both(app: App, run: Run, call: Call) -> None:
    def meanwhile(current: int, total: int, message: str) -> None:
        if not current:
            return
        other = Conversation(id="v_other", actor="tool", client="other")
        app.calls.call("run_code", {"code": 'sdk.state["theirs"] = 2', "state": "shared"}, other)

    with report_progress_to(meanwhile):
        run('sdk.progress(1, 2)\nsdk.state["mine"] = 1', state="shared")

    assert run("return dict(sdk.state)", state="shared")["result"] == {"mine": 1, "theirs": 2}


@pytest.mark.parametrize("value", ["2**70", "-(2**63) - 1", "1.0", "'12'", "[1.0]"])
def test_the_state_comes_back_as_it_was(run: Run, value: str) -> None:
    run(f'sdk.state["n"] = {value}')

    assert run(f'return [sdk.state["n"] == {value}, type(sdk.state["n"]) is type({value})]')["result"] == [True, True]
