"""A terminal on which a command runs, as for a person."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

PATIENCE = 40.0
_STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Terminal:
    """A person's terminal, on which a command runs."""

    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict[str, str])
    seen: str = ""

    def __enter__(self) -> "Terminal":
        """Run the command."""
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "panorama", *self.words]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200", **self.environment}
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def types(self, words: str) -> None:
        """Type a line."""
        os.write(self._ours, f"{words}\n".encode())

    def until(self, words: str) -> None:
        """Read until something stands there, in one line or wrapped."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.seen and words not in " ".join(self.seen.split()):
            assert time.monotonic() < deadline, self.seen
            with suppress(OSError):
                if not select.select([self._ours], [], [], 0.5)[0]:
                    continue
                self.seen += _STEERING.sub("", os.read(self._ours, 4096).decode("utf-8", "replace")).replace("\r", "")

    def ends(self) -> int:
        """Read to the end, and return the exit code."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                chunk = os.read(self._ours, 4096)
            except OSError:  # nobody holds the other side any more
                break
            self.seen += _STEERING.sub("", chunk.decode("utf-8", "replace")).replace("\r", "")
        return self.process.wait(PATIENCE)
