"""What goes wrong is told in our voice on standard error, and as an exit code."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.client import Client

from .conftest import Command

Given = Callable[..., Any]


def test_an_unknown_name_is_told_with_what_may_have_been_meant(run: Command, given: Given) -> None:
    task = given("create_task", title="Water the plants")

    refused = run("tasks", "done", "Watr the plants")

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.splitlines()[1].startswith("→ ")
    assert f"{task['id']} · task · Water the plants" in refused.err


def test_a_program_gets_the_error_as_json_on_standard_error(run: Command) -> None:
    refused = run("tasks", "done", "Tea", "--json")

    error = json.loads(refused.err)["error"]
    assert refused.out == ""
    assert error.keys() == {"code", "message", "hint", "candidates"}
    assert error["code"] == "not_found"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("tasks", "--bogus"), "--bogus"),
        (("tasks", "--view", "someday"), "'someday' is not one of"),
        (("search", "tea", "--kind", "planet"), "'planet' is not one of project, task"),
        (("search",), "query"),
        (("frobnicate",), "frobnicate"),
        (("statsu",), "Did you mean 'status'"),
        (("import",), "Missing command"),
        (("import", "markdown", "/no/such/folder"), "/no/such/folder"),
        (("tasks", "--limit", "0"), "--limit"),
        (("tasks", "add", "Tea", "--deadline", "someday"), "deadline"),
    ],
)
def test_wrong_usage_ends_with_2_and_names_what_is_wrong(run: Command, words: tuple[str, ...], expected: str) -> None:
    refused = run(*words)

    assert (refused.code, refused.out) == (2, "")
    assert expected in refused.err
    assert "Traceback" not in refused.err


def test_wrong_usage_too_is_json_for_a_program(run: Command) -> None:
    refused = run("tasks", "--bogus", "--json")

    assert json.loads(refused.err)["error"]["code"] == "usage"


def test_a_locked_store_ends_with_3(run: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_BUSY_SECONDS", "0.05")

    with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused = run("tasks", "add", "Tea")

    assert refused.code == 3
    assert "locked by another program" in refused.err
    assert "panorama doctor" in refused.err


def test_another_programs_database_ends_with_3_and_is_not_touched(run: Command, home: Path) -> None:
    (home / "panorama.db").write_bytes(b"not a database" * 100)

    refused = run("status")

    assert refused.code == 3
    assert (home / "panorama.db").read_bytes() == b"not a database" * 100


def test_a_setting_that_cannot_be_used_ends_with_2(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_TIMEZONE", "Atlantis/Sunk")

    refused = run("status")

    assert refused.code == 2
    assert "Atlantis/Sunk" in refused.err


def _broken(*_: Any) -> None:
    raise ZeroDivisionError("seven by zero")


def test_a_bug_is_one_line_and_the_place_of_its_details(
    run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "call", _broken)

    failed = run("status")

    assert failed.code == 1
    assert failed.err.splitlines()[0] == "Internal error: ZeroDivisionError: seven by zero"
    assert str(home / "crash.log") in failed.err
    assert "Traceback" in (home / "crash.log").read_text()
    assert "Traceback" not in failed.err


def test_a_bugs_trace_is_shown_on_demand(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "call", _broken)
    monkeypatch.setenv("PANORAMA_DEBUG", "1")

    failed = run("status")

    assert "Traceback" in failed.err


def test_an_interrupt_inside_a_call_ends_with_130(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "call", interrupted)

    assert run("status").code == 130
