"""Clients that give up a call while it works, by every door, and a look at what the daemon then still does."""

import http.client
import json
import os
import select
import socket
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from panorama.app import App, open_app
from panorama.config import Settings
from panorama.daemon.http import TOKEN_FILE
from panorama.domain.changes import Origin
from panorama.domain.items.item import Item
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.tasks import Task
from panorama.services.base import random_id
from panorama.store.items import rows
from panorama.transport.address import handshake, hello_message
from tests.benchmarks.processes import Running, open_connection
from tests.benchmarks.raw import LEGACY, META, MODERN, ProcessClient

NOTES, LINKS, TASKS, FILES = 150, 500, 900, 3_000
LONG = "Earl Grey and scones at noon. " * 3_000
TICKS = os.sysconf("SC_CLK_TCK")
QUIET_SECONDS, QUIET_CPU = 0.5, 0.02
"""A daemon is quiet once it has worked no longer than this for so long."""

BEGUN_CPU, BEGIN_SECONDS, GIVE_UP_SECONDS = 0.15, 1.0, 120.0
"""A call is given up once the daemon has worked on it for so long; one that sleeps, after some seconds."""

SPIN = "while True:\n    pass"
SLEEP = "import time\ntime.sleep(600)"
NOW_AND_THEN = "import time\nwhile True:\n    sdk.tasks.create('Task')\n    time.sleep(0.2)"
WRITE = "n = 0\nwhile True:\n    n += 1\n    sdk.tasks.create(f'Task {n}')"
UNLIKE = {"or": [{"content": {"contains": f"word{number}"}} for number in range(40)]}
QUERY = {"collection": "notes", "where": UNLIKE, "count": True}
READ = f"while True:\n    sdk.query('notes', where={UNLIKE!r}, limit=1)"


@dataclass(frozen=True, slots=True)
class Store:
    """A large store, and the folders that calls read and write."""

    home: Path
    backup: Path
    folder: Path


@dataclass(frozen=True, slots=True)
class LongCall:
    """A call that works for many seconds: its tool, its operation for the command line, its arguments.

    What one that `rolls_back` has written is taken back after it was given up.
    """

    label: str
    operation: str
    arguments: Mapping[str, Any]
    tool: str = ""
    rolls_back: bool = False


def units(door: str) -> str:
    """Return the unit that wrote the tasks for one door."""
    return f"x_{sum(door.encode()) % 10_000:010d}"


def fill(path: Path, doors: Iterable[str]) -> Store:
    """Make a store with long notes, linked notes, and two projects with many tasks for each door."""
    store = Store(path / "home", path / "backup", path / "vault")
    with open_app(Settings(home=store.home, timezone="Europe/Berlin", embedder="none")) as app:
        _add(app, "x_0000000000", _list_notes(app))
        for door in doors:
            _add(app, "x_0000000000", _list_links(app, f"Hub {door}"))
            _add(app, units(door), _list_tasks(app, f"Garden {door}"))
            _add(app, "x_0000000000", _list_tasks(app, f"Attic {door}"))
    store.folder.mkdir()
    for number in range(FILES):
        (store.folder / f"Page {number}.md").write_text(f"# Page {number}\n\n- [ ] a task\n" + LONG[:2_000])
    return store


def _add(app: App, unit: str, items: Iterator[Item]) -> None:
    origin = Origin(
        actor="tool", client="attacks", conversation="v_attacks", operation="tasks.create", call=unit, unit=unit
    )
    while some := list(islice(items, 500)):
        with app.context.database.transaction(origin) as session:
            for item in some:
                rows.add(session, item)


def _list_notes(app: App) -> Iterator[Item]:
    at = app.context.now()
    for number in range(NOTES):
        yield Note(id=random_id("n"), created_at=at, updated_at=at, title=f"Long {number}", content=LONG)


def _list_links(app: App, hub: str) -> Iterator[Item]:
    at = app.context.now()
    yield Note(id=random_id("n"), created_at=at, updated_at=at, title=hub, content="Earl Grey")
    for number in range(LINKS):
        title = f"Link {number} to {hub}"
        yield Note(id=random_id("n"), created_at=at, updated_at=at, title=title, content=f"See [[{hub}]].")


def _list_tasks(app: App, project: str) -> Iterator[Item]:
    at, owner = app.context.now(), random_id("p")
    yield Project(id=owner, created_at=at, updated_at=at, name=project)
    for number in range(TASKS):
        title = f"Task {number} of {project}"
        yield Task(id=random_id("t"), created_at=at, updated_at=at, title=title, project=owner, tags=(tag_of(project),))


