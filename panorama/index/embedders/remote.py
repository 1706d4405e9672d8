"""Models that another program serves over HTTP: Ollama, and what speaks OpenAI's API."""

# pyright: reportUnknownMemberType=false
# (numpy's stubs name types that come with Python 3.12)
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from panorama.errors import UnavailableError
from panorama.index.embedders.dialects import Dialect, refused
from panorama.index.embedders.line import Answer, Limits, Line

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_MAX_TOKENS = 512
_CUT = 4 * _MAX_TOKENS
_BATCH = 32
BEGIN = 1 / 12
"""The share of the time for a whole batch that any has, however few its texts are."""

_Post = Callable[[str, Mapping[str, Any]], Answer]
_TRIED = "A text to learn the size by."


@dataclass(frozen=True, slots=True)
class _Facts:
    digest: str
    size: int


class Remote:
    """An embedder behind a service; `size` and `digest` are known once it has answered.

    Texts are cut at 2,048 characters: most of these models read 512 word pieces, and some refuse what is longer. An
    empty text is sent as a full stop, because some refuse that too.
    """

    max_tokens = _MAX_TOKENS
    batch = 64

    def __init__(self, id: str, line: Line, dialect: Dialect, limits: Limits) -> None:
        self.id = id
        self._line, self._dialect, self._limits = line, dialect, limits
        self._facts: _Facts | None = None

    @property
    def size(self) -> int:
        """The number of dimensions."""
        return self._known().size

    @property
    def digest(self) -> str:
        """Ollama's digest of the model; for others that of its name and size, which is all they tell."""
        return self._known().digest

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order; 32 are asked for at a time.

        Raises:
            UnavailableError: The service is not there, refuses, or answers nonsense.
        """
        import numpy as np

        post = partial(self._line.post, seconds=self._limits.documents)
        if self._facts is None:
            self._learn(post, self._limits.documents)
        size = self._known().size
        few = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        parts = [self._asked(some, partial(self._line.post, seconds=self._seconds(len(some)))) for some in few]
        return np.concatenate([np.empty((0, size), np.float32), *parts])

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of what is searched for.

        Raises:
            UnavailableError: As of `embed_documents`, but within a few seconds.
        """
        post = partial(self._line.post, seconds=self._limits.query, repeats=self._limits.repeats_queries)
        if self._facts is None:
            self._learn(post, self._limits.query)
        return self._asked([text], post)[0]

    def _seconds(self, texts: int) -> float:
        """Return how long some texts may take: few, that were swallowed, must not hold up what comes after them.

        A slow machine takes 4 s for a passage. One that has to load the model is given more by `load`.
        """
        return self._limits.documents * min(1.0, BEGIN + texts / _BATCH)

    def load(self) -> None:
        """Ask for one vector, to learn its size and that the service answers; it may take long to begin.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        self._learn(partial(self._line.knock, seconds=self._limits.documents), self._limits.documents)

    def close(self) -> None:
        """Hang up."""
        self._line.close()
        self._facts = None

    def _known(self) -> _Facts:
        if facts := self._facts:
            return facts
        raise UnavailableError(f"The embedder {self.id} has not answered yet.", hint="Try again in a moment.")

    def _learn(self, post: _Post, seconds: float) -> None:
        size = self._vectors([_TRIED], post).shape[1]
        self._facts = _Facts(self._told_digest(seconds, size), size)

    def _told_digest(self, seconds: float, size: int) -> str:
        told = ""
        if self._dialect.describing:
            answer = self._line.get(self._dialect.describing, seconds)
            told = self._dialect.digest(answer.body) if answer.status == 200 else ""
        return told or hashlib.sha256(f"{self.id} {size}".encode()).hexdigest()

    def _asked(self, texts: Sequence[str], post: _Post) -> "NDArray[float32]":
        found = self._vectors(texts, post)
        size = self._known().size
        if found.shape[1] != size:
            raise self._nonsense(f"vectors of {found.shape[1]} numbers, after such of {size}")
        return found

    def _vectors(self, texts: Sequence[str], post: _Post) -> "NDArray[float32]":
        question = self._dialect.question([text[:_CUT] if text.strip() else "." for text in texts])
        answer = post(self._dialect.path, question)
        if answer.status != 200:
            raise refused(self._line.base, self._dialect, answer.status, answer.body)
        rows = self._dialect.vectors(answer.body)
        if rows is None:
            raise self._nonsense("no vectors")
        if len(rows) != len(texts):
            raise self._nonsense(f"{len(rows)} vectors for {len(texts)} texts")
        return self._normalised(rows)

    def _normalised(self, rows: list[Any]) -> "NDArray[float32]":
        import numpy as np

        try:
            found = np.array(rows, np.float64)
        except (ValueError, TypeError, OverflowError) as error:
            raise self._nonsense("vectors of different sizes, or of other things than numbers") from error
        if found.ndim != 2 or not found.shape[1] or any(isinstance(each, str | bool) for row in rows for each in row):
            raise self._nonsense("something else than rows of numbers")
        with np.errstate(over="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", found, found))
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._nonsense("a vector without a direction")
        return (found / lengths[:, None]).astype(np.float32)

    def _nonsense(self, what: str) -> UnavailableError:
        return UnavailableError(
            f"The embedding service at {self._line.base} answers nonsense: {what}.",
            hint=f"See that {self.id.partition(':')[2]} is a model for embedding, or choose another.",
        )
