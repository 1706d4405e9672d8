"""Texts become the same numbers as in `tokenizers`, the library that the models were made with."""

import json
from pathlib import Path

import pytest

from panorama.index.embedders.bundled import VOCABULARY
from panorama.index.embedders.wordpiece import CHARS_PER_TOKEN, WordPieceTokenizer

from .samples import CORNERS, make_texts

SAMPLE = [file.read_text("utf-8") for file in sorted((VOCABULARY.path.parents[1] / "sample").rglob("*.md"))]
FROZEN = Path(__file__).with_name("pieces.json")
START, END, UNKNOWN = 101, 102, 100


@pytest.fixture(scope="module")
def words() -> WordPieceTokenizer:
    return WordPieceTokenizer.read(VOCABULARY.path)


def test_corner_cases_become_the_numbers_that_tokenizers_gave(words: WordPieceTokenizer) -> None:
    expected = json.loads(FROZEN.read_text())

    assert {text: words.encode(text, 64) for text in expected} == expected


def test_thousands_of_texts_become_what_tokenizers_gives(words: WordPieceTokenizer) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is only in the dependency group `making`")
    theirs = tokenizers.BertWordPieceTokenizer(str(VOCABULARY.path), lowercase=True)
    theirs.enable_truncation(64)

    wrong = [
        text
        for text in (*CORNERS, *make_texts(2000), *SAMPLE)
        # Their special words in a text are special to them; to us they are words, since notes are not templates.
        if "[CLS]" not in text and words.encode(text, 64) != theirs.encode(text).ids
    ]

    assert wrong == []


def test_special_words_in_a_text_are_words(words: WordPieceTokenizer) -> None:
    assert words.encode("[SEP]", 64).count(END) == 1


def test_a_long_text_is_cut(words: WordPieceTokenizer) -> None:
    found = words.encode("word " * 200_000, 256)

    assert (len(found), found[0], found[-1]) == (256, START, END)


def test_a_long_text_is_cut_before_it_is_read(words: WordPieceTokenizer) -> None:
    assert words.encode(" " * (256 * CHARS_PER_TOKEN) + "word", 256) == [START, END]


def test_what_is_remembered_of_words_is_bounded(words: WordPieceTokenizer) -> None:
    for number in range(25_000):
        words.encode(f"w{number}", 8)

    assert len(words._words) <= 20_000


def test_a_word_without_pieces_is_unknown(words: WordPieceTokenizer) -> None:
    assert words.encode("🙂 x🙂", 8) == [START, UNKNOWN, UNKNOWN, END]
