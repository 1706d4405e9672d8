"""Models of BERT's kind as ONNX graphs: the only module that knows how MiniLM and E5 compute; needs the package onnx.

One text at a time, so nothing is padded and nothing masked. What each choice is worth, on two cores with AVX-512, in
notes of 256 word pieces per second and core: fp32 with the transformer operators that ONNX Runtime's optimizer makes,
in batches of 8: 19; the same with int8: 33; and one text at a time: 39. Its SkipLayerNormalization and BiasGelu cost
600 and 450 µs where Add with LayerNormalization, and Gelu, cost 110 and 250 (the bias is free in the matrix product):
61. MatMulNBits (8 bits, blocks of 128) is nearest to fp32, with a cosine of 0.9993, but as slow.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportMissingImports=false, reportUnknownParameterType=false
# (onnx is optional, and types its helpers in part; numpy's stubs name types of Python 3.12)
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Floats = NDArray[np.float32]
Precision = Literal["int8", "fp32"]

MAX_WEIGHT = 95
"""The largest weight of a column as a whole number.

Processors without VNNI add two products in 16 bits: 2 x 255 x 127 does not fit. With 127 some 12,000 sums of three
notes overflowed and made an error of 3 %; with 95 none did, in 300 million. The cosine to fp32 falls by 0.0004.
"""

_HEADS = 12
_WIDTH = 384
_EPSILON = 1e-12
_MICROSOFT = "com.microsoft"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizedTable:
    """Vectors of word pieces in 4 bits: numbers from -8 to 7 in blocks of `BLOCK`, and the scale of each block."""

    numbers: NDArray[np.int8]
    scales: NDArray[np.float16]


BLOCK = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """The dimensions that differ between models; `max_pieces` are the word pieces that one was trained on.

    `opset` and `format` are the versions of ONNX that its operators need.
    """

    name: str
    layers: int
    max_pieces: int
    opset: int
    format: int


MINILM = BertShape(name="all-MiniLM-L6-v2", layers=6, max_pieces=256, opset=20, format=9)
E5_SMALL = BertShape(name="multilingual-e5-small", layers=12, max_pieces=512, opset=21, format=10)
"""Numbers of 4 bits came with opset 21."""


class _GraphBuilder:
    """A graph in the making: its nodes, and its arrays, each kept once."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: dict[str, onnx.TensorProto] = {}

    def add_constant(self, name: str, array: NDArray[Any]) -> str:
        """Keep an array and return its name."""
        if name not in self.arrays:
            self.arrays[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def add_node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its result."""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output


def build_graph(
    arrays: Mapping[str, Floats],
    precision: Precision,
    shape: BertShape = MINILM,
    table: QuantizedTable | None = None,
) -> bytes:
    """Return a model as ONNX: `ids` (1, pieces) int32 in, `vector` (1, 384) of length 1 out.

    Args:
        arrays: The arrays by their published names.
        table: The vectors of word pieces, if they are not among the arrays.
    """
    draft = _GraphBuilder()
    layer = _LayerBuilder(draft, arrays, precision, shape, table)
    out = layer.add_embeddings()
    for number in range(shape.layers):
        out = layer.add_feed_forward(layer.add_attention(out, number), number)
    mean = draft.add_node("ReduceMean", [out, draft.add_constant("one", np.array([1]))], "mean", keepdims=0)
    draft.add_node("LpNormalization", [mean], "vector", axis=-1, p=2)
    return _serialize(draft, shape)


def _serialize(draft: _GraphBuilder, shape: BertShape) -> bytes:
    ids = helper.make_tensor_value_info("ids", TensorProto.INT32, [1, "pieces"])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, _WIDTH])
    created = helper.make_graph(draft.nodes, shape.name, [ids], [vector], list(draft.arrays.values()))
    opsets = [helper.make_opsetid("", shape.opset), helper.make_opsetid(_MICROSOFT, 1)]
    # Left alone, onnx writes its own newest version into the file, and older runtimes refuse it.
    model = helper.make_model(created, opset_imports=opsets, ir_version=shape.format, producer_name="panorama")
    return model.SerializeToString(deterministic=True)


class _LayerBuilder:
    """Adds the layers of a model to a draft, with the arrays as published."""

    def __init__(
        self,
        draft: _GraphBuilder,
        arrays: Mapping[str, Floats],
        precision: Precision,
        shape: BertShape,
        table: QuantizedTable | None,
    ) -> None:
        self._draft, self._arrays, self._precision = draft, arrays, precision
        self._shape, self._table = shape, table

    def add_embeddings(self) -> str:
        """Add what each piece is at its place."""
        draft, names = self._draft, "embeddings."
        places = self._arrays[names + "position_embeddings.weight"][: self._shape.max_pieces]
        places = places + self._arrays[names + "token_type_embeddings.weight"][0]
        length = draft.add_node("Shape", ["ids"], "length", start=1, end=2)
        begin = draft.add_constant("zero", np.array([0]))
        place = draft.add_node("Slice", [draft.add_constant("places", places), begin, length], "place")
        return self._add_layer_norm(
            draft.add_node("Add", [self._add_word_embeddings(), place], "placed"), names + "LayerNorm"
        )

    def add_attention(self, given: str, number: int) -> str:
        """Add the attention of a layer."""
        names = f"encoder.layer.{number}.attention."
        parts = [self._add_linear(given, f"{names}self.{part}") for part in ("query", "key", "value")]
        heads = self._draft.add_node("MultiHeadAttention", parts, f"{names}heads", _MICROSOFT, num_heads=_HEADS)
        return self._add_residual(self._add_linear(heads, names + "output.dense"), given, names + "output.LayerNorm")

    def add_feed_forward(self, given: str, number: int) -> str:
        """Add the feed-forward part of a layer.

        [CLS] stands alone in it: one of its numbers is five times as large as all others (30 to 6), and a common scale
        of 8 bits would leave those only six. That takes the cosine to fp32 from 0.994 to 0.998, for 3 % of the time.
        """
        names = f"encoder.layer.{number}."
        out = self._apply_apart(given, lambda part: self._add_dense_pair(part, names))
        return self._add_residual(out, given, names + "output.LayerNorm")

    def _add_dense_pair(self, given: str, names: str) -> str:
        wide = self._add_linear(given, names + "intermediate.dense", of=given)
        bent = self._draft.add_node("Gelu", [wide], f"{wide}.gelu")
        return self._add_linear(bent, names + "output.dense", of=given)

    def _apply_apart(self, given: str, each: Callable[[str], str]) -> str:
        if self._precision == "fp32":
            return each(given)
        draft = self._draft
        zero, one = draft.add_constant("zero", np.array([0])), draft.add_constant("one", np.array([1]))
        end = draft.add_constant("length.most", np.array([self._shape.max_pieces]))
        first = draft.add_node("Slice", [given, zero, one, one], f"{given}.first")
        rest = draft.add_node("Slice", [given, one, end, one], f"{given}.rest")
        return draft.add_node("Concat", [each(first), each(rest)], f"{given}.joined", axis=1)

    def _add_word_embeddings(self) -> str:
        if self._table is not None:
            return self._add_quantized_table(self._table)
        draft, words = self._draft, self._arrays["embeddings.word_embeddings.weight"]
        if self._precision == "fp32":
            return draft.add_node("Gather", [draft.add_constant("words", words), "ids"], "word")
        whole, scales = quantize_rows(words)
        rows = draft.add_node("Gather", [draft.add_constant("words", whole), "ids"], "word.whole")
        scale = draft.add_node("Gather", [draft.add_constant("words.scale", scales[:, None]), "ids"], "word.scale")
        return draft.add_node(
            "Mul", [draft.add_node("Cast", [rows], "word.float", to=TensorProto.FLOAT), scale], "word"
        )

    def _add_quantized_table(self, table: QuantizedTable) -> str:
        """Add the table in 4 bits; only rows in use are expanded."""
        draft, (count, width) = self._draft, table.numbers.shape
        signs = (table.numbers & 15).astype(np.uint8)
        tensor = TensorProto(name="table", data_type=TensorProto.INT4, dims=[count, width])
        tensor.raw_data = (signs[:, 0::2] | signs[:, 1::2] << 4).tobytes()
        draft.arrays["table"] = tensor
        given = ["table", "ids", draft.add_constant("table.scale", table.scales)]
        axes = {"gather_axis": 0, "quantize_axis": 1, "block_size": BLOCK}
        rows = draft.add_node("GatherBlockQuantized", given, "word.half", _MICROSOFT, **axes)
        return draft.add_node("Cast", [rows], "word", to=TensorProto.FLOAT)

    def _add_linear(self, given: str, name: str, of: str = "") -> str:
        """Add a matrix product with its bias; `of` tells apart two that share their weights."""
        draft, weights = self._draft, self._arrays[f"{name}.weight"].T
        bias, out = draft.add_constant(f"{name}.bias", self._arrays[f"{name}.bias"]), f"{name}.out{of and '.'}{of}"
        if self._precision == "fp32":
            product = draft.add_node("MatMul", [given, draft.add_constant(f"{name}.weight", weights)], f"{out}.product")
            return draft.add_node("Add", [product, bias], out)
        whole, scales = quantize_rows(weights.T, MAX_WEIGHT)
        weight = draft.add_constant(f"{name}.weight", whole.T)
        scale = draft.add_constant(f"{name}.scale", scales)
        return draft.add_node("DynamicQuantizeMatMul", [given, weight, scale, "", bias], out, _MICROSOFT)

    def _add_residual(self, given: str, before: str, norm: str) -> str:
        return self._add_layer_norm(self._draft.add_node("Add", [given, before], f"{norm}.in"), norm)

    def _add_layer_norm(self, given: str, name: str) -> str:
        scale, bias = (self._draft.add_constant(f"{name}.{part}", self._arrays[f"{name}.{part}"]) for part in _PARTS)
        return self._draft.add_node("LayerNormalization", [given, scale, bias], f"{name}.out", epsilon=_EPSILON)


_PARTS = ("weight", "bias")


def quantize_rows(array: Floats, largest: int = 127) -> tuple[NDArray[np.int8], Floats]:
    """Return each row as whole numbers up to `largest`, and what one of them is worth in it."""
    scales = np.abs(array).max(axis=1) / np.float32(largest)
    scales[scales == 0] = 1
    return np.round(array / scales[:, None]).astype(np.int8), scales.astype(np.float32)
