"""An embedded index whose process or folder a test breaks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from panorama.index.edge_index import EdgeIndex

from .processes import POINTS, opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the index is."""
    return tmp_path / "data" / "index"


@pytest.fixture
def index(folder: Path) -> Iterator[EdgeIndex]:
    """An index without a copy in our memory, with 40 points on the disk."""
    with opened(folder) as index:
        index.upsert(POINTS)
        index.flush()
        yield index
