"""Scripts that call a source: a small MCP server in a real process."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.domain.paging import PageRequest
from panorama.store.log import calls
from tests.services.coding import Call, Run, run, titles
from tests.services.sources.conftest import Allow, Configure

__all__ = ["run"]


@pytest.fixture
def crm(configure: Configure, show_allowed: Allow) -> None:
    """The source `crm`, of which the user allowed functions that write."""
    configure(env={"CRM_TOKEN": "sekret-value-1"}, allow=["add_lead", "die"], deny=["delete_*"])
    show_allowed()


def _error(message: dict[str, Any]) -> str:
    return f"{message['error']['message']} {message['error'].get('hint', '')}"


def test_without_sources_nothing_is_started(app: App, run: Run) -> None:
    result = run('return hasattr(sdk, "crm")')

    assert result["result"] is False
    assert result["untrusted"] == []
    assert not app.sources.has_sources()


@pytest.mark.usefixtures("crm")
def test_a_script_calls_a_function_and_gets_its_value(run: Run) -> None:
    result = run('return sdk.crm.echo(message="hi"), sdk.crm.add_lead(email="a@example.org").email')

    assert result["result"] == ["hi", "a@example.org"]
    assert [row["name"] for row in result["calls"]] == ["crm.echo", "crm.add_lead"]
    assert result["untrusted"] == ["crm"]


@pytest.mark.usefixtures("crm")
def test_the_answer_names_the_calls_that_undo_does_not_take_back(call: Call, run: Run) -> None:
    result = run('sdk.tasks.create("Tea")\nfor at in range(2): sdk.crm.add_lead(email=str(at))')

    undone = call("undo", unit=result["run_id"], confirm=True)

    assert result["note"] == "Undo does not revert calls of sources: crm.add_lead (2 times)."
    assert undone.metadata["hint"] == "Undo does not revert these calls of sources: crm.add_lead."
    assert titles(call) == []


@pytest.mark.usefixtures("crm")
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('sdk.crm.ecko(message="x")', "The source crm has no function 'ecko'. Did you mean echo?"),
        ('sdk.crm.echo(mesage="x")', "crm.echo: There is no argument mesage; did you mean message?"),
        ("sdk.crm.echo(message=5)", "crm.echo: message: 5 is not of type 'string'."),
        ("sdk.crm.meet(count=2.5)", "crm.meet: count: 2.5 is not of type 'integer'."),
        ('sdk.crm.echo("x")', "sdk.crm.echo takes its arguments by name"),
        ('sdk.crm.echo(message="a\\x00b")', "crm.echo was not called: arguments.message contains a NUL byte."),
        ("sdk.crm.fail()", "SourceError: Nothing works today."),
        ("sdk.crm.die()", "OutcomeUnknownError: The source crm ended: its last output was"),
        ("sdk.crm.delete_all()", "The user denied calls of crm.delete_all."),
        ("sdk.crm()", "'sdk.crm' is no function itself"),
        ("sdk.crmm.echo()", "Did you mean crm?"),
    ],
)
def test_a_call_that_cannot_be_made_says_why(run: Run, code: str, words: str) -> None:
    assert words in _error(run(code))


@pytest.mark.usefixtures("crm")
def test_a_call_that_may_fail_is_attempted(run: Run) -> None:
    result = run("tried = sdk.attempt(sdk.crm.fail)\nreturn tried.ok, tried.value, tried.error")

    assert result["result"] == [False, None, "Nothing works today."]


@pytest.mark.usefixtures("crm")
def test_calls_of_sources_run_side_by_side(run: Run) -> None:
    result = run("return sdk.parallel_map(lambda _: sdk.crm.meet(count=8), range(8))")

    assert result["result"] == ["met"] * 8


@pytest.mark.usefixtures("crm")
@pytest.mark.parametrize(
    "code", ["sdk.crm.wait(seconds=30)", "sdk.parallel_map(lambda _: sdk.crm.wait(seconds=30), range(8))"]
)
def test_a_call_of_a_source_ends_with_its_run(run: Run, code: str) -> None:
    run('sdk.crm.echo(message="started")')
    began = time.monotonic()

    result = run(code, timeout=1)

    assert result["error"]["kind"] == "time"
    assert time.monotonic() - began < 10


@pytest.mark.usefixtures("crm")
def test_an_image_becomes_a_file(call: Call, run: Run) -> None:
    result = run("return sdk.crm.image()")

    [file] = call("query", collection="files").data
    assert file["id"] == result["result"]
    assert (file["name"], file["media_type"]) == ("crm-image.png", "image/png")


@pytest.mark.usefixtures("crm")
def test_secrets_never_reach_a_script(run: Run) -> None:
    result = run(
        'sdk.crm.add_lead(email="sekret-value-1")\nreturn sdk.crm.get_env().CRM_TOKEN, sdk.attempt(sdk.crm.die)'
    )

    assert "sekret" not in json.dumps(result["result"])


@pytest.mark.usefixtures("crm")
def test_a_dry_run_stops_before_the_first_call_that_may_change_something(call: Call, run: Run) -> None:
    code = (
        'sdk.tasks.create("Tea")\nprint(sdk.crm.echo(message="read"))\n'
        'sdk.attempt(lambda: sdk.crm.add_lead(email="a"))\nsdk.tasks.create("Coffee")'
    )

    result = run(code, dry_run=True)

    assert result["stdout"] == "read\n"
    assert [change["label"] for change in result["would"]] == ["Tea"]
    assert "The dry run stopped before crm.add_lead" in result["note"]
    assert "untrusted" in result


@pytest.mark.usefixtures("crm")
def test_the_log_has_each_call_under_its_own_name(app: App, run: Run) -> None:
    run('sdk.crm.add_lead(email="a@example.org", name="Ann")\nsdk.tasks.create("Tea")')
    app.recorder.flush()

    with app.context.database.reading() as session:
        logged = calls.list_calls(session, PageRequest(10), source="crm").items

    assert [(entry.name, entry.arguments) for entry in logged] == [
        ("crm.add_lead", {"email": "a@example.org", "name": "Ann"})
    ]


def test_a_source_cannot_take_a_name_of_the_sdk(configure: Configure, run: Run) -> None:
    configure(name="tasks")

    assert run("return sdk.tasks.list()")["result"] == []


def test_a_broken_configuration_leaves_scripts_alone(home: Path, run: Run) -> None:
    (home / "sources.json").write_text("{")

    assert run("return 1")["result"] == 1


def test_a_changed_entry_is_used_by_the_next_run(configure: Configure, run: Run) -> None:
    configure(deny=["echo"])
    refused = run('sdk.crm.echo(message="x")')
    configure(allow=["echo"])

    assert "denied" in _error(refused)
    assert run('return sdk.crm.echo(message="x")')["result"] == "x"


def test_functions_are_found_without_the_server_running(configure: Configure, call: Call, run: Run, home: Path) -> None:
    configure()
    run('sdk.crm.echo(message="x")')
    configure("--no-such-flag", env={"CHANGED": "1"})
    (home / "sources.json").write_text((home / "sources.json").read_text().replace("raw_server.py", "gone.py"))

    stub = call("search_sdk", query="crm.add_lead").data["python"]

    assert stub.startswith("sdk.crm.add_lead(*, email: str = None, name: str = None) -> Any")


def test_functions_of_a_source_that_was_never_read_are_found(configure: Configure, call: Call) -> None:
    configure()

    assert "sdk.crm.add_lead(" in call("search_sdk", query="add a lead to the crm").data["python"]


def test_a_run_makes_at_most_a_thousand_source_calls(configure: Configure, run: Run) -> None:
    configure()

    result = run('for at in range(1001): sdk.crm.echo(message="x")\n')

    assert "A run makes at most 1,000 source calls." in _error(result)


def test_a_run_receives_at_most_64_megabytes(configure: Configure, run: Run) -> None:
    configure()

    result = run("for at in range(12): sdk.crm.big(kb=7000)")

    assert "A run receives at most 64 MB from sources." in _error(result)
    assert sum(row.get("times", 1) for row in result["calls"]) == 10
