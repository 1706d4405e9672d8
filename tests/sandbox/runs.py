"""Runs of scripts in processes of their own: one runner for the tests of a module, and a host that answers.

A module that uses `runner` also imports `nothing_is_left`, which takes the place of the check of the same name after
each test: the runner's processes go on from one test to the next. They are checked when it is closed.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgpack
import psutil
import pytest

from panorama.domain.scripts.scripts import Failure, Limits, RunOutcome, Script
from panorama.errors import ConflictError
from panorama.sandbox.runner import ForkServer

OPERATIONS = frozenset({"items.get", "tasks.list", "tasks.update", "notes.get", "history.list"})


def packed(data: object, **metadata: object) -> bytes:
    """Return an answer as services give it."""
    return msgpack.packb({"data": data, "metadata": metadata})


@dataclass
class Host:
    """What stands behind a script: it remembers what it was asked, and answers with that."""

    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    reports: list[tuple[float, float, str]] = field(default_factory=list)
    answers: Callable[[str, Mapping[str, Any]], bytes] | None = None
    waits: bool = True

    def answered(self, operation: str, arguments: Mapping[str, Any]) -> bytes:
        """Answer a call."""
        self.asked.append((operation, arguments))
        if self.answers:
            return self.answers(operation, arguments)
        if operation == "history.list":
            raise ConflictError("It changed.", hint="Read it anew.")
        return packed({"operation": operation, "arguments": arguments})

    def progressed(self, current: float, total: float, message: str) -> None:
        """Take a report."""
        self.reports.append((current, total, message))

    def stopped(self) -> bool:
        """Tell whether nobody waits any more."""
        return not self.waits


def limits(*, seconds: float = 10.0, cpu: float = 60.0, **figures: int) -> Limits:
    """Return small limits."""
    return Limits(wall=timedelta(seconds=seconds), cpu=timedelta(seconds=cpu), **figures)


@dataclass
class Runs:
    """A runner, and the short way to it."""

    runner: ForkServer

    def __call__(
        self,
        source: str,
        *,
        host: Host | None = None,
        inputs: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        operations: frozenset[str] = OPERATIONS,
        limits: Limits = limits(),  # noqa: B008 (frozen)
    ) -> RunOutcome:
        """Run a script."""
        host = host or Host()
        script = Script(
            source=source, inputs=inputs or {}, state=state or {}, operations=operations, limits=limits
        )  # fmt: skip
        return self.runner.run(script, host.answered, host.progressed, host.stopped)

    def result(self, source: str, **more: Any) -> Any:
        """Run a script that must succeed, and return its result."""
        ending = self(source, **more)
        assert ending.failure is None, ending.failure
        return json.loads(ending.result)

    def failure(self, source: str, **more: Any) -> Failure:
        """Run a script that must fail, and return why it did."""
        ending = self(source, **more)
        assert ending.failure is not None, ending.result
        assert ending.result == b""
        return ending.failure


def list_leftovers() -> dict[str, set[str]]:
    """Return the processes, threads and descriptors of runners that are there."""
    return {
        "processes": {str(process.pid) for process in psutil.Process().children(recursive=True)},
        "threads": {thread.name for thread in threading.enumerate() if thread.name.startswith("panorama-")},
        "descriptors": _descriptors(),
    }


def _descriptors() -> set[str]:
    """Return the open sockets and handles of processes."""
    if not os.path.isdir("/proc/self/fd"):
        return set()
    found: set[str] = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the descriptor that lists them
            found.add(os.readlink(f"/proc/self/fd/{name}"))
    return {item for item in found if item.startswith(("socket:", "anon_inode:[pidfd"))}


_open: set[ForkServer] = set()


def used(**left_out: bool) -> Iterator[Runs]:
    """Give a runner, and check that nothing is left when the last is closed."""
    before = list_leftovers() if not _open else None
    made = ForkServer(**left_out)
    _open.add(made)
    yield Runs(made)
    made.close()
    _open.remove(made)
    if before is not None and not _open:
        assert list_leftovers() == before


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    """Scripts in their own language, in all that stands around them here."""
    yield from used()


@pytest.fixture(scope="module")
def unguarded() -> Iterator[Runs]:
    """Scripts that are all of Python, in all else that stands around them here; they define `main()`."""
    yield from used(language=False)


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Leave the processes of the module's runner alone; they are looked for when it is closed."""
