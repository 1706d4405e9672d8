"""Two server processes on one store: both write, neither waits in vain."""

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .files import everything, holding, is_sound, one
from .servers import Server

pytestmark = pytest.mark.slow

WRITES = 200


def busy(server: Server, name: str, shared: str, answers: list[Mapping[str, Any]]) -> None:
    """Write two hundred times, to items of its own and to one note that both use, and read in between."""
    for number in range(WRITES):
        word = f"{name}x{number}"
        if number % 4 == 0:
            answers.append(server.call("append_to_note", note=shared, block=word))
        else:
            answers.append(server.call("create_task", title=word))
        if number % 3 == 0:
            read = [("list_tasks", {"limit": 5 + number // 9}), ("search", {"query": word}), ("projects_overview", {})]
            tool, arguments = read[number // 3 % 3]
            answers.append(server.call(tool, **arguments))


def test_two_servers_on_one_store_keep_every_write_and_refuse_none(home: Path) -> None:
    answers: list[Mapping[str, Any]] = []
    with Server(home) as first, Server(home) as second:
        shared = first.call("create_note", title="Shared")["data"]["id"]
        threads = [
            threading.Thread(target=busy, args=(server, name, shared, answers))
            for server, name in ((first, "ada"), (second, "bob"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert [answer for answer in answers if "error" in answer] == []
    assert len(answers) == 2 * (WRITES + len(range(0, WRITES, 3)))
    lost = [f"{name}x{n}" for name in ("ada", "bob") for n in range(WRITES) if not holding(home, f"{name}x{n}")]
    assert lost == []
    assert one(home, "SELECT version FROM notes WHERE id = ?", shared) == 1 + 2 * WRITES // 4
    assert one(home, "SELECT count(*) FROM calls WHERE success") >= 2 * WRITES
    assert is_sound(home)


@pytest.mark.parametrize("count", [4])
def test_servers_that_start_at_once_on_an_empty_folder_all_serve(home: Path, count: int) -> None:
    with ExitStack() as stack:
        servers = [Server(home) for _ in range(count)]
        for server in servers:
            stack.callback(server.close)

        for number, server in enumerate(servers):
            server.greet()
            assert "data" in server.call("create_task", title=f"Task {number}")

    assert len({row[1] for row in everything(home) if row[0] == "tasks"}) == count


def test_what_one_server_writes_the_other_reads_at_once(home: Path) -> None:
    with Server(home) as first, Server(home) as second:
        made = first.call("create_note", title="Tea", content="oolong")["data"]["id"]

        found = second.call("search", query="oolong")["data"]

        assert [row["id"] for row in found] == [made]


def test_of_two_edits_of_one_version_the_second_is_refused(home: Path) -> None:
    with Server(home) as first, Server(home) as second:
        note = first.call("create_note", title="Tea", content="green")["data"]["id"]
        first.call("update_note", note=note, content="black", expected_version=1)

        late = second.call("update_note", note=note, content="white", expected_version=1)

        assert late["error"]["code"] == "conflict"
        assert second.call("get_note", note=note)["data"]["content"] == "black"
