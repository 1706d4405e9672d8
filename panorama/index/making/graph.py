"""The model as an ONNX graph: the only module that knows how MiniLM computes.

One text at a time, so nothing is padded and nothing masked. What each choice is worth, on two cores with AVX-512, in
notes of 256 word pieces per second and core: fp32 with the transformer operators that ONNX Runtime's optimizer makes,
in batches of 8: 19; the same with int8: 33; and one text at a time: 39. Its SkipLayerNormalization and BiasGelu cost
600 and 450 µs where Add with LayerNormalization, and Gelu, cost 110 and 250 (the bias is free in the matrix product):
61. MatMulNBits (8 bits, blocks of 128) is nearest to fp32, with a cosine of 0.9993, but as slow.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportMissingImports=false, reportUnknownParameterType=false
# (onnx is in the group `making` alone, and types its helpers in part; numpy's stubs name types of Python 3.12)
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from panorama.index.making.weights import Floats

Precision = Literal["int8", "fp32"]

LENGTH = 256
"""Word pieces that the model was trained on, as its sentence_bert_config says."""

LARGEST = 95
"""The largest weight of a column as a whole number.

Processors without VNNI add two products in 16 bits: 2 x 255 x 127 does not fit. With 127 some 12,000 sums of three
notes overflowed and made an error of 3 %; with 95 none did, in 300 million. The cosine to fp32 falls by 0.0004.
"""

_LAYERS = 6
_HEADS = 12
_WIDTH = 384
_EPSILON = 1e-12
_MICROSOFT = "com.microsoft"
_OPSETS = {"": 20, _MICROSOFT: 1}
_FORMAT = 9


class _Draft:
    """A graph in the making: its nodes, and its arrays, each kept once."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Keep an array and return its name."""
        if name not in self.arrays:
            self.arrays[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its result."""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output


def graph(arrays: Mapping[str, Floats], precision: Precision) -> bytes:
    """Return the model as ONNX: `ids` (1, pieces) int32 in, `vector` (1, 384) of length 1 out."""
    draft = _Draft()
    layer = _Layers(draft, arrays, precision)
    out = layer.embeddings()
    for number in range(_LAYERS):
        out = layer.fed(layer.attended(out, number), number)
    mean = draft.node("ReduceMean", [out, draft.constant("one", np.array([1]))], "mean", keepdims=0)
    draft.node("LpNormalization", [mean], "vector", axis=-1, p=2)
    return _serialised(draft)


def _serialised(draft: _Draft) -> bytes:
    ids = helper.make_tensor_value_info("ids", TensorProto.INT32, [1, "pieces"])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, _WIDTH])
    made = helper.make_graph(draft.nodes, "all-MiniLM-L6-v2", [ids], [vector], list(draft.arrays.values()))
    opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
    # Left alone, onnx writes its own newest version into the file, and older runtimes refuse it.
    model = helper.make_model(made, opset_imports=opsets, ir_version=_FORMAT, producer_name="panorama")
    return model.SerializeToString(deterministic=True)


class _Layers:
    """Adds the layers of MiniLM to a draft, with the arrays as published."""

    def __init__(self, draft: _Draft, arrays: Mapping[str, Floats], precision: Precision) -> None:
        self._draft, self._arrays, self._precision = draft, arrays, precision

    def embeddings(self) -> str:
        """Add what each piece is at its place."""
        draft, names = self._draft, "embeddings."
        places = self._arrays[names + "position_embeddings.weight"][:LENGTH]
        places = places + self._arrays[names + "token_type_embeddings.weight"][0]
        length = draft.node("Shape", ["ids"], "length", start=1, end=2)
        begin = draft.constant("zero", np.array([0]))
        place = draft.node("Slice", [draft.constant("places", places), begin, length], "place")
        return self._normalised(draft.node("Add", [self._words(), place], "placed"), names + "LayerNorm")

    def attended(self, given: str, number: int) -> str:
        """Add the attention of a layer."""
        names = f"encoder.layer.{number}.attention."
        parts = [self._linear(given, f"{names}self.{part}") for part in ("query", "key", "value")]
        heads = self._draft.node("MultiHeadAttention", parts, f"{names}heads", _MICROSOFT, num_heads=_HEADS)
        return self._added(self._linear(heads, names + "output.dense"), given, names + "output.LayerNorm")

    def fed(self, given: str, number: int) -> str:
        """Add the feed-forward part of a layer.

        [CLS] stands alone in it: one of its numbers is five times as large as all others (30 to 6), and a common scale
        of 8 bits would leave those only six. That takes the cosine to fp32 from 0.994 to 0.998, for 3 % of the time.
        """
        names = f"encoder.layer.{number}."
        out = self._apart(given, lambda part: self._feed(part, names))
        return self._added(out, given, names + "output.LayerNorm")

    def _feed(self, given: str, names: str) -> str:
        wide = self._linear(given, names + "intermediate.dense", of=given)
        bent = self._draft.node("Gelu", [wide], f"{wide}.gelu")
        return self._linear(bent, names + "output.dense", of=given)

    def _apart(self, given: str, each: Callable[[str], str]) -> str:
        if self._precision == "fp32":
            return each(given)
        draft = self._draft
        zero, one = draft.constant("zero", np.array([0])), draft.constant("one", np.array([1]))
        end = draft.constant("length.most", np.array([LENGTH]))
        first = draft.node("Slice", [given, zero, one, one], f"{given}.first")
        rest = draft.node("Slice", [given, one, end, one], f"{given}.rest")
        return draft.node("Concat", [each(first), each(rest)], f"{given}.joined", axis=1)

    def _words(self) -> str:
        draft, words = self._draft, self._arrays["embeddings.word_embeddings.weight"]
        if self._precision == "fp32":
            return draft.node("Gather", [draft.constant("words", words), "ids"], "word")
        whole, scales = whole_rows(words)
        rows = draft.node("Gather", [draft.constant("words", whole), "ids"], "word.whole")
        scale = draft.node("Gather", [draft.constant("words.scale", scales[:, None]), "ids"], "word.scale")
        return draft.node("Mul", [draft.node("Cast", [rows], "word.float", to=TensorProto.FLOAT), scale], "word")

    def _linear(self, given: str, name: str, of: str = "") -> str:
        """Add a matrix product with its bias; `of` tells apart two that share their weights."""
        draft, weights = self._draft, self._arrays[f"{name}.weight"].T
        bias, out = draft.constant(f"{name}.bias", self._arrays[f"{name}.bias"]), f"{name}.out{of and '.'}{of}"
        if self._precision == "fp32":
            product = draft.node("MatMul", [given, draft.constant(f"{name}.weight", weights)], f"{out}.product")
            return draft.node("Add", [product, bias], out)
        whole, scales = whole_rows(weights.T, LARGEST)
        weight = draft.constant(f"{name}.weight", whole.T)
        scale = draft.constant(f"{name}.scale", scales)
        return draft.node("DynamicQuantizeMatMul", [given, weight, scale, "", bias], out, _MICROSOFT)

    def _added(self, given: str, before: str, norm: str) -> str:
        return self._normalised(self._draft.node("Add", [given, before], f"{norm}.in"), norm)

    def _normalised(self, given: str, name: str) -> str:
        scale, bias = (self._draft.constant(f"{name}.{part}", self._arrays[f"{name}.{part}"]) for part in _PARTS)
        return self._draft.node("LayerNormalization", [given, scale, bias], f"{name}.out", epsilon=_EPSILON)


_PARTS = ("weight", "bias")


def whole_rows(array: Floats, largest: int = 127) -> tuple[NDArray[np.int8], Floats]:
    """Return each row as whole numbers up to `largest`, and what one of them is worth in it."""
    scales = np.abs(array).max(axis=1) / np.float32(largest)
    scales[scales == 0] = 1
    return np.round(array / scales[:, None]).astype(np.int8), scales.astype(np.float32)
