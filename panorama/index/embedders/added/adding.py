"""Adds a model: copies its files into the data directory, and tries it before it can be chosen."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from panorama.errors import ConflictError, InvalidInputError, PanoramaError, UnavailableError
from panorama.index.embedders.added import manifest
from panorama.index.embedders.added.folder_embedder import LoadedModel, load_model
from panorama.index.embedders.added.manifest import MANIFEST, MODEL, TOKENIZER, AddedModel
from panorama.index.embedders.added.model_folder import MAX_MODEL_BYTES, read_folder

MAX_SIZE = 2048
"""The maximum number of dimensions: 100,000 passages of 4,096 need 0.8 GB in the database, and as much in the index."""

_TRIAL_TEXTS = ("The boiler was serviced in autumn.", "Recipe for lemon cake")
_SAME_COSINE = 0.9999
_CHUNK_BYTES = 1 << 20

OnCopied = Callable[[int, int], None]


def ignore_copied(_done: int, _total: int) -> None:
    """Report no progress."""


def add_folder(
    models: Path,
    source: Path,
    *,
    name: str = "",
    file: str = "",
    query_prompt: str | None = None,
    passage_prompt: str | None = None,
    copied: OnCopied = ignore_copied,
) -> AddedModel:
    """Add the model of a folder in the sentence-transformers layout; nothing is changed if it does not work.

    Args:
        models: The folder of added models.
        name: Its name, "" for that of the folder.
        file: The model file below `source`, "" for the best that there is.
        query_prompt: The text before each query, None for that of the folder; `passage_prompt` likewise.
        copied: Called with the copied and all bytes.

    Raises:
        InvalidInputError: It is not such a folder, or needs something that is not supported.
        ConflictError: Another model has this name.
        UnavailableError: The model does not work, or its files cannot be copied.
    """
    source = source.expanduser().absolute()
    described = read_folder(source, file)
    plain = manifest.validate_name(name or _to_name(source.name))
    with _prepare_folder(models, plain) as folder:
        digests = _copy_files({MODEL: described.model, TOKENIZER: described.tokenizer}, folder, copied)
        model = AddedModel(
            name=plain,
            files=digests,
            size=1,
            max_tokens=described.max_tokens,
            pooling=described.pooling,
            query_prompt=described.query_prompt if query_prompt is None else query_prompt,
            passage_prompt=described.passage_prompt if passage_prompt is None else passage_prompt,
            source=str(source),
        )
        model = replace(model, size=_try(model, folder))
        manifest.save(model, folder)
        _publish(models, folder, model)
    return model


def _to_name(folder: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", folder.lower()).strip("-._")[:40]


@contextmanager
def _prepare_folder(models: Path, name: str) -> Generator[Path]:
    """Yield a new folder beside the others; it is deleted at the end unless it was renamed."""
    folder = models / f".{name}.{os.getpid()}"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        yield folder
    except OSError as error:
        raise UnavailableError(
            f"The model cannot be copied to {models}: {error.strerror or error}.",
            hint="Check the permissions and the free disk space.",
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_files(files: dict[str, Path], folder: Path, copied: OnCopied) -> dict[str, str]:
    total, done = sum(file.stat().st_size for file in files.values()), 0
    digests: dict[str, str] = {}
    for name, file in files.items():
        digest = hashlib.sha256()
        with file.open("rb") as source, (folder / name).open("xb") as target:
            while chunk := source.read(_CHUNK_BYTES):
                digest.update(chunk)
                target.write(chunk)
                done += len(chunk)
                if done > 2 * MAX_MODEL_BYTES:
                    raise InvalidInputError(f"{file} grows while it is copied.", hint="Wait until it is complete.")
                copied(done, total)
        digests[name] = digest.hexdigest()
    return digests


def _try(model: AddedModel, folder: Path) -> int:
    """Compute some vectors and return their number of dimensions.

    Raises:
        InvalidInputError: The model or its tokenizer is not supported.
        UnavailableError: The model does not work.
    """
    hint = "Download the model again, or use another."
    loaded = load_model(folder / MODEL, folder / TOKENIZER, model.pooling, model.name, hint)
    loaded.embed("", model.max_tokens)
    _try_limits(model, loaded)
    first, second = (loaded.embed(text, model.max_tokens) for text in _TRIAL_TEXTS)
    size = int(first.size)
    if size > MAX_SIZE:
        raise InvalidInputError(
            f"The model {model.name} has {size:,} dimensions; at most {MAX_SIZE:,} are supported, because the index "
            "would grow too large.",
            hint="Use a smaller model.",
        )
    if second.size != size or float(first @ second) > _SAME_COSINE:
        raise InvalidInputError(
            f"The model {model.name} gives the same vector for different texts.",
            hint="Check that it is an embedding model and that the tokenizer belongs to it.",
        )
    return size


def _try_limits(model: AddedModel, loaded: LoadedModel) -> None:
    """Try the tokenizer's last piece and the longest text, which a model of another tokenizer does not have."""
    ends = loaded.tokenizer.encode("", 8)
    try:
        loaded.compute([ends[0], len(loaded.tokenizer) - 1, ends[-1]])
    except UnavailableError as error:
        raise InvalidInputError(
            f"The tokenizer has {len(loaded.tokenizer):,} pieces, more than the model {model.name} knows.",
            hint="Use the tokenizer.json that belongs to the model.",
        ) from error
    loaded.embed("word " * model.max_tokens, model.max_tokens)


def _publish(models: Path, folder: Path, model: AddedModel) -> None:
    """Give a model's folder its name, unless the same model has it already.

    Raises:
        ConflictError: Another model has this name.
    """
    target = models / model.name
    if not target.exists():
        folder.rename(target)
        return
    existing: PanoramaError | AddedModel
    try:
        existing = manifest.load(models, model.name)
    except PanoramaError as error:
        existing = error
    if not isinstance(existing, AddedModel) or existing.digest != model.digest:
        raise ConflictError(
            f"Another model {model.id} already exists.",
            hint=f"Give this one another name with --name, or run `panorama models remove {model.id}` first.",
        )
    for entry in (MODEL, TOKENIZER, MANIFEST):  # mends damaged files
        (folder / entry).replace(target / entry)