def tag_of(project: str) -> str:
    """Return the tag of a project's tasks."""
    return "-".join(project.lower().split())


def list_calls(store: Store, door: str) -> Iterator[LongCall]:
    """Return the calls that work longest, for one door."""
    steps = [{"tool": "query", "args": QUERY}] * 100
    large = "# a heading\n- [ ] a [[b]]\n" * 380_000
    yield LongCall("query over long texts", "query", QUERY, "query")
    yield LongCall("batch of queries", "batch", {"operations": steps}, "batch")
    yield LongCall("script that calculates", "run_code", {"code": SPIN, "timeout": 60}, "run_code")
    yield LongCall("script that sleeps", "run_code", {"code": SLEEP, "timeout": 60}, "run_code")
    yield LongCall("script that writes", "run_code", {"code": WRITE, "timeout": 60}, "run_code")
    yield LongCall("script that writes now and then", "run_code", {"code": NOW_AND_THEN, "timeout": 60}, "run_code")
    yield LongCall("script that reads", "run_code", {"code": READ, "timeout": 60}, "run_code")
    yield LongCall("dry run that writes", "run_code", {"code": WRITE, "timeout": 60, "dry_run": True}, "run_code")
    atomic = {"code": WRITE, "timeout": 60, "atomic": True}
    yield LongCall("atomic script", "run_code", atomic, "run_code", rolls_back=True)
    yield LongCall("saved script", "run_script", {"script": "writer", "timeout": 60}, "run_script")
    yield LongCall("note of 10 MB", "notes.create", {"title": f"Large {door}", "content": large}, "create_note")
    yield LongCall(
        "renamed note with links", "notes.update", {"note": f"Hub {door}", "title": f"Centre {door}"}, "update_note"
    )
    yield LongCall("undo", "history.undo", {"unit": units(door), "confirm": True, "skip_conflicts": True}, "undo")
    yield LongCall(
        "deleted project", "items.delete", {"item": f"Attic {door}", "items": "trash", "confirm": True}, "delete_item"
    )
    yield LongCall("backup", "backup", {}, "create_backup")
    yield LongCall("export", "export", {}, "export_data")
    yield LongCall("import", "import.markdown", {"folder": str(store.folder)})
    yield LongCall("check of a backup", "backups.check", {"path": str(store.backup)})
    yield LongCall(
        "restore", "restore", {"source": str(store.backup), "folder": str(store.home.parent / f"new {door}")}
    )
    yield LongCall("renamed tag", "tags.rename", {"tag": tag_of(f"Garden {door}"), "name": "house"})


# Doors.


class Door:
    """Sends one call, and gives it up."""

    def __init__(self, running: Running, home: Path, port: int) -> None:
        self.running, self.home, self.port = running, home, port

    def send(self, call: LongCall) -> None:
        """Send the call without waiting for its answer."""
        raise NotImplementedError

    def give_up(self) -> None:
        """Cancel the call, or leave."""
        raise NotImplementedError

    def has_answer(self) -> bool:
        """Return whether the call has ended before it was given up."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what is open."""

    def offers(self, call: LongCall) -> bool:
        """Return whether the call can be made through this door."""
        return bool(call.tool)


class CancelledStdio(Door):
    """An MCP client that cancels by a notification."""

    era = LEGACY

    def send(self, call: LongCall) -> None:
        self.client = ProcessClient(self.home, self.era)
        self.client.greet()
        self.client.call("list_tasks", limit=1)
        self.client.write(self.client.call_of(call.tool, **call.arguments))

    def give_up(self) -> None:
        params: dict[str, Any] = {"requestId": self.client._number} | ({"_meta": META} if self.era == MODERN else {})
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        self.client.write(json.dumps(message).encode() + b"\n")

    def has_answer(self) -> bool:
        return self.client.has_line()

    def close(self) -> None:
        self.client.close()


class CancelledModernStdio(CancelledStdio):
    """The same in the newer protocol."""

    era = MODERN


class KilledStdio(CancelledStdio):
    """An MCP client that is killed."""

    def give_up(self) -> None:
        self.client.process.kill()


class KilledModernStdio(KilledStdio):
    """The same in the newer protocol."""

    era = MODERN


