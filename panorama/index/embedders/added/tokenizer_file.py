"""Reads `tokenizer.json`, as the library `tokenizers` writes it: WordPiece and Unigram, as BERT and XLM-RoBERTa have.

Both run in Python here, so no further package is needed. Everything that would change the pieces and is not known
here is refused, because a slightly different tokenizer finds badly without any error.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from panorama.errors import InvalidInputError
from panorama.index.embedders.added.json_files import get_typed, read_json
from panorama.index.embedders.multilingual.unigram import UnigramTokenizer
from panorama.index.embedders.wordpiece import WordPieceTokenizer, normalize_cased_text, normalize_text

_IGNORED_NORMALIZERS = frozenset({"Precompiled", "NFKC", "Nmt"})
"""Unigram's own normalisation, which NFKC with single blanks equals."""

_BLANKS = re.compile(r"^ ?\{2,\}$|^ \+$|^\\s\+$")
_HINT = "Models with the tokenizers of BERT and XLM-RoBERTa work, such as multilingual-e5, bge, gte and MiniLM."


class Tokenizer(Protocol):
    """Splits texts into the pieces of a model."""

    def __len__(self) -> int: ...
    def encode(self, text: str, limit: int) -> list[int]: ...


def read_tokenizer(file: Path) -> Tokenizer:
    """Return the tokenizer of a file.

    Raises:
        InvalidInputError: It cannot be read, or is of a kind that is not supported.
    """
    content = read_json(file)
    model = get_typed(content, "model", dict, {})
    kind = get_typed(model, "type", str, "") or ("WordPiece" if "max_input_chars_per_word" in model else "none")
    try:
        if kind == "WordPiece":
            return _create_wordpiece(content, model)
        if kind == "Unigram":
            return _create_unigram(content, model)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInputError(f"{file} is damaged: {error!r}.", hint="Download the model again.") from error
    raise _unsupported_error(f"{kind} as its model")


def _create_wordpiece(content: Any, model: Mapping[str, Any]) -> WordPieceTokenizer:
    pieces = _list_pieces(model["vocab"])
    if get_typed(model, "continuing_subword_prefix", str, "##") != "##":
        raise _unsupported_error("another prefix than ## of pieces within words")
    _check_step(content.get("pre_tokenizer"), {"BertPreTokenizer"})
    start, end = _find_ends(content)
    specials = get_typed(model, "unk_token", str, "[UNK]"), pieces[start], pieces[end]
    return WordPieceTokenizer(pieces, specials, _find_bert_normalizer(content.get("normalizer")))


def _list_pieces(vocabulary: Mapping[str, int]) -> list[str]:
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[piece] for piece in pieces] != list(range(len(pieces))):
        raise ValueError("the ids of the vocabulary have gaps")
    return pieces


def _find_bert_normalizer(step: Any) -> Callable[[str], str]:
    _check_step(step, {"BertNormalizer"})
    lowercase = get_typed(step, "lowercase", bool, True)
    strips_accents = get_typed(step, "strip_accents", bool, lowercase)
    if lowercase != strips_accents or not step.get("clean_text", True) or not step.get("handle_chinese_chars", True):
        raise _unsupported_error("BERT's normalizer with unusual options")
    return normalize_text if lowercase else normalize_cased_text


def _create_unigram(content: Any, model: Mapping[str, Any]) -> UnigramTokenizer:
    if model.get("byte_fallback"):
        raise _unsupported_error("byte fallback")
    for step in _iter_steps(content.get("normalizer"), "normalizers"):
        if step.get("type") not in _IGNORED_NORMALIZERS and not _is_blank_replacement(step):
            raise _unsupported_error(f"the normalizer {step.get('type')}")
    for step in _iter_steps(content.get("pre_tokenizer"), "pretokenizers"):
        _check_step(step, {"WhitespaceSplit", "Metaspace"})
        if get_typed(step, "prepend_scheme", str, "always") == "never" or step.get("add_prefix_space") is False:
            raise _unsupported_error("words without a mark at their beginning")
    start, end = _find_ends(content)
    pieces = [(str(piece), float(score)) for piece, score in model["vocab"]]
    return UnigramTokenizer(pieces, (int(model["unk_id"]), start, end))


def _is_blank_replacement(step: Mapping[str, Any]) -> bool:
    """Return whether a normalizer only joins blanks, which splitting into words does too."""
    pattern = get_typed(step.get("pattern"), "Regex", str, "")
    return step.get("type") == "Strip" or (
        step.get("type") == "Replace" and step.get("content") in (" ", "\u2581") and bool(_BLANKS.match(pattern))
    )


def _find_ends(content: Any) -> tuple[int, int]:
    """Return the ids of the pieces that stand at both ends of a single text."""
    step = get_typed(content, "post_processor", dict, {})
    if step.get("type") in ("BertProcessing", "RobertaProcessing"):
        return int(step["cls"][1]), int(step["sep"][1])
    if step.get("type") != "TemplateProcessing":
        raise _unsupported_error(f"the post-processor {step.get('type', 'none')}")
    names = [get_typed(part.get("SpecialToken"), "id", str, "") for part in step["single"]]
    if len(names) != 3 or names[1] or not (names[0] and names[2]):
        raise _unsupported_error("another template than one piece at each end of a text")
    first, last = (step["special_tokens"][names[place]]["ids"] for place in (0, 2))
    return int(first[0]), int(last[0])


def _iter_steps(step: Any, key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of a sequence, one after another."""
    if not isinstance(step, dict):
        return
    found = cast("dict[str, Any]", step)
    if found.get("type") == "Sequence":
        for part in found[key]:
            yield from _iter_steps(part, key)
    else:
        yield found


def _check_step(step: Any, types: set[str]) -> None:
    kind = get_typed(step, "type", str, "none")
    if kind not in types:
        raise _unsupported_error(f"the step {kind}")


def _unsupported_error(has: str) -> InvalidInputError:
    return InvalidInputError(f"The model's tokenizer has {has}, which is not supported.", hint=_HINT)
