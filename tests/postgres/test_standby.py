"""A space on a hot standby, which is read only, hears no notifications, and may become the primary."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest

from panorama.domain.changes import ItemChange, Origin
from panorama.domain.items.notes import Note
from panorama.store.items import rows
from panorama.store.migrate import create_tables
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.feed import space_feed
from tests.postgres.conftest import Command
from tests.postgres.server import start_server
from tests.postgres.standby import Standby, start_standby
from tests.working import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


def open_space(url: str) -> PostgresDatabase:
    return PostgresDatabase(parse_url(url), "team", busy_seconds=5)


def add_note(database: PostgresDatabase, number: int) -> None:
    with database.transaction(WRITER) as session:
        note = Note(id=f"n_{number:010}", created_at=NOW, updated_at=NOW, title=f"Note {number}")
        rows.add(session, note)


@pytest.fixture
def primary() -> Iterator[tuple[PostgresDatabase, Standby]]:
    """A space on a primary server, and its standby."""
    with start_server() as server, closing(open_space(server.url)) as space:
        create_tables(space)
        with start_standby(server) as standby:
            yield space, standby


def test_a_standby_is_read_hears_what_the_primary_stores_and_takes_its_place(
    primary: tuple[PostgresDatabase, Standby], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_feed, "LOOK_SECONDS", 0.2)
    source, standby = primary
    heard: list[ItemChange] = []
    with closing(open_space(standby.url)) as copy:
        copy.subscribe(heard.extend)

        add_note(source, 1)
        until(lambda: [change.id for change in heard] == ["n_0000000001"], "the change on the primary")
        listed = command(standby.url, "team", "notes")
        refused = command(standby.url, "team", "tasks", "add", "Never")
        standby.promote()
        with closing(open_space(standby.url)) as other:
            add_note(other, 2)
        until(lambda: [change.id for change in heard][1:] == ["n_0000000002"], "the change after the promotion")
        add_note(copy, 3)

    assert "Note 1" in listed[1]
    assert (refused[0], "its server is a replica" in refused[1]) == (3, True)
    assert "Note 3" in command(standby.url, "team", "notes")[1]
