"""How often everyday calls wait for the server, and what statements that wait for the next one promise."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import column, make_url, text

from panorama.app import open_app
from panorama.calls import call_log
from panorama.config import Settings
from panorama.domain.changes import Origin
from panorama.errors import UnavailableError
from panorama.store.backend import Session
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from tests.everyday_calls import COSTS, count_calls
from tests.postgres.cutting_proxy import cutting_proxy
from tests.postgres.delaying_proxy import DelayingProxy, delaying_proxy

pytestmark = pytest.mark.postgres

WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")
ADD = text("INSERT INTO marks (name, value) VALUES (:name, 1)")
COUNT = text("SELECT count(*) FROM marks").columns(column("count"))
SETTLED_SECONDS = 0.02
"""After so long the end of a view, which nobody waits for, has passed the proxy."""


@pytest.fixture
def space(postgres_space: PostgresDatabase, empty_space: object, postgres_url: str) -> Iterator[PostgresDatabase]:
    """A space without marks."""
    with closing(PostgresDatabase(parse_url(postgres_url), "tests", busy_seconds=5)) as opened:
        with opened.connect() as driver:
            driver.execute("DELETE FROM marks")
        yield opened


def count(database: PostgresDatabase) -> int:
    with database.reading() as session:
        return session.connection.execute(COUNT).scalar_one()


def send(session: Session, name: str) -> None:
    session.send(ADD, {"name": name})


def settled(proxy: DelayingProxy) -> int:
    time.sleep(SETTLED_SECONDS)
    return proxy.round_trips


def test_everyday_calls_need_few_round_trips(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_log, "FLUSH_DELAY_SECONDS", 600.0)  # the log is written when the app closes
    with delaying_proxy(postgres_url) as (proxy, through):
        settings = Settings(
            home=tmp_path, timezone="Europe/Berlin", embedder="none", database_url=SecretStr(through), space="trips"
        )
        with open_app(settings) as app:
            found = count_calls(app, lambda: settled(proxy))

    assert {name: trips for name, trips in found.items() if trips > COSTS[name].round_trips} == {}


def test_what_waits_is_sent_with_the_next_statement_and_with_the_commit(
    space: PostgresDatabase, postgres_url: str
) -> None:
    with (
        delaying_proxy(postgres_url) as (proxy, through),
        closing(PostgresDatabase(parse_url(through), "tests")) as opened,
    ):
        for number in range(2):  # the columns of a result are known from the first time on
            with opened.transaction(WRITER) as session:
                before = proxy.round_trips
                send(session, f"a {number}")
                asked = session.ask(COUNT)
                assert session.connection.execute(COUNT).scalar_one() == asked()[0][0] == 2 * number + 1
                send(session, f"b {number}")
            spent = proxy.round_trips - before
    assert spent == 2
    assert count(space) == 4


def test_an_error_of_a_statement_that_waited_is_raised_by_the_commit_and_nothing_is_kept(
    space: PostgresDatabase,
) -> None:
    with space.transaction(WRITER) as session:
        send(session, "a")

    def add_again() -> None:
        with space.transaction(WRITER) as session:
            send(session, "b")
            send(session, "a")

    with pytest.raises(Exception, match="duplicate key"):
        add_again()
    assert count(space) == 1
    with space.transaction(WRITER) as session:
        send(session, "b")
    assert count(space) == 2, "the next write has a connection"


def test_what_waits_is_forgotten_with_a_transaction_that_fails(space: PostgresDatabase) -> None:
    for error in (UnavailableError("No.", hint="No."), ZeroDivisionError()):

        def fail(error: Exception = error) -> None:
            with space.transaction(WRITER) as session:
                send(session, "a")
                raise error

        with pytest.raises(type(error)):
            fail()
    assert count(space) == 0


def test_a_write_that_waited_for_a_commit_whose_answer_was_lost_counts_as_saved(
    space: PostgresDatabase, tmp_path_factory: pytest.TempPathFactory, postgres_url: str
) -> None:
    if "host" not in make_url(postgres_url).query:
        pytest.skip("the server has no socket file")
    with (
        cutting_proxy(tmp_path_factory.mktemp("p"), postgres_url) as (proxy, through),
        closing(PostgresDatabase(parse_url(through), "tests")) as opened,
    ):
        opened.revision()
        proxy.cut_at("COMMIT", "after")
        with opened.transaction(WRITER) as session:
            send(session, "a")
        assert count(space) == 1

        proxy.cut_at("COMMIT", "before")
        with pytest.raises(UnavailableError, match="nothing was changed"), opened.transaction(WRITER) as session:
            send(session, "b")
        assert count(space) == 1


def test_long_statements_do_not_wait(space: PostgresDatabase) -> None:
    refused = pytest.raises(UnavailableError, match="refused an earlier statement")
    with refused, space.transaction(WRITER) as session:
        send(session, "x" * 70_000)
        with pytest.raises(Exception, match="duplicate key"):
            send(session, "x" * 70_000)


def test_a_space_that_is_not_there_is_named(postgres_url: str) -> None:
    with (
        closing(PostgresDatabase(parse_url(postgres_url), "nowhere")) as opened,
        pytest.raises(UnavailableError, match="The space does not exist"),
        opened.transaction(WRITER) as session,
    ):
        session.connection.execute(COUNT)
