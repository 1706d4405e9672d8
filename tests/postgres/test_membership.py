"""What daemons that share a space know of each other: who is there, and who has which duty."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace

import psycopg
import pytest

from panorama.errors import UnavailableError
from panorama.store.backend.membership import CLEANUP, DUE_WORK, RECOVERY, Daemon
from panorama.store.migrate import create_tables
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.sharing import membership
from panorama.store.tables import HEAD

pytestmark = pytest.mark.postgres

PATIENCE = 20.0
FIRST = Daemon(id="00000001", machine="laptop-aaaaaaaa", host="laptop", process=10, version="1.0", serves="mcp")
SECOND = Daemon(id="00000002", machine="laptop-bbbbbbbb", host="laptop", process=10, version="1.1", serves="mcp, web")


Join = Callable[[Daemon], AbstractContextManager[PostgresDatabase]]


@pytest.fixture
def join(postgres_space: PostgresDatabase, empty_space: Callable[[], None], postgres_url: str) -> Join:
    """Opens the space as one more daemon; it leaves at the end of the block."""
    del postgres_space
    empty_space()

    @contextmanager
    def opened(daemon: Daemon) -> Generator[PostgresDatabase]:
        with closing(PostgresDatabase(parse_url(postgres_url), "tests")) as database, database.membership.serve():
            database.membership.register(daemon)
            yield database

    return opened


def wait(so: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cut(database: PostgresDatabase, *, only: str = "") -> None:
    """Let the server end the connections of all daemons, or of the one whose lock has a number."""
    query = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database "
        "WHERE d.datname = current_database() AND locktype = 'advisory' AND l.pid <> pg_backend_pid()"
    )
    if only:
        number = database.membership._presence_lock(only)
        query += f" AND (classid::bigint << 32) | objid::bigint = {number}"
    with database.connect() as driver:
        driver.execute(query.encode())


def test_daemons_are_listed_with_what_each_of_them_does(join: Join) -> None:
    with join(FIRST) as mine, join(SECOND) as theirs:
        assert [mine.membership.holds(DUE_WORK), theirs.membership.holds(DUE_WORK)] == [True, False]
        assert [theirs.membership.holds(CLEANUP), mine.membership.holds(CLEANUP)] == [True, False]

        first, second = theirs.membership.list_daemons()

        assert (first.machine, first.host, first.version, first.duties) == (
            "laptop-aaaaaaaa",
            "laptop",
            "1.0",
            [DUE_WORK],
        )
        assert (second.machine, second.serves, second.duties) == ("laptop-bbbbbbbb", "mcp, web", [CLEANUP])
        assert mine.membership.find_presence(SECOND.id) == "connected", "one host name is no reason to mistake them"
        assert first.started_at <= second.started_at


def test_who_leaves_is_off_the_list_and_its_duties_go_to_another(join: Join) -> None:
    gained: list[bool] = []
    with join(SECOND) as theirs:
        with join(FIRST) as mine:
            mine.membership.holds(DUE_WORK)
            assert not theirs.membership.holds(DUE_WORK)
            theirs.membership.subscribe(lambda: gained.append(theirs.membership.holds(DUE_WORK)))

        wait(lambda: gained)

        assert gained == [True]
        assert [daemon.id for daemon in theirs.membership.list_daemons()] == [SECOND.id]
        assert theirs.membership.find_presence(FIRST.id) == "gone"


def test_a_duty_ends_with_the_connection_and_is_asked_for_again(join: Join) -> None:
    with join(FIRST) as mine:
        assert mine.membership.holds(DUE_WORK)
        with join(SECOND) as theirs:
            assert not theirs.membership.holds(DUE_WORK)
            cut(theirs, only=FIRST.id)
            wait(lambda: mine.membership.holds(DUE_WORK) or theirs.membership.holds(DUE_WORK))
            assert mine.membership.holds(DUE_WORK) != theirs.membership.holds(DUE_WORK)
            wait(lambda: len(theirs.membership.list_daemons()) == 2)


def test_a_killed_holder_has_lost_its_duties_before_it_is_gone(join: Join, postgres_url: str) -> None:
    command = [sys.executable, "-c", HOLDER, postgres_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder, join(SECOND) as theirs:
        assert holder.stdout
        assert holder.stdout.readline().strip() == "True"
        assert not theirs.membership.holds(RECOVERY)

        os.kill(holder.pid, signal.SIGKILL)
        wait(lambda: theirs.membership.holds(RECOVERY))

        assert [daemon.id for daemon in theirs.membership.list_daemons()] == [SECOND.id]
        assert theirs.membership.find_presence(FIRST.id) == "recent", "it may only have lost its connection"


HOLDER = """
import sys, time
from panorama.store.backend.membership import RECOVERY, Daemon
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
database = PostgresDatabase(parse_url(sys.argv[1]), "tests")
with database.membership.serve():
    database.membership.register(Daemon(id="00000001", machine="m", host="h", process=1, version="1"))
    print(database.membership.holds(RECOVERY), flush=True)
    time.sleep(60)
