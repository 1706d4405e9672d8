"""Two real daemons in one space, through real clients: what is done once, and what happens when one of them dies."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from panorama.cli.daemon_process import end_daemon
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.tables import HEAD
from panorama.transport.address import Address
from tests.doors.peer import COMMAND, LEGACY, Peer, kill
from tests.working import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

MESSAGE = "notifications/message"
SPACE = "tests"


@dataclass
class Machine:
    """A data directory, its daemon, and a client of it."""

    address: Address
    client: Peer
    settings: dict[str, str]

    def list_daemons(self) -> list[dict[str, Any]]:
        """Return what `panorama daemons` shows here."""
        environment = os.environ | {f"PANORAMA_{name.upper()}": value for name, value in self.settings.items()}
        shown = subprocess.run([*COMMAND, "daemons", "--json"], env=environment, capture_output=True, check=True)
        return json.loads(shown.stdout)["data"]["daemons"]

    def find_semantically(self, words: str) -> list[str]:
        """Return the titles that search by meaning finds here."""
        answer = self.client.call("search", query=words, mode="semantic")
        return [row["title"] for row in answer.get("data", ())]


Start = Callable[[str], Machine]


@pytest.fixture
def start(
    postgres_space: PostgresDatabase,
    empty_space: Callable[[], None],
    postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Start]:
    """Starts a client, and with it the daemon, of one more machine."""
    empty_space()
    monkeypatch.delenv("PANORAMA_NO_DAEMON", raising=False)
    with ExitStack() as stack:

        def started(name: str) -> Machine:
            home = tmp_path / name
            settings = {"home": str(home), "database_url": postgres_url, "space": SPACE, "embedder": "static"}
            client = stack.enter_context(Peer(LEGACY, capabilities={}, **settings))
            address = Address(str(home))
            stack.callback(end_daemon, address, again=False, force=True)
            client.call("status")
            return Machine(address, client, settings)

        yield started


def duties(daemons: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return which daemon has which duty."""
    return {daemon["machine"]: daemon["duties"] for daemon in daemons}


def test_two_machines_share_a_space_and_one_takes_over_what_the_other_did(start: Start) -> None:
    first, second = start("first"), start("second")
    until(lambda: sum(map(len, duties(first.list_daemons()).values())) == 4, "the duties")

    here, there = second.list_daemons()
    assert (here["host"], here["machine"]) != (there["host"], there["machine"])
    assert here["host"] == there["host"]

    created = first.client.call("create_note", title="Kettle", content="It boils water for tea within two minutes.")
    assert "data" in created, created
    assert [row["title"] for row in second.client.call("list_notes")["data"]] == ["Kettle"]
    until(lambda: first.find_semantically("hot drink"), "the vectors here")
    until(lambda: second.find_semantically("hot drink"), "the vectors there")

    soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    first.client.call("create_reminder", title="Pour", at=soon)
    assert [("Pour" in str(machine.client.hears(MESSAGE))) for machine in (first, second)] == [True, True]

    holder, other = (first, second) if len(here["duties"]) > len(there["duties"]) else (second, first)
    pid = holder.address.find_pid()
    assert pid
    kill(pid)
    until(lambda: len(duties(other.list_daemons()).popitem()[1]) == 4, "the duties of the other")
    assert holder.client.call("list_notes")["data"]
    assert len(other.list_daemons()) == 2
    other.client.call("list_notes")
    assert not [message for message in other.client.heard if message["method"] == MESSAGE], "an alert came twice"


def test_a_newer_revision_lets_daemons_leave_and_says_so(start: Start, postgres_url: str) -> None:
    machine = start("first")
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(f"UPDATE panorama_{SPACE}.alembic_version SET version_num = '9999'")
        try:
            until(lambda: not machine.address.find_pid(), "the daemon's end")
            refused = machine.client.call("list_notes")
        finally:
            admin.execute(f"UPDATE panorama_{SPACE}.alembic_version SET version_num = '{HEAD}'")

    assert "a newer version" in Path(machine.address.log).read_text()
    assert "Upgrade Panorama" in str(refused)
