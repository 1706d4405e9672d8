"""A database that holds the sample workspace, as it is on the day of the tests."""

import shutil
from pathlib import Path

from panorama import sample
from panorama.app import opened
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.services.base import Desk
from panorama.store.engine import Database
from tests.conftest import BEGIN, BERLIN, StandingClock


def sampled(folder: Path) -> Path:
    """Make a database in a folder, import the sample workspace of a Wednesday, 2026-05-20, and return its file."""
    sample.written(folder / "workspace", BEGIN.date())
    settings = read_settings(home=folder / "home", timezone=BERLIN.key, embedder="none")
    with opened(settings, Desk(Database(folder / "home" / "panorama.db"), BERLIN, StandingClock())) as made:
        sent = {"folder": str(folder / "workspace")}
        made.calls.call("import.markdown", sent, Conversation("v_sampled", actor="cli", client="tests"))
    shutil.rmtree(folder / "workspace")
    return settings.database
