"""Processes that are measured: a daemon that tells of its tasks, what a process holds, what its memory is made of."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from panorama.transport.address import Address, handshake, hello_message
from panorama.transport.rpc_client import RpcClient

from .raw import PATIENCE, Raw, environment

KB, MB = 1024, 1 << 20
TELLING = """
import asyncio, gc
from panorama.cli.main import main
from panorama.daemon.daemon import Daemon
status = Daemon._handle_status
Daemon._handle_status = lambda self, params: status(self, params) | {"tasks": len(asyncio.all_tasks())}
main(["serve"])
"""
"""A daemon that also tells how many tasks its event loop has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """What a process holds at a moment; `files` are all but those of the database, whose connections are kept."""

    memory: int
    files: int
    threads: int
    tasks: int = 0

    def since(self, before: "Footprint") -> str:
        """Tell what has become more."""
        return (
            f"memory {(self.memory - before.memory) / MB:+.1f} MB, files {self.files - before.files:+d}, "
            f"threads {self.threads - before.threads:+d}, tasks {self.tasks - before.tasks:+d}"
        )


@dataclass(slots=True)
class Running:
    """A daemon that runs, and can be asked what it holds."""

    address: Address
    pid: int

    def footprint(self) -> Footprint:
        """Return what it holds now, but for the connection that asks."""
        with open_connection(self.address) as direct:
            tasks = direct.request("panorama/daemon", {}).get("tasks", 0)
            held = footprint(self.pid)
        return Footprint(memory=held.memory, files=held.files - 1, threads=held.threads, tasks=tasks)

    def cpu_seconds(self) -> float:
        """Return the processor time that all of its threads have taken."""
        return time.clock_gettime((~self.pid << 3) | 2)  # the clock of a process (`clock_getcpuclockid`)

    def peak(self) -> int:
        """Return how many bytes of memory it has held at most."""
        return _fields(f"/proc/{self.pid}/status")["VmHWM"] * KB

    def settled(self, before: Footprint) -> Footprint:
        """Wait until it holds no more files and tasks than before, and return what it holds."""
        deadline = time.monotonic() + 20
        while (now := self.footprint()).files > before.files or now.tasks > before.tasks:
            assert time.monotonic() < deadline, f"more is held than before: {now.since(before)}"
            time.sleep(0.05)
        return now


@contextmanager
def open_connection(address: Address) -> Generator[RpcClient]:
    """Open a connection for direct calls."""
    with RpcClient(address, handshake(address, hello_message(address, "calls", "cli"))) as direct:
        yield direct


@contextmanager
def daemon(home: Path | str, source: Path | None = None, **settings: str) -> Generator[Running]:
    """Run a daemon that tells of its tasks, and stop it at the end.

    Args:
        source: Another checkout, whose daemon it is.
    """
    address = Address(str(home))
    from_source = {"PYTHONPATH": str(source)} if source else {}
    with subprocess.Popen(
        [sys.executable, "-c", TELLING], env=environment(home, **settings) | from_source, cwd=source,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            until(lambda: process.poll() is not None or _listens(address))
            yield Running(address, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()


def stop(address: Address) -> None:
    """End the daemon of a data directory, if one runs, and wait until it has."""
    if pid := address.find_pid():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    until(lambda: address.find_pid() is None)


@contextmanager
def stopped_later(home: Path | str) -> Generator[Address]:
    """End the daemon that doors start meanwhile."""
    address = Address(str(home))
    try:
        yield address
    finally:
        stop(address)


def footprint(pid: int) -> Footprint:
    """Return what a process holds: resident memory in bytes, open files, threads."""
    status, files = _fields(f"/proc/{pid}/status"), 0
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed just now
            files += "panorama.db" not in os.readlink(path)
    return Footprint(memory=status["VmRSS"] * KB, files=files, threads=status["Threads"])


def rollup(pid: int) -> dict[str, float]:
    """Return a process's memory in MB by sort, as the kernel sums it up (`smaps_rollup`): Rss, Pss, Pss_Anon …"""
    return {name: kilobytes / KB for name, kilobytes in _fields(f"/proc/{pid}/smaps_rollup").items()}


def mapped(pid: int, name: str) -> float:
    """Return how many MB of the files with such a name are resident in a process as its share (PSS)."""
    total, counts = 0, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        first = line.split(maxsplit=1)[0]
        if "-" in first:
            counts = name in line
        elif counts and first == "Pss:":
            total += int(line.split()[1])
    return total / KB


def _fields(path: str) -> dict[str, int]:
    parts = (line.split() for line in Path(path).read_text().splitlines())
    return {part[0].rstrip(":"): int(part[1]) for part in parts if len(part) > 1 and part[1].isdigit()}


def _listens(address: Address) -> bool:
    try:
        with open_connection(address):
            return True
    except OSError:
        return False


def until(so: Callable[[], Any]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.005)


@dataclass
class Bystander:
    """A client that goes on with its own work in a thread while something else happens; each call must succeed."""

    client: Raw
    pause: float = 0.005
    took: list[float] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Generator[list[float]]:
        """Work meanwhile; gives the milliseconds that the calls took, complete at the end."""
        took: list[float] = []
        failures: list[BaseException] = []
        over = threading.Event()

        def work() -> None:
            try:
                number = 0
                while not over.wait(self.pause):
                    number += 1
                    took.append(self.client.took("search", query=f"meanwhile {number}"))
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield took
        finally:
            over.set()
            thread.join()
        assert not failures, failures
