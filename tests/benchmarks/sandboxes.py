"""Our runner, measured: one that runs scripts beside the processes that it keeps, and an app whose calls do nothing."""

import asyncio
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.calls.call import Call
from panorama.calls.invocation import Invocation
from panorama.calls.rendering import SCRIPT
from panorama.config import Settings
from panorama.domain.scripts.scripts import Limits, RunOutcome, Script
from panorama.operation import Operation
from panorama.sandbox.runner import ForkServer

Answered = Callable[[str, Mapping[str, Any]], bytes]

TEMPLATE = "panorama.sandbox.worker.template"
PAUSE = 0.005
"""Seconds of rest after the next worker is ready, so that nothing of the last run is left to do."""


class Sandbox:
    """A runner, and the processes that it keeps."""

    def __init__(self, runner: ForkServer) -> None:
        self.isolation = runner.isolation
        self._runner = runner
        self.template = self._template()

    def _template(self) -> int:
        mine = psutil.Process().children()
        return next(process.pid for process in mine if any(TEMPLATE in word for word in process.cmdline()))

    def ran(
        self,
        source: str,
        *,
        answered: Answered | None = None,
        seconds: float = 60,
        operations: frozenset[str] = frozenset(),
    ) -> RunOutcome:
        """Run a script and return how it ended."""
        limits = Limits(wall=timedelta(seconds=seconds))
        script = Script(source=source, operations=operations, limits=limits)
        return self._runner.run(script, answered or _unanswered, _ignore_progress, lambda: False)

    @property
    def standby(self) -> int:
        """The process that waits for the next script, 0 if none is ready."""
        children = Path(f"/proc/{self.template}/task/{self.template}/children").read_text().split()
        alone = int(children[0]) if len(children) == 1 else 0
        return alone if alone and _waits(alone) else 0

    async def ready(self) -> None:
        """Wait until the next worker is ready, and a little longer."""
        while not self.standby:
            await asyncio.sleep(0.001)
        await asyncio.sleep(PAUSE)


def _waits(pid: int) -> bool:
    """Tell whether a process waits for something; a worker does so for the first time when it is ready."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
    except OSError:
        return False


def _ignore_progress(current: float, total: float, message: str) -> None:
    pass


def _unanswered(operation: str, arguments: Mapping[str, Any]) -> bytes:
    raise AssertionError(f"{operation} was called")


@contextmanager
def sandbox(*, language: bool = True) -> Generator[Sandbox]:
    """Start a runner as the product has it, and end it.

    Args:
        language: False lets scripts be all of Python, so that a worker can lie.
    """
    runner = ForkServer(language=language)
    try:
        made = Sandbox(runner)
        made.ran("def main(): return 1")
        yield made
    finally:
        runner.close()


@contextmanager
def app(home: Path) -> Generator[App]:
    """Open an app without search by meaning."""
    with open_app(Settings(home=home, timezone="Europe/Berlin", embedder="none")) as made:
        yield made


def nobody() -> Conversation:
    """Return the conversation of one who may repeat the same call."""
    return Conversation(f"v_{os.urandom(5).hex()}", "cli", "benchmark")


def run_source(app: App, source: str) -> Any:
    """Run a script by the tool `run_code`, and return its result."""
    result: Any = app.calls.call("run_code", {"code": source}, nobody()).data
    assert not result.get("error"), result
    return result["result"]


def noop() -> str:
    """Do nothing."""
    return "done"


def noop_of_two(start: str = "", end: str = "") -> str:
    """Do nothing with two arguments."""
    return "done"


def do_nothing(app: App) -> None:
    """Put operations that do nothing in the place of `sdk.status()` and `sdk.overview.week(start, end)`."""
    for name, call in (("status", noop), ("overview.week", noop_of_two)):
        app.calls.register([Operation(name=name, call=call, summary=str, sdk=name)])


class Tasks:
    """All tasks of an app, by the same operation that scripts call; not logged, and not packed for a pipe."""

    def __init__(self, app: App) -> None:
        self._context, self._jobs = app.context, app.jobs
        self._arguments = next(
            operation for operation in app.calls.operation_arguments if operation.operation.name == "tasks.list"
        )

    def page(self, cursor: str = "") -> dict[str, Any]:
        """Return the page behind a cursor."""
        sent: dict[str, Any] = {"status": "any", "detail": "full", "limit": SCRIPT.most_rows}
        call = Call(
            conversation=nobody(), id="c_benchmark", unit="c_benchmark", reader=SCRIPT,
            arguments=sent | ({"cursor": cursor} if cursor else {}),
        )  # fmt: skip
        answer = Invocation(self._context, self._jobs, self._arguments, call).answer()
        return {"rows": answer.data, "next": answer.metadata.get("next_cursor", "")}

    def pages(self) -> dict[str, dict[str, Any]]:
        """Return all pages by their cursors."""
        found, cursor = dict[str, dict[str, Any]](), ""
        while cursor or not found:
            found[cursor] = self.page(cursor)
            cursor = found[cursor]["next"]
        return found
