"""Words: how text is cut for keyword search, and how the place of a hit is found in it again."""

import re
import unicodedata
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

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


_CLITICS = re.compile(r"(?<=\w)['’](?:s|t|d|m|ll|re|ve)\b|\b(?:\w|qu)['’](?=\w)", re.IGNORECASE)
"""What is written with an apostrophe at a word and is none of its own: children's, we'll, d'une, qu'il."""

_SMALL = """
a about after all also an and any are as at be because been before but by can could did do does doing for from had has
have having he her here him his how i if in into is it its just me more most my no nor not of off on one only or other
our out over own she should so some such than that the their them then there these they this those through to too until
up us very was we were what when where which while who whom whose why will with would you your
aber alle als am auch auf aus bei bin bis da das dass dem den der des die doch du durch ein eine einem einen einer eines
er es für habe haben hat ich ihr ihre im ins ist jede jeder kann man mein meine mit muss nach nicht noch nur ob oder
ohne sein seine sich sie sind soll sollen um und uns unser unsere unter vom von vor war weil wenn wer werden wie wieder
wir wird wo zu zum zur zwischen über
au aux avec ce ces cette dans elle en est et il ils je la le les leur lui ma mais mes mon ne nous on où par pas pour qu
que qui sa ses son sont sur un une vous
al como con cuando de del donde el ella es esta este lo los las mi mis muy o para pero por se sin su sus una unas unos
y ya
"""
SMALL = frozenset(_SMALL.split())
"""Words that tell little in English, German, French and Spanish; they count where nothing else was asked for."""


_PLAIN = str.maketrans("\x00_“”„«»", '  """""')


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for: words that stand together, the last one perhaps only begun.

    `guessed` says that nobody wrote that it is only begun: it is the last word, and may be still on its way. What was
    `quoted` is meant as it stands. `others` are other ways to write it: a code with or without a hyphen, ß as ss.
    """

    words: tuple[str, ...]
    prefix: bool = False
    guessed: bool = False
    quoted: bool = False
    others: tuple[tuple[str, ...], ...] = ()

    @property
    def is_small(self) -> bool:
        """Whether it is one word that tells little."""
        return len(self.words) == 1 and not self.quoted and self.words[0].casefold() in SMALL


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
    says that it is only begun. Quotes may be of any style.
    """
    text = unicodedata.normalize("NFKC", query.translate(_PLAIN))
    found: list[Term] = []
    for match in _TERM.finditer(text):
        if match[1] is not None:
            words = tuple(word for piece in _PIECE.findall(match[1]) for word in _indexed_words(piece))
            found += [Term(words, quoted=True)] if words else []
        else:
            pieces = _PIECE.findall(_CLITICS.sub(" ", match[2])) or _PIECE.findall(match[2])
            found += [_term(piece, match[2].endswith("*")) for piece in pieces]
    kept = found[:TERMS]
    if kept and not text.rstrip().endswith(('"', "*")) and len(kept[-1].words[-1]) > 1 and not kept[-1].quoted:
        kept[-1] = Term(kept[-1].words, prefix=True, guessed=not kept[-1].prefix)
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
FEW = 64
"""So many different signs beyond ASCII are replaced one by one, which takes a third of the time; Chinese has more."""


def folded_in_place(text: str) -> str:
    """Return text without case and diacritics, of the same length."""
    if text.isascii():
        return text.lower()
    foreign = {sign for sign in set(text) if sign > "\x7f"}
    if len(foreign) > FEW:
        return text.translate(_FOLDING)
    for sign in foreign:
        text = text.replace(sign, _FOLDING[ord(sign)])
    return text.lower()


