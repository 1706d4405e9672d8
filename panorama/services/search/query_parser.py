"""Parses a search query, and corrects misspelt words with the words of the store."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path

from panorama.domain.items.item import normalize_id
from panorama.domain.text.function_words import FUNCTION_WORDS
from panorama.domain.text.spelling import MIN_WORD_CHARS, edit_distance
from panorama.domain.text.tokens import ENGLISH_STOP_WORDS, STOP_WORDS, Term, fold_keep_offsets, parse_terms
from panorama.index.embedders.bundled import USE_PIECES, VOCABULARY
from panorama.index.embedders.multilingual.unigram import WORD_START
from panorama.store.backend import Session
from panorama.store.items import search
from panorama.store.items.search import WeightedTerm

MAX_QUERY_CHARS = 1000
MAX_REPAIRS = 4
"""The maximum number of words of a query that are corrected; a query in a foreign language has more unknown words."""

FREQUENT_PIECES = 40_000
"""The pieces of the multilingual model whose words are known: 13,760 in 16 languages, the most frequent first.

With all of its 128,000, reading takes 200 ms instead of 34, and more misspelt words are real ones: “tabel” is Dutch.
"""

MIN_SLIP_CHARS = 7
"""The shortest word that is likely meant if the typed one has one other letter or other double ones: “profesional”.

