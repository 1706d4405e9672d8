"""What all tests share: the real product in a temporary home, a clock that stands still, and clients of both eras."""

import json
import os
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import psutil
import pytest
from fastmcp import Client
from fastmcp.client.client import CallToolResult
from jsonschema import Draft202012Validator

from panorama.app import App, open_app
from panorama.calls import Answer, Conversation
from panorama.calls.arguments import Arguments
from panorama.config import Settings, read_settings
from panorama.mcp import tools
from panorama.mcp.server import build_server
from panorama.services.base import ServiceContext
from panorama.store.backend import Database
from panorama.store.sqlite.engine import SqliteDatabase
from tests.queues import StandInQueue
from tests.stored_rows import count_rows
from tests.tool_errors import parse_error

pytest_plugins = (
    "tests.browser.fixtures", "tests.garbage", "tests.postgres.fixtures", "tests.prepared_parts",
    "tests.recorded_tables", "tests.saved_world", "tests.store.fixtures", "tests.templates",
)  # fmt: skip

BERLIN = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
"""A Wednesday, ten o'clock in Berlin."""

BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
ON_POSTGRES = os.environ.get("PANORAMA_TEST_DATABASE") == "postgres"
"""Whether the product's data are in a PostgreSQL database."""

Era = Literal["auto", "legacy"]
ERAS: tuple[Era, ...] = ("auto", "legacy")


@dataclass
class StandingClock:
    """A clock that moves only when it is told to."""

    moment: datetime = BEGIN

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, **span: float) -> None:
        """Move on by days, hours, minutes or seconds."""
        self.moment += timedelta(**span)


@dataclass
class CountedIds:
    """Ids that count up: `t_0000000001`, `n_0000000002` …"""

    last: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, letter: str) -> str:
        with self.lock:
            self.last += 1
            number = self.last
        return f"{letter}_" + "".join(BASE32[number >> shift & 31] for shift in range(45, -1, -5))


@dataclass(frozen=True)
class ToolAnswer:
    """A tool's answer: its structure by parts, and the text that a model reads."""

    data: Any
    summary: str
    metadata: dict[str, Any]
    text: str

    @property
    def id(self) -> str:
        """The id of the item that was answered."""
        return str(self.data["id"])

    @property
    def titles(self) -> list[str]:
        """The titles of the rows that were answered, in order."""
        return [row["title"] for row in self.data]


@dataclass(frozen=True)
class Refusal:
    """A tool's error: its structure by parts, and the text that a model reads."""

    code: str
    message: str
    hint: str
    candidates: list[dict[str, Any]]
    text: str


