"""Corrections of misspelt words by the words of an index."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from panorama.domain.text import spelling
from panorama.domain.text.tokens import STOP_WORDS, Term, fold_keep_offsets
from panorama.store.backend import Session
from panorama.store.words.tokenizer import get_tokenizer, stem, stem_words

MAX_STEMS = 16
"""The maximum number of similar stems whose written forms are looked up."""

MAX_EXTRA_DISTANCE = 4
MAX_PLACES = 60
"""The maximum number of occurrences of a stem that are read in one text to find its written forms."""

MAX_TEXTS = 3
"""The maximum number of titles and texts that are read to find the written forms of a stem."""

READ_CHARS = 20_000
MAX_BUCKET = 20_000
"""The maximum number of stems with the same first two letters that are compared."""

_LAST = "\U0010ffff"


class TermRange(NamedTuple):
    """The stems from `low` up to `high`, without it, that have a length in characters."""

    low: str
    high: str
    shortest: int
    longest: int


class WordVocabulary(ABC):
    """The base of every word vocabulary; a database adds its statements."""

    @abstractmethod
    def count_parts(self, session: Session, stems: Sequence[str]) -> dict[str, int]:
        """Return how many parts contain each stem, without unknown ones."""

    @abstractmethod
    def list_terms(self, session: Session, span: TermRange) -> Iterable[str]:
        """Return stems of the index in a range, at most MAX_BUCKET; some may have left it."""

    @abstractmethod
    def filter_known(self, session: Session, stems: Collection[str]) -> Collection[str]:
        """Return those of some stems that the index has; some may have left it."""

    @abstractmethod
    def read_texts(self, session: Session, counts: Mapping[str, int]) -> Mapping[str, Sequence[str]]:
        """Return the beginnings of the first MAX_TEXTS titles and texts with each stem, given how many parts hold it.

        They are READ_CHARS long.
        """

    def count_term(self, session: Session, term: Term, *, most: int) -> int:
        """Return how many parts contain a term, counted up to `most`."""
        text = session.full_text
        return text.count(session, text.build_expression([term], every=True), most=most)

    def stem(self, word: str) -> str:
        """Return the form in which the index stores a word, "" if it is not a single word."""
        return stem(word)

    def correct(self, session: Session, word: str) -> str:
        """Return the known word, as written, that an unknown one most likely was; "" if there is none."""
        folded = fold_keep_offsets(word)
        if not folded.isalpha() or len(folded) < spelling.MIN_WORD_CHARS or folded in STOP_WORDS:
            return ""
        count: Counter[str] = Counter()
        spelt: dict[str, str] = {}
        for near, texts in self.read_texts(session, self._find_near_stems(session, folded)).items():
            for entry in _find_written_forms(near, texts):
                count[fold_keep_offsets(entry)] += 1
                spelt.setdefault(fold_keep_offsets(entry), entry)
        candidates = [entry for entry in count.items() if entry[0] not in STOP_WORDS]
        return spelt.get(spelling.best_match(folded, candidates), "")

    def split_word(self, session: Session, word: str) -> str:
        """Return the two words that an unknown word may be, if they occur next to each other, else ""."""
        folded = fold_keep_offsets(word)
        ways = (
            [split for split in spelling.iter_splits(folded) if not STOP_WORDS.intersection(split)]
            if folded.isalpha()
            else []
        )
        return next((f"{first} {second}" for first, second in self._iter_known_splits(session, ways)), "")

    def split_code(self, session: Session, code: str) -> tuple[tuple[str, str], ...]:
        """Return the two parts in which a code of letters and digits is written in the store: QX-83K2 for qx83k2."""
        return tuple(self._iter_known_splits(session, list(spelling.iter_splits(fold_keep_offsets(code), shortest=1))))

    def _find_near_stems(self, session: Session, folded: str) -> dict[str, int]:
        """Return stems similar to a prefix of a word, the most similar first, and their counts.

        The stem of a word that ends in y ends in i; that i is not compared.
        """
        limit = spelling.allowed_edits(folded)
        variants = self.filter_known(session, _stem_variants(folded))
        far: dict[str, int] = {}
        for entry in dict.fromkeys([*self._iter_alike(session, folded, limit), *variants]):
            distance = spelling.edit_distance(folded, entry.removesuffix("i"), limit, begun=True)
            if distance <= limit and entry not in STOP_WORDS:
                far[entry] = 2 * distance + abs(len(folded) - len(entry))
        most = max(sorted(far.values())[:MAX_STEMS], default=0)
        counts = self.count_parts(session, [entry for entry, value in far.items() if value <= most])
        near = sorted((far[entry], -count, entry) for entry, count in counts.items())
        return {entry: -count for value, count, entry in near[:MAX_STEMS] if value <= near[0][0] + MAX_EXTRA_DISTANCE}

    def _iter_alike(self, session: Session, folded: str, limit: int) -> Iterator[str]:
        """Yield stems with the same first two letters, and almost the same letters."""
        letters = set(folded)
        for low, high in _search_ranges(folded[:2]):
            span = TermRange(low, high, (len(folded) + 1) // 2, len(folded) + limit)
            for entry in self.list_terms(session, span):
                if len(set(entry) - letters) <= limit and len(letters - set(entry)) <= limit + 3:
                    yield entry

    def _iter_known_splits(self, session: Session, ways: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield the splits whose halves stand next to each other in the store."""
        stems = stem_words(list(dict.fromkeys(half for split in ways for half in split)))
        known = self.count_parts(session, [entry for entry in dict.fromkeys(stems.values()) if entry])
        text = session.full_text
        for split in ways:
            if all(stems[half] in known for half in split):
                phrase = text.build_expression([Term(split, quoted=True)], every=True)
                if text.count(session, phrase, most=1):
                    yield split


def _stem_variants(folded: str) -> tuple[str, ...]:
    """Return the stems of the words that differ from a word in the first two letters."""
    return get_tokenizer().stems(" ".join(spelling.first_letter_variants(folded)))


def _search_ranges(begin: str) -> list[tuple[str, str]]:
    """Return the term ranges between the stop words with a prefix: scanning `the` costs more than all others."""
    results: list[tuple[str, str]] = []
    low = begin
    for small in sorted(word for word in STOP_WORDS if word.startswith(begin)):
        results.append((low, small[:-1] + chr(ord(small[-1]) - 1) + _LAST))
        low = small + " "
    return [*results, (low, begin + _LAST)]


def _find_written_forms(near: str, texts: Sequence[str]) -> list[str]:
    """Return the written forms of a stem in some texts, in lower case, with repetitions."""
    started = re.compile(rf"\b{re.escape(near[: max(2, len(near) - 1)])}\w*")
    results: list[str] = []
    for written in texts:
        matches = islice(started.finditer(fold_keep_offsets(written)), MAX_PLACES)
        results += [written[entry.start() : entry.end()].lower() for entry in matches if stem(entry[0]) == near]
    return results
