"""What the tests of the shipped scripts share: a store with the sample workspace, and how a script is run."""

import inspect
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.store.migrate import bundled_path
from tests.sampled import sampled

SCRIPTS = {path.stem: path for path in sorted(bundled_path("scripts").glob("*.py"))}

Call = Callable[..., Answer]
Run = Callable[..., dict[str, Any]]
Snapshot = Callable[[], dict[str, Any]]

_KINDS = ("projects", "tasks", "notes", "links", "files")
_MOVING = ("version", "updated_at", "status_changed_at")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that holds the sample workspace, made once."""
    return sampled(tmp_path_factory.mktemp("sampled"))


@pytest.fixture
def run(call: Call) -> Run:
    """Runs a shipped script by its name, as `run("plan_day", pause=5, dry_run=True)`, and returns what is told."""

    def ran(name: str, *, dry_run: bool = False, **arguments: Any) -> dict[str, Any]:
        sent = {key: str(value) if isinstance(value, date) else value for key, value in arguments.items()}
        return call("run_script", script=name, args=sent, dry_run=dry_run).data

    return ran


@pytest.fixture
def result(run: Run) -> Callable[..., Any]:
    """Runs a shipped script that must succeed, and returns its result."""

    def of(name: str, **arguments: Any) -> Any:
        answer = run(name, **arguments)
        assert "error" not in answer, answer["error"]
        assert "result_file" not in answer, "the result is too large to be shown"
        return answer["result"]

    return of


@pytest.fixture
def refusal(run: Run) -> Callable[..., str]:
    """Runs a shipped script that must refuse its arguments and change nothing, and returns what it says."""

    def of(name: str, **arguments: Any) -> str:
        answer = run(name, **arguments)
        assert answer["changes"] == {}
        return str(answer["error"]["message"])

    return of


@pytest.fixture
def everything(app: App) -> Snapshot:
    """Returns all living items as the database holds them, without what every write moves."""

    def found() -> dict[str, Any]:
        with closing(sqlite3.connect(app.settings.home / "panorama.db")) as database:
            database.row_factory = sqlite3.Row
            rows = {kind: database.execute(f"SELECT * FROM {kind} ORDER BY id").fetchall() for kind in _KINDS}
        return {kind: [_still(row) for row in value if not row["deleted_at"]] for kind, value in rows.items()}

    return found


def _still(row: sqlite3.Row) -> dict[str, Any]:
    return {name: row[name] for name in row.keys() if name not in _MOVING}  # noqa: SIM118 (a row iterates values)


def signature(name: str) -> inspect.Signature:
    """Return the parameters of a shipped script's `main`, with annotations that are resolved."""
    names: dict[str, Any] = {}
    exec(compile(SCRIPTS[name].read_text(encoding="utf-8"), name, "exec"), names)
    return inspect.signature(names["main"])
