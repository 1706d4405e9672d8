"""A network that is lost in the middle of a batch, a move or a backup: nothing is done by half, and it works again."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from panorama.errors import UnavailableError
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.transfer import moving
from panorama.store.sqlite.snapshots import find_damage
from tests.postgres.cutting_proxy import CuttingProxy, cutting_proxy
from tests.postgres.machines import call, drop_spaces, machine
from tests.sampled import sampled
from tests.whole import differing

pytestmark = pytest.mark.postgres

SPACE = "lost"
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


@pytest.fixture
def through(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[CuttingProxy, str]]:
    """A network that can be cut, and the address of the database behind it."""
    if "host" not in make_url(postgres_url).query:
        pytest.skip("the server has no socket file")
    with cutting_proxy(tmp_path_factory.mktemp("p"), postgres_url) as cut:
        yield cut
    drop_spaces(postgres_url, SPACE)


def count(url: str, table: str) -> int:
    """Return how many rows a table has, by a connection that nobody cuts."""
    with psycopg.connect(url) as driver:
        row = driver.execute(f"SELECT count(*) FROM panorama_{SPACE}.{table}".encode()).fetchone()
    return int(row[0]) if row else 0


def test_a_batch_that_is_cut_off_in_the_middle_does_none_of_its_steps(
    through: tuple[CuttingProxy, str], postgres_url: str, tmp_path: Path
) -> None:
    proxy, url = through
    steps = [{"tool": "create_task", "args": {"title": title}} for title in ("Sow", "Zinnias", "Reap")]
    with machine(tmp_path / "home", url, SPACE) as app:
        call(app, "create_task", title="Dig")
        proxy.cut_at("Zinnias", "before")
        with pytest.raises(UnavailableError, match="nothing was changed"):
            call(app, "batch", operations=steps)
        lost = count(postgres_url, "tasks"), count(postgres_url, "changes")

        call(app, "batch", operations=steps)

    assert lost == (1, 1)
    assert count(postgres_url, "tasks") == 4


def test_a_move_that_is_cut_off_in_the_middle_leaves_the_space_empty_and_the_file_as_it_was(
    through: tuple[CuttingProxy, str], postgres_url: str, tmp_path: Path
) -> None:
    proxy, url = through
    sampled(tmp_path)
    proxy.cut_at("stored_changes", "before")  # the rows are there, and are being compared

    with pytest.raises(UnavailableError):
        moving.fill_space(tmp_path, url, SPACE, NOW)
    lost = count(postgres_url, "projects"), count(postgres_url, "changes")
    moving.fill_space(tmp_path, url, SPACE, NOW)
    (tmp_path / "back").mkdir()
    moving.fill_file(url, SPACE, tmp_path / "back")

    assert lost == (0, 0)
    assert differing(tmp_path, tmp_path / "back") == {}


def test_a_backup_that_is_cut_off_in_the_middle_leaves_no_file(
    through: tuple[CuttingProxy, str], tmp_path: Path
) -> None:
    proxy, url = through
    sampled(tmp_path)
    moving.fill_space(tmp_path, url, SPACE, NOW)
    copies = tmp_path / "copies"
    copies.mkdir()
    with closing(PostgresDatabase(parse_url(url), SPACE)) as database:
        proxy.cut_at("stored_notes", "before")
        with pytest.raises(UnavailableError):
            database.copy_to(copies / "panorama.db")
        lost = list(copies.iterdir())

        database.copy_to(copies / "panorama.db")

    assert (lost, find_damage(copies / "panorama.db", lambda: None)) == ([], "")
    assert differing(tmp_path, copies) == {}
