"""What many spaces on one PostgreSQL database cost: time, catalog, connections, memory, and the speed of calls.

PANORAMA_SPACES says how many (200 by default; docs/scale.md has figures for up to 2,000). The server is that of
PANORAMA_TEST_POSTGRES, or one that ends with the test; it may have `fsync` off. Its connections must be enough for
`OPEN` programs.
"""

import os
import random
import statistics
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr
from sqlalchemy import Engine, event

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.store.postgres.administration.administration import SpaceAdministration
from panorama.store.postgres.connections import parse_url
from tests.postgres.server import create_database, run_server

from .measure import Board

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(7200)]
SPACES = int(os.environ.get("PANORAMA_SPACES", "200"))
OPEN = 16
"""How many spaces have a program that serves them; the others only exist."""

CALLS, SAMPLE = 800, 10
PERSON = Conversation(id="v_benchmark", actor="cli", client="benchmark")
OPERATIONS = ("create_task", "get_note", "list_tasks", "search")
VISITED = "tasks", "notes", "projects", "changes", "search_parts", "calls", "jobs", "schedules", "marks", "sessions"
"""The tables of everyday calls."""

_CONNECTIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^panorama'"
_CATALOG = "pg_class", "pg_attribute", "pg_index", "pg_depend", "pg_constraint", "pg_statistic"


@pytest.fixture
def databases() -> Iterator[tuple[str, str]]:
    """The URLs of two empty databases."""
    with (
        run_server(os.environ.get("PANORAMA_TEST_POSTGRES", "")) as server,
        create_database(server, "panorama_few_spaces") as few,
        create_database(server, "panorama_many_spaces") as many,
    ):
        yield few, many


@contextmanager
def recording() -> Generator[list[str]]:
    """Collect the statements that create tables, indexes and functions."""
    statements: list[str] = []

    def record(_c: Any, _d: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().upper().startswith(("CREATE", "ALTER")):
            statements.append(statement.replace("%%", "%"))

    event.listen(Engine, "before_cursor_execute", record)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", record)


def measure(step: Callable[[], object]) -> float:
    """Return how many milliseconds a step takes."""
    started = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - started)


def middle(values: Sequence[float]) -> str:
    """Return median and 95th percentile as text."""
    ordered = sorted(values)
    return f"{statistics.median(ordered):.1f} / {ordered[int(0.95 * (len(ordered) - 1))]:.1f} ms"


def create_by_statements(admin: psycopg.Connection[Any], name: str, ddl: str) -> None:
    """Create a space by the statements of the product, in one round trip."""
    with admin.transaction():
        admin.execute(sql.SQL("CREATE SCHEMA {0}").format(sql.Identifier(f"panorama_{name}")))
        admin.execute(sql.SQL("SET LOCAL search_path = {}").format(sql.Identifier(f"panorama_{name}")))
        admin.execute(ddl.encode())


@contextmanager
def open_spaces(url: str, home: Path) -> Generator[list[App]]:
    """Open the first spaces of a database, each as its daemon does."""
    with ExitStack() as stack:
        yield [stack.enter_context(open_app(_settings(url, home, f"s{number}"))) for number in range(OPEN)]


def _settings(url: str, home: Path, space: str) -> Settings:
    return Settings(home=home / space, timezone="UTC", embedder="none", database_url=SecretStr(url), space=space)


def time_calls(*databases: Sequence[App]) -> list[dict[str, list[float]]]:
    """Return how many milliseconds calls take that are spread over spaces by chance; the databases take turns."""
    chance = random.Random(1)
    notes = [
        [app.calls.call("create_note", {"title": "Tea", "content": "Green tea."}, PERSON).data["id"] for app in apps]
        for apps in databases
    ]
    found: list[dict[str, list[float]]] = [{name: [] for name in OPERATIONS} for _ in databases]
    for number in range(CALLS):
        name, at = chance.choice(OPERATIONS), chance.randrange(OPEN)
        for apps, ids, times in zip(databases, notes, found, strict=True):
            arguments: dict[str, dict[str, Any]] = {
                "create_task": {"title": f"Order tea {number}"},
                "get_note": {"note": ids[at]},
                "list_tasks": {"limit": 1 + number % 20},
                "search": {"query": "tea", "mode": "keyword"},
            }
            times[name].append(measure(partial(apps[at].calls.call, name, arguments[name], PERSON)))
    return found


