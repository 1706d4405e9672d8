"""What a crash of the server does to its numbers of transactions: it gives those that it lost to others."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from panorama.domain.changes import ItemChange, Origin
from panorama.domain.items.notes import Note
from panorama.errors import UnavailableError
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.migrate import create_tables
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.feed import space_feed
from panorama.store.postgres.pipeline.connection import QueueingConnection
from tests.postgres.cutting_proxy import cutting_proxy
from tests.postgres.server import ServerProcess, start_server
from tests.working import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
Crash = Callable[[ServerProcess], None]


def kill_all(server: ServerProcess) -> None:
    """Kill all processes, and start the server again."""
    server.kill()
    server.start()


def kill_one(server: ServerProcess) -> None:
    """Kill one process: the server ends all others, and recovers without a new start."""
    with psycopg.connect(server.url) as victim, psycopg.connect(server.url) as witness:
        os.kill(victim.info.backend_pid, signal.SIGKILL)
        with suppress(psycopg.OperationalError):
            victim.execute("SELECT 1")
        with suppress(psycopg.OperationalError):
            while True:  # until the server has noticed, it takes new connections
                witness.execute("SELECT 1")
                time.sleep(0.02)
    while not server.is_running:
        time.sleep(0.02)


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    """A server of these tests alone, with a space."""
    with start_server() as started:
        with closing(open_space(started.url)) as space:
            create_tables(space)
        yield started


def open_space(url: str) -> PostgresDatabase:
    return PostgresDatabase(parse_url(url), "team", busy_seconds=5)


@pytest.fixture
def mine(server: ServerProcess) -> Iterator[PostgresDatabase]:
    """The space, as one daemon has it open."""
    with closing(open_space(server.url)) as opened:
        yield opened


@pytest.fixture
def theirs(server: ServerProcess) -> Iterator[PostgresDatabase]:
    """The same space, as another daemon has it open."""
    with closing(open_space(server.url)) as opened:
        yield opened


def add_note(session: Session, number: int) -> str:
    added = Note(id=f"n_{number:010}", created_at=NOW, updated_at=NOW, title=f"Note {number}")
    rows.add(session, added)
    return added.id


def write_across(database: PostgresDatabase, event: Callable[[], object], *notes: int) -> None:
    """Add notes in a transaction, which has its number then, and commit it after an event."""
    with database.transaction(WRITER) as session:
        for note in notes:
            add_note(session, note)
        session.connection.execute(text("SELECT 1"))  # sends what waits
        event()


def crash_and_add(crash: Crash, server: ServerProcess, other: PostgresDatabase, note: int) -> None:
    """Crash the server, and let another daemon write first afterwards: it gets the number that is free again."""
    crash(server)
    write_across(other, lambda: None, note)


@pytest.mark.parametrize(("crash", "note"), [(kill_all, 1), (kill_one, 2)])
def test_a_write_that_a_crash_undid_is_not_taken_for_the_one_that_gets_its_number(
    server: ServerProcess, mine: PostgresDatabase, theirs: PostgresDatabase, crash: Crash, note: int
) -> None:
    heard: list[ItemChange] = []
    mine.subscribe(heard.extend)

    with pytest.raises(UnavailableError, match="whether it was kept is unknown"):
        write_across(mine, lambda: crash_and_add(crash, server, theirs, note))

    until(lambda: [change.id for change in heard] == [f"n_{note:010}"], "the change of the other daemon")


def test_a_write_that_changed_an_item_is_told_from_the_one_that_gets_its_number(
    server: ServerProcess, mine: PostgresDatabase, theirs: PostgresDatabase
) -> None:
    with pytest.raises(UnavailableError, match="nothing was changed"):
        write_across(mine, lambda: crash_and_add(kill_all, server, theirs, 4), 3)


def test_a_write_whose_number_nobody_has_after_a_crash_was_not_kept(
    server: ServerProcess, mine: PostgresDatabase
) -> None:
    with pytest.raises(UnavailableError, match="nothing was changed"):
        write_across(mine, lambda: kill_all(server))


def test_a_write_that_was_stored_before_a_crash_counts_as_saved(
    server: ServerProcess, mine: PostgresDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cutting_proxy(tmp_path, server.url) as (proxy, url), closing(open_space(url)) as database:
        connect = database.connect

        def crash_first() -> AbstractContextManager[QueueingConnection]:
            monkeypatch.undo()
            kill_all(server)
            return connect()

        def cut() -> None:
            proxy.cut_at("COMMIT", "after")
            monkeypatch.setattr(database, "connect", crash_first)

        write_across(database, cut, 5)

    with mine.reading() as session:
        assert (
            session.connection.execute(text("SELECT title FROM notes WHERE id = 'n_0000000005'")).scalar() == "Note 5"
        )


def test_rows_without_change_lines_are_heard_though_a_crash_gave_their_number_again(
    server: ServerProcess, mine: PostgresDatabase, theirs: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_feed, "LOOK_SECONDS", 0.1)
    heard_changes: list[ItemChange] = []
    heard: list[str] = []
    mine.subscribe(heard_changes.extend)
    mine.subscribe_to_others("vectors", heard.extend)
    with psycopg.connect(server.url, autocommit=True) as client:
        client.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")  # it writes down late what nobody waits for
        client.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)
        for _ in range(50):
            client.execute("SELECT pg_current_xact_id()")  # uses a number, and changes nothing that must not be lost
    time.sleep(0.5)  # it looks, and knows these numbers as old
    kill_all(server)

    with theirs.transaction(WRITER) as session:
        session.connection.execute(text("INSERT INTO marks (name, value) VALUES ('passages test', 1)"))

    until(lambda: heard == ["passages test"], "the row of the other daemon")
