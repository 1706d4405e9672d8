"""Large stores, made once in a run, and the board that is printed at its end."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from .measure import Board, console
from .stores import NOTES, TASKS, store


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the large stores are made; `BENCH_STORES=DIR` keeps them for the next run."""
    kept = os.environ.get("BENCH_STORES")
    return Path(kept) if kept else tmp_path_factory.mktemp("stores")


@pytest.fixture(scope="session")
def many_notes(folder: Path) -> Path:
    """The data directory of a store with 100,000 notes."""
    return store(folder / "notes", notes=NOTES)


@pytest.fixture(scope="session")
def many_tasks(folder: Path) -> Path:
    """The data directory of a store with 100,000 tasks and 5,000 notes in 50 projects."""
    return store(folder / "tasks", notes=5_000, tasks=TASKS)


@pytest.fixture(scope="session")
def board() -> Generator[Board]:
    """The board of this run."""
    board = Board()
    yield board
    console().print(board.table())