def snippet(text: str, query: tuple[Term, ...], *, chars: int = SNIPPET_CHARS) -> str:
    """Return the stretch of a text where most of a query stands, on one line, each hit between `**`.

    The beginning of the text if nothing of the query stands in it.
    """
    sought = _sought(query)
    hits = sought.hits(text)
    if not hits:
        return _one_line(text[:chars].replace("**", "")) + ("…" if len(text) > chars else "")
    first = _densest(hits, chars - chars // 3)
    start = max(0, hits[first].begin - chars // 3)
    end = min(len(text), start + max(chars, hits[first].end - hits[first].begin + chars // 3))
    found, at = ["…" if start else ""], start
    for hit in hits:
        if hit.begin < at or hit.end > end:
            continue
        found.append(f"{text[at : hit.begin].replace('**', '')}**{text[hit.begin : hit.end]}**")
        at = hit.end
    tail = text[at:end].replace("**", "")
    return found[0] + _one_line("".join(found[1:]) + tail) + ("…" if end < len(text) else "")


def holds(text: str, query: tuple[Term, ...]) -> bool:
    """Tell whether any word of a query stands in a text."""
    return bool(_sought(query).hits(text, most=1))


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """Where a word begins and ends in a text, which one of the query it is, and whether it stands there as it does."""

    begin: int
    end: int
    asked: str
    is_exact: bool


@dataclass(frozen=True, slots=True)
class _Sought:
    """What of a query is marked: its words with any ending, else their beginnings, since the index has stems.

    One of `begun` stands wherever any of the patterns does; `exact` are the words as they stand, each for itself.
    """

    words: frozenset[str]
    begun: tuple[str, ...]
    patterns: tuple[re.Pattern[str], re.Pattern[str]]
    exact: tuple[re.Pattern[str], ...]

    def hits(self, text: str, most: int = 100) -> list[_Place]:
        """The first hundred; if there are more, also where each word first stands as it does, and what is near."""
        for pattern in self.patterns:
            if found := self._hits(text, pattern, most):
                break
        else:
            return []
        if 1 < most <= len(found):
            first = [place.begin for each in self.exact for place in self._hits(text, each, most // 5)]
            near = [self._hits(text, pattern, most, begin, begin + SNIPPET_CHARS) for begin in first]
            found = sorted({*found, *(place for places in near for place in places)})
        return found

    def _hits(
        self, text: str, pattern: re.Pattern[str], most: int, begin: int = 0, end: int | None = None
    ) -> list[_Place]:
        found: list[_Place] = []
        end = len(text) if end is None else end
        for start in range(begin, end, PART_CHARS):
            last = min(end, start + PART_CHARS)
            part = folded_in_place(text[start : last + SNIPPET_CHARS])
            if not any(begun in part for begun in self.begun):  # in 10 MB this takes 10 ms for each, the pattern 300
                continue
            for match in pattern.finditer(part):
                if start + match.start() >= last:
                    break  # it was cut off, perhaps
                if not found or start + match.start() >= found[-1].end:
                    found.append(self._place(start, match))
                if len(found) == most:
                    return found
        return found

    def _place(self, start: int, match: re.Match[str]) -> _Place:
        asked = next(begun for begun in self.begun if match[0].startswith(begun))
        return _Place(start + match.start(), start + match.end(), asked, match[0] in self.words)


@lru_cache(maxsize=64)
def _sought(query: tuple[Term, ...]) -> _Sought:
    told = [term for term in query if not term.is_small] or query
    words = [folded_in_place(word) for term in told for each in (term.words, *term.others) for word in each]
    begun = [word if len(word) < 5 else word[: max(4, len(word) - 3)] for word in words]
    patterns = _any_of(map(_beginning, words)), _any_of(map(_beginning, begun))
    exact = tuple(re.compile(rf"\b{re.escape(word)}\b") for word in words)
    return _Sought(frozenset(words), tuple(dict.fromkeys(begun)), patterns, exact)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or r"(?!)")


def _densest(hits: list[_Place], chars: int) -> int:
    """The first of the hits behind which the most words of the query stand within some characters.

    One that stands there as it was asked for counts half as much again as one with another ending.
    """

    def worth(at: int) -> float:
        near = [hit for hit in hits[at : at + 12] if hit.begin < hits[at].begin + chars]
        return len({hit.asked for hit in near}) + len({hit.asked for hit in near if hit.is_exact}) / 2

    return max(range(len(hits)), key=lambda at: (worth(at), -at))


def _beginning(word: str) -> str:
    if _RUN.match(word):
        return re.escape(word)
    return rf"\b{re.escape(word)}\b" if len(word) == 1 else rf"\b{re.escape(word)}\w*"


def _one_line(text: str) -> str:
    return " ".join(text.split())
