"""kill -9 of the daemon while it follows the changes: no answered write is lost, the index becomes a fresh build."""

import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.transport.address import Address
from tests.doors.conftest import wait
from tests.doors.peer import Peer, kill
from tests.tool_errors import read_result

from .files import is_sound, rows
from .meanings import assert_converged, is_done, until

pytestmark = pytest.mark.slow

AHEAD = 8
"""Calls that are sent before the first is answered."""

SUBJECTS = ("quince jam", "steam engines", "the moons of Jupiter", "sourdough bread", "knitted socks", "wild horses")
PARAGRAPH = "It was told at length, with more patience than there was time. " * 12


@pytest.fixture
def address(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    """Where the daemon is reached; it leaves as soon as nobody is connected."""
    chosen = {"HOME": home, "EMBEDDER": "static", "LINGER_SECONDS": 0, "TOOLSETS": "more", "TIMEZONE": "Europe/Berlin"}
    monkeypatch.delenv("PANORAMA_NO_DAEMON", raising=False)
    for name, value in chosen.items():
        monkeypatch.setenv(f"PANORAMA_{name}", str(value))
    made = Address(str(home))

    yield made

    if pid := made.find_pid():
        with suppress(ProcessLookupError):
            kill(pid)
    wait(lambda: made.find_pid() is None, "the daemon's end")


def filled(count: int) -> None:
    """Write notes of several passages each, which nobody follows."""
    talk = Conversation(id="v_faults", actor="tool", client="faults")
    with open_app(read_settings()) as app:
        for number in range(count):
            body = "\n\n".join(f"{SUBJECTS[number % 6]} {number} {part}. {PARAGRAPH}" for part in range(3))
            app.calls.call("create_note", {"title": f"Old {number}", "content": body}, talk)


def writing(peer: Peer, round_: int, enough: threading.Event) -> dict[str, str]:
    """Write notes until it is enough; return those whose write was answered, with their subject."""
    sent: list[tuple[int, str]] = []
    kept: dict[str, str] = {}
    number = 0
    while sent or not enough.is_set():
        while len(sent) < AHEAD and not enough.is_set():
            subject = f"{SUBJECTS[number % 6]} {round_}x{number}"
            sent.append((peer.start("create_note", title=subject, content=f"About {subject}."), subject))
            number += 1
        asked, subject = sent.pop(0)
        answer = read_result(peer.answer(asked)["result"])
        if "error" in answer:
            assert answer["error"]["code"] == "outcome_unknown", answer
        else:
            kept[answer["data"]["id"]] = subject
    return kept


def killed_in(address: Address, peer: Peer, other: Peer, round_: int, chance: random.Random) -> dict[str, str]:
    """Write while the index is followed or made anew, kill the daemon, and write on; return what was answered."""
    peer.call("status")
    if round_ % 2:
        other.start("reindex", scope="everything")
    enough, pid = threading.Event(), address.find_pid()
    killers = [threading.Timer(chance.uniform(0, 0.8), lambda: kill(pid or 0)), threading.Timer(1.0, enough.set)]
    for killer in killers:
        killer.start()
    kept = writing(peer, round_, enough)
    for killer in killers:
        killer.join()
    return kept


def killed_again_and_again(address: Address, home: Path, rounds: int, old: int) -> None:
    """Kill the daemon in each round; look at store and index when all is over."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 (a failed run must be repeatable)
    chance, kept = random.Random(seed), dict[str, str]()
    filled(old)
    with Peer() as peer, Peer() as other:
        for round_ in range(rounds):
            kept |= killed_in(address, peer, other, round_, chance)
        until(lambda: is_done(peer.call("status")["data"]["search"]), "the index")
        some = chance.sample(sorted(kept), 5)
        found = {id_: peer.call("search", query=kept[id_], mode="semantic", limit=50) for id_ in some}
    wait(lambda: address.find_pid() is None, "the daemon's end")

    assert {id_ for (id_,) in rows(home, "SELECT id FROM notes")} >= set(kept)
    assert is_sound(home)
    assert [id_ for id_ in some if "by words alone" in found[id_]["summary"]] == []
    assert [id_ for id_ in some if id_ not in {row["id"] for row in found[id_]["data"]}] == []
    assert_converged(home, *SUBJECTS)


def test_a_daemon_killed_three_times_leaves_an_index_that_becomes_a_fresh_build(address: Address, home: Path) -> None:
    killed_again_and_again(address, home, 3, 200)


def test_a_daemon_killed_while_the_model_changes_goes_on_with_the_change(
    address: Address, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(60)
    becomes(address, "static")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "minilm")
    with Peer() as peer:
        for seconds in (0.1, 0.5, 0.9):
            peer.call("status")
            threading.Event().wait(seconds)
            kill(address.find_pid() or 0)
    found = becomes(address, "minilm")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "static")
    becomes(address, "static")

    assert "by words alone" not in found["summary"]
    assert_converged(home, *SUBJECTS)


def becomes(address: Address, model: str) -> Mapping[str, Any]:
    """Wait until a model is searched and knows everything; return what the answer to a search says of it."""
    with Peer() as peer:
        until(lambda: is_done(status := peer.call("status")["data"]["search"]) and status["model"] == model, model)
        found = peer.call("search", query="steam engines", mode="semantic")
    wait(lambda: address.find_pid() is None, "the daemon's end")
    return found


@pytest.mark.timeout(900)
def test_a_daemon_killed_twenty_times_leaves_an_index_that_becomes_a_fresh_build(address: Address, home: Path) -> None:
    killed_again_and_again(address, home, 20, 2500)
