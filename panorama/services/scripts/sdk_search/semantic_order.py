"""Scores the entries of the SDK reference by meaning, while the model is in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from panorama.ports import Embedder
from panorama.services.search.semantic import SemanticSearch

MIN_COSINES = {"duo": 0.2, "minilm": 0.24, "static": 0.53}
"""The cosine from which an entry fits by meaning alone, by model.

For eighteen queries that are nonsense or about something else, the nearest entry had at most 0.24 (duo: 0.16, static:
0.50). The answers to `tests/sdk/queries.py` have a median of 0.51 (0.46, 0.64), and 95 % of them are above 0.30 (0.28,
0.39). So duo and minilm tell them apart; static, which compares letters, does so only for the nearest.
"""


@dataclass(frozen=True, slots=True)
class _CachedVectors:
    """The vectors of texts, shape (texts, size), by the model of a digest."""

    digest: str
    texts: tuple[str, ...]
    vectors: Any


class SdkSemanticScores:
    """Scores texts by their distance to a query; they are embedded in a thread at the first search."""

    def __init__(self, meaning: SemanticSearch) -> None:
        self._meaning = meaning
        self._known: _CachedVectors | None = None

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return by how much the cosine of each text and a query is above the model's floor.

        Returns nothing while the model or the vectors are not ready.
        """
        scores = self._meaning.use_embedder(partial(self._score_cached, query, tuple(texts)))
        if scores is None:
            self._meaning.use_embedder_in_thread(partial(self._embed_texts, tuple(texts)))
        return scores or ()

    def _score_cached(self, query: str, texts: tuple[str, ...], embedder: Embedder) -> Sequence[float] | None:
        known = self._known
        if known is None or (known.digest, known.texts) != (embedder.digest, texts):
            return None
        floor = MIN_COSINES.get(embedder.id, 0.0)
        near: Callable[[], list[float]] = (known.vectors @ embedder.embed_query(query) - floor).tolist
        return near()

    def _embed_texts(self, texts: tuple[str, ...], embedder: Embedder) -> None:
        self._known = _CachedVectors(embedder.digest, texts, embedder.embed_documents(texts))