Shorter words resemble words of other languages by chance: “madre” and “made”, “dormir” and “dormer”.
"""

MAX_FOREIGN_SHARE = 0.5
"""The share of foreign words from which a query is taken to be in another language: “Bilder der Kirchen”."""

MIN_INFLECTED_CHARS = 6
"""The shortest word whose correction may have another last letter and be a form of it, as “próximo” of “próxima”."""

MAX_CODE_CHARS = 20
MAX_READ_CHARS = 8_000
MAX_COMPARED_WORDS = 40
MAX_INFORMATIVE_TERMS = 8
"""The limits for finding informative words: characters read, words compared, and words used."""

_LINE_TYPES: Mapping[str, str] = {
    **dict.fromkeys(
        ("decide", "decides", "decided", "agree", "agreed", "beschlossen", "beschluss", "entschieden", "entscheidung",
         "vereinbart"),
        "decision",
    ),
    **dict.fromkeys(("frage", "fragen", "asked"), "question"),
}  # fmt: skip
"""Words of questions, and the type of the lines that answer them; the type is indexed with each line."""

_ENDINGS = ("s", "d", "ed", "ing", "r", "er", "ly")
_SIBILANTS = ("s", "x", "z", "ch", "sh", "o")
"""The ends of a word whose plural ends with “es”."""

_DOUBLE = re.compile(r"(.)\1+")
_FOREIGN_FUNCTION_WORDS = (FUNCTION_WORDS | STOP_WORDS) - ENGLISH_STOP_WORDS
_WORDS = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query: its text as typed and with the corrections, its terms, and the corrections.

    `is_unsure` means that a word was not corrected because it may be meant as a word of another language.
    """

    typed: str
    query: str
    asked: tuple[WeightedTerm, ...]
    repairs: tuple[tuple[str, str], ...] = ()
    is_unsure: bool = False

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms to search and highlight."""
        return tuple(entry.term for entry in self.asked)

    @property
    def hint(self) -> str:
        """A hint about the corrections."""
        texts = [f"“{new}” instead of “{old}”" for old, new in self.repairs]
        return f"Searched for {', '.join(texts)}, which no item contains." if texts else ""


NO_WORDS = ParsedQuery("", "", ())
"""The query of a search that looks for no words."""


def parse_query(session: Session, query: str, *, is_last_try: bool = False) -> ParsedQuery:
    """Parse a query; quoted words and prefixes are not corrected.

    Args:
        is_last_try: Whether nothing is found otherwise; then a word alone is corrected even if it may be foreign.
    """
    typed = text = query[:MAX_QUERY_CHARS]
    terms = _with_line_types(_with_sharp_s(session, _with_codes(session, parse_terms(text))))
    asked = search.weigh_terms(session, terms)
    unknown = [entry.term for entry in asked if not entry.count and _is_correctable(entry.term)]
    found = [repair for term in unknown[:MAX_REPAIRS] if (repair := _repair(session, terms, term))]
    likely = {repair: _is_likely(terms, *repair) for repair in found}
    repairs = [repair for repair, is_likely in likely.items() if is_likely or (is_last_try and is_likely is None)]
    is_unsure = not is_last_try and None in likely.values()
    if not repairs:
        return ParsedQuery(typed, text, asked, is_unsure=is_unsure)
    for old, new in repairs:
        text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, text)
    put = dict(repairs)
    mended = _apply_repairs(terms, put)
    return ParsedQuery(typed, text, search.weigh_terms(session, mended), tuple(repairs), is_unsure)


def build_id_query(session: Session, ids: Sequence[str]) -> ParsedQuery:
    """Return the query for texts that contain ids, as one term each."""
    ways = [[tuple(id_form.split("_")) for id_form in dict.fromkeys((id_, normalize_id(id_)))] for id_ in ids]
    terms = [Term(first, quoted=True, others=tuple(others)) for first, *others in ways]
    text = " ".join(ids)
    return ParsedQuery(text, text, search.weigh_terms(session, terms))


def pick_informative_terms(session: Session, title: str, body: str) -> tuple[WeightedTerm, ...]:
    """Return the words for finding similar texts: those of the title, and the rarest shared ones."""
    often = Counter(word for word in _WORDS.findall(fold_keep_offsets(body[:MAX_READ_CHARS])) if word not in STOP_WORDS)
    words = [Term((word,)) for word, _ in often.most_common(MAX_COMPARED_WORDS)]
    shared = [term for term in search.weigh_terms(session, words) if term.count > 1]
    rare = sorted(shared, key=lambda term: -term.weight * (1 + often[term.term.words[0]]))[:MAX_INFORMATIVE_TERMS]
    named = search.weigh_terms(session, [replace(term, prefix=False, guessed=False) for term in parse_terms(title)])
    return tuple({term.term: term for term in (*named, *rare) if term.count}.values())


def _with_codes(session: Session, terms: Sequence[Term]) -> list[Term]:
    """Return terms with the other spellings of codes (words with digits) in the store."""
    joined: dict[Term, list[str]] = {}
    for pair in pairwise(terms):
        if all(_is_correctable(term) for term in pair) and any(_has_digit(term.words[0]) for term in pair):
            whole = fold_keep_offsets("".join(term.words[0] for term in pair))
            for term in pair:
                joined.setdefault(term, []).append(whole)
    stems = {whole: session.vocabulary.stem(whole) for variants in joined.values() for whole in variants}
    known = session.vocabulary.count_parts(session, [stem for stem in dict.fromkeys(stems.values()) if stem])
    results: list[Term] = []
    for term in terms:
        others: list[tuple[str, ...]] = [(whole,) for whole in joined.get(term, ()) if stems[whole] in known]
        if _is_correctable(term) and _is_code(term.words[0]):
            others += session.vocabulary.split_code(session, term.words[0])
        results.append(replace(term, others=tuple(others)) if others else term)
    return results


def _with_sharp_s(session: Session, terms: Sequence[Term]) -> list[Term]:
    """Return terms with ß for ss and ss for ß, if the store contains them, because tokenizers distinguish them."""
    ways = {term: _sharp_s_variants(term.words[0]) for term in terms if len(term.words) == 1}
    stems = {
        spelling: session.vocabulary.stem(fold_keep_offsets(spelling))
        for variants in ways.values()
        for spelling in variants
    }
    known = session.vocabulary.count_parts(session, [stem for stem in dict.fromkeys(stems.values()) if stem])
    results: list[Term] = []
    for term in terms:
        others = [(spelling,) for spelling in ways.get(term, ()) if stems[spelling] in known]
        results.append(replace(term, others=(*term.others, *others)) if others else term)
    return results


def _with_line_types(terms: Sequence[Term]) -> list[Term]:
    """Return the terms plus the line type that a word implies: “decided” adds `decision`."""
    return [
        replace(term, others=(*term.others, (type_,)))
        if len(term.words) == 1 and not term.quoted and (type_ := _LINE_TYPES.get(term.words[0].lower()))
        else term
        for term in terms
    ]


def _sharp_s_variants(word: str) -> list[str]:
    word = word.lower()
    places = [match.start() for match in re.finditer("ss", word)]
    replaced = [f"{word[:at]}ß{word[at + 2 :]}" for at in places]
    return list(
        dict.fromkeys(
            spelling for spelling in (*replaced, word.replace("ss", "ß"), word.replace("ß", "ss")) if spelling != word
        )
    )


def _has_digit(word: str) -> bool:
    return any(sign.isdigit() for sign in word)


def _is_code(word: str) -> bool:
    return len(word) <= MAX_CODE_CHARS and word.isalnum() and not word.isdigit() and _has_digit(word)


def _is_correctable(term: Term) -> bool:
    return len(term.words) == 1 and not term.quoted and (term.guessed or not term.prefix)


def _repair(session: Session, terms: Sequence[Term], term: Term) -> tuple[str, str] | None:
    """Return a word of the query and its correction: joined, split, or with other letters."""
    word = term.words[0]
    pairs = [pair for pair in pairwise(terms) if term in pair and all(_is_correctable(entry) for entry in pair)]
    joined = {(first.words[0], second.words[0]): first.words[0] + second.words[0] for first, second in pairs}
    stems = {words: session.vocabulary.stem(fold_keep_offsets(whole)) for words, whole in joined.items()}
    known = session.vocabulary.count_parts(session, [stem for stem in dict.fromkeys(stems.values()) if stem])
    for words, whole in joined.items():
        if stems[words] in known:
            return " ".join(words), whole
    if fold_keep_offsets(word) in FUNCTION_WORDS or _is_english(fold_keep_offsets(word)):
        return None
    new = session.vocabulary.correct(session, word) or session.vocabulary.split_word(session, word)
    return (word, new) if new else None


def _apply_repairs(terms: Sequence[Term], put: dict[str, str]) -> list[Term]:
    results: list[Term] = []
    skips = False
    for at, term in enumerate(terms):
        if skips:
            skips = False
            continue
        both = f"{term.words[0]} {terms[at + 1].words[0]}" if at + 1 < len(terms) else ""
        if both in put:
            results.append(Term((put[both],)))
            skips = True
        elif _is_correctable(term) and term.words[0] in put:
            results.append(Term(tuple(put[term.words[0]].split())))
        else:
            results.append(term)
    return results


def _is_english(word: str) -> bool:
    """Return whether it is a real word that the store does not contain, and so is not corrected."""
    known = _load_english_words(VOCABULARY.path)
    starts = [word[: -len(end)] for end in _ENDINGS if word.endswith(end)]
    if word.endswith("es") and word[:-2].endswith(_SIBILANTS):
        starts.append(word[:-2])
    return word in known or any(start in known for start in starts)


def _is_likely(terms: Sequence[Term], word: str, new: str) -> bool | None:
    """Return whether a correction is what the user meant; None if only a failing search can tell.

    A word that is frequent in another language is corrected only if the other words of the query allow it.
    """
    folded, other = fold_keep_offsets(word), fold_keep_offsets(new)
    is_long = len(other) >= MIN_SLIP_CHARS and " " not in other
    is_doubled = is_long and _DOUBLE.sub(r"\1", folded) == _DOUBLE.sub(r"\1", other)
    if is_doubled or folded not in _load_frequent_words(USE_PIECES.path) or _is_inflection(folded, other):
        return True
    is_slip = is_long and folded[0] == other[0] and edit_distance(folded, other, 1) == 1
    share = _measure_foreign_share(terms, word)
    if share is None:
        return True if is_slip else None
    return share <= (MAX_FOREIGN_SHARE if is_slip else 0)


def _measure_foreign_share(terms: Sequence[Term], word: str) -> float | None:
    """Return the share of foreign words among the others of a query, None if they are too few or too short to tell."""
    others = {fold_keep_offsets(other) for term in terms for other in term.words if other != word}
    foreign = others & _FOREIGN_FUNCTION_WORDS
    long = {other for other in others - foreign if other.isalpha() and len(other) >= MIN_WORD_CHARS}
    known = set(filter(_is_english, long))
    return 1 - len(known) / len(foreign | long) if foreign | long else None


def _is_inflection(word: str, other: str) -> bool:
    """Return whether two folded words differ by their ending only."""
    start = word[:-1] if len(word) >= MIN_INFLECTED_CHARS else word
    return other.startswith(start) or word.startswith(other)


@cache
def _load_english_words(path: Path) -> frozenset[str]:
    """Return the whole words in the vocabulary of the shipped model."""
    try:
        pieces = path.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return frozenset()
    return frozenset(piece for piece in pieces if len(piece) >= MIN_WORD_CHARS and piece.isalpha())


@cache
def _load_frequent_words(path: Path) -> frozenset[str]:
    """Return frequent words of many languages, from the vocabulary of the multilingual model."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            pieces = [line.partition("\t")[0] for line in islice(file, FREQUENT_PIECES)]
    except OSError:
        return frozenset()
    words = [piece[1:] for piece in pieces if piece.startswith(WORD_START)]
    return frozenset(fold_keep_offsets(word) for word in words if len(word) >= MIN_WORD_CHARS and word.isalpha())
