"""Ranks the entries of the SDK reference by the words of a query."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from math import log

from panorama.sdk.reference import KEPT, RECIPES, Entry
from panorama.services.scripts.sdk_search.collections import COLLECTIONS
from panorama.services.scripts.sdk_search.tools import BATCH_TOOLS

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009)."""

BM25_K1, BM25_B = 1.2, 0.6
"""k1 and b of BM25 (Robertson and Zaragoza 2009)."""

NAME_WEIGHT, LINE_WEIGHT, TEXT_WEIGHT = 5.0, 2.5, 1.0
"""The weight of a word in the name, in the line of description, and in the rest."""

MIN_SCORE_RATIO = 0.25
"""Entries with a smaller share of the best score do not fit."""

NOUN_FACTOR, FULL_NAME_FACTOR = 1.5, 1.5
"""The factors for a query that has the noun of a function, and its whole name."""

VERB_FACTORS = {"list": 1.15, "creat": 1.1, "updat": 1.1, "delet": 0.85}
"""The factors of verbs, by stem: some are meant more often by queries without a verb."""

SYNONYM_WEIGHT = 0.5
"""The weight of a synonym of a query's word."""

VAGUE_WORD_WEIGHTS = {"find": 0.5}
"""The weights of query words that fit nearly everything, by stem."""

_WORD = re.compile(r"[a-z]+|\d+")
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be by can did do does for from give have how i in into is it its me my of off on or our "
        "please sdk so some that the their them then there these this to up was we what when where which who will with "
        "you your want need using use should would could script"
    )
)
_GROUPS_WITHOUT_VERBS = (RECIPES, KEPT, BATCH_TOOLS, COLLECTIONS)
"""The groups whose members are not named by a noun and a verb."""

_ROW_VERBS = ("list", "get", "status")
"""Words in names of functions that queries also use for listed rows: all rows have a status, and get is to open."""

_ACTION_VERBS = frozenset(
    _WORD.findall(
        "archive assign block cancel clone close combine compare complete convert copy finish fix import join "
        "label merge pin plan postpone prioritize process relabel resolve schedule share sort split start stop swap "
        "sync tag unblock unpin"
    )
)
"""Verbs right before a noun that ask for an act, not for a list: "pin notes" does not list pinned notes."""

_ENDINGS = ("ings", "ing", "ed", "ies", "es", "s", "ly")
_SYNONYMS = (
    "task todo action chore job work",
    "complete done finish tick close resolve",
    "delete remove trash erase discard drop bin",
    "create add new make insert write",
    "update change edit modify set rename move mark alter reassign turn switch disable enable",
    "get read show fetch open view details",
    "list all every enumerate",
    "csv spreadsheet excel export",
    "file csv export save download document",
    "write save store upload",
    "deadline due late overdue",
    "note meeting minutes page document memo",
    "search find lookup locate mention",
    "similar related alike like duplicate nearest",
    "link url bookmark website address web",
    "journal diary log entry daily",
    "reminder alarm notify notification alert remind snooze",
    "project area folder",
    "parallel concurrent simultaneous async gather thread fast",
    "query count filter aggregate statistic sum average group",
    "overview dashboard health healthy summary attention",
    "week review retrospective weekly",
    "restore recover undelete bring",
    "undo revert rollback back",
    "table markdown format render",
    "tag label categorize",
    "history change audit version previous",
    "status now today time clock timezone date current",
    "batch transaction atomic together bulk",
    "text content body whole",
    "append extend bottom",
    "edit replace substitute",
    "state remember persist between keep",
    "progress percent report",
    "join merge combine match",
    "group bucket tally",
    "postpone reschedule delay shift",
    "error exception fail",
    "dry preview simulate",
    "prioritize urgent important priority",
    "recurring recurrence repeat",
    "subtask parent child task",
)  # fmt: skip


