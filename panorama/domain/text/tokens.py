"""Splits text into words for keyword search, and finds hits in it again."""

import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

PART_CHARS = 131_072
"""The longest text that is indexed as one part; longer ones are split at lines, so that a change affects one part."""

SNIPPET_CHARS = 160
MAX_TERMS = 24
"""The maximum number of terms of a query that are searched."""

_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_HAN}]+")
_TERM = re.compile(r'"([^"]*)"|(\S+)')
_PIECE = re.compile(f"[{_HAN}]+|[^\\W{_HAN}]+")


_CLITICS = re.compile(r"(?<=\w)['’](?:s|t|d|m|ll|re|ve)\b|\b(?:\w|qu)['’](?=\w)", re.IGNORECASE)
"""Affixes written with an apostrophe: children's, we'll, d'une, qu'il."""

_ENGLISH = """
a about after all also an and any are as at be because been before but by can could did do does doing for from had has
have having he her here him his how i if in into is it its just me more most my no nor not of off on one only or other
our out over own she should so some such than that the their them then there these they this those through to too until
up us very was we were what when where which while who whom whose why will with would you your
"""
_OTHERS = """
aber alle als am auch auf aus bei bin bis da das dass dem den der des die doch du durch ein eine einem einen einer eines
er es für habe haben hat ich ihr ihre im ins ist jede jeder kann man mein meine mit muss nach nicht noch nur ob oder
ohne sein seine sich sie sind soll sollen um und uns unser unsere unter vom von vor war weil wenn wer werden wie wieder
wir wird wo zu zum zur zwischen über
au aux avec ce ces cette dans elle en est et il ils je la le les leur lui ma mais mes mon ne nous on où par pas pour qu
que qui sa ses son sont sur un une vous
al como con cuando de del donde el ella es esta este lo los las mi mis muy o para pero por se sin su sus una unas unos
y ya
"""
ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
STOP_WORDS = ENGLISH_STOP_WORDS | frozenset(_OTHERS.split())
"""Stop words in English, German, French and Spanish; they count only if the query has no others."""


_QUOTE_MAP = str.maketrans("\x00_“”„«»", '  """""')


@dataclass(frozen=True, slots=True)
class Term:
    """A search term: adjacent words, the last of which may be a prefix.

    `guessed` means that the prefix was not marked: the last word of a query may be incomplete. A `quoted` term is
    matched exactly. `others` are other spellings: a code with or without a hyphen, ß as ss.
    """

    words: tuple[str, ...]
    prefix: bool = False
    guessed: bool = False
    quoted: bool = False
    others: tuple[tuple[str, ...], ...] = ()

    @property
    def is_stop_word(self) -> bool:
        """Whether it is a single stop word."""
        return len(self.words) == 1 and not self.quoted and self.words[0].casefold() in STOP_WORDS


def index_text(text: str) -> str:
    """Return text for the index: runs of Chinese and Japanese characters as overlapping pairs.

    SQLite's tokenizers do not know these words; 東京都 becomes 東京 京都 都, so that every pair, and every character
    as a prefix, is found.
    """
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return normal if normal.isascii() else _RUN.sub(_to_bigrams, normal)


def _to_bigrams(match: re.Match[str]) -> str:
    run = match[0]
    return " " + " ".join(run[at : at + 2] for at in range(len(run))) + " "


def parse_terms(query: str) -> tuple[Term, ...]:
    """Parse a query; quoted words are phrases, and the last word may be a prefix.

    Every character that is not a letter or digit separates words, so a query has no operators; `*` after a word marks
    a prefix. Quotes may be of any style.
    """
    text = unicodedata.normalize("NFKC", query.translate(_QUOTE_MAP))
    results: list[Term] = []
    for match in _TERM.finditer(text):
        if match[1] is not None:
            words = tuple(word for piece in _PIECE.findall(match[1]) for word in _split_word(piece))
            results += [Term(words, quoted=True)] if words else []
        else:
            pieces = _PIECE.findall(_CLITICS.sub(" ", match[2])) or _PIECE.findall(match[2])
            results += [_make_term(piece, match[2].endswith("*")) for piece in pieces]
    terms = results[:MAX_TERMS]
    if terms and not text.rstrip().endswith(('"', "*")) and len(terms[-1].words[-1]) > 1 and not terms[-1].quoted:
        terms[-1] = Term(terms[-1].words, prefix=True, guessed=not terms[-1].prefix)
    return tuple(terms)


