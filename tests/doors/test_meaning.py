"""Search by meaning through the daemon: it begins at once whatever is missing, and reindexing may be cancelled."""

import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from panorama.transport.address import Address

from .conftest import wait
from .peer import COMMAND, LEGACY, Peer

FILES = "import pathlib; from panorama.index.embedders import bundled; bundled.FOLDER = pathlib.Path('/nowhere'); "
BROKEN = {
    "its model's file is gone": ("minilm", FILES, "cannot be read", "Install Panorama again."),
    "its runtime cannot be imported": (
        "minilm", "import sys; sys.modules['onnxruntime'] = None; ", "onnxruntime", "choose the embedder static"
    ),
    "its model does not exist": ("minlm", "", "no embedder 'minlm'", "duo, minilm, static"),
}  # fmt: skip


@contextmanager
def daemon(address: Address, broken: str) -> Generator[None]:
    """Run a daemon in which something is broken first."""
    program = f"{broken}from panorama.cli.main import main; main(['serve'])"
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL) as process:
        wait(lambda: Path(address.socket).exists(), "the daemon")
        yield
        process.terminate()
        assert process.wait(30) == 0


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKEN)
def test_a_daemon_begins_and_answers_though(address: Address, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, broken, error, remedy = BROKEN[what]
    monkeypatch.setenv("PANORAMA_EMBEDDER", model)
    with daemon(address, broken), Peer() as peer:
        made = peer.call("create_note", title="Quince jam")["data"]["id"]
        wait(lambda: "last_error" in peer.call("status")["data"]["search"], "the error")
        found = peer.call("search", query="quince")
        status = peer.call("status")["data"]["search"]

    assert [row["id"] for row in found["data"]] == [made]
    assert "by words alone" in found["summary"]
    assert error in status["last_error"]
    assert remedy in status["do"]
    assert status["do"] in found["summary"]


@pytest.fixture
def meaning(address: Address, monkeypatch: pytest.MonkeyPatch) -> Address:
    """A daemon that embeds so slowly that one can stop it."""
    monkeypatch.setenv("PANORAMA_EMBEDDER", "minilm")
    monkeypatch.setenv("PANORAMA_TOOLSETS", "more")
    return address


def write_notes(peer: Peer, count: int) -> None:
    """Write long notes, ahead of their being followed."""
    body = "Quince jam sets well when the fruit is hardly ripe, and the pan is wide. " * 60
    waiting = [peer.start("create_note", title=f"Jam {n}", content=f"{n} {body}{n}") for n in range(count)]
    for number in waiting:
        peer.answer(number)


def lag(peer: Peer) -> int:
    """Return how many changes wait."""
    return int(peer.call("status")["data"]["search"].get("pending", 0))


def progressing(peer: Peer) -> dict[str, Any]:
    """Return the next word of progress."""
    return dict(peer.hears("notifications/progress")["params"])


@pytest.mark.slow
def test_a_client_may_cancel_it_and_what_was_done_stays(meaning: Address, era: str) -> None:
    with Peer(era) as peer, Peer() as other:
        write_notes(peer, 25)
        number = peer.send(
            "tools/call", name="reindex", arguments={"scope": "everything"}, _meta={"progressToken": "p1"}
        )
        first = progressing(peer)

        peer.tell("notifications/cancelled", requestId=number, reason="enough")

        wait(lambda: not lag(other), "the index")
        done = other.call("reindex", scope="changes")["data"]
        assert (first["progressToken"], done["embedded"]) == ("p1", 0)
        assert "by words alone" not in other.call("search", query="quince", mode="semantic")["summary"]


@pytest.mark.slow
def test_progress_of_a_long_one_only_grows(meaning: Address) -> None:
    with Peer(LEGACY) as peer:
        write_notes(peer, 15)
        number = peer.send(
            "tools/call", name="reindex", arguments={"scope": "everything"}, _meta={"progressToken": "p1"}
        )
        assert not peer.answer(number)["result"].get("isError")

    heard = [message["params"] for message in peer.heard if message["method"] == "notifications/progress"]
    steps = [message["progress"] for message in heard]
    assert steps == sorted(set(steps))
    assert heard[-1]["message"]


@pytest.mark.slow
def test_a_person_may_stop_it_and_begin_again(meaning: Address) -> None:
    with Peer() as peer:
        write_notes(peer, 25)
        with subprocess.Popen(
            [*COMMAND, "reindex", "everything"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as stopped:
            threading.Event().wait(0.7)
            stopped.send_signal(signal.SIGINT)
            output = "".join(stopped.communicate(timeout=30))

        again = subprocess.run([*COMMAND, "reindex", "everything"], capture_output=True, text=True, timeout=60)

        assert "Traceback" not in output
        assert again.returncode == 0, again.stderr
        assert lag(peer) == 0