class WordRanking:
    """Ranks entries by the words of a query: BM25 over weighted fields, with synonyms.

    The entries are not rows of the database, so its full text cannot rank them.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self._weights = [_weigh_words(entry) for entry in entries]
        self._names = [
            () if entry.group in _GROUPS_WITHOUT_VERBS else tuple(_iter_stems(entry.name)) for entry in entries
        ]
        nouns = {entry.name.split(".")[1]: at for at, entry in enumerate(entries) if entry.name.endswith(".list")}
        self._lists = {noun: at for noun, at in nouns.items() if self._names[at]}
        self._others = {word for name in self._names for word in name} - {*map(_stem, (*self._lists, *_ROW_VERBS))}
        self._lengths = [sum(weight.values()) for weight in self._weights]
        self._mean = sum(self._lengths) / len(entries)
        holding = Counter(word for weight in self._weights for word in weight)
        self._rarity = {word: log(1 + (len(entries) - count + 0.5) / (count + 0.5)) for word, count in holding.items()}

    def score_all(self, query: str) -> list[float]:
        """Return the score of each entry; 0 if it has no word of the query."""
        terms = _expand_synonyms(list(_iter_stems(query)))
        return [self._score(terms, at) * self._weigh_name(terms, at) for at in range(len(self.entries))]

    def is_foreign(self, query: str) -> bool:
        """Return whether half of a query's words are unknown and none names a function: "import from Todoist"."""
        words = [frozenset(_weigh_synonyms(word, 1.0)) for word in _iter_stems(query)]
        known = [synonyms for synonyms in words if synonyms & self._rarity.keys()]
        named = {word for name in self._names for word in name}
        return 0 < 2 * len(known) <= len(words) and not any(synonyms & named for synonyms in known)

    def match_list(self, query: str) -> list[int]:
        """Return the list function of the noun that a query is about, such as "overdue tasks" or "reminders due today".

        The noun must be spelt as in the SDK, with at most one word before it that is not an act, and no word may name
        another function. By words and meaning alone, every function of the noun would score as high.
        """
        words = list(dropwhile(_STOP_WORDS.__contains__, _WORD.findall(query.lower())))
        noun = next((word for word in words[:2] if word in self._lists), None)
        if noun is None or words[0] in _ACTION_VERBS:
            return []
        rest = {stem for word in words if word != noun for stem in _weigh_synonyms(_stem(word), 1.0)}
        return [] if rest & self._others else [self._lists[noun]]

    def _weigh_name(self, terms: Sequence[Mapping[str, float]], at: int) -> float:
        """Return the factor of a name: higher with the noun of the query, higher still with its verb."""
        words = self._names[at]
        if len(words) < 2:
            return 1.0
        noun, *verbs = (any(word in synonyms for synonyms in terms) for word in words)
        usual = VERB_FACTORS.get(words[1], 1.0)
        return usual * ((NOUN_FACTOR * (FULL_NAME_FACTOR if all(verbs) else 1.0)) if noun else 1.0)

    def _score(self, terms: Sequence[Mapping[str, float]], at: int) -> float:
        """Return the sum of the scores of the query's words; of synonyms only the best counts."""
        weights = self._weights[at]
        norm = BM25_K1 * (1 - BM25_B + BM25_B * self._lengths[at] / self._mean)
        return sum(
            max(
                weight * self._rarity.get(word, 0.0) * weights[word] * (BM25_K1 + 1) / (weights[word] + norm)
                if word in weights
                else 0.0
                for word, weight in synonyms.items()
            )
            for synonyms in terms
        )


def fuse_orders(orders: Iterable[Sequence[int]]) -> list[int]:
    """Fuse several orders by reciprocal rank."""
    scores: Counter[int] = Counter()
    for order in orders:
        for rank, at in enumerate(order):
            scores[at] += 1 / (RRF_K + rank)  # pyright: ignore[reportArgumentType] (a Counter adds what it is given)
    return sorted(scores, key=lambda at: -scores[at])


def _weigh_words(entry: Entry) -> Mapping[str, float]:
    """Return the weight of each word of an entry; within one field a word counts once."""
    counts: Counter[str] = Counter()
    name = "" if entry.group == RECIPES else entry.name
    for text, weight in (
        (name, NAME_WEIGHT),
        (entry.line, LINE_WEIGHT),
        (entry.words, LINE_WEIGHT),
        (entry.full, TEXT_WEIGHT),
    ):
        for word in set(_iter_stems(text)):
            counts[word] += weight  # pyright: ignore[reportArgumentType] (a Counter adds what it is given)
    return counts


def _iter_stems(text: str) -> Iterator[str]:
    """Yield the stems of all words but stop words."""
    for word in _WORD.findall(text.lower().replace("to-do", "todo").replace("’s", "")):
        if word not in _STOP_WORDS:
            yield _stem(word)


def _stem(word: str) -> str:
    """Return a word without its ending: tags, tagged and tagging have one stem."""
    ending = next((suffix for suffix in _ENDINGS if word.endswith(suffix) and len(word) - len(suffix) >= 3), "")
    stem = word.removesuffix(ending) + ("y" if ending == "ies" else "")
    doubled = ending in ("ing", "ed", "ings") and stem[-1] == stem[-2]
    return (stem[:-1] if doubled else stem).removesuffix("e")


_SYNONYM_STEMS: dict[str, set[str]] = {}
for _line in _SYNONYMS:
    _stems = {_stem(word) for word in _line.split()}
    for _stem_ in _stems:
        _SYNONYM_STEMS.setdefault(_stem_, set()).update(_stems)


def _expand_synonyms(words: Sequence[str]) -> list[Mapping[str, float]]:
    """Return the synonyms of each word of a query with their weights."""
    return [_weigh_synonyms(word, VAGUE_WORD_WEIGHTS.get(word, 1.0)) for word in dict.fromkeys(words)]


def _weigh_synonyms(word: str, weight: float) -> Mapping[str, float]:
    return dict.fromkeys(_SYNONYM_STEMS.get(word, ()), weight * SYNONYM_WEIGHT) | {word: weight}
