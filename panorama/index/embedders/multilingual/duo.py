"""The default embedder: vectors of MiniLM and of the multilingual sentence encoder, joined.

    m       = unit(MiniLM - mean) for English, else unit(R . u), which predicts it
    u       = unit(unit(USE(text) - mean) + 0.5 unit(USE(title) - mean)) of a passage, unit(USE - mean) of a query
    passage = unit(P . unit(m | sqrt(1.2) u))
    query   = unit(P . (unit(m | sqrt(1.2) u) - 0.7 middle))

MiniLM knows English only, and USE other languages too. The means are directions that all vectors share; `middle` is the
mean of joined queries, without which texts that are near to everything come first. P keeps 512 of 896 dimensions.
`tests/training/joining.py` computes the constants.
"""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from panorama.errors import UnavailableError
from panorama.index.embedders.bundled import (
    DUO_FILES,
    DUO_JOIN,
    USE_PIECES,
    USE_TABLE,
    USE_WEIGHTS,
    BundledFile,
)
from panorama.index.embedders.malloc_trim import trim_memory
from panorama.index.embedders.minilm import MAX_WORKERS, MiniLM, for_each
from panorama.index.embedders.multilingual.language import EnglishDetector
from panorama.index.embedders.multilingual.sentence_encoder import EmbeddingTable, SentenceEncoder
from panorama.index.embedders.multilingual.unigram import UnigramTokenizer

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vector = NDArray[float32]

Side = Literal["query", "passage"]
"""The role of a text; models are trained to distinguish queries from passages."""

SIZE = 512
USE_WEIGHT = 1.2
"""The weight of the multilingual vector against MiniLM's."""

TITLE_WEIGHT = 0.5
"""The weight of the title against the whole passage: USE sums words, so a long passage hides its subject."""

MIDDLE_SHARE = 0.7
"""How much of the mean of all queries is subtracted from each."""

_MAX_TITLE_CHARS = 200
_MAX_CACHED_TITLES = 256


