"""multilingual-e5-small, run by ONNX Runtime, and what makes its vectors comparable across languages.

    e = unit(C . (E5(text) - mean of its language))

E5 prefers its own language: an English query is nearer to English notes whatever they are about. So the mean of its
language is taken from each vector, which tells the language itself (linear discriminants). C shrinks the directions in
which translations differ.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from panorama.index.embedders.multilingual.duo import Side
from panorama.index.embedders.multilingual.unigram import UnigramTokenizer
from panorama.index.embedders.onnx_session import create_session

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vector = NDArray[float32]

SIZE = 384
MAX_TOKENS = 256
SPECIALS = 3, 0, 2
"""The ids of an unknown character and of both ends of a text."""


class E5Encoder:
    """Converts texts in a hundred languages to vectors of 384 numbers and of length 1.

    A passage of 900 characters takes 50 ms, a query 5 ms.
    """

    def __init__(self, model: Path, pieces: Path, *, hint: str) -> None:
        self._tokenizer = UnigramTokenizer.read(pieces, SPECIALS)
        self._session = create_session(model, level="basic", hint=hint)

    def embed(self, text: str, side: Side) -> "Vector":
        """Return the vector of a query or a passage, which the model was trained to tell apart."""
        import numpy as np

        ids = self._tokenizer.encode(f"{side}: {text}", MAX_TOKENS)
        return self._session.run(None, {"ids": np.array([ids], np.int32)})[0][0]


def centre(vector: "Vector", constants: "Mapping[str, Vector]", side: Side) -> "Vector":
    """Return a vector without the mean of its language, not normalised."""
    scores = vector @ constants[f"e5_{side}_discriminants"].T + constants[f"e5_{side}_offsets"]
    return (vector - constants[f"e5_{side}_means"][scores.argmax()]) @ constants["e5_shrink"]
