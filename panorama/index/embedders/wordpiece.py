"""WordPiece tokenizer of BERT's models."""

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

CHARS_PER_TOKEN = 64
"""Characters read per requested token: English has 4 or 5, so only texts of blanks or very long words are affected."""

_MAX_WORD_CHARS = 100
_MAX_CACHED_WORDS = 20_000
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
"""The ranges that BERT treats as Chinese. The fourth from the end has 2B920 instead of Unicode's 2B820, as in the
models.
"""


class WordPieceTokenizer:
    """The tokenizer of BERT's models, equivalent to `tokenizers`; thread-safe.

    Args:
        pieces: All pieces in the order of their ids.
        specials: The pieces of an unknown word and of both ends of a text.
        normalize: Returns a text with blanks around its words and separate characters.
    """

    def __init__(
        self,
        pieces: Sequence[str],
        specials: tuple[str, str, str] = ("[UNK]", "[CLS]", "[SEP]"),
        normalize: Callable[[str], str] | None = None,
    ) -> None:
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))
        self.unknown, self._start, self._end = (self._ids[name] for name in specials)
        self._normalize = normalize or normalize_text
        self._words: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @classmethod
    def read(cls, vocabulary: Path) -> "WordPieceTokenizer":
        """Create the tokenizer of a vocabulary: one piece per line, numbered from 0."""
        return cls(vocabulary.read_text(encoding="utf-8").split("\n"))

    def encode(self, text: str, limit: int) -> list[int]:
        """Return the token ids of a text with [CLS] and [SEP], at most `limit` in all."""
        results = [self._start]
        for word in self._normalize(text[: limit * CHARS_PER_TOKEN]).split():
            results += self._words.get(word) or self._cache_pieces(word)
            if len(results) >= limit:
                del results[limit - 1 :]
                break
        results.append(self._end)
        return results

    def _cache_pieces(self, word: str) -> tuple[int, ...]:
        if len(self._words) >= _MAX_CACHED_WORDS:
            self._words.clear()
        pieces = self._words[word] = self._split_word(word)
        return pieces

    def _split_word(self, word: str) -> tuple[int, ...]:
        if len(word) > _MAX_WORD_CHARS:
            return (self.unknown,)
        results: list[int] = []
        begin = 0
        while begin < len(word):
            for end in range(min(len(word), begin + self._longest), begin, -1):
                piece = self._ids.get(("##" if begin else "") + word[begin:end])
                if piece is not None:
                    break
            else:
                return (self.unknown,)
            results.append(piece)
            begin = end
        return tuple(results)


def normalize_text(text: str) -> str:
    """Return a text in lower case without accents and control characters, with blanks around separate characters."""
    # A sigma at the end of a word has a form of its own in Python's lower(), but not in the models' vocabulary.
    plain = unicodedata.normalize("NFD", text).replace("Σ", "σ").lower()
    return plain.translate(_CHARACTERS)


def normalize_cased_text(text: str) -> str:
    """Return a text without control characters, with blanks around separate characters; case and accents stay."""
    return text.translate(_CASED_CHARACTERS)


class _CharacterTable(dict[int, str]):
    """A cache of the normalised form of each character."""

    def __init__(self, removed: frozenset[str]) -> None:
        super().__init__()
        self._removed = removed

    def __missing__(self, code: int) -> str:
        created = self[code] = _replacement(chr(code), code, self._removed)
        return created


def _replacement(character: str, code: int, removed: frozenset[str]) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return " "
    if code in (0, 0xFFFD) or category in removed:
        return ""
    if _is_separate(code, category):
        return f" {character} "
    return character


def _is_separate(code: int, category: str) -> bool:
    if code < 128:
        return not chr(code).isalnum()
    return category[0] == "P" or any(first <= code <= last for first, last in _IDEOGRAPHS)


_CONTROL = frozenset({"Cc", "Cf", "Co", "Cs"})
_CHARACTERS, _CASED_CHARACTERS = _CharacterTable(_CONTROL | {"Mn"}), _CharacterTable(_CONTROL)
