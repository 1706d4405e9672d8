"""The SDK's reference by meaning: asked while the model is in memory, and never waited for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from panorama.ports import Embedder
from panorama.services.meaning import Meaning

FLOORS = {"minilm": 0.2, "static": 0.53}
"""The cosine from which meaning alone tells that something fits, by model.

For eighteen questions that are nonsense or about something else, the nearest in the SDK came to 0.195 at most (static:
0.50). What answers those of `tests/sdk/queries.py` is at 0.51 in the middle (0.64), and in nineteen of twenty above
0.30 (0.39). So minilm tells them apart; static, to which letters are words, does so only where it is sure.
"""


@dataclass(frozen=True, slots=True)
class _Known:
    """The vectors of texts, shape (texts, size), by the model of a digest."""

    digest: str
    texts: tuple[str, ...]
    vectors: Any


class SdkMeaning:
    """Tells how near texts are to a query; the texts are embedded once, in another thread, at the first question."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._known: _Known | None = None

    def nearest(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return by how much the cosine of each text and a query is above the model's floor.

        Nothing as long as that cannot be told at once.
        """
        told = self._meaning.lent(partial(self._asked, query, tuple(texts)))
        if told is None:
            self._meaning.lent_aside(partial(self._learn, tuple(texts)))
        return told or ()

    def _asked(self, query: str, texts: tuple[str, ...], embedder: Embedder) -> Sequence[float] | None:
        known = self._known
        if known is None or (known.digest, known.texts) != (embedder.digest, texts):
            return None
        floor = FLOORS.get(embedder.id, 0.0)
        near: Callable[[], list[float]] = (known.vectors @ embedder.embed_query(query) - floor).tolist
        return near()

    def _learn(self, texts: tuple[str, ...], embedder: Embedder) -> None:
        self._known = _Known(embedder.digest, texts, embedder.embed_documents(texts))
