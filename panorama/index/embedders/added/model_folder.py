"""Reads a folder in the sentence-transformers layout: which files count, and how vectors are pooled.

onnx/model.onnx               the transformer, or one of `ONNX_FILES`
tokenizer.json                WordPiece or Unigram
1_Pooling/config.json         mean or cls
modules.json                  Transformer, Pooling, and Normalize
sentence_bert_config.json     max_seq_length
config_sentence_transformers.json   prompts, such as "query: " and "passage: "

Nothing in the folder is executed; modules that would have to be are refused.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from panorama.domain.text.sizes import format_size
from panorama.errors import InvalidInputError
from panorama.index.embedders.added.json_files import check_size, get_typed, read_json, read_object

Pooling = Literal["mean", "cls"]

ONNX_FILES = (
    "onnx/model_quantized.onnx", "onnx/model_int8.onnx", "onnx/model.onnx",
    "model_quantized.onnx", "model_int8.onnx", "model.onnx",
)  # fmt: skip
"""The files that are looked for, the best for a processor first."""

TOKENIZER, POOLING = "tokenizer.json", "1_Pooling/config.json"

MAX_MODEL_BYTES = 1_000_000_000
"""The largest model file: it is held in memory while it is loaded."""

MAX_TOKENS = 512
"""The maximum number of pieces read of a text; passages are shorter."""

_MODULES = frozenset({"Transformer", "Pooling", "Normalize"})
_EXTERNAL_DATA = ("*.onnx_data", "*.onnx.data")
_QUERY_PROMPTS, _PASSAGE_PROMPTS = ("query", "search_query"), ("passage", "document", "search_document")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """The settings of a model as its folder defines them; prompts are put before texts."""

    model: Path
    tokenizer: Path
    pooling: Pooling
    max_tokens: int
    query_prompt: str
    passage_prompt: str


def read_folder(folder: Path, file: str = "") -> ModelFolder:
    """Read a folder in the sentence-transformers layout.

    Args:
        file: The model file below the folder, "" for the first of `ONNX_FILES`.

    Raises:
        InvalidInputError: It is not such a folder, or needs something that is not supported.
    """
    if not folder.is_dir():
        raise InvalidInputError(
            f"{folder} is not a folder.", hint="Give a folder in the sentence-transformers layout, or `trio`."
        )
    _check_modules(folder)
    model, tokenizer = _find_model(folder, file), folder / TOKENIZER
    if not tokenizer.is_file():
        raise InvalidInputError(f"{folder} has no {TOKENIZER}.", hint="Download the model's whole folder.")
    check_size(tokenizer)
    prompts = read_object(folder / "config_sentence_transformers.json").get("prompts")
    limit = get_typed(read_object(folder / "sentence_bert_config.json"), "max_seq_length", int, MAX_TOKENS)
    return ModelFolder(
        model=model,
        tokenizer=tokenizer,
        pooling=_read_pooling(folder),
        max_tokens=max(8, min(limit, MAX_TOKENS)),
        query_prompt=_find_prompt(prompts, _QUERY_PROMPTS),
        passage_prompt=_find_prompt(prompts, _PASSAGE_PROMPTS),
    )


def _check_modules(folder: Path) -> None:
    file = folder / "modules.json"
    modules: Any = read_json(file) if file.exists() else []
    for module in cast("list[Any]", modules) if isinstance(modules, list) else ():
        type_ = get_typed(module, "type", str, "none")
        if not type_.startswith("sentence_transformers.") or type_.rpartition(".")[2] not in _MODULES:
            raise InvalidInputError(
                f"The model has the module {type_}, which is not supported.",
                hint="Models of a transformer, pooling and normalisation work.",
            )


def _find_model(folder: Path, file: str) -> Path:
    names = (file,) if file else ONNX_FILES
    model = next((folder / name for name in names if (folder / name).is_file()), None)
    if model is None:
        raise InvalidInputError(
            f"{folder} has no {file or 'ONNX file'}.", hint=f"Models need one of {', '.join(ONNX_FILES)}."
        )
    if any(next(model.parent.glob(pattern), None) for pattern in _EXTERNAL_DATA):
        raise InvalidInputError(
            f"{model} keeps its weights in a second file, which is not supported.",
            hint="Use a model whose ONNX file is whole, such as its quantized one.",
        )
    if (size := model.stat().st_size) > MAX_MODEL_BYTES:
        raise InvalidInputError(
            f"{model} has {format_size(size)}; at most {format_size(MAX_MODEL_BYTES)} are supported, because a model "
            "is held in memory.",
            hint="Use its quantized file: --file onnx/model_quantized.onnx.",
        )
    return model


def _read_pooling(folder: Path) -> Pooling:
    """Return how the vectors of pieces are made one; older and newer folders write it differently."""
    if not (folder / POOLING).exists():
        raise InvalidInputError(
            f"{folder} has no {POOLING}, so it is not in the sentence-transformers layout.",
            hint='Write {"pooling_mode": "mean"} or "cls" into it, as the description of the model says.',
        )
    content = read_object(folder / POOLING)
    modes = [name for name, is_on in content.items() if name.startswith("pooling_mode_") and is_on is True]
    names = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    chosen: list[Any] = [names.get(mode, mode) for mode in modes] or [content.get("pooling_mode")]
    if chosen not in (["mean"], ["cls"]):
        what = " and ".join(str(mode).removeprefix("pooling_mode_") for mode in chosen)
        raise InvalidInputError(f"The model pools by {what}; only mean and cls are supported.", hint="Use another.")
    return chosen[0]


def _find_prompt(prompts: Any, names: tuple[str, ...]) -> str:
    return next((prompt for name in names if (prompt := get_typed(prompts, name, str, ""))), "")
