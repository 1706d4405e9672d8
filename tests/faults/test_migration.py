"""Migrations: a copy of everything before the first change, and nothing at all when there is nothing to do."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from panorama.errors import UnavailableError
from panorama.store import migrate

from .disks import unwritable
from .files import everything, one, rows
from .house import OpenStore

NEXT = '''"""Add a mood to notes."""

import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "{head}", None, None


def upgrade() -> None:
    op.add_column("notes", sa.Column("mood", sa.Text))
    {then}
'''

Newer = Callable[..., None]


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Newer:
    """Make this program one revision newer, with a migration that may go wrong."""

    def install(then: str = "pass") -> None:
        folder = tmp_path / "migrations"
        if not folder.exists():
            copytree(migrate.bundled_path("migrations"), folder)
        (folder / "versions" / "9999_mood.py").write_text(NEXT.format(head=head, then=then))
        monkeypatch.setattr(migrate, "HEAD", "9999")
        monkeypatch.setattr(migrate, "bundled_path", lambda name: tmp_path / name)

    head = migrate.HEAD
    return install


@pytest.fixture
def lived_in(home: Path) -> Path:
    """A data directory with a store that holds something, closed."""
    with OpenStore.opened(home) as house:
        house.do("create_project", name="Garden")
        for number in range(20):
            house.do("create_note", title=f"Note {number}", content="compost " * 200, project="Garden")
        house.do("delete_item", item="Note 3")
    return home


def copies(home: Path) -> list[Path]:
    return sorted((home / "backups").iterdir()) if (home / "backups").exists() else []


def test_a_database_that_holds_something_is_copied_before_it_is_migrated(lived_in: Path, newer: Newer) -> None:
    before = everything(lived_in)
    newer()

    with OpenStore.opened(lived_in) as house:
        house.do("create_note", title="After")

    (copy,) = copies(lived_in)
    assert one(lived_in, "SELECT version_num FROM alembic_version") == "9999"
    assert rows(lived_in, "SELECT mood FROM notes LIMIT 1") == [(None,)]
    opened_alone = lived_in.parent / "opened"
    opened_alone.mkdir()
    copy.replace(opened_alone / "panorama.db")
    assert everything(opened_alone) == before
    assert one(opened_alone, "PRAGMA integrity_check") == "ok"


def test_the_copy_is_a_store_that_this_program_opens(lived_in: Path, newer: Newer) -> None:
    newer()
    with OpenStore.opened(lived_in):
        (copy,) = copies(lived_in)
    other = lived_in.parent / "other"
    other.mkdir()
    copy.rename(other / "panorama.db")

    with OpenStore.opened(other) as house:
        found = house.do("search", query="compost")["data"]

    assert found


def test_a_migration_that_fails_changes_nothing_and_leaves_the_copy(lived_in: Path, newer: Newer) -> None:
    before, schema = everything(lived_in), rows(lived_in, "SELECT sql FROM sqlite_master ORDER BY name")
    newer(then='op.execute("SELECT no_such_column FROM notes")')

    with pytest.raises(Exception, match="no_such_column"), OpenStore.opened(lived_in):
        pass

    assert len(copies(lived_in)) == 1
    assert everything(lived_in) == before
    assert rows(lived_in, "SELECT sql FROM sqlite_master ORDER BY name") == schema
    newer()
    with OpenStore.opened(lived_in) as house:
        assert house.do("get_note", note="Note 1")["data"]["chars"] == 1600


def test_without_room_for_a_copy_nothing_is_migrated(lived_in: Path, newer: Newer) -> None:
    (lived_in / "backups").mkdir()
    newer()

    with unwritable(lived_in / "backups"), pytest.raises(UnavailableError) as refusal, OpenStore.opened(lived_in):
        pass

    assert refusal.value.hint
    assert one(lived_in, "SELECT version_num FROM alembic_version") != "9999"
    assert copies(lived_in) == []


def test_a_copies_folder_that_cannot_be_made_is_told_in_our_words(lived_in: Path, newer: Newer) -> None:
    (lived_in / "backups").write_text("a file in its place")
    newer()

    with pytest.raises(UnavailableError) as refusal, OpenStore.opened(lived_in):
        pass

    assert refusal.value.hint
    assert one(lived_in, "SELECT version_num FROM alembic_version") != "9999"


def test_a_new_store_needs_no_copy(home: Path) -> None:
    with OpenStore.opened(home):
        assert copies(home) == []


NOTHING_TO_DO = """
import sys, time
from datetime import datetime, UTC
from pathlib import Path
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.store.migrate import migrate

took = []
for _ in range(9):
    database = SqliteDatabase(Path(sys.argv[1]) / "panorama.db")
    started = time.perf_counter()
    migrate(database, backups=Path("/nowhere"), now=datetime.now(UTC))
    took.append((time.perf_counter() - started) * 1000)
    database.close()
print(min(took), "alembic" in sys.modules)
"""


def test_a_store_that_is_up_to_date_costs_less_than_ten_milliseconds_and_no_alembic(lived_in: Path) -> None:
    done = subprocess.run([sys.executable, "-c", NOTHING_TO_DO, lived_in], capture_output=True, text=True, check=True)

    milliseconds, imported = done.stdout.split()

    assert float(milliseconds) < 10
    assert imported == "False"
