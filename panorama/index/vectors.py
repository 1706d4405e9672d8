"""Checks and normalizes vectors."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from panorama.errors import InvalidInputError
from panorama.index.points import FLOAT_BYTES, Vector

Matrix = NDArray[np.float32]


def normalize_row(vector: Vector, size: int) -> Matrix:
    """Return a vector scaled to length 1.

    Raises:
        InvalidInputError: As of `normalize_rows`.
    """
    _check(vector, size)
    row = np.frombuffer(vector, np.float32)
    length = float(row @ row) ** 0.5
    if math.isfinite(length):
        return row if 0.999999 < length < 1.000001 else row / np.float32(length or 1)
    return normalize_rows([vector], size)[0]


def normalize_rows(vectors: Sequence[Vector], size: int) -> Matrix:
    """Return vectors as rows of a matrix, scaled to length 1; a zero vector is unchanged.

    Raises:
        InvalidInputError: A vector has the wrong size, or contains NaN or infinity.
    """
    for entry in vectors:
        _check(entry, size)
    rows = np.frombuffer(b"".join(vectors), np.float32).reshape(-1, size)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not np.isfinite(lengths).all():
        raise InvalidInputError("A vector contains a value that is not a number.", hint=_MODEL)
    lengths[lengths == 0] = 1
    return (rows / lengths[:, None]).astype(np.float32)


def _check(vector: Vector, size: int) -> None:
    if len(vector) != size * FLOAT_BYTES:
        dimensions = len(vector) / FLOAT_BYTES
        raise InvalidInputError(f"A vector has {dimensions:g} dimensions instead of {size}.", hint=_MODEL)


_MODEL = "Test the model that made it, or choose another one."
