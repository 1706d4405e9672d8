"""A database that holds the sample workspace, as it is on the day of the tests."""

import shutil
from pathlib import Path

from panorama import sample
from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.services.base import ServiceContext
from panorama.store.sqlite.engine import SqliteDatabase
from tests.conftest import BEGIN, BERLIN, StandingClock


def sampled(folder: Path) -> Path:
    """Make a database in a folder, import the sample workspace of a Wednesday, 2026-05-20, and return its file."""
    sample.write_files(folder / "workspace", BEGIN.date())
    settings = read_settings(home=folder / "home", timezone=BERLIN.key, embedder="none")
    with open_app(
        settings,
        ServiceContext(SqliteDatabase(folder / "home" / "panorama.db"), BERLIN, folder / "home", StandingClock()),
    ) as made:
        sent = {"folder": str(folder / "workspace")}
        made.calls.call("import.markdown", sent, Conversation("v_sampled", actor="cli", client="tests"))
    shutil.rmtree(folder / "workspace")
    return settings.home / "panorama.db"
