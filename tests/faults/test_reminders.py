"""A reminder outlives kill -9 at every step between its moment and the mark that it was told."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROUND = """
import json, os, signal, sys
from datetime import UTC, datetime
from panorama.app import open_app
from panorama.config import read_settings
from panorama.calls import Conversation
from panorama.services.base import ServiceContext
from panorama.store.sqlite.engine import SqliteDatabase

settings = read_settings()
steps = int(sys.argv[1])

class Dying(SqliteDatabase):
    def transaction(self, origin):
        outer = super().transaction(origin)
        class Counted:
            def __enter__(self):
                step()
                return outer.__enter__()
            def __exit__(self, *error):
                told = outer.__exit__(*error)
                step()
                return told
        return Counted() if origin.actor == "ticker" else outer

def step():
    global steps
    steps -= 1
    if steps == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def tell(ring):
    print(json.dumps([ring.alert.id, ring.repeated, ring.late.total_seconds()]), flush=True)
    step()

moments = [datetime.fromisoformat(each) for each in sys.argv[2:]]
deaths, steps = steps, 0
database = Dying(settings.home / "panorama.db")
with open_app(settings, ServiceContext(database, settings.zone, settings.home, lambda: moments[0])) as app:
    if len(moments) > 1:
        said = {"title": "Pill", "at": "2026-05-31T09:00:00+02:00", "recurrence": "FREQ=DAILY"}
        app.calls.call("create_reminder", said, Conversation("v_1", actor="cli", client="x"))
        app.timing.run_due(tell)
        del moments[0]
    steps = deaths
    app.timing.run_due(tell, was_set=True)
    print(json.dumps("whole"), flush=True)
"""


SET, DUE, LATER = "2026-05-30T12:00:00+02:00", "2026-05-31T09:00:10+02:00", "2026-05-31T11:30:00+02:00"


def round_(home: Path, steps: int, *moments: str) -> list[object]:
    """Make a round in a process of its own that is killed after some steps (0: never); return what was told.

    With two moments, a daily reminder is set at the first.
    """
    command = [sys.executable, "-c", ROUND, str(steps), *moments]
    chosen = {"PANORAMA_HOME": str(home), "PANORAMA_TIMEZONE": "Europe/Berlin", "PANORAMA_EMBEDDER": "none"}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | chosen)
    assert done.returncode in (0, -9), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def alerts(home: Path) -> list[tuple[str, int]]:
    """Return the alerts that are kept: id and rings."""
    with closing(sqlite3.connect(home / "panorama.db")) as database:
        return database.execute("SELECT id, rings FROM alerts").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("steps", range(1, 13))
def test_an_occurrence_is_neither_lost_nor_taken_for_two(home: Path, steps: int) -> None:
    first = round_(home, steps, SET, DUE)
    second = round_(home, 0, LATER)

    received = [word for word in (*first, *second) if word != "whole"]
    assert second[-1] == "whole"
    assert len(alerts(home)) == 1
    assert {word[0] for word in received} == {alerts(home)[0][0]}
    assert 1 <= len(received) <= 2
    assert [word[1] for word in received[1:]] == [True] * (len(received) - 1)
    if not first:
        assert received[0][2] == 2.5 * 3600


@pytest.mark.slow
def test_the_deaths_cover_the_whole_round(home: Path) -> None:
    last = round_(home, 13, SET, DUE)

    assert last[-1] == "whole"
