"""What a script must not learn: another conversation's state and runs, a secret from the log, a path of the disk."""

import json
import shutil
import sqlite3
import textwrap
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Answer, Conversation
from panorama.sandbox.runner import ForkServer

Call = Callable[..., Answer]
Tried = Callable[..., dict[str, Any]]

SECRET = "sencha-4711"
THEIRS = "v_theirs0000"


@pytest.fixture
def theirs(app: App) -> dict[str, Any]:
    """A run of another conversation, which kept a secret in its state, its result and its output; all of it logged."""
    code = 'word = f"sencha-{4700 + 11}"\nsdk.state["own"] = word\nprint(word)\nreturn word'
    who = Conversation(id=THEIRS, actor="tool", client="other")
    result = app.calls.call("run_code", {"code": code}, who).data
    app.recorder.flush()
    assert result["result"] == SECRET
    return result


@pytest.fixture
def tried(call: Call) -> Tried:
    """Runs a script and returns all that is told of it."""

    def ran(code: str, **wishes: Any) -> dict[str, Any]:
        return call("run_code", code=code, **wishes).data

    return ran


# Another run's state.

NAMES = {
    "naming no state": "",
    "naming the conversation": THEIRS,
    "naming the conversation as the store does": f"conversation:{THEIRS}",
    "naming all conversations": "conversation:%",
    "naming the conversation as a name": f"../conversation:{THEIRS}",
}
READING = {
    "getting the run": 'return sdk.items.get("RUN")',
    "getting the run as an operation": 'from panorama.sdk import _wire\nreturn _wire.call("runs.get", run="RUN")',
    "getting the run by a batch": 'return sdk.batch([{"tool": "runs.get", "args": {"run": "RUN"}}], atomic=False)',
    "listing runs by a batch": 'return sdk.batch([{"tool": "runs.list", "args": {}}], atomic=False)',
    "listing calls by a batch": 'return sdk.batch([{"tool": "calls.list", "args": {}}], atomic=False)',
    "reading the page of the run by a batch": (
        'return sdk.batch([{"tool": "pages.run", "args": {"run": "RUN"}}], atomic=False)'
    ),
    "running code in its name": (
        'code = "return dict(sdk.state)"\n'
        f'return sdk.batch([{{"tool": "run_code", "args": {{"code": code, "state": "{THEIRS}"}}}}], atomic=False)'
    ),
    "querying states": 'return sdk.query("states")',
    "querying the table of states": 'return sdk.query("script_state")',
    "querying runs": 'return sdk.query("runs")',
    "querying calls": 'return sdk.query("calls")',
    "querying what calls were given": 'return sdk.query("calls", select=["id", "arguments"])',
    "asking for its history": 'return list(sdk.history("RUN"))',
    "searching": f'return list(sdk.search("{SECRET[:6]}"))',
    "its state's name": f'return sdk.state["{THEIRS}"]',
    "all that its state is": "return [sdk.state, dir(sdk.state), sdk.state.__dict__]",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_no_name_of_a_state_is_another_conversations(app: App, theirs: dict[str, Any], tried: Tried, name: str) -> None:
    result = tried("return dict(sdk.state)", state=name)

    assert result["result"] == {}


@pytest.mark.parametrize("code", READING.values(), ids=READING.keys())
def test_a_script_cannot_read_what_another_run_kept(theirs: dict[str, Any], tried: Tried, code: str) -> None:
    result = tried(code.replace("RUN", theirs["run_id"]))

    assert SECRET not in json.dumps(result)


def test_with_the_language_off_no_script_reads_what_another_run_kept(
    app: App, theirs: dict[str, Any], conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.app.ForkServer", partial(ForkServer, language=False))
    with open_app(app.settings, app.context) as unrestricted:
        control = {"code": "import ctypes\ndef main(): return 1"}
        assert unrestricted.calls.call("run_code", control, conversation).data["result"] == 1
        for code in READING.values():
            text = textwrap.indent(code.replace("RUN", theirs["run_id"]), "    ")
            arguments = {"code": f"def main():\n{text}"}
            result = unrestricted.calls.call("run_code", arguments, conversation).data
            assert SECRET not in json.dumps(result)


def test_who_kept_it_can_read_it(app: App, theirs: dict[str, Any]) -> None:
    who = Conversation(id=THEIRS, actor="tool", client="other")

    result = app.calls.call("run_code", {"code": "return dict(sdk.state)"}, who).data

    assert result["result"] == {"own": SECRET}


# Paths.

ASKING = {
    "its status": "return sdk.status()",
    "its status by a batch": 'return sdk.batch([{"tool": "status", "args": {}}]).results',
    "its status by a batch that is not whole": (
        'return sdk.batch([{"tool": "status", "args": {}}], atomic=False).results'
    ),
    "an item that is not there": 'sdk.items.get("n_nothing000")',
    "a file whose name leads elsewhere": 'sdk.files.write("../../../x", "x")',
    "a backup": 'return sdk.batch([{"tool": "backup", "args": {}}], atomic=False)',
    "an export": 'return sdk.batch([{"tool": "export", "args": {}}], atomic=False)',
    "the settings": 'return sdk.batch([{"tool": "configuration.get", "args": {}}], atomic=False)',
    "an error": "1 / 0",
    "an error of the language": "x = (",
    "an error's notes": "try:\n    sdk.items.get(1)\nexcept Exception as error:\n    return [repr(error), vars(error)]",
    "an import": "import json\nreturn repr(json) + repr(json.dumps)",
    "where it is": "return [__name__, __file__]",
    "a zone that is not there": 'import zoneinfo\nzoneinfo.ZoneInfo("No/Where")',
    "a function's repr": "return [repr(sdk), repr(sdk.tasks.list), repr(sdk.tasks)]",
}


@pytest.mark.parametrize("code", ASKING.values(), ids=ASKING.keys())
def test_a_script_is_told_no_path(app: App, tried: Tried, code: str) -> None:
    output = json.dumps(tried(code))

    assert [path for path in paths(app) if path in output] == []


def paths(app: App) -> list[str]:
    """Return what paths of this machine begin with."""
    return [str(app.settings.home), str(app.settings.home.parent), str(Path(__file__).parents[2]), str(Path.home())]


def test_a_person_is_told_where_the_data_is(app: App, call: Call) -> None:
    assert call("status").data["data"] == str(app.settings.home)


def test_a_file_that_is_gone_from_the_disk_is_told_without_its_path(app: App, tried: Tried) -> None:
    file = tried('return sdk.files.write("a.txt", "tea").id')["result"]
    shutil.rmtree(app.settings.home / "files")

    result = tried(f'return sdk.files.text("{file}")')

    assert result["error"]
    assert [path for path in paths(app) if path in json.dumps(result)] == []


def test_a_disk_that_takes_no_files_is_told_without_its_path(app: App, tried: Tried) -> None:
    shutil.rmtree(app.settings.home / "files", ignore_errors=True)
    (app.settings.home / "files").write_text("no folder")

    result = tried('sdk.files.write("a.txt", "tea")')

    assert result["error"]
    assert [path for path in paths(app) if path in json.dumps(result)] == []


# Secrets.


def test_a_secret_among_the_inputs_is_not_in_the_log(app: App, call: Call, tried: Tried) -> None:
    result = tried("return len(token)", inputs={"token": SECRET})

    app.recorder.flush()
    logged = json.dumps([call("runs.get", run=result["run_id"]).data, call("calls.list").data, database(app)])
    assert result["run_id"] in logged
    assert SECRET not in logged


def test_a_secret_in_a_call_of_a_script_is_not_in_the_log(app: App, call: Call, tried: Tried) -> None:
    key = f"sk-{SECRET}-{SECRET}"

    result = tried('return len(list(sdk.tasks.list(tag="-".join(parts))))', inputs={"parts": ["sk", SECRET, SECRET]})

    app.recorder.flush()
    logged = json.dumps([call("runs.get", run=result["run_id"]).data["calls"], database(app)])
    assert "tasks.list" in logged
    assert key not in logged


def database(app: App) -> list[list[str]]:
    """Return the rows of the log as they are stored."""
    with closing(sqlite3.connect(app.settings.home / "panorama.db")) as opened:
        return [[str(item) for item in row] for row in opened.execute("SELECT * FROM calls")]