def drop_stop_words(terms: Sequence[Term]) -> Sequence[Term]:
    """Return terms without stop words if there are others."""
    return [term for term in terms if not term.is_stop_word] or terms


def _make_term(piece: str, begun: bool) -> Term:
    alone = len(piece) == 1 and bool(_RUN.match(piece))
    return Term(_split_word(piece), prefix=begun or alone)


def _split_word(piece: str) -> tuple[str, ...]:
    """Return a run of Chinese or Japanese characters as indexed pairs, any other word unchanged."""
    if not _RUN.match(piece) or len(piece) == 1:
        return (piece,)
    return tuple(piece[at : at + 2] for at in range(len(piece) - 1))


MAX_CUT_LOOKS = 2000
"""The maximum number of line breaks compared for one cut: a text of empty lines has 65,536 in half a part."""


def iter_parts(text: str, chars: int = PART_CHARS) -> Iterator[str]:
    """Yield a text in parts of at most so many characters, cut behind lines.

    Each cut is at the line break in the part's second half whose line has the smallest checksum: it depends only on
    the nearby text, so a block inserted at the top moves no later cut.
    """
    start = 0
    while len(text) - start > chars:
        cut = _choose_cut(text, start + chars // 2, start + chars)
        yield text[start:cut]
        start = cut
    yield text[start:]


def _choose_cut(text: str, low: int, high: int) -> int:
    best, best_sum = high, 1 << 33
    at, looks = text.find("\n", low, high), 0
    while at >= 0 and looks < MAX_CUT_LOOKS:
        looks += 1
        checksum = zlib.crc32(text[max(low, at - 80) : at].encode("utf-8", "replace"))
        if checksum < best_sum:
            best, best_sum = at + 1, checksum
        at = text.find("\n", at + 1, high)
    return best


class _FoldTable(dict[int, str]):
    """Maps a character to its base letter in lower case, one to one, so that offsets stay the same."""

    def __missing__(self, code: int) -> str:
        base = unicodedata.normalize("NFKD", chr(code))[0].lower()
        self[code] = base if len(base) == 1 else chr(code)
        return self[code]


_FOLDING = _FoldTable()
MAX_REPLACED_CHARS = 64
"""Up to this many distinct non-ASCII characters are replaced one by one, which is three times as fast."""


def fold_keep_offsets(text: str) -> str:
    """Return text without case and diacritics, of the same length."""
    if text.isascii():
        return text.lower()
    foreign = {sign for sign in set(text) if sign > "\x7f"}
    if len(foreign) > MAX_REPLACED_CHARS:
        return text.translate(_FOLDING)
    for sign in foreign:
        text = text.replace(sign, _FOLDING[ord(sign)])
    return text.lower()


def _noop() -> None:
    """Do nothing: the default check."""


def extract_snippet(
    text: str, query: tuple[Term, ...], *, chars: int = SNIPPET_CHARS, check: Callable[[], None] = _noop
) -> str:
    """Return the part of a text with most of the query's words, on one line, each hit between `**`.

    Returns the beginning of the text if it contains no word of the query.

    Args:
        check: Called every few milliseconds; an exception from it ends the work.
    """
    sought = _build_matcher(query)
    hits = sought.list_hits(text, check)
    if not hits:
        return _collapse_whitespace(text[:chars].replace("**", "")) + ("…" if len(text) > chars else "")
    first = _densest_hit(hits, chars - chars // 3)
    start = max(0, hits[first].begin - chars // 3)
    end = min(len(text), start + max(chars, hits[first].end - hits[first].begin + chars // 3))
    parts, at = ["…" if start else ""], start
    for hit in hits:
        if hit.begin < at or hit.end > end:
            continue
        parts.append(f"{text[at : hit.begin].replace('**', '')}**{text[hit.begin : hit.end]}**")
        at = hit.end
    tail = text[at:end].replace("**", "")
    return parts[0] + _collapse_whitespace("".join(parts[1:]) + tail) + ("…" if end < len(text) else "")


def contains(text: str, query: tuple[Term, ...], check: Callable[[], None] = _noop) -> bool:
    """Return whether a text contains any word of a query; `check` as for `extract_snippet`."""
    return bool(_build_matcher(query).list_hits(text, check, limit=1))


@dataclass(frozen=True, slots=True, order=True)
class _Match:
    """The range of a match in a text, the index of its query word, and whether it is exact."""

    begin: int
    end: int
    asked: str
    is_exact: bool


@dataclass(frozen=True, slots=True)
class _QueryMatcher:
    """The patterns of a query: its words with any ending, else their prefixes, since the index has stems.

    A text that matches any pattern contains one of `begun`; `exact` has one pattern per word. A pattern is compiled
    when it is first needed, since most queries need one only.
    """

    words: frozenset[str]
    begun: tuple[str, ...]
    patterns: tuple[str, str]
    exact: tuple[str, ...]

    def list_hits(self, text: str, check: Callable[[], None], limit: int = 100) -> list[_Match]:
        """Return the first hundred matches; if there are more, also the first exact match of each word and its
        surroundings.
        """
        for pattern in self.patterns:
            if hits := self._scan(text, re.compile(pattern), limit, check):
                break
        else:
            return []
        if 1 < limit <= len(hits):
            first = [begin for entry in self.exact for begin in self._list_begins(text, entry, limit // 5, check)]
            near = [
                self._scan(text, re.compile(pattern), limit, check, begin, begin + SNIPPET_CHARS) for begin in first
            ]
            hits = sorted({*hits, *(place for places in near for place in places)})
        return hits

    def _list_begins(self, text: str, entry: str, limit: int, check: Callable[[], None]) -> list[int]:
        return [place.begin for place in self._scan(text, re.compile(entry), limit, check)]

    def _scan(
        self,
        text: str,
        pattern: re.Pattern[str],
        limit: int,
        check: Callable[[], None],
        begin: int = 0,
        end: int | None = None,
    ) -> list[_Match]:
        results: list[_Match] = []
        end = len(text) if end is None else end
        for start in range(begin, end, PART_CHARS):
            check()
            last = min(end, start + PART_CHARS)
            part = fold_keep_offsets(text[start : last + SNIPPET_CHARS])
            if not any(
                started in part for started in self.begun
            ):  # in 10 MB this takes 10 ms for each, the pattern 300
                continue
            for match in pattern.finditer(part):
                if start + match.start() >= last:
                    break  # it may be cut off
                if not results or start + match.start() >= results[-1].end:
                    results.append(self._to_match(start, match))
                if len(results) == limit:
                    return results
        return results

    def _to_match(self, start: int, match: re.Match[str]) -> _Match:
        asked = next(started for started in self.begun if match[0].startswith(started))
        return _Match(start + match.start(), start + match.end(), asked, match[0] in self.words)


@lru_cache(maxsize=64)
def _build_matcher(query: tuple[Term, ...]) -> _QueryMatcher:
    words = [
        fold_keep_offsets(word)
        for term in drop_stop_words(query)
        for entry in (term.words, *term.others)
        for word in entry
    ]
    started = [word if len(word) < 5 else word[: max(4, len(word) - 3)] for word in words]
    patterns = _any_of(map(_prefix_pattern, words)), _any_of(map(_prefix_pattern, started))
    exact = tuple(rf"\b{re.escape(word)}\b" for word in words)
    return _QueryMatcher(frozenset(words), tuple(dict.fromkeys(started)), patterns, exact)


def _any_of(patterns: Iterable[str]) -> str:
    return "|".join(patterns) or r"(?!)"


def _densest_hit(hits: list[_Match], chars: int) -> int:
    """Return the first match that is followed by the most query words within some characters.

    An exact match counts one and a half times as much as one with another ending.
    """

    def score(at: int) -> float:
        near = [hit for hit in hits[at : at + 12] if hit.begin < hits[at].begin + chars]
        return len({hit.asked for hit in near}) + len({hit.asked for hit in near if hit.is_exact}) / 2

    return max(range(len(hits)), key=lambda at: (score(at), -at))


def _prefix_pattern(word: str) -> str:
    if _RUN.match(word):
        return re.escape(word)
    return rf"\b{re.escape(word)}\b" if len(word) == 1 else rf"\b{re.escape(word)}\w*"


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
