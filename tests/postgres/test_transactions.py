"""What a transaction of a space promises: its turn, its order, its end, and what is said when it cannot be had."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from panorama.domain.changes import Origin
from panorama.errors import InvalidInputError, UnavailableError
from panorama.store.backend import Session
from panorama.store.postgres import commit
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.errors import raise_translated
from tests.postgres.cutting_proxy import CuttingProxy, cutting_proxy

pytestmark = pytest.mark.postgres

WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")
ADD = text("INSERT INTO marks (name, value) VALUES (:name, 1)")
COUNT = text("SELECT count(*) FROM marks")


@pytest.fixture
def mine(postgres_space: PostgresDatabase, empty_space: object, postgres_url: str) -> Iterator[PostgresDatabase]:
    """The space, as one daemon has it open."""
    with closing(PostgresDatabase(parse_url(postgres_url), "tests", busy_seconds=5)) as opened:
        with opened.connect() as driver:
            driver.execute("DELETE FROM marks; DELETE FROM texts")
        yield opened


@pytest.fixture
def theirs(mine: PostgresDatabase, postgres_url: str) -> Iterator[PostgresDatabase]:
    """The same space, as another daemon has it open."""
    with closing(PostgresDatabase(parse_url(postgres_url), "tests", busy_seconds=0.2)) as opened:
        yield opened


def add(database: PostgresDatabase, name: str) -> None:
    with database.transaction(WRITER) as session:
        session.connection.execute(ADD, {"name": name})


def add_and(database: PostgresDatabase, work: Callable[[Session], object]) -> None:
    """Write a row, and do something else in the same transaction."""
    with database.transaction(WRITER) as session:
        session.connection.execute(ADD, {"name": "with more"})
        work(session)


def throw(error: Exception) -> None:
    raise error


def sleep(session: Session) -> None:
    session.connection.execute(text("SELECT pg_sleep(20)"))


def read(database: PostgresDatabase, work: Callable[[Session], Any]) -> Any:
    with database.reading() as session:
        return work(session)


def count(database: PostgresDatabase) -> int:
    return read(database, lambda session: session.connection.execute(COUNT).scalar_one())


def test_what_is_written_is_seen_by_the_other_daemon(mine: PostgresDatabase, theirs: PostgresDatabase) -> None:
    add(mine, "a")
    assert count(theirs) == 1


def test_an_error_inside_a_write_changes_nothing(mine: PostgresDatabase) -> None:
    for error in (InvalidInputError("No.", hint="No."), ZeroDivisionError()):
        with pytest.raises(type(error)):
            add_and(mine, lambda _, error=error: throw(error))
    assert count(mine) == 0


def test_a_write_waits_for_its_turn_and_says_so_when_it_takes_too_long(
    mine: PostgresDatabase, theirs: PostgresDatabase
) -> None:
    with mine.transaction(WRITER) as session:
        session.connection.execute(ADD, {"name": "a"})
        with pytest.raises(UnavailableError, match="Another write is still running"):
            add(theirs, "b")
        assert count(theirs) == 0, "reads do not wait"
    add(theirs, "b")
    assert count(mine) == 2


def test_a_view_is_consistent_while_others_write(mine: PostgresDatabase, theirs: PostgresDatabase) -> None:
    with mine.reading() as session:
        before = session.connection.execute(COUNT).scalar_one()
        add(theirs, "a")
        assert session.connection.execute(COUNT).scalar_one() == before
    assert count(mine) == before + 1


def test_a_view_cannot_write(mine: PostgresDatabase) -> None:
    with pytest.raises(UnavailableError), mine.reading() as session:
        session.connection.execute(ADD, {"name": "a"})


def test_who_follows_the_numbers_of_changes_misses_none_of_slow_and_quick_writers(
    mine: PostgresDatabase, postgres_url: str
) -> None:
    insert = text(
        "INSERT INTO texts (digest, text) VALUES (:name, nextval(pg_get_serial_sequence('changes', 'id'))::text)"
    )
    ended = threading.Event()

    def write(writer: int) -> None:
        slow = not writer
        with closing(PostgresDatabase(parse_url(postgres_url), "tests", busy_seconds=20)) as database:
            for number in range(12):
                with database.transaction(WRITER) as session:
                    session.connection.execute(insert, {"name": f"{writer}-{number}"})
                    time.sleep(0.05 if slow else 0)

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(3)]
    for writer in writers:
        writer.start()
    watcher: list[int] = []

    def follow() -> None:
        after, is_last = 0, False
        while not is_last:
            is_last = ended.is_set()
            with mine.reading() as session:
                statement = text("SELECT text::bigint FROM texts WHERE text::bigint > :after ORDER BY 1")
                heard = session.connection.execute(statement, {"after": after}).scalars().all()
            watcher.extend(heard)
            after = max([after, *heard])

    follower = threading.Thread(target=follow)
    follower.start()
    for writer in writers:
        writer.join()
    ended.set()
    follower.join()
    with mine.reading() as session:
        written = session.connection.execute(text("SELECT text::bigint FROM texts ORDER BY 1")).scalars().all()
    assert watcher == written
    assert len(written) == 36


def test_a_client_that_was_killed_gives_up_its_turn(mine: PostgresDatabase, postgres_url: str) -> None:
    program = (
        "import sys, time\n"
        "from panorama.domain.changes import Origin\n"
        "from panorama.store.postgres.connections import parse_url\n"
        "from panorama.store.postgres.engine import PostgresDatabase\n"
        "database = PostgresDatabase(parse_url(sys.argv[1]), 'tests')\n"
        "who = {name: '' for name in ('actor', 'client', 'conversation', 'operation', 'call', 'unit')}\n"
        "with database.transaction(Origin(**who)):\n"
        "    print('holds', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, postgres_url], stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"holds\n"
        holder.kill()
        add(mine, "a")
    assert count(mine) == 1


def test_a_restarted_server_is_not_noticed_between_two_calls(mine: PostgresDatabase, postgres_url: str) -> None:
    add(mine, "a")
    count(mine)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'panorama' AND datname = current_database()"
        )
    assert count(mine) == 1
    add(mine, "b")
    assert count(mine) == 2


@pytest.fixture
def through(
    mine: PostgresDatabase, tmp_path_factory: pytest.TempPathFactory, postgres_url: str
) -> Iterator[tuple[CuttingProxy, PostgresDatabase]]:
    """A daemon whose connections can be cut."""
    if "host" not in make_url(postgres_url).query:
        pytest.skip("the server has no socket file")
    with (
        cutting_proxy(tmp_path_factory.mktemp("p"), postgres_url) as (proxy, url),
        closing(PostgresDatabase(parse_url(url), "tests", busy_seconds=5)) as opened,
    ):
        opened.revision()  # a first connection asks the server more
        yield proxy, opened


def test_a_write_whose_answer_was_lost_after_the_commit_counts_as_saved(
    through: tuple[CuttingProxy, PostgresDatabase], mine: PostgresDatabase
) -> None:
    proxy, database = through
    proxy.cut_at("COMMIT", "after")
    add(database, "a")
    assert count(mine) == 1


def test_a_write_that_was_cut_off_before_the_commit_is_not_kept_and_said_to_be_lost(
    through: tuple[CuttingProxy, PostgresDatabase], mine: PostgresDatabase
) -> None:
    proxy, database = through
    proxy.cut_at("COMMIT", "before")
    with pytest.raises(UnavailableError, match="nothing was changed"):
        add(database, "a")
    assert count(mine) == 0
    add(database, "a")


def test_while_the_server_stays_away_nobody_says_whether_a_write_was_kept(
    through: tuple[CuttingProxy, PostgresDatabase], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, database = through
    monkeypatch.setattr(commit, "ASK_SECONDS", 0.3)

    def stay_away() -> object:
        raise psycopg.OperationalError("connection refused")

    monkeypatch.setattr(database, "connect", stay_away)
    proxy.cut_at("COMMIT", "after")
    with pytest.raises(UnavailableError, match="whether it was kept is unknown"):
        add(database, "a")


def test_a_write_is_not_committed_in_silence_after_a_statement_failed_in_it(mine: PostgresDatabase) -> None:
    add(mine, "a")

    def fail(session: Session) -> None:
        with suppress(DBAPIError):
            session.connection.execute(ADD, {"name": "a"})

    with pytest.raises(UnavailableError, match="nothing was changed"):
        add_and(mine, fail)
    assert count(mine) == 1


def test_a_read_that_takes_too_long_is_stopped_on_the_server(mine: PostgresDatabase) -> None:
    begun = time.monotonic()
    with mine.limit_reads(lambda: False, 0.2), pytest.raises(InvalidInputError, match="took longer"):
        read(mine, sleep)
    assert time.monotonic() - begun < 10
    assert count(mine) == 0, "the connection is usable"


def test_a_cancelled_write_is_stopped_on_the_server_and_changes_nothing(mine: PostgresDatabase) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with mine.limit_reads(stop.is_set), pytest.raises(InvalidInputError):
        add_and(mine, sleep)
    assert count(mine) == 0


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://nobody@127.0.0.1:1/panorama", "cannot be reached"),
        ("{missing}", "does not exist"),
    ],
)
def test_a_server_that_cannot_be_used_is_refused_by_reason(address: str, message: str, postgres_url: str) -> None:
    missing = make_url(postgres_url).set(database="not_there").render_as_string(hide_password=False)
    opened = closing(PostgresDatabase(parse_url(address.format(missing=missing)), "tests"))
    with opened as database, pytest.raises(UnavailableError, match=message):
        database.revision()


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ('password authentication failed for user "anna"', "refused the password"),
        ('role "bert" does not exist', "does not let this role connect"),
        ('role "carla" is not permitted to log in', "does not let this role connect"),
        ('database "garden" does not exist', "The database named in database_url does not exist"),
        ("sorry, too many clients already", "no free connection"),
        ('too many connections for role "dora"', "no free connection"),
    ],
)
def test_a_refused_connection_is_reported_with_its_reason(reason: str, message: str) -> None:
    with pytest.raises(UnavailableError, match=message):
        raise_translated(psycopg.OperationalError(f"connection failed: FATAL:  {reason}"))


def test_a_replica_is_refused_by_name(mine: PostgresDatabase, postgres_url: str) -> None:
    read_only = "ALTER DATABASE {} SET default_transaction_read_only = {}"
    name = make_url(postgres_url).database
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(read_only.format(name, "on"))  # pyright: ignore[reportArgumentType] (the name is the test's)
        try:
            opened = closing(PostgresDatabase(parse_url(postgres_url), "tests"))
            with opened as database, pytest.raises(UnavailableError, match="read-only"):
                add(database, "a")
        finally:
            admin.execute("SET default_transaction_read_only = off")
            admin.execute(read_only.format(name, "off"))  # pyright: ignore[reportArgumentType] (as above)


def test_the_schema_of_another_program_is_not_touched(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA panorama_foreign")
        admin.execute("CREATE TABLE panorama_foreign.sheets (id int)")
    opened = closing(PostgresDatabase(parse_url(postgres_url), "foreign"))
    with opened as database, pytest.raises(UnavailableError, match="belongs to another program"):
        database.revision()


@pytest.mark.parametrize("name", ["", "Anna", "pg_catalog; DROP", 'a"b', "a b", "1a", "a" * 41, "é", "a-b", "a.b"])
def test_a_name_that_is_none_for_a_space_is_refused(name: str, postgres_url: str) -> None:
    with pytest.raises(InvalidInputError, match="not a name for a space"):
        PostgresDatabase(parse_url(postgres_url), name)


def test_a_space_called_public_is_not_the_schema_public(postgres_url: str) -> None:
    with closing(PostgresDatabase(parse_url(postgres_url), "public")) as database:
        assert database.schema == "panorama_public"
        assert database.revision() == ""


@pytest.mark.parametrize(
    "address", ["", "x", "mysql://a@b/c", "sqlite:///x.db", "postgresql://a@b:x/c", "postgresql://b"]
)
def test_an_address_that_is_none_is_refused_by_reason(address: str) -> None:
    with pytest.raises(InvalidInputError, match="database_url cannot be used"):
        parse_url(address)
