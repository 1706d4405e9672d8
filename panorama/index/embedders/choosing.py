"""Embedders by name: `minilm`, `static`, `ollama:<model>`, `openai:<address>#<model>`."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec

from panorama.errors import InvalidInputError
from panorama.index.embedders.aside import StaticAside
from panorama.index.embedders.dialects import Dialect, Ollama, OpenAi, checked, ollama_base
from panorama.index.embedders.keys import Ring, key, keyring_key
from panorama.index.embedders.line import Limits, Line
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.remote import Remote
from panorama.index.embedders.static import Static

SHIPPED = ("minilm", "static")
Embedder = MiniLM | Static | Remote
FORMS = (*SHIPPED, "ollama:<model>", "openai:<address>#<model>")


@dataclass(frozen=True, slots=True)
class Choice:
    """The name of an embedder, and what a person should know about it, "" if nothing."""

    name: str
    hint: str = ""


def default() -> Choice:
    """Return what serves this machine without being asked: `minilm`, or `static` where ONNX Runtime is missing."""
    if find_spec("onnxruntime"):
        return Choice("minilm")
    return Choice(
        "static",
        "ONNX Runtime is not installed (it has no build for every machine), so the small embedder runs, which finds "
        "less by meaning. If pip finds a build, `pip install onnxruntime` beside Panorama brings the better one.",
    )


def embedder(
    name: str,
    *,
    limits: Limits | None = None,
    aside: bool = False,
    environment: Mapping[str, str] = os.environ,
    ring: Ring = keyring_key,
) -> Embedder:
    """Return the embedder of this name; nothing is loaded or sent before it is needed.

    Args:
        aside: Let one that would keep all other threads waiting have a process of its own for many texts.

    Raises:
        InvalidInputError: There is none of this name, or a part of it is missing.
    """
    limits = limits or Limits()
    kind, _, rest = name.partition(":")
    if name == "minilm":
        return MiniLM()
    if name == "static":
        return StaticAside() if aside else Static()
    if kind == "ollama" and rest:
        return _remote(name, ollama_base(environment), Ollama(rest), "", limits)
    if kind == "openai":
        return _openai(name, rest, limits, environment, ring)
    raise _unknown(name)


def _openai(name: str, rest: str, limits: Limits, environment: Mapping[str, str], ring: Ring) -> Remote:
    base, _, model = rest.partition("#")
    if not model:
        raise InvalidInputError(
            f"{name!r} names no model.",
            hint="Say openai:https://api.openai.com/v1#text-embedding-3-small, for example.",
        )
    base = checked(base)
    return _remote(name, base, OpenAi(model), key(base, environment, ring), limits)


def _remote(name: str, base: str, dialect: Dialect, secret: str, limits: Limits) -> Remote:
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    return Remote(name, Line(base=base, headers=headers, limits=limits), dialect, limits)


def _unknown(name: str) -> InvalidInputError:
    near = get_close_matches(name.partition(":")[0], [form.partition(":")[0] for form in FORMS], n=2)
    return InvalidInputError(
        f"There is no embedder {name!r}.",
        hint=f"There are {', '.join(FORMS)}.",
        candidates=[{"id": form} for form in FORMS if form.partition(":")[0] in near],
    )
