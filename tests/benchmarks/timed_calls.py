"""An MCP client that times its calls in its own process, where nothing else of a benchmark takes time from them.

`python -m tests.benchmarks.timed_calls HOME COUNT` prints the times of COUNT calls in milliseconds, as JSON, after each
line of its input.
"""

import contextlib
import json
import sys
from collections.abc import Generator
from pathlib import Path
from subprocess import PIPE, Popen

from .raw import spawned

DIFFERENT = 100
"""How many different calls there are: the same one eight times in a row is refused as a loop."""


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
        return list(json.loads(self._stdout.readline()))


@contextlib.contextmanager
def time_calls(home: Path, count: int) -> Generator[TimedCalls]:
    """Start a client of the daemon of a data directory, and end it."""
    command = [sys.executable, "-m", "tests.benchmarks.timed_calls", str(home), str(count)]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        yield TimedCalls(process)


def _answer_lines(home: str, count: int) -> None:
    with spawned(home) as client:
        while sys.stdin.readline():
            took = [client.took("list_tasks", limit=1 + number % DIFFERENT) for number in range(count)]
            print(json.dumps(took), flush=True)


if __name__ == "__main__":
    _answer_lines(sys.argv[1], int(sys.argv[2]))
