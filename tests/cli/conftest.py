"""The command line: in this process where the start does not matter, as a process of its own where it does."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.client import Client
from panorama.cli.main import main


@dataclass(frozen=True)
class CommandResult:
    """How a command ended, and what it said where."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """What it printed as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """What it printed, line by line."""
        return self.out.splitlines()


Command = Callable[..., CommandResult]


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in this process: `run("tasks", "--json").answer`."""

    def ran(*words: str, stdin: bytes = b"") -> CommandResult:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main(words)
        captured = capsys.readouterr()
        return CommandResult(code, captured.out, captured.err)

    return ran


@pytest.fixture
def process(home: Path) -> Command:
    """Runs a command as a person's shell does."""

    def ran(*words: str, **environment: str) -> CommandResult:
        command = [sys.executable, "-m", "panorama", *words]
        done = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, input="", timeout=60
        )
        return CommandResult(done.returncode, done.stdout, done.stderr)

    return ran


@pytest.fixture
def given(home: Path) -> Callable[..., Any]:
    """Puts something into the store: `given("create_task", title="Tea")` returns it."""

    def put(operation: str, **arguments: Any) -> Any:
        with Client() as panorama:
            return panorama.call(operation, arguments).data

    return put