@dataclass(frozen=True)
class Chat:
    """One client's way to the tools: `await chat("create_task", title="Tea")`."""

    client: Client[Any]

    async def raw(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool and return what came over the wire, error or not."""
        return await self.client.call_tool(tool, arguments, raise_on_error=False)

    async def __call__(self, tool: str, **arguments: Any) -> ToolAnswer:
        """Call a tool that must succeed."""
        result = await self.raw(tool, **arguments)
        text = _text(result)
        assert not result.is_error, f"{tool} was refused: {text}"
        structure = result.structured_content or {}
        data = structure["data"]
        total = {"total": len(data)} if isinstance(data, list) else {}  # the structure has it where it is another
        return ToolAnswer(data, structure["summary"], total | structure.get("metadata", {}), text)

    async def refused(self, tool: str, **arguments: Any) -> Refusal:
        """Call a tool that must refuse, and check that it does so in the product's voice."""
        result = await self.raw(tool, **arguments)
        text = _text(result)
        assert result.is_error, f"{tool} was not refused: {text[:400]}"
        assert result.structured_content is None, "an error is text alone"
        error = parse_error(text)
        assert all(error[name] for name in ("code", "message", "hint")), f"{tool}: {error}"
        assert "Traceback" not in text
        assert "://" not in text
        assert error["code"] != "internal", text
        return Refusal(error["code"], error["message"], error["hint"], error["candidates"], text)


def _text(result: CallToolResult) -> str:
    return "\n".join(getattr(part, "text", "") for part in result.content)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Check that no thread, file or process outlives a test."""
    threads, files, processes = set(threading.enumerate()), _files(), _processes()

    yield

    def left() -> dict[str, object]:
        return {
            "threads": [thread.name for thread in set(threading.enumerate()) - threads],
            "files": sorted(_files() - files),
            "processes": sorted(_processes() - processes),
        }

    end = time.monotonic() + 5  # whoever answered last may still be closing its socket
    while any(left().values()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(left().values()), f"left behind: {left()}"


def _files() -> set[tuple[str, str]]:
    if not os.path.isdir("/proc/self/fd"):
        return set()
    found: set[tuple[str, str]] = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
        except FileNotFoundError:  # the descriptor that listed them
            continue
    return found


def _processes() -> set[int]:
    if glob(f"/proc/{os.getpid()}/task/*/children"):
        return set(_descendants(os.getpid()))
    return {
        process.pid for process in psutil.Process().children(recursive=True)
    }  # reads of every process: 3 ms and more


def _descendants(process: int) -> Iterator[int]:
    for path in glob(f"/proc/{process}/task/*/children"):
        with suppress(OSError):  # the thread is no more
            for child in map(int, Path(path).read_text().split()):
                yield child
                yield from _descendants(child)


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the data directory of each test stands, one after another."""
    return tmp_path_factory.mktemp("house")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database, made once."""
    home = tmp_path_factory.mktemp("template")
    with open_app(read_settings(home=home, timezone=BERLIN.key)) as made:
        return made.settings.home / "panorama.db"


@pytest.fixture(scope="session")
def database(house: Path, request: pytest.FixtureRequest) -> Database:
    """The database of all tests; each closes it, and the next finds its statements compiled (20 ms each)."""
    if ON_POSTGRES:
        return request.getfixturevalue("postgres_space")
    return SqliteDatabase(house / "home" / "panorama.db")


@pytest.fixture(scope="session", autouse=True)
def server_runs_before_the_first_test(request: pytest.FixtureRequest) -> None:
    """Start the server that all tests share before a test counts what it leaves behind."""
    if ON_POSTGRES:
        request.getfixturevalue("postgres_space")


@pytest.fixture(scope="session", autouse=True)
def schemas_are_made_once() -> Iterator[None]:
    """Remember models and schemas of arguments between tests: they depend on nothing but the operation.

    A model costs 3 ms, the schemas 70 ms a server.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Arguments, "model", property(_remembered(vars(Arguments)["model"].func)))
        for name in ("input_schema", "output_schema"):
            patch.setattr(tools, name, _anew(getattr(tools, name)))
        yield


@pytest.fixture(scope="session", autouse=True)
def schemas_are_checked_once() -> Iterator[None]:
    """Let clients check each schema of an answer once, not once a client: to check one takes 20 ms."""
    check = Draft202012Validator.check_schema
    known: set[str] = set()

    def checked(schema: Any) -> None:
        text = json.dumps(schema)
        if text not in known:
            check(schema)
            known.add(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draft202012Validator, "check_schema", checked)
        yield


def _remembered(made: Callable[[Arguments], Any]) -> Callable[[Arguments], Any]:
    known: dict[Any, Any] = {}

    def remembered(arguments: Arguments) -> Any:
        operation = arguments.operation
        key = getattr(operation.call, "__func__", operation.call), operation.name, operation.tool, operation.policy
        if key not in known:
            known[key] = made(arguments)
        return known[key]

    return remembered


def _anew(made: Callable[[Arguments], dict[str, Any]]) -> Callable[[Arguments], dict[str, Any]]:
    """Remember schemas as texts: who gets one may change it."""
    text = _remembered(lambda arguments: json.dumps(made(arguments)))
    return lambda arguments: json.loads(text(arguments))


