"""A space for each test, and the commands of a person with a database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from panorama.cli.main import main
from panorama.store.postgres.engine import PostgresDatabase
from tests.postgres.spaces import create_space

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def space(postgres_url: str) -> Iterator[PostgresDatabase]:
    """A space with our tables."""
    with create_space(postgres_url, "tables") as created:
        yield created


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command with a database's address and a space, "" for none; returns its code and all it printed."""
    for name, value in (("HOME", str(tmp_path / "home")), ("NO_DAEMON", "1"), ("EMBEDDER", "none")):
        monkeypatch.setenv(f"PANORAMA_{name}", value)

    def run(url: str, space: str, *words: str) -> tuple[int, str]:
        for name, value in (("PANORAMA_DATABASE_URL", url), ("PANORAMA_SPACE", space)):
            monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        capsys.readouterr()
        code = main(words)
        seen = capsys.readouterr()
        return code, seen.out + seen.err

    return run
