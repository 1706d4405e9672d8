"""An MCP client that times its calls in its own process, where nothing else of a benchmark takes time from them.

`python -m tests.benchmarks.timed_calls HOME COUNT` prints the times of COUNT calls in milliseconds, as JSON, after each
line of its input.
"""

import contextlib
import json
import sys
from collections.abc import Generator
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from subprocess import PIPE, Popen

from .raw import spawned

BEFORE_ALL_TASKS = date(1950, 1, 1)
"""The calls ask for tasks from this day, the next one, and so on: the same call eight times in 30 seconds is a loop."""


class TimedCalls:
    """The process that calls."""

    def __init__(self, process: Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout

    def measure(self) -> list[float]:
        """Make the calls, and return how many milliseconds each took."""
        self._stdin.write("\n")
        self._stdin.flush()
        line = self._stdout.readline()
        assert line, "the process that makes the calls has ended; its error is above"
        return list(json.loads(line))


@contextlib.contextmanager
def time_calls(home: Path, count: int) -> Generator[TimedCalls]:
    """Start a client of the daemon of a data directory, and end it."""
    command = [sys.executable, "-m", "tests.benchmarks.timed_calls", str(home), str(count)]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        yield TimedCalls(process)


def _answer_lines(home: str, calls: int) -> None:
    days = (BEFORE_ALL_TASKS + timedelta(days=number) for number in count())
    with spawned(home) as client:
        while sys.stdin.readline():
            took = [client.took("list_tasks", limit=50, due_from=next(days).isoformat()) for _ in range(calls)]
            print(json.dumps(took), flush=True)


if __name__ == "__main__":
    _answer_lines(sys.argv[1], int(sys.argv[2]))