@pytest.fixture
def clock() -> StandingClock:
    """The product's clock."""
    return StandingClock()


def _remove_folder(folder: Path) -> None:
    """Remove a folder, into which a process that a test has killed may write a moment longer."""
    deadline = time.monotonic() + 10
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(house: Path, template: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A data directory with an empty database; nothing of the tester's own settings is seen."""
    foreign = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME")
    for name in [name for name in os.environ if name.startswith("PANORAMA_") or name in foreign]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(house / "person"))
    made = house / "home"
    _remove_folder(made)
    made.mkdir(mode=0o700)
    monkeypatch.setenv("PANORAMA_HOME", str(made))
    monkeypatch.setenv("PANORAMA_TIMEZONE", BERLIN.key)
    monkeypatch.setenv("PANORAMA_NO_DAEMON", "1")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")
    monkeypatch.setenv("PANORAMA_DESKTOP_NOTIFICATIONS", "0")
    if ON_POSTGRES:
        request.getfixturevalue("filled_space")(template)
    else:
        shutil.copyfile(template, made / "panorama.db")
    return made


@pytest.fixture
def toolsets() -> tuple[str, ...]:
    """The groups of tools that are listed."""
    return ("default",)


@pytest.fixture
def queue() -> StandInQueue:
    """Takes the jobs of schedules."""
    return StandInQueue()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many attacks left the language of scripts and reached nothing."""
    reports = terminalreporter.getreports("passed")
    counted = [pair for report in reports if report.when == "call" for pair in report.user_properties]
    attacks, escapes = ([str(name) for kind, name in counted if kind == option] for option in ("attack", "escape"))
    if attacks:
        total = f"{len(escapes)} of {len(attacks)} attacks left the language of scripts and reached nothing"
        terminalreporter.write_line("; ".join([total, *escapes]))


@pytest.fixture
def app(
    home: Path,
    database: Database,
    clock: StandingClock,
    toolsets: tuple[str, ...],
    queue: StandInQueue,
    read_settings_once: Callable[[Path, tuple[str, ...]], Settings],
    one_template: None,
) -> Iterator[App]:
    """The product, with a clock that stands still and ids that count up; its scripts share a process to fork from."""
    context = ServiceContext(database, BERLIN, home, clock, CountedIds())
    with open_app(read_settings_once(home, toolsets), context, queue) as product:
        yield product


@pytest.fixture
def conversation() -> Conversation:
    """One client's conversation."""
    return Conversation(id="v_0000000000", actor="tool", client="tests")


@pytest.fixture
def call(app: App, conversation: Conversation) -> Callable[..., Answer]:
    """Calls an operation in one conversation: `call("create_task", title="Tea").data`."""

    def called(operation: str, **arguments: Any) -> Answer:
        return app.calls.call(operation, arguments, conversation)

    return called


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio; a loop per test, so that none outlives its test."""
    return "asyncio"


@pytest.fixture
async def chat(app: App) -> AsyncIterator[Chat]:
    """A client that speaks the newest protocol."""
    async with Client(build_server(app), mode="auto") as client:
        yield Chat(client)


@pytest.fixture
async def other(app: App) -> AsyncIterator[Chat]:
    """A second client, in a conversation of its own, on the same data."""
    async with Client(build_server(app), mode="auto") as client:
        yield Chat(client)


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.slow)])
async def either(app: App, request: pytest.FixtureRequest) -> AsyncIterator[Chat]:
    """A client of each protocol era in turn; what both eras do alike is asked of the older one by the slow tests."""
    async with Client(build_server(app), mode=request.param) as client:
        yield Chat(client)


@pytest.fixture
def rows(app: App) -> Callable[[], dict[str, int]]:
    """Counts the rows of every table that a write would touch."""
    tables = ("changes", "projects", "tasks", "notes", "links", "reminders", "journal", "files", "idempotency")
    return partial(count_rows, app, *tables)
