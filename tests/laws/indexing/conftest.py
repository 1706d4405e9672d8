"""A world with an empty store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from panorama.app import open_app
from panorama.config import read_settings

from .world import World


@pytest.fixture
def world(home: Path) -> Iterator[World]:
    """An empty store with an index."""
    with open_app(read_settings(home=home)) as app:
        yield World(app)
