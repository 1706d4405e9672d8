"""The SDK in a person's own Python: over the socket of a real daemon, with the surface that scripts have."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from panorama.sdk import ConflictError, Connection, NotFoundError, UnavailableError, connect, tasks
from panorama.transport.address import Address
from panorama.transport.launch import reap
from tests.doors.conftest import address, wait

__all__ = ("address",)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_template")]


@pytest.fixture
def place(address: Address) -> Iterator[Address]:
    """Where the daemon is reached; it leaves when the last connection is closed."""
    yield address
    wait(lambda: reap() or not psutil.Process().children(), "the daemon's end")


@pytest.fixture
def sdk(place: Address) -> Iterator[Connection]:
    """A connection to the daemon of this test's data, which it starts."""
    with connect() as made:
        yield made


def titled(sdk: Connection, begin: str) -> int:
    """Return how many tasks have a title that begins so, or nearly."""
    return int(sdk.query("tasks", where={"title": {"contains": begin}}, count=True)[0].count)


def test_the_surface_is_that_of_scripts(sdk: Connection) -> None:
    task = sdk.tasks.create("Tea", deadline="2026-05-31", tags=["drinks"])

    assert [hit.title for hit in sdk.search("tea")] == ["Tea"]
    assert sdk.tasks.get(task).deadline == "2026-05-31"
    assert sdk.history(task)[0].action == "create"
    assert sdk.overview.week().created.count == 1


def test_functions_that_are_imported_go_the_same_way(sdk: Connection) -> None:
    tasks.create("Tea", tags=["drinks"])

    assert tasks.list(tag="drinks") == sdk.tasks.list(tag="drinks") != []


def test_lists_are_whole_over_the_pages_of_the_daemon(sdk: Connection) -> None:
    for part in range(6):
        sdk.batch([{"tool": "tasks.create", "args": {"title": f"Zebra {part} {at}"}} for at in range(100)])

    assert len(sdk.query("tasks", where={"title": {"contains": "Zebra "}})) == 600


def test_a_refusal_is_an_error_of_its_kind(sdk: Connection) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        sdk.notes.get("nowhere")


def test_calls_run_side_by_side_each_on_a_connection_of_its_own(sdk: Connection) -> None:
    together = threading.Barrier(3, timeout=30)

    def asked(number: int) -> int:
        together.wait()
        return len(sdk.tasks.create(f"Zebra {number}").id)

    assert sdk.parallel_map(asked, range(3), at_most=3) == [12, 12, 12]
    assert titled(sdk, "Zebra") == 3


def test_a_wrong_name_is_told_the_nearest(sdk: Connection) -> None:
    with pytest.raises(AttributeError, match=r"sdk has no task\. Did you mean tasks"):
        sdk.task  # noqa: B018 (looking it up is what raises)
    with pytest.raises(AttributeError, match=r"sdk\.tasks has no creat\. Did you mean create.*It has create, delete"):
        sdk.tasks.creat  # noqa: B018 (looking it up is what raises)


def test_the_state_is_a_dict_that_ends_with_the_connection(sdk: Connection) -> None:
    sdk.state["seen"] = 3

    assert connect().state == {"seen": 3}
    sdk.close()


def test_a_process_is_connected_to_one_data_directory(sdk: Connection, tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="Close that connection first"):
        connect(tmp_path / "other")

    assert sdk.status().counts["task"] > 0


def test_after_the_end_the_functions_say_that_nothing_is_connected(place: Address) -> None:
    with connect(place.home) as sdk:
        assert sdk.status().counts["task"] > 0

    with pytest.raises(UnavailableError, match="not connected"):
        tasks.list()
    sdk.close()


def test_when_the_daemon_ends_the_next_call_says_so_and_the_one_after_starts_another(
    sdk: Connection, place: Address
) -> None:
    sdk.tasks.create("Tea", tags=["drinks"])
    os.kill(place.find_pid() or 0, signal.SIGTERM)
    wait(lambda: place.find_pid() is None, "the daemon's end")

    with pytest.raises(UnavailableError, match="outcome is unknown"):
        sdk.tasks.list()

    assert [task.title for task in sdk.tasks.list(tag="drinks")] == ["Tea"]


def test_where_no_daemon_is_allowed_it_is_said(home: Path) -> None:
    with pytest.raises(UnavailableError, match="PANORAMA_NO_DAEMON"):
        connect()
