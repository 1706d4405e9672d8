"""The SDK's reference by meaning: asked while the model is in memory, and never waited for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from panorama.ports import Embedder
from panorama.services.meaning import Meaning


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
        """Return the cosine of each text and a query; nothing as long as that cannot be told at once."""
        told = self._meaning.lent(partial(self._asked, query, tuple(texts)))
        if told is None:
            self._meaning.lent_aside(partial(self._learn, tuple(texts)))
        return told or ()

    def _asked(self, query: str, texts: tuple[str, ...], embedder: Embedder) -> Sequence[float] | None:
        known = self._known
        if known is None or (known.digest, known.texts) != (embedder.digest, texts):
            return None
        near: Callable[[], list[float]] = (known.vectors @ embedder.embed_query(query)).tolist
        return near()

    def _learn(self, texts: tuple[str, ...], embedder: Embedder) -> None:
        self._known = _Known(embedder.digest, texts, embedder.embed_documents(texts))
