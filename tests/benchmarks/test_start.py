"""What a start without a migration costs."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from panorama.app import opened
from panorama.config import Settings
from panorama.store.engine import Database
from panorama.store.migrate import migrate

from .measure import Board, ms

pytestmark = pytest.mark.benchmark


def test_a_check_that_finds_nothing_to_migrate(tmp_path: Path, board: Board) -> None:
    with opened(Settings(home=tmp_path / "home")):
        pass

    took: list[float] = []
    for _ in range(50):
        database = Database(tmp_path / "home" / "panorama.db")
        started = time.perf_counter()
        migrate(database, backups=tmp_path / "backups", now=datetime.now(UTC))
        took.append((time.perf_counter() - started) * 1000)
        database.close()

    board.show("no-op migration check, p50", "< 10 ms", ms(took), f"slowest {max(took):.2f} ms")
