"""Reminders and schedules through real clients of a real daemon, whose clock is set forward and back."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from panorama.transport.address import Address

from .conftest import wait
from .peer import COMMAND, LEGACY, MODERN, Peer, kill

ROOT = Path(__file__).resolve().parents[2]
MESSAGE, UPDATED = "notifications/message", "notifications/resources/updated"
PAGE = "panorama://reminders"
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(address: Address) -> Iterator[Start]:
    """Starts a daemon with a clock that can be set."""
    with ExitStack() as stack:

        def started(*words: str, **settings: str) -> subprocess.Popen[bytes]:
            chosen = {f"PANORAMA_{name.upper()}": value for name, value in settings.items()}
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.doors.clocked", *words], cwd=ROOT, env=os.environ | chosen,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
            wait(lambda: address.find_pid() == process.pid and os.path.exists(address.socket), "the daemon")
            return process

        yield started


def set_clock(address: Address, **span: float) -> None:
    """Set the daemon's clock so far from the machine's."""
    part = Path(address.home) / "clock.part"
    part.write_text(str(timedelta(**span).total_seconds()))
    part.replace(Path(address.home) / "clock")


def ahead(**span: float) -> str:
    """Return a moment so far from now."""
    return (datetime.now(UTC) + timedelta(**span)).isoformat(timespec="seconds")


def submitted(address: Address) -> list[Any]:
    """Return the jobs that schedules submitted."""
    path = Path(address.home) / "submitted"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def list_waiting(peer: Peer) -> list[dict[str, Any]]:
    """Return the reminders that wait."""
    return list(peer.call("list_waiting_reminders")["data"])


@pytest.mark.slow
def test_a_connected_client_hears_of_a_reminder_in_words(address: Address, start: Start) -> None:
    start(toolsets="more")
    with Peer(LEGACY) as peer:
        made = peer.call("create_reminder", title="Call <Petra> & co", at=ahead(minutes=30))["data"]["id"]

        set_clock(address, hours=2, minutes=30)
        message = peer.hears(MESSAGE)["params"]

        assert message["logger"] == "panorama.reminders"
        assert message["data"]["reminder"] == made
        assert message["data"]["message"].startswith("Reminder: Call <Petra> & co (due ")
        assert "2 h late" in message["data"]["message"] or "119 min late" in message["data"]["message"]
        assert message["data"]["repeated"] is False
        assert [row["id"] for row in list_waiting(peer)] == [message["data"]["alert"]]


@pytest.mark.slow
def test_the_page_of_reminders_is_heard_to_change_in_both_eras(address: Address, start: Start, era: str) -> None:
    start()
    with Peer(era) as peer:
        peer.call("create_reminder", title="Feed the sourdough", at=ahead(minutes=30))
        peer.listen(PAGE)

        set_clock(address, minutes=31)

        assert peer.hears(UPDATED)["params"]["uri"] == PAGE
        text = peer.ask("resources/read", uri=PAGE)["contents"][0]["text"]
        assert "## Waiting" in text
        assert "Feed the sourdough" in text


@pytest.mark.slow
def test_a_client_that_comes_later_hears_what_waits_until_it_is_acknowledged(address: Address, start: Start) -> None:
    start(toolsets="more")
    with Peer(LEGACY) as peer:
        peer.call("create_reminder", title="Pill", at=ahead(minutes=5))
        set_clock(address, minutes=6)
        first = peer.hears(MESSAGE)["params"]["data"]
    with Peer(LEGACY) as later:
        again = later.hears(MESSAGE)["params"]["data"]
        later.call("acknowledge_reminder", reminder="Pill")
        assert list_waiting(later) == []
    with Peer(LEGACY) as last:
        last.call("status")
        heard = [message for message in last.heard if message["method"] == MESSAGE]

    assert (again["alert"], again["repeated"]) == (first["alert"], True)
    assert heard == []


@pytest.mark.slow
def test_one_that_is_put_off_rings_again_as_the_same(address: Address, start: Start) -> None:
    start(toolsets="more")
    with Peer(LEGACY) as peer:
        peer.call("create_reminder", title="Pill", at=ahead(minutes=5))
        set_clock(address, minutes=6)
        first = peer.hears(MESSAGE)["params"]["data"]
        peer.call("snooze_reminder", reminder="Pill", until="1h")

        set_clock(address, hours=2)
        again = peer.hears(MESSAGE)["params"]["data"]

        assert (again["alert"], again["rings"], again["repeated"]) == (first["alert"], 2, False)


@pytest.mark.slow
def test_what_was_missed_while_nothing_ran_rings_at_the_next_start_and_says_how_late(
    address: Address, start: Start
) -> None:
    with Peer(LEGACY) as peer:
        peer.call("create_reminder", title="Pill", at=ahead(minutes=5), recurrence="FREQ=DAILY")
    pid = address.find_pid()
    if pid:
        kill(pid)
    wait(lambda: address.find_pid() is None)
    set_clock(address, days=3, hours=5)

    start(toolsets="more")
    with Peer(LEGACY) as peer:
        message = peer.hears(MESSAGE)["params"]["data"]

        assert message["late_seconds"] == pytest.approx(5 * 3600 - 300, abs=120)
        assert message["missed"] == 3
        assert len(list_waiting(peer)) == 1


@pytest.mark.slow
def test_a_clock_that_is_set_forward_and_back_is_noticed_and_rings_once(address: Address, start: Start) -> None:
    start(toolsets="more")
    with Peer(LEGACY) as peer:
        peer.call("create_reminder", title="Pill", at=ahead(minutes=30))
        set_clock(address, minutes=31)
        peer.hears(MESSAGE)
        set_clock(address, minutes=1)
        peer.call("create_reminder", title="Last", at=ahead(minutes=10))
        set_clock(address, minutes=32)

        assert peer.hears(MESSAGE)["params"]["data"]["title"] == "Last"
        assert not [message for message in peer.heard if message["method"] == MESSAGE]


@pytest.mark.slow
def test_a_schedule_submits_its_job_once_per_moment_also_over_a_kill(address: Address, start: Start) -> None:
    first = start(toolsets="jobs")
    with Peer(MODERN) as peer:
        peer.call("add_schedule", kind="backup", name="Nightly", every="1d", arguments={"keep": 3})
    set_clock(address, days=1, minutes=1)
    wait(lambda: submitted(address))
    first.kill()
    first.wait()

    start(toolsets="jobs")
    set_clock(address, days=2, minutes=1)
    wait(lambda: len(submitted(address)) > 1)

    assert submitted(address) == [["backup", {"keep": 3}, "schedule Nightly"]] * 2


@pytest.mark.slow
def test_the_daemon_stays_while_something_is_due_within_its_linger(address: Address, start: Start) -> None:
    process = start("--lingers", linger_seconds="6")
    with Peer(LEGACY, linger_seconds="6") as peer:
        peer.call("create_reminder", title="Soon", at=ahead(seconds=11))

    wait(lambda: process.poll() is not None, "the daemon's end")

    assert "no client was connected" in Path(address.log).read_text()
    with closing(sqlite3.connect(Path(address.home) / "panorama.db")) as database:
        assert database.execute("SELECT rings FROM alerts").fetchall() == [(1,)]


@pytest.mark.slow
def test_the_daemon_does_not_stay_for_what_is_due_later(address: Address, start: Start) -> None:
    process = start("--lingers", linger_seconds="1")
    with Peer(LEGACY, linger_seconds="1") as peer:
        peer.call("create_reminder", title="Later", at=ahead(hours=1))

    wait(lambda: process.poll() is not None, "the daemon's end")


@pytest.mark.slow
def test_the_command_line_keeps_schedules(address: Address, start: Start) -> None:
    start()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*COMMAND, "schedule", *words], capture_output=True, text=True)

    added = run("add", "backup", "Nightly", "--cron", "0 3 * * *", "-i", "keep=3")
    data = json.loads(run("--json").stdout)["data"]
    paused, resumed = run("pause", "nightly"), run("resume", "nightly")
    listed = run("list")
    refused = run("remove", "Nightly")
    removed = run("remove", "Nightly", "--yes")
    wrong = run("add", "backup", "--cron", "0 0 30 2 *")

    assert "next" in added.stdout
    assert data[0]["arguments"] == {"keep": 3}
    assert "paused" in paused.stdout
    assert "next" in resumed.stdout
    assert "0 3 * * *" in listed.stdout
    assert refused.returncode == 1
    assert removed.returncode == 0
    assert (wrong.returncode, "never fires" in wrong.stderr) == (2, True)
