"""The Universal Sentence Encoder, multilingual, version 3, in numpy.

Cer et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval" (2019), the small model: word pieces,
three convolutions over 2, 3 and 5 pieces, their sum divided by the root of the length, and a feed-forward network.
Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish, Portuguese, Russian, Spanish, Thai
and Turkish.
"""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from panorama.errors import UnavailableError
from panorama.index.embedders.multilingual.unigram import UnigramTokenizer

if TYPE_CHECKING:
    from numpy import float32, uint8
    from numpy.typing import NDArray

SIZE = 512
MAX_TOKENS = 512
_CONVOLUTIONS = ((2, 0), (3, 1), (5, 2))
"""The width of each convolution in pieces, and how many of them are before the current one."""

SCALES = 17
"""The table has a scale and an offset for each of these residues of a piece's number."""

_MAX_CACHED_ROWS = 20_000


class EmbeddingTable:
    """The rows of a table of word pieces, read from a file as needed; thread-safe.

    The file has `SIZE` bytes per piece, 66 MB in all, of which a store needs a few. It is not mapped into memory: a
    mapped file that somebody truncates ends the process.
    """

    def __init__(self, file: Path) -> None:
        self._file = file.open("rb", buffering=0)
        self._state = self._stat()
        self._lock = Lock()
        self._rows: dict[int, bytes] = {}

    def read(self, ids: Sequence[int]) -> "NDArray[uint8]":
        """Return the rows of pieces, shape (len(ids), SIZE).

        Raises:
            UnavailableError: The file was changed since it was opened.
        """
        import numpy as np

        cached = self._rows  # another thread may replace it
        missing = [number for number in dict.fromkeys(ids) if number not in cached]
        rows: Mapping[int, bytes] = self._read_rows(missing) if missing else {}
        joined = b"".join(rows.get(number) or cached[number] for number in ids)
        return np.frombuffer(joined, np.uint8).reshape(-1, SIZE)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read_rows(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        rows: dict[int, bytes] = {}
        with self._lock:
            for number in ids:
                self._file.seek(number * SIZE)
                rows[number] = self._file.read(SIZE)
            if self._stat() != self._state or any(len(row) != SIZE for row in rows.values()):
                raise UnavailableError(
                    f"The model's file {self._file.name} was changed while in use.", hint="Install Panorama again."
                )
            if len(self._rows) + len(rows) > _MAX_CACHED_ROWS:
                self._rows = {}
            self._rows |= rows
        return rows

    def _stat(self) -> tuple[int, int]:
        stat = os.fstat(self._file.fileno())
        return stat.st_size, stat.st_mtime_ns


class SentenceEncoder:
    """Converts texts in sixteen languages to vectors of 512 numbers and of length 1.

    A passage of 900 characters takes 13 ms, a query 1.5 ms.
    """

    def __init__(self, tokenizer: UnigramTokenizer, table: EmbeddingTable, weights: "Mapping[str, Any]") -> None:
        self._tokenizer, self._table, self._weights = tokenizer, table, weights
        self._epsilon = float(weights["eps"])

    def embed(self, text: str) -> "NDArray[float32]":
        """Return the vector of a text.

        Raises:
            UnavailableError: The table's file was changed since it was opened.
        """
        import numpy as np

        weights, ids = self._weights, self._tokenizer.encode(text, MAX_TOKENS)
        scale = np.array(ids) % SCALES
        pieces = self._table.read(ids) * weights["scale"][scale, None] + weights["lo"][scale, None]
        layers = [pieces, *(self._convolve(pieces, width, before) for width, before in _CONVOLUTIONS)]
        total = self._normalize(np.concatenate(layers, 1), "").sum(0)
        # math's root: one of numpy's makes all that follows, and the weights, 64 bits wide, which takes another 1 ms
        pooled = (total @ weights["cnn_W"] + len(ids) * weights["cnn_b"]) / math.sqrt(len(ids))
        hidden = np.maximum(pooled @ weights["p1"] + np.maximum(pooled @ weights["d0"], 0) @ weights["d1"], 0)
        vector = np.tanh(hidden @ weights["p3"] + np.maximum(hidden @ weights["d2"], 0) @ weights["d3"])
        return (vector / np.sqrt(vector @ vector)).astype(np.float32)

    def close(self) -> None:
        """Close the table's file."""
        self._table.close()

    def _convolve(self, pieces: Any, width: int, before: int) -> Any:
        import numpy as np

        weights = self._weights
        layer = self._normalize(pieces @ weights[f"proj{width}"] + weights[f"proj_b{width}"], str(width))
        for step in (1, 2):
            window = _join_neighbours(layer, width, before)
            layer = layer + np.maximum(window @ weights[f"w{step}_{width}"] + weights[f"b{step}_{width}"], 0)
        return layer

    def _normalize(self, layer: Any, name: str) -> Any:
        """Normalise each row to mean 0 and variance 1, then scale and shift it (layer normalisation)."""
        import numpy as np

        gain, shift = self._weights[f"ln_g{name}"], self._weights[f"ln_b{name}"]
        centred = layer - layer.mean(1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(1, keepdims=True) + self._epsilon) * gain + shift


def _join_neighbours(layer: Any, width: int, before: int) -> Any:
    """Return each row joined with its neighbours; beyond both ends are zeros."""
    import numpy as np

    count, size = layer.shape
    padded = np.zeros((count + width - 1, size), layer.dtype)
    padded[before : before + count] = layer
    return np.concatenate([padded[step : step + count] for step in range(width)], 1)
