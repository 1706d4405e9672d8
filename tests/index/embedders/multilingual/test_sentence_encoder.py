"""The table of word pieces is read from its file as needed, and a changed file is noticed."""

from pathlib import Path

import numpy as np
import pytest

from panorama.errors import UnavailableError
from panorama.index.embedders.multilingual.sentence_encoder import SIZE, EmbeddingTable

ROWS = np.random.default_rng(1).integers(0, 64, (100, SIZE), np.uint8)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a table with a hundred rows."""
    created = tmp_path / "table.bin"
    created.write_bytes(ROWS.tobytes())
    return created


def test_rows_come_in_the_order_of_the_pieces(file: Path) -> None:
    table = EmbeddingTable(file)

    assert np.array_equal(table.read([7, 99, 7, 0]), ROWS[[7, 99, 7, 0]])
    assert np.array_equal(table.read([0, 7, 12]), ROWS[[0, 7, 12]])
    table.close()


def test_a_file_that_was_truncated_while_in_use_is_refused(file: Path) -> None:
    table = EmbeddingTable(file)
    file.write_bytes(ROWS[:50].tobytes())

    with pytest.raises(UnavailableError, match="was changed while in use"):
        table.read([7])
    table.close()


def test_a_file_that_was_replaced_while_in_use_is_still_read(file: Path, tmp_path: Path) -> None:
    table, other = EmbeddingTable(file), tmp_path / "other.bin"
    other.write_bytes(ROWS[::-1].tobytes())
    other.replace(file)

    assert np.array_equal(table.read([7]), ROWS[[7]])
    table.close()
