"""Four daemons on one space while daemons and the server are killed: nothing is lost, done twice or missed.

Afterwards every daemon finds everything, and its own index holds what a fresh build of it gives.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from panorama.store.migrate import create_tables
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.transport.address import Address
from tests.doors.conftest import wait
from tests.faults.meanings import assert_converged, is_done
from tests.faults.servers import Server
from tests.postgres.server import ServerProcess, start_server

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(1800)]

SPACE = "team"
DAEMONS = 4
ROUNDS = int(os.environ.get("PANORAMA_TEST_KILLS", "5"))
"""How many processes are killed, one after another."""

KILLS_PER_SERVER_KILL = 5
"""Every so many kills it is the database server's."""

ROUND_SECONDS = 1.0, 3.0
PATIENCE = 90.0
SUBJECTS = ("quince jam", "steam engines", "the moons of Jupiter", "sourdough bread", "knitted socks", "wild horses")
SEARCHED_BY_MEANING = 20
"""So many notes are looked for by meaning in every daemon; its index is compared as a whole afterwards."""

UNFINISHED_JOBS = "SELECT id, kind, state, worker FROM jobs WHERE state IN ('queued', 'running') AND kind <> 'catch_up'"
SILENT_REMINDERS = "SELECT id, at FROM reminders WHERE id NOT IN (SELECT reminder FROM alerts)"


@dataclass
class Acknowledged:
    """What the clients were told: the words they wrote by item, the titles of notes, and what shall happen once."""

    words: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)
    reminders: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


class Machine(Server):
    """A client on a machine whose daemon may be killed again while it starts."""

    least_patience = PATIENCE


class Writer(threading.Thread):
    """A client that writes until it is told to stop."""

    def __init__(self, server: Machine, name: str, acknowledged: Acknowledged, stop: threading.Event) -> None:
        super().__init__(name=name)
        self._server = server
        self._acknowledged = acknowledged
        self._stop_writing = stop
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Write everything in turn."""
        writes = (self._add_task, self._add_note, self._add_two, self._add_task, self._submit_job, self._add_reminder)
        number = 0
        try:
            while not self._stop_writing.is_set():
                writes[number % len(writes)](f"{self.name}x{number}")
                number += 1
        except BaseException as error:
            self.failure = error

    def _call(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Return the data of the answer; None if it is an error, which is counted by its code."""
        answer = self._server.call(tool, **arguments)
        if "error" in answer:
            self._acknowledged.refused[answer["error"]["code"]] += 1
            return None
        return dict(answer["data"])

    def _add_task(self, word: str) -> None:
        if data := self._call("create_task", title=f"Water {word}"):
            self._acknowledged.words[data["id"]] = word

    def _add_note(self, word: str) -> None:
        subject = SUBJECTS[len(self._acknowledged.words) % len(SUBJECTS)]
        if data := self._call("create_note", title=f"{subject} {word}", content=f"All about {subject}. " * 5):
            self._acknowledged.words[data["id"]] = word
            self._acknowledged.notes[data["id"]] = f"{subject} {word}"

    def _add_two(self, word: str) -> None:
        words = f"{word}a", f"{word}b"
        steps = [{"tool": "create_task", "args": {"title": f"Dig {entry}"}} for entry in words]
        if data := self._call("batch", operations=steps):
            for step, item in zip(data["results"], words, strict=True):
                self._acknowledged.words[step["data"]["id"]] = item

    def _submit_job(self, word: str) -> None:
        code = f"sdk.tasks.create(title='Harvest {word}')"
        if data := self._call("run_code", code=code, background=True):
            self._acknowledged.jobs[data["id"]] = f"Harvest {word}"

    def _add_reminder(self, word: str) -> None:
        at = datetime.now(UTC) + timedelta(seconds=2)
        if data := self._call("create_reminder", title=f"Rain {word}", at=at.isoformat()):
            self._acknowledged.reminders.append(data["id"])


class Observer:
    """Counts the changes that a process hears which writes nothing and is not killed."""

    def __init__(self, url: str) -> None:
        self.heard: Counter[str] = Counter()
        self._database = PostgresDatabase(parse_url(url), SPACE, busy_seconds=5)
        self._database.subscribe(lambda changes: self.heard.update(change.id for change in changes))

    def wait_for(self, written: Counter[str]) -> None:
        """Wait until it has heard of all changes, or it is clear that it will not."""
        end = time.monotonic() + PATIENCE
        while self.heard < written and time.monotonic() < end:
            time.sleep(0.05)

    def close(self) -> None:
        """Stop listening."""
        self._database.close()


@contextmanager
def open_clients(url: str, homes: list[Path]) -> Iterator[dict[str, Machine]]:
    """Yield clients by name, two of each daemon; their daemons run as long as they are open."""
    settings = {"no_daemon": "0", "database_url": url, "space": SPACE, "embedder": "static", "toolsets": "more"}
    with ExitStack() as stack:
        yield {
            f"{letter}{number}": stack.enter_context(Machine(home, **settings))
            for number, home in enumerate(homes)
            for letter in "ab"
        }


@contextmanager
def writing(clients: Mapping[str, Machine], acknowledged: Acknowledged) -> Iterator[None]:
    """Let the clients write during the block."""
    stop = threading.Event()
    writers = [Writer(server, name, acknowledged, stop) for name, server in clients.items()]
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        stop.set()
        for writer in writers:
            writer.join(PATIENCE)
    for writer in writers:
        assert not writer.is_alive(), f"{writer.name} still waits for an answer"
        if writer.failure:
            raise writer.failure


