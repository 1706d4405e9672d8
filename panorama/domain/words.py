"""Words: how text is cut for keyword search, and how the place of a hit is found in it again."""

import re
import unicodedata
import zlib
from dataclasses import dataclass

PART_CHARS = 131_072
"""The longest text that is indexed as one; longer ones are cut at a line, so that a change to one costs one part."""

SNIPPET_CHARS = 160
TERMS = 24
"""The most terms of a query that are looked for."""

_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_HAN}]+")
_TERM = re.compile(r'"([^"]*)"|(\S+)')
_PIECE = re.compile(f"[{_HAN}]+|[^\\W{_HAN}]+")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for: words that stand together, the last one perhaps only begun."""

    words: tuple[str, ...]
    prefix: bool = False


def indexed(text: str) -> str:
    """Return text as the index holds it: runs of Chinese and Japanese signs as overlapping pairs.

    No tokenizer of SQLite knows their words; 東京都 becomes 東京 京都 都, so that every pair, and every sign as the
    beginning of a word, is found.
    """
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return normal if normal.isascii() else _RUN.sub(_pairs, normal)


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return " " + " ".join(run[at : at + 2] for at in range(len(run))) + " "


def terms(query: str) -> tuple[Term, ...]:
    """Return what a query asks for; quoted words stand together, the last word may be only begun.

    Every sign that is no letter or digit only parts words, so nothing in a query is an operator; `*` behind a word
    says that it is only begun.
    """
    text = unicodedata.normalize("NFKC", query.replace("\x00", " ").replace("_", " "))
    found: list[Term] = []
    for match in _TERM.finditer(text):
        if match[1] is not None:
            words = tuple(word for piece in _PIECE.findall(match[1]) for word in _indexed_words(piece))
            found += [Term(words)] if words else []
        else:
            found += [_term(piece, match[2].endswith("*")) for piece in _PIECE.findall(match[2])]
    kept = found[:TERMS]
    if kept and not query.rstrip().endswith(('"', "*")) and len(kept[-1].words[-1]) > 1:
        kept[-1] = Term(kept[-1].words, prefix=True)
    return tuple(kept)


def _term(piece: str, begun: bool) -> Term:
    alone = len(piece) == 1 and bool(_RUN.match(piece))
    return Term(_indexed_words(piece), prefix=begun or alone)


def _indexed_words(piece: str) -> tuple[str, ...]:
    """A run of Chinese or Japanese signs as the pairs that stand in the index; any other word as it is."""
    if not _RUN.match(piece) or len(piece) == 1:
        return (piece,)
    return tuple(piece[at : at + 2] for at in range(len(piece) - 1))


def parts(text: str) -> list[str]:
    """Return a text in parts of at most 131,072 characters, cut behind lines.

    Each cut is the line break in the part's second half whose line has the smallest checksum: it depends on the text
    around it and not on what stands before, so a block put on top moves no later cut.
    """
    found: list[str] = []
    start = 0
    while len(text) - start > PART_CHARS:
        cut = _cut(text, start + PART_CHARS // 2, start + PART_CHARS)
        found.append(text[start:cut])
        start = cut
    return [*found, text[start:]]


def _cut(text: str, low: int, high: int) -> int:
    best, best_sum = high, 1 << 33
    at = text.find("\n", low, high)
    while at >= 0:
        checksum = zlib.crc32(text[max(low, at - 80) : at].encode("utf-8", "replace"))
        if checksum < best_sum:
            best, best_sum = at + 1, checksum
        at = text.find("\n", at + 1, high)
    return best


class _Folding(dict[int, str]):
    """Maps a character to its base letter in lower case, one to one, so that places stay the same."""

    def __missing__(self, code: int) -> str:
        base = unicodedata.normalize("NFKD", chr(code))[0].lower()
        self[code] = base if len(base) == 1 else chr(code)
        return self[code]


_FOLDING = _Folding()


def folded_in_place(text: str) -> str:
    """Return text without case and diacritics, of the same length."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def snippet(text: str, query: tuple[Term, ...], *, chars: int = SNIPPET_CHARS) -> str:
    """Return the stretch of a text around its first hit, on one line, the hit between `**`.

    The beginning of the text if nothing of the query stands in it.
    """
    match = next((found for pattern in _patterns(query) if (found := _first(text, pattern))), None)
    if match is None:
        return _one_line(text[:chars].replace("**", "")) + ("…" if len(text) > chars else "")
    start = max(0, match[0] - chars // 3)
    end = min(len(text), start + max(chars, match[1] - match[0] + chars // 3))
    before, after = (part.replace("**", "") for part in (text[start : match[0]], text[match[1] : end]))
    marked = f"{before}**{text[match[0] : match[1]]}**{after}"
    return ("…" if start else "") + _one_line(marked) + ("…" if end < len(text) else "")


def _first(text: str, pattern: re.Pattern[str]) -> tuple[int, int] | None:
    for start in range(0, max(len(text), 1), PART_CHARS):
        match = pattern.search(folded_in_place(text[start : start + PART_CHARS + SNIPPET_CHARS]))
        if match:
            return start + match.start(), start + match.end()
    return None


def _patterns(query: tuple[Term, ...]) -> list[re.Pattern[str]]:
    """The words themselves; then their beginnings, since the index compares stems."""
    words = [folded_in_place(word) for term in query for word in term.words]
    if not words:
        return []
    return [
        re.compile("|".join(_beginning(word) for word in words)),
        re.compile("|".join(_beginning(word if len(word) < 5 else word[: max(4, len(word) - 3)]) for word in words)),
    ]


def _beginning(word: str) -> str:
    return re.escape(word) if _RUN.match(word) else rf"\b{re.escape(word)}\w*"


def _one_line(text: str) -> str:
    return " ".join(text.split())
