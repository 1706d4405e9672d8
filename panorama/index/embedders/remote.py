"""Embedders served over HTTP: Ollama, and services with OpenAI's API."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from panorama.errors import UnavailableError
from panorama.index.embedders.apis import EmbeddingApi, refusal
from panorama.index.embedders.http import HttpClient, HttpResponse, Limits

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_MAX_TOKENS = 512
_MAX_CHARS = 4 * _MAX_TOKENS
_BATCH = 32
MIN_TIME_SHARE = 1 / 12
"""The minimum share of a full batch's time limit for smaller batches."""

_Post = Callable[[str, Mapping[str, Any]], HttpResponse]
_PROBE_TEXT = "A text for detecting the vector size."


@dataclass(frozen=True, slots=True)
class _ModelFacts:
    digest: str
    size: int


class RemoteEmbedder:
    """An embedder behind a service; `size` and `digest` are known after its first answer.

    Texts are cut at 2,048 characters, because most of these models read 512 word pieces, and some reject longer texts.
    An empty text is sent as a full stop, because some reject it.
    """

    max_tokens = _MAX_TOKENS
    batch = 64

    def __init__(self, id: str, line: HttpClient, dialect: EmbeddingApi, limits: Limits) -> None:
        self.id = id
        self._line, self._dialect, self._limits = line, dialect, limits
        self._facts: _ModelFacts | None = None

    @property
    def size(self) -> int:
        """The number of dimensions."""
        return self._get_facts().size

    @property
    def digest(self) -> str:
        """Ollama's digest of the model; for others a digest of name and size."""
        return self._get_facts().digest

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order; 32 per request.

        Raises:
            UnavailableError: The service is unreachable, returns an error, or gives an invalid answer.
        """
        import numpy as np

        post = partial(self._line.post, seconds=self._limits.documents)
        if self._facts is None:
            self._detect_facts(post, self._limits.documents)
        size = self._get_facts().size
        few = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        parts = [
            self._embed(batch, partial(self._line.post, seconds=self._timeout_seconds(len(batch)))) for batch in few
        ]
        return np.concatenate([np.empty((0, size), np.float32), *parts])

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of what is searched for.

        Raises:
            UnavailableError: As of `embed_documents`, but within a few seconds.
        """
        post = partial(self._line.post, seconds=self._limits.query, repeats=self._limits.repeats_queries)
        if self._facts is None:
            self._detect_facts(post, self._limits.query)
        return self._embed([text], post)[0]

    def _timeout_seconds(self, texts: int) -> float:
        """Return the time limit for some texts; small batches get less, so that lost ones do not block later requests.

        A slow machine takes 4 s for a passage. `load` allows more time for loading the model.
        """
        return self._limits.documents * min(1.0, MIN_TIME_SHARE + texts / _BATCH)

    def load(self) -> None:
        """Request one vector to detect its size; the service may take long to start.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        self._detect_facts(partial(self._line.post_hedged, seconds=self._limits.documents), self._limits.documents)

    def close(self) -> None:
        """Disconnect."""
        self._line.close()
        self._facts = None

    def _get_facts(self) -> _ModelFacts:
        if facts := self._facts:
            return facts
        raise UnavailableError(f"The embedder {self.id} has not answered yet.", hint="Try again in a moment.")

    def _detect_facts(self, post: _Post, seconds: float) -> None:
        size = self._fetch_vectors([_PROBE_TEXT], post).shape[1]
        self._facts = _ModelFacts(self._fetch_digest(seconds, size), size)

    def _fetch_digest(self, seconds: float, size: int) -> str:
        digest = ""
        if self._dialect.describing:
            answer = self._line.get(self._dialect.describing, seconds)
            digest = self._dialect.parse_digest(answer.body) if answer.status == 200 else ""
        return digest or hashlib.sha256(f"{self.id} {size}".encode()).hexdigest()

    def _embed(self, texts: Sequence[str], post: _Post) -> "NDArray[float32]":
        vectors = self._fetch_vectors(texts, post)
        size = self._get_facts().size
        if vectors.shape[1] != size:
            raise self._invalid_response(f"vectors of {vectors.shape[1]} numbers, after vectors of {size}")
        return vectors

    def _fetch_vectors(self, texts: Sequence[str], post: _Post) -> "NDArray[float32]":
        question = self._dialect.build_request([text[:_MAX_CHARS] if text.strip() else "." for text in texts])
        answer = post(self._dialect.path, question)
        if answer.status != 200:
            raise refusal(self._line.base, self._dialect, answer.status, answer.body)
        rows = self._dialect.parse_vectors(answer.body)
        if rows is None:
            raise self._invalid_response("no vectors")
        if len(rows) != len(texts):
            raise self._invalid_response(f"{len(rows)} vectors for {len(texts)} texts")
        return self._normalize(rows)

    def _normalize(self, rows: list[Any]) -> "NDArray[float32]":
        import numpy as np

        try:
            matrix = np.array(rows, np.float64)
        except (ValueError, TypeError, OverflowError) as error:
            raise self._invalid_response("vectors of different sizes, or of values that are not numbers") from error
        if (
            matrix.ndim != 2
            or not matrix.shape[1]
            or any(isinstance(entry, str | bool) for row in rows for entry in row)
        ):
            raise self._invalid_response("something other than rows of numbers")
        with np.errstate(over="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._invalid_response("a vector of length zero")
        return (matrix / lengths[:, None]).astype(np.float32)

    def _invalid_response(self, subject: str) -> UnavailableError:
        return UnavailableError(
            f"The embedding service at {self._line.base} gave an invalid answer: {subject}.",
            hint=f"Check that {self.id.partition(':')[2]} is an embedding model, or choose another.",
        )
