"""The bundled model files and their digests."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from panorama.errors import UnavailableError

FOLDER = Path(__file__).parents[2] / "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFile:
    """A file of the package; `digest` is its SHA-256, and identifies the model."""

    name: str
    digest: str

    @property
    def path(self) -> Path:
        """Its path."""
        return FOLDER / self.name

    def verify(self) -> Path:
        """Verify its digest and return its path (70 to 200 ms for 66 MB).

        Raises:
            UnavailableError: It is missing, or differs from the shipped file.
        """
        return verify_file(self.path, self.digest, hint="Install Panorama again.")


def verify_file(path: Path, digest: str, *, hint: str) -> Path:
    """Verify the SHA-256 of a model's file and return its path, unless this process verified the same file before.

    Raises:
        UnavailableError: It cannot be read, or its content is another; the hint says what to do.
    """
    try:
        with path.open("rb") as file:
            state = _file_state(file.fileno())
            if _verified.get(path) == (digest, state):
                return path
            actual = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UnavailableError(f"The model's file {path} cannot be read: {error}.", hint=hint) from error
    if actual != digest:
        raise UnavailableError(f"The model's file {path} is damaged.", hint=hint)
    _verified[path] = (digest, state)
    return path


_FileState = tuple[int, int, int]

_verified: dict[Path, tuple[str, _FileState]] = {}
"""The digests of the files that this process has verified, and their states then."""


def _file_state(descriptor: int) -> _FileState:
    """Return the values that change with a file's content."""
    state = os.fstat(descriptor)
    return state.st_ino, state.st_size, state.st_mtime_ns


VOCABULARY = BundledFile(name="vocab.txt", digest="0f052197aac305fe42f378b5c61554b7bacb34b8be4af83fec2cfdcdffbc9973")
MINILM = BundledFile(name="minilm-int8.onnx", digest="c28c61b6979c63473039a8d7296f18847efd222b5ee56a0aa49cd0101f4e6327")
STATIC = BundledFile(name="static-int8.npz", digest="acd50a8467431f13e9b67369924d44577022a0f89018e24f73ee81ea9b0cbb71")

USE_TABLE = BundledFile(name="use-table.bin", digest="559b2114e4918331f10734efc1a0b6e0213c8afa0f827e85bce027bf7a5c6ef0")
USE_WEIGHTS = BundledFile(
    name="use-weights.npz", digest="d7f72e402ff91d71e1a27f554306619b922998cebb8af4a06f404f496be00aa9"
)
USE_PIECES = BundledFile(
    name="use-pieces.txt", digest="ca0a6bf362b05c0dbe6d0e566bc98ba16fb41e84da02d60cc6d277c1650b2773"
)
DUO_JOIN = BundledFile(name="duo.npz", digest="1db090c4bee733e0df41f1d4931af19ea629bffa2acd924d0bd91b43014af428")
TRIO_JOIN = BundledFile(name="trio.npz", digest="bc0f456aac6b96afe5e8b4e521919527df99488e2a771804c330449734fe1d56")
DUO_FILES = (MINILM, VOCABULARY, USE_TABLE, USE_WEIGHTS, USE_PIECES, DUO_JOIN)
