"""An embedder of a model that the user added, run by ONNX Runtime."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.embedders.added.manifest import MODEL, TOKENIZER, AddedModel
from panorama.index.embedders.added.model_folder import Pooling
from panorama.index.embedders.added.tokenizer_file import Tokenizer, read_tokenizer
from panorama.index.embedders.malloc_trim import trim_memory
from panorama.index.embedders.minilm import MAX_WORKERS, for_each
from panorama.index.embedders.onnx_session import OnnxSession, create_session

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_TYPES = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_TOKEN_OUTPUTS = ("token_embeddings", "last_hidden_state")


class FolderEmbedder:
    """An added model; each text is computed separately in one thread, `workers` of them at a time."""

    batch = 32

    def __init__(self, model: AddedModel, folder: Path, *, workers: int | None = None) -> None:
        self._added, self._folder = model, folder
        self._workers = workers or max(1, min(MAX_WORKERS, (os.cpu_count() or 1) // 2))
        self._lock = Lock()
        self._loaded: LoadedModel | None = None
        self.id, self.digest, self.size, self.max_tokens = model.id, model.digest, model.size, model.max_tokens

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order; a text's vector does not depend on its batch.

        Raises:
            UnavailableError: The model cannot be loaded, or gives an invalid vector.
        """
        loaded, prompt = self._ensure_loaded(), self._added.passage_prompt
        import numpy as np  # takes 100 ms

        vectors = np.empty((len(texts), self.size), np.float32)

        def embed(place: int) -> None:
            vectors[place] = self._embed(loaded, prompt + texts[place])

        for_each(embed, sorted(range(len(texts)), key=lambda place: -len(texts[place])), self._workers)
        return vectors

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of a query.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        return self._embed(self._ensure_loaded(), self._added.query_prompt + text)

    def load(self) -> None:
        """Verify the model's files and load them."""
        self._ensure_loaded()

    def close(self) -> None:
        """Release the model's memory."""
        with self._lock:
            was, self._loaded = self._loaded, None
        if was:
            del was
            trim_memory()

    def _embed(self, loaded: "LoadedModel", text: str) -> "NDArray[float32]":
        vector = loaded.embed(text, self.max_tokens)
        if vector.shape != (self.size,):
            raise UnavailableError(
                f"The model {self.id} gave {vector.size} numbers instead of {self.size}.", hint=self._added.hint
            )
        return vector

    def _ensure_loaded(self) -> "LoadedModel":
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> "LoadedModel":
        added, folder = self._added, self._folder
        try:
            model, tokenizer = (added.verify(folder, name) for name in (MODEL, TOKENIZER))
            loaded = load_model(model, tokenizer, added.pooling, added.id, added.hint)
            for name in (MODEL, TOKENIZER):  # they may have been replaced between both
                added.verify(folder, name)
        except InvalidInputError as error:
            raise UnavailableError(error.message, hint=error.hint) from error
        return loaded


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A session and its tokenizer; `types` are the names and types of the inputs."""

    id: str
    session: OnnxSession
    tokenizer: Tokenizer
    pooling: Pooling
    types: dict[str, str]
    output: str

    def embed(self, text: str, limit: int) -> "NDArray[float32]":
        """Return the vector of a text, of length 1.

        Raises:
            UnavailableError: The model fails, or gives a vector of length zero.
        """
        return self.compute(self.tokenizer.encode(text, limit))

    def compute(self, ids: Sequence[int]) -> "NDArray[float32]":
        """Return the vector of a tokenized text, with both of its ends.

        Raises:
            UnavailableError: As of `embed`.
        """
        import numpy as np

        given = {"input_ids": list(ids), "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        feed = {name: np.array([given[name]], type_) for name, type_ in self.types.items()}
        try:
            answer: Any = self.session.run([self.output], feed)[0]
        except Exception as error:  # ONNX Runtime's exceptions are directly under Exception
            raise UnavailableError(
                f"The model {self.id} fails: {error}", hint="Choose another: `panorama models list`."
            ) from error
        vector = answer[0].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is checked
            if vector.ndim == 2:
                vector = vector[0] if self.pooling == "cls" else vector.mean(0)
            length = float(np.sqrt(vector @ vector)) if vector.ndim == 1 and vector.size else 0.0
        if not np.isfinite(length) or not length:
            raise UnavailableError(
                f"The model {self.id} returned a vector of length zero.",
                hint="Choose another: `panorama models list`.",
            )
        return (vector / length).astype(np.float32)


def load_model(model: Path, tokenizer: Path, pooling: Pooling, id_: str, hint: str) -> LoadedModel:
    """Load a model and its tokenizer.

    Raises:
        InvalidInputError: It has inputs, outputs or a tokenizer that are not supported.
        UnavailableError: ONNX Runtime is missing, or cannot load the model.
    """
    try:
        session = create_session(model, level="all", hint=hint)
    except ImportError as error:
        raise UnavailableError(
            f"The model {id_} needs onnxruntime, which cannot be imported here: {error}.",
            hint="Run `pip install onnxruntime` beside Panorama, or choose the model static.",
        ) from error
    inputs = {entry.name: _TYPES.get(entry.type, "") for entry in session.get_inputs()}
    unknown = [name for name, type_ in inputs.items() if name not in _INPUTS or not type_]
    if unknown or "input_ids" not in inputs:
        raise InvalidInputError(
            f"The model {id_} asks for {', '.join(unknown) or 'no input_ids'}, which is not supported.",
            hint="Models of text with input_ids, attention_mask and token_type_ids work.",
        )
    outputs = [entry.name for entry in session.get_outputs()]
    output = next((name for name in _TOKEN_OUTPUTS if name in outputs), outputs[0])
    return LoadedModel(id_, session, read_tokenizer(tokenizer), pooling, inputs, output)
