"""Scripts that confirm for the user: refused, unless the user was asked before the run or it is a dry run."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer, Conversation
from panorama.errors import ConfirmationError
from tests.kept import Person, put
from tests.services.queued import working, works
from tests.services.shelves import person

__all__ = ["person", "working", "works"]

Call = Callable[..., Answer]

DELETING = '"""Delete the house."""\nsdk.projects.delete("House", items="trash", confirm=True)'
HIDDEN = 'sdk.projects.delete("House", items="trash", **dict([("conf" + "irm", True)]))'
BATCH = 'sdk.batch([{"tool": "items.delete", "args": {"item": "House", "items": "trash", **hidden}}])'


@pytest.fixture(autouse=True)
def furnished(call: Call) -> None:
    """A project with two tasks."""
    call("create_project", name="House")
    for title in ("Paint", "Clean"):
        call("create_task", title=title, project="House")


def living(call: Call) -> int:
    """Return how many tasks there are."""
    return int(call("list_tasks").metadata["total"])


def test_a_script_that_confirms_is_asked_about_before_it_runs(call: Call) -> None:
    with pytest.raises(ConfirmationError) as asked:
        call("run_code", code=DELETING)

    assert "confirms 1 call on your behalf" in asked.value.question
    assert "line 2: sdk.projects.delete('House', items='trash', confirm=True)" in asked.value.question
    assert living(call) == 2


def test_once_the_person_agreed_the_script_confirms(call: Call) -> None:
    answer = call("run_code", code=DELETING, confirm=True)

    assert answer.data["changes"] == {"deleted": 3}
    assert living(call) == 0


def test_a_yes_is_for_this_text_alone(app: App, call: Call) -> None:
    with pytest.raises(ConfirmationError) as asked:
        call("run_code", code=DELETING)

    talk, agreed = Conversation("v_talk", "tool", "talk"), asked.value.agreement
    with pytest.raises(ConfirmationError):
        app.calls.call("run_code", {"code": f"{DELETING}\nsdk.undo(confirm=True)"}, talk, agreed)
    assert app.calls.call("run_code", {"code": DELETING}, talk, agreed).data["changes"] == {"deleted": 3}


@pytest.mark.parametrize("code", [HIDDEN, f"hidden = dict([('conf' + 'irm', True)])\n{BATCH}"])
def test_a_confirm_that_the_text_hides_does_not_count(call: Call, code: str) -> None:
    failed = call("run_code", code=code)

    assert "ConfirmationError" in failed.data["error"]["message"]
    assert living(call) == 2


def test_a_confirm_that_the_text_hides_does_not_count_in_the_background(call: Call, working: None) -> None:
    job = call("run_code", code=HIDDEN, background=True).data["id"]

    call("get_job", job=job, wait=30)

    assert living(call) == 2


def test_a_script_in_the_background_is_asked_about_before_it_waits(call: Call, working: None) -> None:
    with pytest.raises(ConfirmationError):
        call("run_code", code=DELETING, background=True)

    job = call("run_code", code=DELETING, background=True, confirm=True).data["id"]
    call("get_job", job=job, wait=30)

    assert living(call) == 0


@pytest.mark.parametrize("code", [DELETING, HIDDEN])
def test_a_dry_run_passes_without_a_question_and_changes_nothing(call: Call, code: str) -> None:
    tried = call("run_code", code=code, dry_run=True)

    assert tried.data["changes"] == {"deleted": 3}
    assert living(call) == 2


def test_a_person_who_runs_a_script_at_the_terminal_has_seen_it(call: Call) -> None:
    call("run_code", code=DELETING, confirm=True)

    assert living(call) == 0


def test_a_reviewed_script_may_confirm_and_a_draft_asks(call: Call, app: App, person: Person) -> None:
    put(app, "demolish", f'"""Delete the house."""\n\n\ndef main():\n    {DELETING.splitlines()[1]}\n')
    with pytest.raises(ConfirmationError, match="Run a draft, demolish,"):
        call("run_script", script="demolish")
    assert living(call) == 2
    person.approves("demolish")

    call("run_script", script="demolish")

    assert living(call) == 0


def test_a_script_that_only_reads_is_not_asked_about(call: Call) -> None:
    sent: dict[str, Any] = {"code": "len(sdk.tasks.list())"}

    assert call("run_code", **sent).data["result"] == 2
