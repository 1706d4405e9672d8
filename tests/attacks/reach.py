"""How attacks on the language are judged: by what reaches the system, the host or another run.

Each attack runs in the language of scripts, and again with the language off and a payload behind it: everything that
an escape could try, written in plain Python. An escape from the language that reaches nothing is counted and printed.
"""

import os
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from panorama.domain.scripts.scripts import RunOutcome
from tests.attacks.kernel import needs_filter
from tests.sandbox.runs import OPERATIONS, Host, Runs, limits

SECRET = "secret-" + "7c41"
FORBIDDEN = "notes.delete"
ENVIRONMENT = "PANORAMA_ATTACK_SECRET"
REACHABLE = ("file", "folder", "written", "network", "signal", "fork", "program", "environment", "parent")

_PAYLOAD = """
import builtins, os, signal, socket, sys

FOLDER, PORT, VICTIM = {folder!r}, {port!r}, {victim!r}

def attack():
    exec({attack!r}, globals())
    made()

def fork():
    child = os.fork()
    return os.waitpid(child, 0)[0] if child else os._exit(0)

def call():
    from panorama.sdk.core import wire
    return wire.call({forbidden!r}, note="n_0000000001")

ATTEMPTS = {{
    "file": lambda: open(FOLDER + "/secret").read(),
    "folder": lambda: os.listdir(FOLDER),
    "written": lambda: open(FOLDER + "/written", "w"),
    "network": lambda: socket.create_connection(("127.0.0.1", PORT), 0.5),
    "signal": lambda: os.kill(VICTIM, signal.SIGKILL) or True,
    "fork": fork,
    "program": lambda: os.posix_spawn("/bin/true", ["true"], {{}}),
    "environment": lambda: os.environ[{environment!r}],
    "parent": lambda: open("/proc/%d/cmdline" % os.getppid()).read(),
    "call": call,
}}

def attempt(act):
    try:
        return act()
    except BaseException:
        return None

def main():
    attempt(attack)
    builtins.left_behind = sys.modules["left_behind"] = sys
    return [name for name, act in ATTEMPTS.items() if attempt(act)]
"""
_NEXT_RUN = "import builtins, sys\ndef main():\n    return 'left_behind' in {*dir(builtins), *sys.modules}"


def _as_function(attack: str) -> str:
    """Return an attack as a function: with the language off, `return` stands in functions alone."""
    return f"def made():\n{textwrap.indent(textwrap.dedent(attack).strip(), '    ')}"


@dataclass
class Outside:
    """What a script must not reach: a secret file, a folder, a listening socket and a process."""

    folder: Path
    listener: socket.socket
    victim: subprocess.Popen[bytes]

    def payload(self, attack: str) -> str:
        """Return an attack as a script for the language that is off, with the payload behind it."""
        return _PAYLOAD.format(
            folder=str(self.folder), port=self.listener.getsockname()[1], victim=self.victim.pid,
            attack=_as_function(attack), forbidden=FORBIDDEN,
            environment=ENVIRONMENT,
        )  # fmt: skip

    def changes(self) -> list[str]:
        """Return what has happened to it."""
        found = [path.name for path in self.folder.iterdir() if path.name != "secret"]
        try:
            self.listener.accept()[0].close()
            found.append("a connection")
        except BlockingIOError:
            pass
        return found + (["a killed process"] if self.victim.poll() is not None else [])


@contextmanager
def opened() -> Iterator[Outside]:
    """Give something outside of the sandbox that everybody on this machine could reach."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen(["/bin/sleep", "1000"]) as victim,
    ):
        Path(folder, "secret").write_text(SECRET)
        os.chmod(folder, 0o777)
        listener.setblocking(False)
        try:
            yield Outside(Path(folder), listener, victim)
        finally:
            victim.kill()


@dataclass
class Reach:
    """Judges attacks, and counts those that leave the language."""

    runs: Runs
    unguarded: Runs
    outside: Outside
    count: Callable[[str, str], None]

    def check(self, name: str, attack: str, *, is_escape: bool) -> None:
        """Check that an attack reaches nothing, with the language on and off."""
        self.count("attack", name)
        if is_escape:
            self.count("escape", name)
        if self.unguarded.runner.isolation == "language-only":
            needs_filter(self.unguarded)
        self._check_run(self.runs, textwrap.dedent(attack))
        outcome = self._check_run(self.unguarded, self.outside.payload(attack))
        is_killed = outcome.failure is not None and outcome.failure.reason in ("blocked", "crashed")
        assert is_killed or outcome.result == b"[]", outcome
        assert self.unguarded.result(_NEXT_RUN) is False

    def _check_run(self, runs: Runs, source: str) -> RunOutcome:
        host = Host()
        outcome = runs(source, host=host, limits=limits(seconds=3))
        assert SECRET not in repr(outcome)
        assert self.outside.changes() == []
        assert {operation for operation, _ in host.asked} <= OPERATIONS
        return outcome


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    """Something outside of the sandbox, for the attacks of a module."""
    with pytest.MonkeyPatch.context() as patch, opened() as made:
        patch.setenv(ENVIRONMENT, SECRET)
        yield made


@pytest.fixture
def reach(outside: Outside, runs: Runs, unguarded: Runs, record_property: Callable[[str, object], None]) -> Reach:
    """Judge an attack; what it counts is printed after the last test."""
    return Reach(runs, unguarded, outside, record_property)


def run_plainly(outside: Outside) -> list[str]:
    """Return what the payload reaches in a Python process without anything around it."""
    code = f"{outside.payload('pass')}\nprint(*main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.split()
