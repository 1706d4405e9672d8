"""The static embedder: the sum of one vector per word piece."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from panorama.errors import UnavailableError
from panorama.index.embedders.bundled import STATIC, VOCABULARY
from panorama.index.embedders.malloc_trim import trim_memory
from panorama.index.embedders.wordpiece import WordPieceTokenizer

if TYPE_CHECKING:
    from numpy import float32, int8
    from numpy.typing import NDArray

_SIZE = 256
_MAX_TOKENS = 512
_ENDS = slice(1, -1)


class StaticEmbedder:
    """The small embedder: 256 dimensions, 512 word pieces, about 10 MB; fast, needs only numpy, lower quality.

    Each row is a word piece's contribution to the vectors of all-MiniLM-L6-v2: see making/distilling.py.
    """

    id = "static"
    digest = STATIC.digest
    size = _SIZE
    max_tokens = _MAX_TOKENS
    batch = 64

    def __init__(self, *, file: Path | None = None) -> None:
        self._file = file
        self._lock = Lock()
        self._table: _PieceTable | None = None

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order; a text's vector does not depend on its batch.

        Raises:
            UnavailableError: The table cannot be loaded.
        """
        table = self._ensure_loaded()
        import numpy as np  # takes 100 ms

        vectors = np.empty((len(texts), _SIZE), np.float32)
        for place, text in enumerate(texts):
            vectors[place] = table.embed(text)
        return vectors

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of a query.

        Raises:
            UnavailableError: The table cannot be loaded.
        """
        return self._ensure_loaded().embed(text)

    def load(self) -> None:
        """Load the table (20 ms)."""
        self._ensure_loaded()

    def close(self) -> None:
        """Release the table's memory."""
        with self._lock:
            was, self._table = self._table, None
        if was:
            del was
            trim_memory()

    def _ensure_loaded(self) -> "_PieceTable":
        with self._lock:
            if self._table is None:
                self._table = _load_table(self._file or STATIC.verify())
            return self._table


@dataclass(frozen=True, slots=True)
class _PieceTable:
    rows: "NDArray[int8]"
    scales: "NDArray[float32]"
    words: WordPieceTokenizer
    unknown: int

    def embed(self, text: str) -> "NDArray[float32]":
        import numpy as np

        ids = self.words.encode(text, _MAX_TOKENS)[_ENDS] or [self.unknown]
        total = self.scales[ids] @ self.rows[ids].astype(np.float32)
        return (total / np.sqrt(total @ total)).astype(np.float32)


def _load_table(file: Path) -> _PieceTable:
    try:
        import numpy as np
    except ImportError as error:
        raise UnavailableError(
            f"The embedder static needs numpy, which cannot be imported here: {error}.",
            hint="Install numpy beside Panorama.",
        ) from error
    with np.load(file, allow_pickle=False) as archive:
        rows, scales = archive["rows"], archive["scales"]
    words = WordPieceTokenizer.read(VOCABULARY.verify())
    return _PieceTable(rows, scales.astype(np.float32), words, words.unknown)
