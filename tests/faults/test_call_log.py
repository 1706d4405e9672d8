"""The call log cannot be written: a saved write is answered as saved, and the log goes on when it can."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from panorama.errors import PanoramaError

from .files import one
from .house import OpenStore
from .servers import Server


def refuse_log_lines(home: Path) -> None:
    with closing(sqlite3.connect(home / "panorama.db")) as file:
        file.execute("CREATE TRIGGER no_log BEFORE INSERT ON calls BEGIN SELECT RAISE(ABORT, 'no'); END")
        file.commit()


def take_log_lines(home: Path) -> None:
    with closing(sqlite3.connect(home / "panorama.db")) as file:
        file.execute("DROP TRIGGER no_log")
        file.commit()


def test_a_write_whose_log_line_cannot_be_written_is_answered_as_saved(house: OpenStore) -> None:
    refuse_log_lines(house.home)

    made = house.do("create_task", title="Water")["data"]["id"]
    house.do("create_task", title="Weed")
    take_log_lines(house.home)

    assert one(house.home, "SELECT title FROM tasks WHERE id = ?", made) == "Water"


def test_the_log_goes_on_after_it_could_not_be_written(house: OpenStore) -> None:
    refuse_log_lines(house.home)
    house.do("create_task", title="Water")
    house.settle()
    take_log_lines(house.home)

    house.do("create_task", title="Weed")
    house.settle()

    assert one(house.home, "SELECT count(*) FROM calls WHERE name = 'create_task'") == 2


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no\ud800tool", {}),
        ("create_task", {"\ud800": "half a character as a name"}),
        ("create_task", {"title": "half \ud800 a character"}),
        ("create_task", {"title": "Water", "tags": ["\x00", "\udfff"]}),
        ("batch", {"operations": [{"tool": "\udc00", "args": {"\udc00": {"\udc00": ["\udc00"]}}}]}),
    ],
)
def test_a_call_that_no_database_can_hold_is_refused_and_does_not_stop_the_log(
    house: OpenStore, name: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(PanoramaError):
        house.do(name, **arguments)
    house.settle()
    house.do("create_task", title="Weed")
    house.settle()

    assert one(house.home, "SELECT count(*) FROM calls WHERE NOT success") == 1
    assert one(house.home, "SELECT count(*) FROM calls WHERE name = 'create_task' AND success") == 1


@pytest.mark.slow
def test_a_call_of_a_tool_with_half_a_character_in_its_name_is_logged_by_the_server(home: Path) -> None:
    with Server(home) as server:
        refused = server.call("no\ud800tool")
        made = server.call("create_task", title="Water")

    assert refused["error"]["code"] == "not_found"
    assert made["data"]["id"]
    assert one(home, "SELECT count(*) FROM calls") == 2