"""


def test_a_copied_id_neither_takes_duties_nor_makes_its_owner_gone(join: Join) -> None:
    with join(FIRST) as mine:
        assert mine.membership.holds(DUE_WORK)
        with join(replace(FIRST, machine="thief-cccccccc")) as thief:
            assert not thief.membership.holds(DUE_WORK)
            assert mine.membership.find_presence(FIRST.id) == "connected"
        assert mine.membership.holds(DUE_WORK)
        assert mine.membership.find_presence(FIRST.id) == "connected"


def test_a_daemon_whose_row_was_deleted_writes_it_again(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "SEEN_SECONDS", 0.1)
    with join(FIRST) as mine:
        with mine.connect() as driver:
            driver.execute("DELETE FROM daemons")
        wait(mine.membership.list_daemons)


def test_a_newer_revision_is_noticed_by_daemons_that_run(join: Join) -> None:
    with join(FIRST) as mine:
        assert mine.membership.newer_revision == ""
        with mine.connect() as driver:
            driver.execute("UPDATE alembic_version SET version_num = '9999'")
        try:
            wait(lambda: mine.membership.newer_revision == "9999")
        finally:
            with mine.connect() as driver:
                driver.execute("UPDATE alembic_version SET version_num = %s", (HEAD,))


def test_who_replaces_the_rows_has_the_space_alone(join: Join, postgres_url: str) -> None:
    refusal = pytest.raises(UnavailableError, match="in use by panorama on")
    with closing(PostgresDatabase(parse_url(postgres_url), "tests")) as restoring:
        with join(FIRST), refusal, restoring.membership.serve_alone():
            pass
        with restoring.membership.serve_alone(), refusal, join(FIRST):
            pass


def test_a_daemon_that_lost_its_connection_does_not_write_into_a_restore(join: Join, postgres_url: str) -> None:
    from tests.postgres.test_transactions import add

    with join(FIRST) as mine, closing(PostgresDatabase(parse_url(postgres_url), "tests")) as restoring:
        add(mine, "before")
        mine.membership._leaving.set()  # as if the thread was slower
        cut(restoring)
        with restoring.membership.serve_alone(), pytest.raises(UnavailableError, match="in use by"):
            add(mine, "meanwhile")
        add(mine, "after")


def test_the_daemon_that_creates_a_space_is_in_it(postgres_url: str) -> None:
    with (
        closing(PostgresDatabase(parse_url(postgres_url), "newborn")) as first,
        closing(PostgresDatabase(parse_url(postgres_url), "newborn")) as second,
        first.membership.serve(),
    ):
        create_tables(first)
        with pytest.raises(UnavailableError, match="in use by"), second.membership.serve_alone():
            pass
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP SCHEMA panorama_newborn CASCADE")


def test_a_role_that_may_only_read_gets_no_duty(join: Join, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS membership_reader; CREATE ROLE membership_reader LOGIN PASSWORD 'reads'")
        admin.execute("GRANT USAGE ON SCHEMA panorama_tests TO membership_reader")
        admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA panorama_tests TO membership_reader")
        try:
            url = parse_url(postgres_url).set(username="membership_reader", password="reads")
            with closing(PostgresDatabase(url, "tests")) as reading, reading.membership.serve():
                reading.membership.register(SECOND)
                assert not reading.membership.holds(DUE_WORK)
                with join(FIRST) as mine:
                    assert mine.membership.holds(DUE_WORK)
                    assert [daemon.id for daemon in reading.membership.list_daemons()] == [FIRST.id]
        finally:
            admin.execute("DROP OWNED BY membership_reader; DROP ROLE membership_reader")
