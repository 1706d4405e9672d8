"""What a daemon hears of another one on the same space: all of it, soon, once, and as if it had written it itself."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.changes import ItemChange, Origin
from panorama.domain.items.notes import Note
from panorama.errors import UnavailableError
from panorama.mcp.server import build_server
from panorama.services.base import ServiceContext
from panorama.store.items import rows
from panorama.store.log import marks
from panorama.store.postgres import commit
from panorama.store.postgres.connections import FEED_NAME, parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.feed import foreign_rows, space_feed
from panorama.web.live import ChangeStreams
from panorama.web.page_calls import PageCalls
from tests.conftest import BERLIN
from tests.kept import COUNTING, Person, put
from tests.listeners import RESOURCES, listening
from tests.services.shelves import tools
from tests.working import JobActivity, at_work, offered

pytestmark = pytest.mark.postgres

WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
PATIENCE = 20.0
PERSON = Conversation(id="v_person", actor="cli", client="tests")


@pytest.fixture
def url(postgres_space: PostgresDatabase, empty_space: Callable[[], None], postgres_url: str) -> str:
    """The server's address; the space is empty."""
    del postgres_space
    empty_space()
    return postgres_url


def open_shared(url: str) -> PostgresDatabase:
    return PostgresDatabase(parse_url(url), "tests", busy_seconds=5)


@pytest.fixture
def mine(url: str) -> Iterator[PostgresDatabase]:
    """The space, as one daemon has it open."""
    with closing(open_shared(url)) as opened:
        yield opened


@pytest.fixture
def theirs(url: str) -> Iterator[PostgresDatabase]:
    """The same space, as another daemon has it open."""
    with closing(open_shared(url)) as opened:
        yield opened


def listen(database: PostgresDatabase) -> list[ItemChange]:
    """Return the list to which every change is added that a listener is told of."""
    heard: list[ItemChange] = []
    database.subscribe(heard.extend)
    return heard


def add_note(database: PostgresDatabase, number: int) -> str:
    added = Note(id=f"n_{number:010}", created_at=NOW, updated_at=NOW, title=f"Note {number}")
    with database.transaction(WRITER) as session:
        rows.add(session, added)
    return added.id