def kill_daemon(home: Path) -> None:
    """Kill the daemon of a data directory, if it runs now."""
    if pid := Address(str(home)).find_pid():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_until_none(url: str, statement: str) -> None:
    """Wait until a statement returns no row, also while the server starts again."""
    end = time.monotonic() + PATIENCE
    rows: list[tuple[Any, ...]] = []
    while time.monotonic() < end:
        with suppress(psycopg.OperationalError):
            if not (rows := read(url, statement)):
                return
        time.sleep(0.2)
    pytest.fail(f"after {PATIENCE:g} s still {rows}")


def read(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Return rows of the space."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(f"panorama_{SPACE}")))
        return admin.execute(statement.encode()).fetchall()


def assert_found(clients: Mapping[str, Machine], acknowledged: Acknowledged) -> None:
    """Check that everything is found by its word, and that every daemon finds notes by meaning in its own index."""
    for client in clients.values():
        wait_until_indexed(client)
    for (id_, word), client in zip(acknowledged.words.items(), cycle(clients.values())):
        assert id_ in find(client, word, "keyword"), word
    chosen = random.sample(list(acknowledged.notes.items()), min(SEARCHED_BY_MEANING, len(acknowledged.notes)))
    for name in (name for name in clients if name.startswith("b")):
        for id_, title in chosen:
            assert id_ in find(clients[name], title, "semantic"), f"{name}: {title}"


def find(client: Machine, query: str, mode: str) -> set[str]:
    """Return the ids of what a daemon finds, by words or in its own index, which must not be left out."""
    answer = client.call("search", query=query, mode=mode, limit=50)
    assert "by words alone" not in answer["summary"]
    return {row["id"] for row in answer["data"]}


def wait_until_indexed(client: Machine) -> None:
    """Wait until the index of a daemon has heard of everything."""
    end, status = time.monotonic() + PATIENCE, dict[str, Any]()
    while time.monotonic() < end:
        status = dict(client.call("status"))
        if "data" in status and is_done(status["data"]["search"]):
            return
        time.sleep(0.5)
    pytest.fail(f"not indexed after {PATIENCE:g} s: {status}")


def assert_nothing_lost(url: str, acknowledged: Acknowledged) -> None:
    """Check that each acknowledged write is there with its words, and that nothing is there by half."""
    there = dict(read(url, "SELECT id, title FROM tasks UNION ALL SELECT id, title FROM notes"))
    lost = {id_: word for id_, word in acknowledged.words.items() if word not in there.get(id_, "")}
    assert lost == {}
    for table in ("tasks", "notes", "reminders"):
        torn = read(
            url,
            f"SELECT i.id, i.version, count(c.id) FROM {table} i LEFT JOIN changes c ON c.item = i.id "
            "GROUP BY i.id, i.version HAVING count(c.id) <> i.version OR max(c.version) <> i.version",
        )
        assert torn == []
    halves = "SELECT unit FROM changes WHERE operation = 'tasks.create' AND unit <> call GROUP BY unit, actor "
    assert read(url, halves + "HAVING actor <> 'job' AND actor <> 'script' AND count(*) % 2 = 1") == []


def assert_jobs_ran_once(url: str, acknowledged: Acknowledged) -> None:
    """Check that no job ran twice, and that each that is done did its work."""
    titles = Counter(row[0] for row in read(url, "SELECT title FROM tasks WHERE title LIKE 'Harvest %'"))
    assert [title for title, count in titles.items() if count > 1] == []
    states = dict(read(url, "SELECT id, state FROM jobs"))
    unknown = [job for job in acknowledged.jobs if job not in states]
    undone = [job for job, title in acknowledged.jobs.items() if states.get(job) == "done" and not titles[title]]
    assert (unknown, undone) == ([], [])


def kill_again_and_again(server: ServerProcess, homes: list[Path]) -> None:
    """Kill daemons and the server in the midst of writes."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 (a failed run must be repeatable)
    chance = random.Random(seed)
    for number in range(1, ROUNDS + 1):
        time.sleep(chance.uniform(*ROUND_SECONDS))
        if number % KILLS_PER_SERVER_KILL == 0:
            server.kill()
            time.sleep(chance.uniform(0, 1))
            server.start()
        else:
            kill_daemon(chance.choice(homes))


def test_daemons_and_the_server_are_killed_and_nothing_is_lost_done_twice_or_missed(tmp_path: Path) -> None:
    acknowledged = Acknowledged()
    homes = [tmp_path / f"machine{number}" for number in range(DAEMONS)]
    with start_server() as server:
        url = server.url
        with closing(PostgresDatabase(parse_url(url), SPACE)) as database:
            create_tables(database)
        with closing(Observer(url)) as observer:
            with open_clients(url, homes) as clients:
                with writing(clients, acknowledged):
                    kill_again_and_again(server, homes)
                wait_until_none(url, UNFINISHED_JOBS)
                wait_until_none(url, SILENT_REMINDERS)
                assert_found(clients, acknowledged)
            for home in homes:
                kill_daemon(home)  # so that its index is what it wrote to the disk
                wait(lambda home=home: Address(str(home)).find_pid() is None, "the end of a daemon")
                assert_converged(home, *SUBJECTS, database_url=url, space=SPACE)
            written = Counter(dict(read(url, "SELECT item, count(*) FROM changes GROUP BY item")))
            observer.wait_for(written)
        assert observer.heard == written
        assert_nothing_lost(url, acknowledged)
        assert_jobs_ran_once(url, acknowledged)
        alerts = read(url, "SELECT reminder, count(*) FROM alerts GROUP BY reminder HAVING count(*) <> 1")
        assert alerts == []
    print(f"{len(acknowledged.words):,} writes, {len(acknowledged.jobs):,} jobs, refused: {acknowledged.refused}")  # noqa: T201 (figures of a long run)
