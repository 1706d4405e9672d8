"""The tokenizers of other people's models give the pieces that their own library gives."""

import json
from pathlib import Path
from typing import Any

import pytest

from panorama.errors import InvalidInputError
from panorama.index.embedders.added.tokenizer_file import read_tokenizer

from .folders import tokenizer

TEXTS = (
    "The boiler was serviced in autumn.", "gardening notes: compost heaps", "Größe  und\tÜbermaß", "東京の天気", "",
    "🙂 tea", "  leading and trailing  ", "don't-stop e-mail@example.org 3.14", "zero\u200bwidth", "x" * 150,
)  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Writes tokenizer.json."""

    def put(content: Any) -> Path:
        file = tmp_path / "tokenizer.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return file

    return put


@pytest.mark.parametrize("lowercase", [True, False])
def test_wordpiece_gives_the_pieces_of_the_library(tmp_path: Path, lowercase: bool) -> None:
    library = pytest.importorskip("tokenizers", reason="tokenizers is only in the dependency group `making`")
    trained = library.BertWordPieceTokenizer(lowercase=lowercase)
    trained.train_from_iterator([*TEXTS, *TEXTS], vocab_size=300, min_frequency=1)
    trained.post_processor = library.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    trained.save(str(tmp_path / "tokenizer.json"))

    ours = read_tokenizer(tmp_path / "tokenizer.json")

    assert [ours.encode(text, 512) for text in TEXTS] == [trained.encode(text).ids for text in TEXTS]
    assert len(ours) == trained.get_vocab_size()


def test_unigram_gives_the_pieces_of_the_library(tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers", reason="tokenizers is only in the dependency group `making`")
    words = {"\u2581": -2.5, "\u2581tea": -3.0, "t": -6.0, "e": -6.0, "a": -6.0, "pot": -4.0, "s": -4.0, "o": -7.0}
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *words.items()]
    made = library.Tokenizer(library.models.Unigram(pieces, unk_id=3, byte_fallback=False))
    made.normalizer = library.normalizers.Sequence([library.normalizers.NFKC()])
    made.pre_tokenizer = library.pre_tokenizers.Sequence(
        [library.pre_tokenizers.WhitespaceSplit(), library.pre_tokenizers.Metaspace()]
    )
    made.post_processor = library.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made.save(str(tmp_path / "tokenizer.json"))
    texts = ("teapots", "tea  pot", "toast", "\uff54\uff45\uff41")

    ours = read_tokenizer(tmp_path / "tokenizer.json")

    assert [ours.encode(text, 64) for text in texts] == [made.encode(text).ids for text in texts]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"model": {"type": "BPE", "vocab": {}, "merges": []}}, "BPE as its model"),
        ({"model": {}}, "none as its model"),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, "the step ByteLevel"),
        ({"normalizer": {"type": "Lowercase"}}, "the step Lowercase"),
        ({"normalizer": {"type": "BertNormalizer", "lowercase": True, "strip_accents": False}}, "unusual options"),
        ({"post_processor": None}, "the post-processor none"),
    ],
)
def test_other_tokenizers_are_refused_by_what_they_have(write: Any, changes: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidInputError, match=f"has .*{what}.* which is not supported") as caught:
        read_tokenizer(write(tokenizer(**changes)))

    assert "BERT and XLM-RoBERTa" in caught.value.hint


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[" * 100_000, "7", '{"model": {"type": "WordPiece"}}',
        '{"model": {"type": "WordPiece", "vocab": {"a": 0, "b": 5}}}',
        '{"model": {"type": "WordPiece", "vocab": ["a"]}}', '{"model": {"type": "Unigram", "vocab": [["a"]]}}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_that_names_it(write: Any, content: str) -> None:
    with pytest.raises(InvalidInputError):
        read_tokenizer(write(content))