def wait_until(is_true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_true() and time.monotonic() < end:
        time.sleep(0.01)
    assert is_true()


def ids(changes: Sequence[ItemChange]) -> list[str]:
    return [change.id for change in changes]


def terminate_feeds(url: str) -> None:
    """Close the connections that listen, from the server's side."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = %s",
            (FEED_NAME,),
        )


def test_both_hear_what_either_writes_once(mine: PostgresDatabase, theirs: PostgresDatabase) -> None:
    here, there = listen(mine), listen(theirs)
    written = [add_note((mine, theirs)[number % 2], number) for number in range(20)]

    wait_until(lambda: len(here) >= 20 and len(there) >= 20)
    time.sleep(4 * space_feed.GATHER_SECONDS)

    assert sorted(ids(here)) == sorted(ids(there)) == written


def test_rows_without_change_lines_are_heard_by_topic_and_own_ones_are_not(
    mine: PostgresDatabase, theirs: PostgresDatabase
) -> None:
    listen(mine)
    heard: list[str] = []
    mine.subscribe_to_others("vectors", heard.extend)

    for number, database in enumerate((mine, theirs, mine, theirs)):
        with database.transaction(WRITER) as session:
            marks.set_marks(session, [f"passages {number}", f"index {number}"], number)
            database.announce("vectors")

    wait_until(lambda: len(heard) >= 2)
    time.sleep(4 * space_feed.GATHER_SECONDS)
    assert sorted(heard) == ["passages 1", "passages 3"]


def test_more_changes_than_are_read_at_a_time_are_all_heard(
    mine: PostgresDatabase, theirs: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_rows, "BATCH_SIZE", 3)
    heard = listen(mine)

    with theirs.transaction(WRITER):
        written = [add_note(theirs, number) for number in range(8)]

    wait_until(lambda: len(heard) >= 8)
    assert ids(heard) == written


def test_nothing_is_missed_while_the_connection_is_lost_or_the_writer_dies_before_it_notifies(
    mine: PostgresDatabase, theirs: PostgresDatabase, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_feed, "LOOK_SECONDS", 0.3)
    heard = listen(mine)
    written: list[str] = []

    for number in range(0, 30, 3):
        written.append(add_note(theirs, number))
        terminate_feeds(url)
        written.append(add_note(theirs, number + 1))
        with monkeypatch.context() as dying:
            dying.setattr(theirs, "announce", lambda _: None)
            written.append(add_note(theirs, number + 2))

    wait_until(lambda: len(heard) >= 30)
    assert ids(heard) == written


def test_a_write_of_which_nobody_knows_whether_it_was_kept_is_heard_if_it_was(
    mine: PostgresDatabase, theirs: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = listen(mine), listen(theirs)
    committed = commit.commit

    def lose_answer(*arguments: Any) -> None:
        committed(*arguments)
        raise UnavailableError("whether it was kept is unknown", hint="")

    with monkeypatch.context() as losing:
        losing.setattr("panorama.store.postgres.engine.commit", lose_answer)
        with suppress(UnavailableError):
            add_note(mine, 1)
    add_note(theirs, 2)

    wait_until(lambda: len(here) == 2 and len(there) == 2)
    assert sorted(ids(here)) == sorted(ids(there)) == ["n_0000000001", "n_0000000002"]


def test_who_writes_and_ends_at_once_is_heard(
    mine: PostgresDatabase, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_feed, "LOOK_SECONDS", 600)
    heard = listen(mine)

    with closing(open_shared(url)) as brief:
        add_note(brief, 1)

    wait_until(lambda: heard)


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    """The data directories of two daemons."""
    return tmp_path / "here", tmp_path / "there"


@contextmanager
def open_daemon(url: str, home: Path) -> Iterator[App]:
    """Open the product on the space, with the data directory of a machine."""
    home.mkdir()
    context = ServiceContext(open_shared(url), BERLIN, home)
    settings = read_settings(home=home, embedder="none", database_url=url, space="tests")
    with open_app(settings, context) as app:
        yield app


@pytest.fixture
def here(url: str, homes: tuple[Path, Path]) -> Iterator[App]:
    """One daemon."""
    with open_daemon(url, homes[0]) as app:
        yield app


@pytest.fixture
def there(url: str, homes: tuple[Path, Path]) -> Iterator[App]:
    """Another daemon."""
    with open_daemon(url, homes[1]) as app:
        yield app


def call(app: App, operation: str, **arguments: Any) -> Any:
    return app.calls.call(operation, arguments, PERSON).data


def test_a_change_is_heard_as_the_writer_hears_it(here: App, there: App) -> None:
    received: tuple[list[ItemChange], list[ItemChange]] = [], []
    for app, changes in zip((here, there), received, strict=True):
        app.context.database.subscribe(changes.extend)

    call(here, "create_project", name="Garden")
    call(here, "create_project", name="House")
    note = call(here, "create_note", title="Tiles", content="x" * 9000, project="Garden")["id"]
    wait_until(lambda: len(received[1]) == len(received[0]))
    call(here, "update_note", note=note, pinned=True)
    wait_until(lambda: len(received[1]) == len(received[0]))
    call(here, "update_note", note=note, project="House", content="y" * 9000)
    wait_until(lambda: len(received[1]) == len(received[0]))
    call(here, "update_note", note=note, pinned=False)
    wait_until(lambda: len(received[1]) == len(received[0]))
    call(here, "delete_item", item=note)
    call(here, "create_task", title="Order tiles")
    call(here, "undo")

    wait_until(lambda: len(received[1]) == len(received[0]))
    assert received[1] == received[0]


@pytest.fixture
def works(here: App, there: App) -> JobActivity:
    """What jobs do there; both daemons know the same kinds and listen to each other."""
    offered(here)
    for app in (here, there):
        app.context.database.subscribe(lambda _: None)
    return offered(there)


def test_a_job_is_asked_for_here_run_there_and_its_end_is_reported_once(
    here: App, there: App, works: JobActivity
) -> None:
    moved: list[str] = []
    here.jobs.subscribe(moved.append)

    with here.jobs.attach_worker(lambda: None), at_work(there):
        id_ = call(here, "test.nothing", background=True)["id"]
        ended = here.jobs.wait_for(id_, PATIENCE)
        wait_until(lambda: not there.jobs.is_busy and moved.count(id_) > 1)
        time.sleep(4 * space_feed.GATHER_SECONDS)

    notices = [str(app.calls.call("list_tasks", {}, PERSON)).count(f"Your job {id_}") for app in (here, there, here)]
    assert ended.state == "succeeded"
    assert sum(notices) == 1


def test_a_job_that_runs_there_is_cancelled_here(here: App, there: App, works: JobActivity) -> None:
    with here.jobs.attach_worker(lambda: None), at_work(there):
        id_ = call(here, "test.steps", background=True)["id"]
        wait_until(lambda: works.begun)
        call(here, "cancel_job", job=id_)
        ended = here.jobs.wait_for(id_, PATIENCE)

    assert ended.state == "cancelled"


def test_a_script_that_is_promoted_there_is_a_tool_here(here: App, there: App) -> None:
    lists: list[list[str]] = []
    here.context.database.subscribe(lambda _: None)
    here.calls.promoted_tools.subscribe(lambda: lists.append(tools(here)))
    put(there, "count", COUNTING)

    Person(there).promotes("count")
    wait_until(lambda: lists)
    Person(there).promotes("count", to="retired")
    wait_until(lambda: len(lists) > 1)

    assert lists == [["script_count"], []]


@pytest.mark.anyio
async def test_an_open_page_and_a_client_that_listens_here_hear_what_is_written_there(here: App, there: App) -> None:
    stream = ChangeStreams(here, PageCalls(here).get_number).stream()
    await anext(stream)
    note = (await asyncio.to_thread(call, there, "create_note", title="Tiles"))["id"]
    shown = await asyncio.wait_for(anext(stream), PATIENCE)
    await stream.aclose()

    async with listening(build_server(here), "auto", f"panorama://note/{note}") as listener:
        await asyncio.to_thread(call, there, "update_note", note=note, title="More tiles", pinned=True)
        await listener.until(RESOURCES)
        heard = await listener.until(f"panorama://note/{note}")

    assert '"kinds": ["note"]' in shown
    assert set(heard) == {RESOURCES, f"panorama://note/{note}"}


def test_a_kept_page_is_rendered_again_once_a_script_is_promoted_there(here: App, there: App) -> None:
    here.context.database.subscribe(lambda _: None)
    calls = PageCalls(here)
    for app in (here, there):
        put(app, "count", COUNTING)
    before = calls.get_state().script_changes

    Person(there).promotes("count")

    wait_until(lambda: calls.get_state().script_changes > before)


def test_a_reminder_that_is_fired_there_wakes_the_alarms_here(here: App, there: App) -> None:
    woken = threading.Event()
    here.context.database.subscribe(lambda _: None)
    there.timing.run_due(lambda _: None)
    stop = here.timing.subscribe(woken.set)

    soon = datetime.now(UTC) + timedelta(seconds=1)
    call(there, "create_reminder", title="Call Ida", at=soon.isoformat())
    wait_until(lambda: datetime.now(UTC) > soon)
    there.timing.run_due(lambda _: None)

    assert woken.wait(PATIENCE)
    stop()
