"""What a fixture wrote, kept so that the tests after the first get a copy: some worlds take half a second to write."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from panorama.app import App
from tests.conftest import ON_POSTGRES, CountedIds, StandingClock

DATABASE = "panorama.db"


@dataclass
class SavedWorld:
    """The database, files, moment and last id after a world was written, and the ids that tests need of it."""

    folder: Path
    ids: dict[str, str] = field(default_factory=dict[str, str])
    last_id: int = 0
    moment: datetime | None = None

    def write(self, app: App, clock: StandingClock, make: Callable[[], dict[str, str]]) -> dict[str, str]:
        """Write the world by `make` the first time, then copy it as another process would; return the ids.

        On PostgreSQL, where each test has a space of its own, it is written each time.
        """
        if ON_POSTGRES:
            return make()
        home, counted = app.settings.home, app.context.new_id
        assert isinstance(counted, CountedIds)
        if self.moment is None:
            self.ids = make()
            app.recorder.flush()
            self.last_id, self.moment = counted.last, clock.moment
            _copy(home, self.folder)
        else:
            _copy(self.folder, home)
            counted.last, clock.moment = self.last_id, self.moment
        return dict(self.ids)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(
        source, target, dirs_exist_ok=True, ignore=lambda *_: [DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"]
    )
    with closing(sqlite3.connect(source / DATABASE)) as rows, closing(sqlite3.connect(target / DATABASE)) as copy:
        rows.backup(copy)


@pytest.fixture(scope="module")
def saved_world(tmp_path_factory: pytest.TempPathFactory) -> SavedWorld:
    """The world of a module's tests."""
    return SavedWorld(tmp_path_factory.mktemp("world"))
