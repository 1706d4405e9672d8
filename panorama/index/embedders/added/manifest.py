"""The models in the data directory: one folder each, with a manifest of its files and their digests."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from panorama.errors import InvalidInputError
from panorama.index.embedders.added.json_files import read_object
from panorama.index.embedders.added.model_folder import Pooling
from panorama.index.embedders.bundled import verify_file
from panorama.index.embedders.multilingual import trio_files

PREFIX = "local:"
"""The prefix of the names of added models in the settings."""

MANIFEST = "model.json"
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedModel:
    """A model that was added; `files` are the digests (SHA-256) of its files, `source` is where they came from."""

    name: str
    files: Mapping[str, str]
    size: int
    max_tokens: int
    pooling: Pooling
    query_prompt: str
    passage_prompt: str
    source: str

    @property
    def id(self) -> str:
        """Its name in the settings."""
        return PREFIX + self.name

    @property
    def digest(self) -> str:
        """Identifies its vectors: a digest of everything that they depend on."""
        parts = asdict(self)
        del parts["name"], parts["source"]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def hint(self) -> str:
        """The hint of the error for a damaged file."""
        return f"Run `panorama models remove {self.id}`, then `panorama models add {self.source}`."

    def verify(self, folder: Path, file: str) -> Path:
        """Verify a file in the model's folder and return its path.

        Raises:
            UnavailableError: It cannot be read, or is not the file that was added.
        """
        return verify_file(folder / file, self.files[file], hint=self.hint)


def validate_name(name: str) -> str:
    """Return the name of a model without its prefix.

    Raises:
        InvalidInputError: It is not a name of an added model.
    """
    plain = name.removeprefix(PREFIX)
    if not _NAME.fullmatch(plain):
        raise InvalidInputError(
            f"{name!r} is not a name for a model.",
            hint="Use up to 40 lower-case letters, digits, dots, dashes and underscores.",
        )
    return plain


def save(model: AddedModel, folder: Path) -> None:
    """Write the manifest of a model into its folder."""
    (folder / MANIFEST).write_text(json.dumps(asdict(model), indent=1), "utf-8")


def load(models: Path, name: str) -> AddedModel:
    """Return an added model.

    Raises:
        InvalidInputError: There is none with this name, or its manifest is damaged.
    """
    plain = validate_name(name)
    content = read_object(models / plain / MANIFEST)
    if not content:
        raise InvalidInputError(
            f"There is no added model {plain!r}.",
            hint="`panorama models add DIR` adds one, `panorama models list` shows them.",
            candidates=[{"id": model.id} for model in iter_added(models)],
        )
    if (model := _parse(content)) is None or model.name != plain:
        raise InvalidInputError(
            f"The file {models / plain / MANIFEST} is damaged.",
            hint=f"Run `panorama models remove {PREFIX}{plain}`, and add the model again.",
        )
    return model


def iter_added(models: Path) -> Iterator[AddedModel]:
    """Yield the models that were added, by name; damaged ones are skipped."""
    for file in sorted(models.glob(f"*/{MANIFEST}")):
        with suppress(InvalidInputError):
            if (model := _parse(read_object(file))) and model.name == file.parent.name:
                yield model


def count_bytes(models: Path, name: str) -> int:
    """Return the bytes of an added model's files, 0 if there are none or it has no valid name."""
    with suppress(InvalidInputError):
        return sum(file.stat().st_size for file in _find_folder(models, name).glob("*") if file.is_file())
    return 0


def _find_folder(models: Path, name: str) -> Path:
    return models / (trio_files.FOLDER if name == "trio" else validate_name(name))


def remove(models: Path, name: str) -> int:
    """Delete the files of an added model; return their bytes, 0 if there are none."""
    if size := count_bytes(models, name):
        shutil.rmtree(_find_folder(models, name), ignore_errors=True)
    return size


def _parse(content: Mapping[str, Any]) -> AddedModel | None:
    """Return the model of a manifest, None if it is damaged."""
    with suppress(TypeError):
        model = AddedModel(**content)
        texts: tuple[Any, ...] = (
            model.name,
            model.query_prompt,
            model.passage_prompt,
            model.source,
            *dict(model.files).values(),
        )
        numbers = model.size, model.max_tokens
        if (
            set(model.files) == {MODEL, TOKENIZER}
            and all(isinstance(text, str) for text in texts)
            and all(type(number) is int and number > 0 for number in numbers)
            and model.pooling in ("mean", "cls")
        ):
            return model
    return None
