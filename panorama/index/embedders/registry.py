"""Embedders by name: `duo`, `minilm`, `static`, `trio`, `local:<name>`, `ollama:…`, `openai:…`."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from panorama.errors import InvalidInputError
from panorama.index.embedders.added import manifest
from panorama.index.embedders.added.folder_embedder import FolderEmbedder
from panorama.index.embedders.apis import EmbeddingApi, OllamaApi, OpenAiApi, ollama_base, validate_url
from panorama.index.embedders.http import HttpClient, Limits
from panorama.index.embedders.keys import KeyringLookup, find_key
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.multilingual import trio_files
from panorama.index.embedders.multilingual.duo import Duo
from panorama.index.embedders.multilingual.trio import Trio
from panorama.index.embedders.remote import RemoteEmbedder
from panorama.index.embedders.static import StaticEmbedder
from panorama.index.embedders.static_worker import StaticProcessEmbedder
from panorama.system_keyring import read_secret
from panorama.transport.address import data_directory

BUNDLED = ("duo", "minilm", "static")
TRIO = "trio"
NEEDS_ONNX_RUNTIME = ("duo", "minilm", TRIO)
Embedder = Duo | MiniLM | StaticEmbedder | FolderEmbedder | RemoteEmbedder
NAME_FORMS = (*BUNDLED, TRIO, "local:<name>", "ollama:<model>", "openai:<address>#<model>")


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The name of an embedder, and a note for the user, "" if none."""

    name: str
    hint: str = ""


def default_choice() -> EmbedderChoice:
    """Return the default for this machine: `duo`, or `static` without ONNX Runtime."""
    if find_spec("onnxruntime"):
        return EmbedderChoice("duo")
    return EmbedderChoice(
        "static",
        "ONNX Runtime is not installed (it has no build for every machine), so the small embedder runs, which finds "
        "less by meaning. If pip finds a build, `pip install onnxruntime` beside Panorama brings the better one.",
    )


def runs_in_process(name: str) -> bool:
    """Return whether the embedder with a name runs in this process, so that no text leaves it."""
    return name in (*BUNDLED, TRIO) or name.startswith(manifest.PREFIX)


def models_folder(home: Path | None = None) -> Path:
    """Return the folder of added models in a data directory, by default in the user's."""
    return (home or Path(data_directory())) / "models"


def create_embedder(
    name: str,
    *,
    limits: Limits | None = None,
    aside: bool = False,
    home: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    ring: KeyringLookup = read_secret,
) -> Embedder:
    """Create the embedder with a name; nothing is loaded or sent before it is needed.

    Args:
        aside: Use a separate process for many texts if the embedder would block other threads.
        home: The data directory with the added models, None for the user's.

    Raises:
        InvalidInputError: The name is unknown or incomplete.
    """
    limits = limits or Limits()
    kind, _, rest = name.partition(":")
    if name == "duo":
        return Duo()
    if name == "minilm":
        return MiniLM()
    if name == "static":
        return StaticProcessEmbedder() if aside else StaticEmbedder()
    if name == TRIO:
        return Trio(models_folder(home) / trio_files.FOLDER)
    if name.startswith(manifest.PREFIX):
        models = models_folder(home)
        model = manifest.load(models, name)
        return FolderEmbedder(model, models / model.name)
    if kind == "ollama" and rest:
        return _create_remote(name, ollama_base(environment), OllamaApi(rest), "", limits)
    if kind == "openai":
        return _create_openai(name, rest, limits, environment, ring)
    raise _unknown_error(name)


def _create_openai(
    name: str, rest: str, limits: Limits, environment: Mapping[str, str], ring: KeyringLookup
) -> RemoteEmbedder:
    base, _, model = rest.partition("#")
    if not model:
        raise InvalidInputError(
            f"{name!r} has no model.",
            hint="Use a name such as openai:https://api.openai.com/v1#text-embedding-3-small, for example.",
        )
    base = validate_url(base)
    return _create_remote(name, base, OpenAiApi(model), find_key(base, environment, ring), limits)


def _create_remote(name: str, base: str, dialect: EmbeddingApi, secret: str, limits: Limits) -> RemoteEmbedder:
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    return RemoteEmbedder(name, HttpClient(base=base, headers=headers, limits=limits), dialect, limits)


def _unknown_error(name: str) -> InvalidInputError:
    near = get_close_matches(name.partition(":")[0], [form.partition(":")[0] for form in NAME_FORMS], n=2)
    return InvalidInputError(
        f"There is no embedder {name!r}.",
        hint=f"Use one of {', '.join(NAME_FORMS)}.",
        candidates=[{"id": form} for form in NAME_FORMS if form.partition(":")[0] in near],
    )
