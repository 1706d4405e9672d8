"""`trio`: the two models of `duo` and multilingual-e5-small, joined; `panorama models add trio` adds its files.

    m       = unit(MiniLM - mean) for English, else unit(R . (u | e)), which predicts it
    u       = as in `duo`
    e       = unit(C . (E5(text) - mean of its language)), see `e5.py`
    passage = unit(P . unit(sqrt(2) m | e | u))
    query   = unit(P . (unit(sqrt(2) m | e | u) - 0.7 middle))

P keeps 512 of 1,280 dimensions. `tests/training/joining_trio.py` computes the constants.
"""

import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from panorama.errors import UnavailableError
from panorama.index.embedders.bundled import DUO_FILES, TRIO_JOIN
from panorama.index.embedders.multilingual.duo import (
    Duo,
    JoinedModel,
    Side,
    load_constants,
    load_joined_model,
    normalize,
)
from panorama.index.embedders.multilingual.e5 import E5Encoder, centre
from panorama.index.embedders.multilingual.sentence_encoder import SentenceEncoder
from panorama.index.embedders.multilingual.trio_files import E5_DIGEST, HINT, verify_files

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vector = NDArray[float32]

WEIGHTS = 2.0, 1.0, 1.0
"""The weights of MiniLM, E5 and USE."""


class Trio(Duo):
    """The model for more languages: 512 dimensions, about 300 MB of memory while loaded.

    Args:
        folder: The folder of its added files.
    """

    id = "trio"
    digest = hashlib.sha256(
        "".join([*(file.digest for file in (*DUO_FILES, TRIO_JOIN)), E5_DIGEST]).encode()
    ).hexdigest()

    def __init__(self, folder: Path, *, workers: int | None = None) -> None:
        super().__init__(workers=workers)
        self._folder = folder

    def _load_model(self) -> "TrioModel":
        try:
            encoder = E5Encoder(*verify_files(self._folder), hint=HINT)
            verify_files(self._folder)  # they may have been replaced meanwhile
        except ImportError as error:
            raise UnavailableError(
                f"The embedder trio needs onnxruntime, which cannot be imported here: {error}.",
                hint="Run `pip install onnxruntime` beside Panorama, or choose the embedder static.",
            ) from error
        return load_joined_model(self.id, partial(TrioModel, encoder), load_constants(TRIO_JOIN))


class TrioModel(JoinedModel):
    """The three encoders' vectors, joined."""

    def __init__(self, e5: E5Encoder, encoder: SentenceEncoder, constants: "Mapping[str, Vector]") -> None:
        super().__init__(encoder, constants)
        self._e5 = e5

    def _join(self, text: str, vector: "Vector", minilm: "Vector | None", side: Side) -> "Vector":
        import numpy as np

        constants = self._constants
        e5 = normalize(centre(self._e5.embed(text, side), constants, side))
        if minilm is None:
            english = np.concatenate([vector, e5]) @ constants["to_minilm"]
        else:
            english = minilm - constants["minilm"]
        parts = zip((normalize(english), e5, vector), WEIGHTS, strict=True)
        return normalize(np.concatenate([part * weight**0.5 for part, weight in parts]))
