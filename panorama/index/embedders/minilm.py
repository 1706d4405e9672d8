"""all-MiniLM-L6-v2 with 8-bit weights, run by ONNX Runtime."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from panorama.errors import UnavailableError
from panorama.index.embedders.bundled import MINILM, VOCABULARY
from panorama.index.embedders.malloc_trim import trim_memory
from panorama.index.embedders.onnx_session import OnnxSession, create_session
from panorama.index.embedders.wordpiece import WordPieceTokenizer

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_SIZE = 384
_MAX_TOKENS = 256
MAX_WORKERS = 4


class MiniLM:
    """The English embedder: 384 dimensions, 256 word pieces, about 35 MB of memory while loaded.

    Each text is computed separately in one thread without the GIL: padding and masks cost more than batching gains,
    and the 8-bit scale would depend on the batch. `workers` texts run at a time.
    """

    id = "minilm"
    digest = MINILM.digest
    size = _SIZE
    max_tokens = _MAX_TOKENS
    batch = 64

    def __init__(self, *, workers: int | None = None, file: Path | None = None) -> None:
        self._workers = workers or max(1, min(MAX_WORKERS, (os.cpu_count() or 1) // 2))
        self._file = file
        self._lock = Lock()
        self._model: _Model | None = None

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order; a text's vector does not depend on its batch.

        Raises:
            UnavailableError: The model cannot be loaded.
        """
        model = self._ensure_loaded()
        import numpy as np  # takes 100 ms

        vectors = np.empty((len(texts), _SIZE), np.float32)

        def embed(place: int) -> None:
            vectors[place] = model.embed(texts[place])

        # The longest first, so that the workers finish together.
        for_each(embed, sorted(range(len(texts)), key=lambda place: -len(texts[place])), self._workers)
        return vectors

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of a query.

        Raises:
            UnavailableError: The model cannot be loaded.
        """
        return self._ensure_loaded().embed(text)

    def embed_pieces(self, texts: Iterable[Sequence[int]]) -> "NDArray[float32]":
        """Return the vectors of tokenized texts, including [CLS] and [SEP]."""
        model = self._ensure_loaded()
        import numpy as np

        return np.stack([model.compute(ids) for ids in texts])

    def load(self) -> None:
        """Load the model (0.2 to 0.4 s the first time in a process, 0.1 s later)."""
        self._ensure_loaded()

    def close(self) -> None:
        """Release the model's memory."""
        with self._lock:
            was, self._model = self._model, None
        if was:
            del was
            trim_memory()

    def _ensure_loaded(self) -> "_Model":
        with self._lock:
            if self._model is None:
                self._model = _load_model(self._file or MINILM.verify())
            return self._model


@dataclass(frozen=True, slots=True)
class _Model:
    session: OnnxSession
    words: WordPieceTokenizer

    def embed(self, text: str) -> "NDArray[float32]":
        return self.compute(self.words.encode(text, _MAX_TOKENS))

    def compute(self, ids: Sequence[int]) -> "NDArray[float32]":
        import numpy as np

        return self.session.run(None, {"ids": np.array([ids], np.int32)})[0][0]


def _load_model(file: Path) -> _Model:
    try:
        # The extended level would put SkipLayerNormalization back: see multilingual/bert_graph.py.
        session = create_session(file, level="basic", hint="Install Panorama again, or choose the embedder static.")
        return _Model(session, WordPieceTokenizer.read(VOCABULARY.verify()))
    except ImportError as error:
        raise UnavailableError(
            f"The embedder minilm needs onnxruntime and numpy, which cannot be imported here: {error}.",
            hint="Install onnxruntime and numpy beside Panorama, or choose the embedder static.",
        ) from error


def for_each(act: Callable[[int], None], places: Iterable[int], workers: int) -> None:
    """Call a function with each place, with `workers` calls at a time."""
    if workers == 1:
        for place in places:
            act(place)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="minilm") as pool:
        for _ in pool.map(act, places):
            pass
