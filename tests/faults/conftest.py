"""Real stores in a temporary folder, and a small disk."""

from collections.abc import Generator
from pathlib import Path

import pytest

from panorama.services.search import follower

from .disks import mounted
from .house import OpenStore


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory that is not there yet."""
    return tmp_path / "home"


@pytest.fixture
def house(home: Path) -> Generator[OpenStore]:
    """An open store with a project and a note, that waits 0.2 s for a lock."""
    with OpenStore.opened(home) as house:
        house.do("create_project", name="Garden")
        house.do("create_note", title="Tea", content="green and black")
        house.settle()
        yield house


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A disk of its own with room for 4 MB."""
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=4m", "tmpfs") as disk:
        yield disk


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look and try again sooner than a person's daemon does, and hear of every failure at the first try."""
    monkeypatch.setattr(follower, "START_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(follower, "POLL_SECONDS", 0.2)
    monkeypatch.setattr(follower, "MAX_RETRY_SECONDS", 0.5)