class Duo:
    """The default embedder: 512 dimensions, 256 of MiniLM's word pieces, about 85 MB of memory while loaded."""

    id = "duo"
    digest = hashlib.sha256("".join(file.digest for file in DUO_FILES).encode()).hexdigest()
    size = SIZE
    max_tokens = MiniLM.max_tokens
    batch = MiniLM.batch

    def __init__(self, *, workers: int | None = None) -> None:
        self._workers = workers or max(1, min(MAX_WORKERS, (os.cpu_count() or 1) // 2))
        self._minilm = MiniLM(workers=self._workers)
        self._lock = Lock()
        self._model: JoinedModel | None = None

    def embed_documents(self, texts: Sequence[str]) -> "Vector":
        """Return one vector per text, in the same order; a text's vector does not depend on its batch.

        The first line of a text of several lines counts as its title.

        Raises:
            UnavailableError: A model cannot be loaded, or its file was changed.
        """
        model = self._ensure_loaded()
        import numpy as np  # takes 100 ms

        english = [place for place, text in enumerate(texts) if model.english.is_english(text)]
        known = dict(zip(english, self._minilm.embed_documents([texts[place] for place in english]), strict=True))
        vectors = np.empty((len(texts), SIZE), np.float32)

        def embed(place: int) -> None:
            vectors[place] = model.embed_passage(texts[place], known.get(place))

        for_each(embed, sorted(range(len(texts)), key=lambda place: -len(texts[place])), self._workers)
        return vectors

    def embed_query(self, text: str) -> "Vector":
        """Return the vector of a query.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        model = self._ensure_loaded()
        return model.embed_query(text, self._minilm.embed_query(text) if model.english.is_english(text) else None)

    def load(self) -> None:
        """Load both models (0.4 to 0.7 s the first time in a process, 0.3 s later)."""
        self._minilm.load()
        self._ensure_loaded()

    def close(self) -> None:
        """Release the memory of both models."""
        with self._lock:
            was, self._model = self._model, None
        self._minilm.close()
        if was:
            was.close()
            del was
            trim_memory()

    def _ensure_loaded(self) -> "JoinedModel":
        with self._lock:
            if self._model is None:
                self._model = self._load_model()
            return self._model

    def _load_model(self) -> "JoinedModel":
        return load_joined_model(self.id, JoinedModel, {})


class JoinedModel:
    """The sentence encoder, and the constants that join its vectors with those of MiniLM."""

    def __init__(self, encoder: SentenceEncoder, constants: "Mapping[str, Vector]") -> None:
        self._encoder, self._constants = encoder, constants
        self.english = EnglishDetector(constants["english"], float(constants["english_bias"]))
        self._titles: dict[str, Vector] = {}

    def embed_passage(self, text: str, minilm: "Vector | None") -> "Vector":
        """Return the vector of a passage from MiniLM's, None if the text is not English."""
        vector = self._encode(text, "use_passage")
        title, separator, _ = text.partition("\n")
        if separator and len(title) <= _MAX_TITLE_CHARS:
            vector = normalize(vector + TITLE_WEIGHT * self._encode_title(title))
        return normalize(self._join(text, vector, minilm, "passage") @ self._constants["smaller"])

    def embed_query(self, text: str, minilm: "Vector | None") -> "Vector":
        """Return the vector of a query from MiniLM's, None if the text is not English."""
        joined = self._join(text, self._encode(text, "use_query"), minilm, "query")
        return normalize((joined - MIDDLE_SHARE * self._constants["middle"]) @ self._constants["smaller"])

    def close(self) -> None:
        """Close the encoder's file."""
        self._encoder.close()

    def _encode(self, text: str, mean: str) -> "Vector":
        return normalize(self._encoder.embed(text) - self._constants[mean])

    def _encode_title(self, title: str) -> "Vector":
        vector = self._titles.get(title)
        if vector is None:
            if len(self._titles) >= _MAX_CACHED_TITLES:
                self._titles.clear()
            vector = self._titles[title] = self._encode(title, "use_passage")
        return vector

    def _join(self, _text: str, vector: "Vector", minilm: "Vector | None", _side: Side) -> "Vector":
        """Return the joined vector of a text from both models' vectors."""
        import numpy as np

        constants = self._constants
        english = vector @ constants["to_minilm"] if minilm is None else minilm - constants["minilm"]
        return normalize(np.concatenate([normalize(english), USE_WEIGHT**0.5 * vector]))


def normalize(vector: Any) -> Any:
    """Return vectors scaled to length 1."""
    import numpy as np

    return vector / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-9)


Joined = TypeVar("Joined")


def load_joined_model(
    id_: str, create: "Callable[[SentenceEncoder, Mapping[str, Vector]], Joined]", more: "Mapping[str, Vector]"
) -> Joined:
    """Load the sentence encoder and the constants.

    Args:
        more: Constants that are added or replace others.

    Raises:
        UnavailableError: A file differs from the included one, or numpy is missing.
    """
    try:
        import numpy as np
    except ImportError as error:
        raise UnavailableError(
            f"The embedder {id_} needs numpy, which cannot be imported here: {error}.",
            hint="Install numpy beside Panorama.",
        ) from error
    constants = load_constants(DUO_JOIN)
    with np.load(USE_WEIGHTS.verify(), allow_pickle=False) as archive:
        weights = {name: archive[name] for name in archive.files}
    tokenizer = UnigramTokenizer.read(USE_PIECES.verify())
    return create(SentenceEncoder(tokenizer, EmbeddingTable(USE_TABLE.verify()), weights), {**constants, **more})


def load_constants(file: BundledFile) -> "dict[str, Vector]":
    """Return the constants in a file by name.

    Raises:
        UnavailableError: The file differs from the included one.
    """
    import numpy as np

    with np.load(file.verify(), allow_pickle=False) as archive:
        return {name: archive[name].astype(np.float32) for name in archive.files}
