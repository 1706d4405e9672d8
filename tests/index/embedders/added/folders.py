"""Makes small real models in the sentence-transformers layout; needs the package `onnx` of the group `making`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = (
    "the", "boiler", "was", "serviced", "in", "autumn", "recipe", "for", "lemon", "cake", "word", "compost", "heap",
    "tea", "a", "note", "about", ".", ":", "##s", "query", "passage", "garden", "##ing",
)  # fmt: skip
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS)


def tokenizer(pieces: Sequence[str] = PIECES, **changes: Any) -> dict[str, Any]:
    """Return the content of tokenizer.json of BERT's kind."""
    return {
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "vocab": {piece: at for at, piece in enumerate(pieces)},
            "max_input_chars_per_word": 100,
        },
        **changes,
    }  # fmt: skip


def build_model(size: int = 32, pieces: int = len(PIECES), *, seed: int = 1, scale: float = 1.0) -> bytes:
    """Return a model that adds the mean of all pieces to the vector of each, and uses all three inputs."""
    onnx = pytest.importorskip("onnx", reason="onnx is only in the dependency group `making`")
    helper = onnx.helper
    table = scale * np.random.default_rng(seed).standard_normal((pieces, size)).astype(np.float32)
    names = ("input_ids", "attention_mask", "token_type_ids")
    given = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", "pieces"]) for name in names]
    output = helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, ["batch", "pieces", size])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Mul", ["attention_mask", "attention_mask"], ["mask"]),
        helper.make_node("Sub", ["mask", "token_type_ids"], ["counted"]),
        helper.make_node("Cast", ["counted"], ["share"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["share", "last"], ["shares"]),
        helper.make_node("Mul", ["rows", "shares"], ["each"]),
        helper.make_node("ReduceMean", ["each"], ["mean"], axes=[1], keepdims=1),
        helper.make_node("Add", ["each", "mean"], ["last_hidden_state"]),
    ]
    arrays = [onnx.numpy_helper.from_array(table, "table"), onnx.numpy_helper.from_array(np.array([-1]), "last")]
    graph = helper.make_graph(nodes, "small", given, [output], arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


def write_folder(folder: Path, files: Mapping[str, Any] | None = None) -> Path:
    """Write a folder; `files` has other contents of some of its files, None for those to leave out."""
    content: dict[str, Any] = {
        "tokenizer.json": tokenizer(),
        "1_Pooling/config.json": {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True},
        "modules.json": [
            {"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling", "Normalize")
        ],
        "sentence_bert_config.json": {"max_seq_length": 128},
        "config_sentence_transformers.json": {},
        **(files or {}),
    }
    if "onnx/model.onnx" not in content:
        content["onnx/model.onnx"] = build_model()
    for name, value in content.items():
        if value is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return folder