class ClosedRpc(Door):
    """A terminal command that is interrupted."""

    def send(self, call: LongCall) -> None:
        address = self.running.address
        greeted = handshake(address, hello_message(address, "calls", "cli"))
        self.stream = greeted.stream
        params = {"operation": call.operation, "arguments": dict(call.arguments)}
        message = {"jsonrpc": "2.0", "id": 1, "method": "panorama/call", "params": params}
        self.stream.sendall(json.dumps(message).encode() + b"\n")

    def has_answer(self) -> bool:
        return is_readable(self.stream)

    def give_up(self) -> None:
        self.stream.close()

    def offers(self, call: LongCall) -> bool:
        return bool(call.operation)


class ClosedHttp(Door):
    """An HTTP client of the newer protocol that closes its connection."""

    def send(self, call: LongCall) -> None:
        params = {"name": call.tool, "arguments": dict(call.arguments), "_meta": META}
        self.post("tools/call", params, {"MCP-Protocol-Version": MODERN, "Mcp-Name": call.tool})

    def post(self, method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        token = (self.home / TOKEN_FILE).read_text().strip()
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.connection.request(
            "POST", "/mcp", json.dumps(message),
            {
                "Authorization": f"Bearer {token}", "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream", "Mcp-Method": method, **headers,
            },
        )  # fmt: skip

    def has_answer(self) -> bool:
        return is_readable(self.connection.sock) and b'"id":1' in self.connection.sock.recv(1 << 16, socket.MSG_PEEK)

    def give_up(self) -> None:
        self.connection.close()

    def offers(self, call: LongCall) -> bool:
        return bool(call.tool) and call.label != "note of 10 MB"  # longer than a request over HTTP may be


DOORS: Mapping[str, Callable[[Running, Path, int], Door]] = {
    "stdio-cancelled": CancelledStdio, "stdio-modern-cancelled": CancelledModernStdio, "stdio-killed": KilledStdio,
    "stdio-modern-killed": KilledModernStdio, "terminal": ClosedRpc, "http-modern": ClosedHttp,
}  # fmt: skip


def is_readable(stream: socket.socket) -> bool:
    """Return whether something has come that was not read."""
    return bool(select.select([stream], [], [], 0)[0])


# What the daemon does.


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process, its present children, and those it has waited for, have taken."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(path.parent.name) == pid:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == pid:
            total += sum(map(int, fields[11:13]))
    return total / TICKS


@dataclass(frozen=True, slots=True)
class AbandonedOutcome:
    """What a daemon did after a call was given up.

    `seconds` until its last work, and `cpu` seconds of processor time; then `writes` and `jobs` that went on.
    `has_ended` means that the call was answered before.
    """

    seconds: float
    cpu: float
    writes: int
    jobs: tuple[str, ...]
    has_ended: bool


def count_changes(home: Path) -> int:
    """Return how many lines of changes there are."""
    connection = sqlite3.connect(f"file:{home / 'panorama.db'}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM changes").fetchone()[0])
    finally:
        connection.close()


def wait_for_quiet(pid: int) -> tuple[float, float]:
    """Wait until a daemon works no more; return the seconds until then, and the processor time it took."""
    began = at = time.monotonic()
    first = last = busy = cpu_seconds(pid)
    while time.monotonic() - at < QUIET_SECONDS:
        assert time.monotonic() - began < GIVE_UP_SECONDS, f"it works on: {last - first:.1f} s of processor time"
        time.sleep(0.05)
        last = cpu_seconds(pid)
        if last - busy > QUIET_CPU:
            at, busy = time.monotonic(), last
    return at - began, last - first


def give_up(door: Door, call: LongCall, moment: float = BEGUN_CPU) -> AbandonedOutcome:
    """Send a call, give it up while it works, and look at what the daemon does from then on."""
    pid = door.running.pid
    wait_for_quiet(pid)
    before, began = cpu_seconds(pid), time.monotonic()
    door.send(call)
    try:
        while cpu_seconds(pid) - before < moment and time.monotonic() - began < BEGIN_SECONDS:
            time.sleep(0.01)
        has_ended = door.has_answer()
        door.give_up()
        seconds, cpu = wait_for_quiet(pid)
        written = count_changes(door.home)
        time.sleep(QUIET_SECONDS)
        while call.rolls_back and written < (now := count_changes(door.home)):
            written = now
            time.sleep(QUIET_SECONDS)
        with open_connection(door.running.address) as rpc:
            jobs = rpc.call("jobs.list", {"state": "active"})["data"]
        kinds = tuple(job["kind"] for job in jobs)
        return AbandonedOutcome(seconds, cpu, count_changes(door.home) - written, kinds, has_ended)
    finally:
        door.close()