def memory(pid: int | str = "self") -> int:
    """Return a process's private and shared memory in KB; shared pages count by their share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def test_many_spaces_on_one_database(databases: tuple[str, str], tmp_path: Path, board: Board) -> None:
    few, many = databases
    with recording() as statements:
        SpaceAdministration(parse_url(few)).create("recorded")
    _create_spaces(few)
    ddl = ";\n".join(statements)
    board.show(f"create one of {OPEN} spaces, p50 / p95", "", middle(_create_spaces(many)))
    with psycopg.connect(many, autocommit=True) as admin:
        times = [measure(partial(create_by_statements, admin, f"s{number}", ddl)) for number in range(OPEN, SPACES)]
        first, last = middle(times[:50]), middle(times[-50:])
        board.show("create one by statements alone, p50 / p95: first 50, last 50", "", first, last)
        _show_catalog(board, admin)
    administration = SpaceAdministration(parse_url(many))
    added = [measure(partial(administration.create, f"t{number}")) for number in range(SAMPLE)]
    board.show(f"create one beside {SPACES:,} spaces, p50 / p95", "", middle(added))
    _show_open_spaces(board, few, many, tmp_path)
    _show_visits(board, many)
    dropped = [measure(partial(administration.drop, f"t{number}")) for number in range(SAMPLE)]
    board.show(f"drop one of {SPACES:,} spaces, p50 / p95", "", middle(dropped))


def _create_spaces(url: str) -> list[float]:
    """Create the spaces that are opened, and return how long each took."""
    administration = SpaceAdministration(parse_url(url))
    return [measure(partial(administration.create, f"s{number}")) for number in range(OPEN)]


def _show_open_spaces(board: Board, few: str, many: str, home: Path) -> None:
    """Compare calls to a database that has no further spaces with calls to the one that has many."""
    with open_spaces(few, home / "few") as apps, ExitStack() as stack:
        before = memory()
        more = stack.enter_context(open_spaces(many, home / "many"))
        found = time_calls(apps, more)
        board.show("memory of the client per open space", "", f"{(memory() - before) / OPEN / 1024:.1f} MB")
        for name in OPERATIONS:
            values = found[1][name]
            times = statistics.median(values) / statistics.median(found[0][name])
            board.show(
                f"{name} spread over {OPEN} of {SPACES:,} spaces, p50 / p95", "", middle(values),
                f"{times:.2f} x of {OPEN} spaces alone: {middle(found[0][name])}",
            )  # fmt: skip
        admin = stack.enter_context(psycopg.connect(many, autocommit=True))
        pids = [row[0] for row in admin.execute(_CONNECTIONS)]
        board.show("connections per open space", "", f"{len(pids) / OPEN:.1f}")
        if Path(f"/proc/{pids[0]}/smaps_rollup").exists():  # the server is on this machine
            board.show("memory of the server per connection", "", f"{sum(map(memory, pids)) / len(pids) / 1024:.1f} MB")


def _show_catalog(board: Board, admin: psycopg.Connection[Any]) -> None:
    def ask(statement: str) -> int:
        row = admin.execute(statement.encode()).fetchone()
        assert row is not None
        return int(row[0] or 0)

    relations = ask("SELECT count(*) FROM pg_class WHERE relnamespace::regnamespace::text ~ '^panorama_|pg_toast'")
    size = ask("SELECT pg_database_size(current_database())")
    catalog = sum(ask(f"SELECT pg_total_relation_size('{name}')") for name in _CATALOG)
    board.show("relations", "", f"{relations:,}", f"{relations / SPACES:.0f} a space")
    board.show("size of the database", "", f"{size / 2**20:,.0f} MB", f"{size / SPACES / 2**10:.0f} KB a space")
    board.show("size of the catalog", "", f"{catalog / 2**20:,.0f} MB", f"{catalog / SPACES / 2**10:.0f} KB a space")
    vacuum = sum(measure(partial(admin.execute, f"VACUUM ANALYZE {name}".encode())) for name in _CATALOG)
    board.show("VACUUM ANALYZE of the catalog", "", f"{vacuum:.0f} ms")


def _show_visits(board: Board, url: str) -> None:
    """Visit every space with one connection, as behind a pooler."""
    used = "SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts"
    with psycopg.connect(url, autocommit=True) as visitor:

        def visit(number: int) -> None:
            visitor.execute(f"SET search_path = panorama_s{number}".encode())
            for name in VISITED:
                visitor.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()

        times: list[float] = []
        for number in range(SPACES):
            times.append(measure(partial(visit, number)))
            if number + 1 in (1, 10, 100, 1000, SPACES):
                row = visitor.execute(used).fetchone()
                assert row is not None
                board.show(
                    f"memory of a connection that visited {number + 1} spaces", "", f"{int(row[0]) / 1024:.1f} MB"
                )
        again = [measure(partial(visit, number)) for number in range(SPACES)]
    board.show(f"{len(VISITED)} tables of a space, first visit and second, p50 / p95", "", middle(times), middle(again))
