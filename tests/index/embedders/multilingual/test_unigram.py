"""Words are split into their most probable pieces."""

from pathlib import Path

import pytest

from panorama.index.embedders.multilingual.unigram import END, START, UNKNOWN, UnigramTokenizer

PIECES = (
    ("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0),
    ("\u2581tea", -3.0), ("\u2581", -4.0), ("t", -6.0), ("e", -6.0), ("a", -6.0), ("pot", -4.0), ("pots", -9.0),
    ("s", -4.0),
)  # fmt: skip


@pytest.fixture
def tokenizer() -> UnigramTokenizer:
    """A tokenizer with a dozen pieces."""
    return UnigramTokenizer(PIECES)


def test_the_most_probable_pieces_are_taken(tokenizer: UnigramTokenizer) -> None:
    assert tokenizer.encode("teapots", 16) == [START, 3, 8, 10, END]


def test_an_unknown_character_has_one_piece(tokenizer: UnigramTokenizer) -> None:
    assert tokenizer.encode("tea☕", 16) == [START, 3, UNKNOWN, END]


def test_characters_of_another_form_are_the_same(tokenizer: UnigramTokenizer) -> None:
    assert tokenizer.encode("\uff54\uff45\uff41\u3000tea", 16) == tokenizer.encode("tea  tea", 16)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_text_without_words_has_one_unknown_piece(tokenizer: UnigramTokenizer, text: str) -> None:
    assert tokenizer.encode(text, 16) == [START, UNKNOWN, END]


def test_a_long_text_is_cut_with_its_end(tokenizer: UnigramTokenizer) -> None:
    ids = tokenizer.encode("tea " * 500, 16)

    assert (len(ids), ids[0], ids[-1]) == (16, START, END)


def test_pieces_are_read_from_a_file_with_a_score_on_each_line(tmp_path: Path, tokenizer: UnigramTokenizer) -> None:
    file = tmp_path / "pieces.txt"
    file.write_text("\n".join(f"{piece}\t{score}" for piece, score in PIECES), "utf-8")

    assert UnigramTokenizer.read(file).encode("teapot", 16) == tokenizer.encode("teapot", 16)
