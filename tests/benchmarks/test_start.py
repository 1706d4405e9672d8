"""What starts cost: without a migration, and of a client that finds no daemon."""

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from panorama.app import open_app
from panorama.config import Settings
from panorama.store.migrate import migrate
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.transport.stored_answers import FILE

from .measure import Board, median, ms
from .processes import stop, stopped_later, until
from .raw import LEGACY, MODERN, ProcessClient
from .test_doors import in_turns, time_start

pytestmark = pytest.mark.benchmark
STARTS = 12


def test_a_check_that_finds_nothing_to_migrate(tmp_path: Path, board: Board) -> None:
    with open_app(Settings(home=tmp_path / "home")):
        pass

    took: list[float] = []
    for _ in range(50):
        database = SqliteDatabase(tmp_path / "home" / "panorama.db")
        started = time.perf_counter()
        migrate(database, backups=tmp_path / "backups", now=datetime.now(UTC))
        took.append((time.perf_counter() - started) * 1000)
        database.close()

    board.show("no-op migration check, p50", "< 10 ms", ms(took), f"slowest {max(took):.2f} ms")


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_the_start_of_a_client_without_a_daemon(tmp_path: Path, board: Board, era: str) -> None:
    """The last daemon has stored its answers: the client need not wait for the next."""
    home = tmp_path / "home"

    def cold() -> float:
        stop(address)
        return time_start(home, era)

    with stopped_later(home) as address:
        prime(home)
        cold_starts = in_turns({"cold": cold, "import": import_fastmcp}, STARTS)
        prime(home)
        warm = in_turns({"warm": lambda: time_start(home, era)}, STARTS)["warm"]

    took, imported = median(cold_starts["cold"]), median(cold_starts["import"])
    board.show(
        f"start of a client to tools/list, no daemon, {era}, p50",
        "≤ 3 x with a daemon, ≤ 0.15 x import fastmcp.server",
        f"{took / median(warm):.2f} x, {took / imported:.2f} x",
        f"{took:.0f} ms; with a daemon {median(warm):.0f} ms; import {imported:.0f} ms",
    )


def prime(home: Path) -> None:
    """Start the daemon if none runs, and wait until it has stored its answers."""
    client = ProcessClient(home)
    try:
        client.greet()
        client.call("status")
        until((home / FILE).exists)
    finally:
        client.close()


def import_fastmcp() -> float:
    """Return how many milliseconds Python takes to start and to import FastMCP's server."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import fastmcp.server"], check=True)
    return (time.perf_counter() - began) * 1000
