"""Another program holds the database: calls are refused in our voice, and go through once it lets go."""

import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from panorama.errors import UnavailableError

from .files import everything, one
from .house import OpenStore

pytestmark = pytest.mark.slow  # they wait for locks to be given up


@contextmanager
def locked(home: Path, mode: str = "IMMEDIATE") -> Generator[None]:
    """Hold the database as another program would."""
    with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
        other.execute(f"BEGIN {mode}")
        yield
        other.execute("ROLLBACK")


WRITES = {
    "create_task": {"title": "Water"},
    "append_to_note": {"note": "Tea", "block": "oolong"},
    "update_project": {"project": "Garden", "color": "green"},
    "delete_item": {"item": "Tea"},
    "undo": {},
    "batch": {"operations": [{"tool": "create_task", "args": {"title": "Water"}}]},
}


@pytest.mark.parametrize("tool", WRITES)
def test_a_write_to_a_locked_database_is_refused_and_changes_nothing(house: OpenStore, tool: str) -> None:
    before = everything(house.home)

    with (
        locked(house.home),
        pytest.raises(UnavailableError, match="locked by another program; nothing was changed") as refusal,
    ):
        house.do(tool, **WRITES[tool])

    assert refusal.value.hint
    assert everything(house.home) == before
    assert house.do(tool, **WRITES[tool])["metadata"]["undo"]


def test_a_step_of_a_batch_that_is_not_atomic_tells_that_the_database_is_locked(house: OpenStore) -> None:
    steps = [{"tool": "create_task", "args": {"title": "Water"}}, {"tool": "list_tasks", "args": {}}]

    with locked(house.home):
        answer = house.do("batch", operations=steps, atomic=False)["data"]

    assert [result["ok"] for result in answer["results"]] == [False, True]
    assert answer["results"][0]["error"]["code"] == "unavailable"


def test_reading_goes_on_while_another_program_writes(house: OpenStore) -> None:
    with locked(house.home, "EXCLUSIVE"):
        assert house.do("get_note", note="Tea")["data"]["content"] == "green and black"


def test_a_write_waits_no_longer_than_it_was_told(house: OpenStore) -> None:
    started = time.monotonic()

    with locked(house.home), pytest.raises(UnavailableError):
        house.do("create_task", title="Water")

    assert 0.15 < time.monotonic() - started < 5


def test_the_call_log_waits_for_the_lock_and_loses_nothing(house: OpenStore) -> None:
    with locked(house.home), pytest.raises(UnavailableError):
        house.do("create_task", title="Water")
    house.do("create_task", title="Weed")
    house.settle()

    logged = house.do("calls.list", limit=2)["data"]

    assert [(row["name"], row.get("code", "")) for row in logged] == [
        ("create_task", ""),
        ("create_task", "unavailable"),
    ]


def test_a_store_that_is_locked_is_opened_once_it_is_free(home: Path) -> None:
    with OpenStore.opened(home) as house:
        house.do("create_note", title="Tea")
    with locked(home), OpenStore.opened(home) as house:
        assert house.do("list_notes")["metadata"]["total"] == 1

    with OpenStore.opened(home) as house:
        house.do("create_note", title="Soup")

    assert one(home, "SELECT count(*) FROM notes") == 2


def test_an_empty_database_that_is_locked_is_refused_and_made_later(home: Path) -> None:
    home.mkdir()
    with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UnavailableError, match="locked"), OpenStore.opened(home):
            pass

    with OpenStore.opened(home) as house:
        assert house.do("create_note", title="Tea")["data"]["id"]
