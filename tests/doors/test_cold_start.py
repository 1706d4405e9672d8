"""What a client is answered while the daemon starts: from the copy that the last daemon stored."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from panorama.transport.address import Address, hold_lock
from panorama.transport.stored_answers import FILE

from .conftest import wait
from .peer import LEGACY, Peer

pytestmark = pytest.mark.slow
CHANGED = "notifications/tools/list_changed"


@pytest.fixture
def stored(address: Address, home: Path) -> Path:
    """The copy that a daemon has stored; the daemon has ended."""
    with Peer() as peer:
        peer.ask("server/discover")
        wait((home / FILE).exists, "the copy")
    stop(address)
    return home / FILE


def stop(address: Address) -> None:
    """End the daemon."""
    if pid := address.find_pid():
        os.kill(pid, signal.SIGTERM)
    wait(lambda: address.find_pid() is None, "the daemon's end")


@contextmanager
def delayed_daemon(address: Address) -> Generator[None]:
    """Let no daemon start until the end."""
    with hold_lock(address.lock) as lock:
        assert lock
        yield


def test_a_client_gets_its_lists_before_the_daemon_has_started(address: Address, stored: Path, era: str) -> None:
    with delayed_daemon(address), Peer(era) as peer:
        tools = peer.ask("tools/list")["tools"]
        templates = peer.ask("resources/templates/list")["resourceTemplates"]
        prompts = peer.ask("prompts/list")["prompts"]

    with Peer(era) as peer:
        peer.call("status")
        assert peer.ask("tools/list")["tools"] == tools
        assert peer.ask("resources/templates/list")["resourceTemplates"] == templates
        assert peer.ask("prompts/list")["prompts"] == prompts


def test_the_handshake_from_the_copy_is_the_daemons(address: Address, stored: Path) -> None:
    client = {"name": "peer", "version": "1"}
    greeting = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
    with Peer() as _, Peer(LEGACY) as peer:
        peer.call("status")
        fresh = peer.ask("initialize", **greeting)
    stop(address)

    with delayed_daemon(address):
        peer = Peer(LEGACY)
        early = peer.ask("initialize", **greeting)
    peer.close()

    assert early == fresh


def test_a_call_waits_for_the_daemon_and_is_answered(address: Address, stored: Path, era: str) -> None:
    with Peer(era) as peer:
        with delayed_daemon(address):
            peer.ask("tools/list")
            number = peer.start("create_task", title="Tea")

        assert peer.answer(number)["result"]["structuredContent"]["data"]["title"] == "Tea"


def test_a_client_that_got_an_old_list_is_notified(address: Address, stored: Path) -> None:
    head, _, rest = stored.read_bytes().partition(b"\n")
    stored.write_bytes(head.replace(b'"digest": "', b'"digest": "old') + b"\n" + rest)

    with Peer(LEGACY) as peer:
        peer.ask("tools/list")

        peer.hears(CHANGED)


def test_other_settings_are_not_answered_from_the_copy(address: Address, stored: Path) -> None:
    with Peer(toolsets="files") as peer:
        names = {tool["name"] for tool in peer.ask("tools/list")["tools"]}

    assert "get_file" in names


@pytest.mark.parametrize("text", [b"", b"{}", b"nonsense", b'{"settings": 1, "results": []}'])
def test_a_damaged_copy_is_passed_over(address: Address, stored: Path, text: bytes) -> None:
    stored.write_bytes(text)

    with Peer() as peer:
        assert peer.ask("tools/list")["tools"]


def test_a_terminal_command_loads_nothing_slow_into_its_own_process(address: Address) -> None:
    listed = (
        "import sys; from panorama.cli.commands.root import run_command; run_command(['tasks']);"
        "print(sorted({'pydantic', 'fastmcp', 'sqlalchemy', 'importlib.metadata'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
