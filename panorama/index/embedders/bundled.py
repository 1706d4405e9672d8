"""The bundled model files and their digests."""

import hashlib
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
        """Verify its digest and return its path (20 ms for 23 MB).

        Raises:
            UnavailableError: It is missing, or differs from the shipped file.
        """
        hint = "Install Panorama again."
        try:
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UnavailableError(f"The model's file {self.path} cannot be read: {error}.", hint=hint) from error
        if digest != self.digest:
            raise UnavailableError(f"The model's file {self.path} is damaged.", hint=hint)
        return self.path


VOCABULARY = BundledFile(name="vocab.txt", digest="0f052197aac305fe42f378b5c61554b7bacb34b8be4af83fec2cfdcdffbc9973")
MINILM = BundledFile(name="minilm-int8.onnx", digest="c28c61b6979c63473039a8d7296f18847efd222b5ee56a0aa49cd0101f4e6327")
STATIC = BundledFile(name="static-int8.npz", digest="acd50a8467431f13e9b67369924d44577022a0f89018e24f73ee81ea9b0cbb71")
