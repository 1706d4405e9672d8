"""The reference of the SDK: finds functions and recipes by what a script is to do."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, groupby
from math import log
from typing import Literal

from panorama.sdk import SURFACE
from panorama.sdk.reference import GUIDE, KEPT, RECIPES, Entry, entries, fields
from panorama.services.scripts.sdk_search.collections import COLLECTIONS, format_collections, is_named_collection
from panorama.services.scripts.sdk_search.sources import SOURCE_GROUP, format_source_names
from panorama.services.scripts.sdk_search.tools import BATCH_TOOLS

Detail = Literal["brief", "signatures", "full"]
ScoreTexts = Callable[[str, Sequence[str]], Sequence[float]]
"""Returns how near each of some texts is to a query in meaning; what is above 0 fits, even if no word of it does."""

MAX_CHARS = 5_700
"""The most that one answer holds; with its summary it stays under 6 KB."""

MAX_ENTRIES: Mapping[Detail, int] = {"brief": 25, "signatures": 3, "full": 3}
MAX_SCRIPT_NAMES = 12
"""Kept scripts that are named where everything is told."""

NOTHING_FITS = "Nothing fits these words. Without a query all functions are listed, one line each."

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009)."""

BM25_K1, BM25_B = 1.2, 0.6
"""k1 and b of BM25 (Robertson and Zaragoza 2009)."""

NAME_WEIGHT, LINE_WEIGHT, TEXT_WEIGHT = 5.0, 2.5, 1.0
"""How much a word counts in a name, in the one line, and in all the rest."""

MIN_SCORE_RATIO = 0.25
"""What is worth less than this part of the best does not fit."""

NOUN_FACTOR, FULL_NAME_FACTOR = 1.5, 1.5
"""What it is worth that a query names the noun of a function, and its whole name."""

VERB_FACTORS = {"list": 1.15, "creat": 1.1, "updat": 1.1, "delet": 0.85}
"""Which verbs, by their stems, are meant more often where nothing tells."""

SYNONYM_WEIGHT = 0.5
"""What a word counts that means the same as one of the query."""

VAGUE_WORD_WEIGHTS = {"find": 0.5}
"""What words count, by their stems, that say of nearly anything that it is asked for."""

_WORD = re.compile(r"[a-z]+|\d+")
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be by can did do does for from give have how i in into is it its me my of off on or our "
        "please sdk so some that the their them then there these this to up was we what when where which who will with "
        "you your want need using use should would could script"
    )
)
_GROUPS_WITHOUT_VERBS = (RECIPES, KEPT, BATCH_TOOLS, COLLECTIONS)
"""The groups whose members are not called by a noun and a verb."""

_ROW_VERBS = ("list", "get", "status")
"""What names of functions say that is also said of rows that are listed: all have a status, and get is to open."""

_ACTION_VERBS = frozenset(
    _WORD.findall(
        "archive assign block cancel clone close combine compare complete convert copy finish fix import join "
        "label merge pin plan postpone prioritize process relabel resolve schedule share sort split start stop swap "
        "sync tag unblock unpin"
    )
)
"""What one does with rows, said right before their noun, as it stands: "pin notes" is not about pinned notes."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkSearchResult:
    """What was found in the SDK: `shown` of `total` functions and recipes that fit, as Python."""

    shown: int
    total: int
    python: str

    def summarize(self) -> str:
        """Return it in one line."""
        if not self.total:
            return "Nothing fits these words"
        more = '; detail="brief" or other words show more' if self.shown < self.total else ""
        return f"{self.shown} of {self.total} functions and recipes{more}"


def _noop() -> None:
    """Do nothing."""


def _no_entries() -> Sequence[Entry]:
    """Return that nothing is kept."""
    return ()


@cache
def _load_functions() -> Sequence[Entry]:
    """Return all functions and recipes, made in 20 ms when somebody first asks: they are those of this program."""
    return entries(SURFACE)


class SdkReference:
    """Knows what the SDK holds."""

    def __init__(
        self,
        nearest: ScoreTexts | None = None,
        asked: Callable[[], None] = _noop,
        kept: Callable[[], Sequence[Entry]] = _no_entries,
    ) -> None:
        """Make a reference.

        Args:
            nearest: Tells how near texts are in meaning, nothing where it cannot.
            asked: Is told of each question: who asks is going to run a script.
            kept: Returns the kept scripts that a script may run, as they are now.
        """
        self._nearest = nearest
        self._asked = asked
        self._kept = kept
        self._known: _Ranking | None = None

    def search(self, query: str = "", detail: Detail = "signatures") -> SdkSearchResult:
        """Find functions of `sdk` for run_code, reviewed scripts and recipes, by what you want to do.

        Also the tools that only batch reaches: schedules, backup, export. Without a query: all of them, one line each.

        Args:
            query: As "overdue tasks", "CSV out" or "tasks.update".
            detail: full adds arguments, errors and an example.
        """
        self._asked()
        if not query.strip():
            return _build_overview(self._get_ranking().every)
        matches = self._rank_entries(query)
        return _build_result(matches, detail) if matches else SdkSearchResult(shown=0, total=0, python=NOTHING_FITS)

    def _rank_entries(self, query: str) -> Sequence[Entry]:
        """Return what fits, best first: by name, the list or collection that is meant, then by words and meaning."""
        ranking = self._get_ranking()
        if ranking.is_foreign(query):
            return []
        scores = ranking.score_all(query)
        least = max(scores) * MIN_SCORE_RATIO
        by_words = sorted((at for at, score in enumerate(scores) if score > least), key=lambda at: -scores[at])
        orders = [by_words]
        if self._nearest is not None:
            near = self._nearest(query, [f"{entry.name}: {entry.line} {entry.words}" for entry in ranking.every])
            fitting = [at for at in range(len(near)) if by_words or near[at] > 0]
            orders.append(sorted(fitting, key=lambda at: -near[at])[: MAX_ENTRIES["brief"]])
        called = [at for at, entry in enumerate(ranking.every) if _is_name(entry, query)]
        collections = [at for at, entry in enumerate(ranking.every) if is_named_collection(entry, query)]
        lists = ranking.match_list(query)
        known = [*called, *lists, *collections] if lists else [*collections, *called]
        return [ranking.every[at] for at in dict.fromkeys([*known, *_fuse(orders)])]

    def _get_ranking(self) -> "_Ranking":
        """Return the ranking of what there is now; it is made anew, in 30 ms, when a kept script has changed."""
        every = (*_load_functions(), *self._kept())
        known = self._known
        if known is None or known.every != every:
            self._known = known = _Ranking(every)
        return known


class _Ranking:
    """Ranks entries by the words of a query, as BM25 does over weighted fields."""

    def __init__(self, every: Sequence[Entry]) -> None:
        self.every = every
        self._weights = [_weigh_words(entry) for entry in every]
        self._names = [
            () if entry.group in _GROUPS_WITHOUT_VERBS else tuple(_iter_stems(entry.name)) for entry in every
        ]
        nouns = {entry.name.split(".")[1]: at for at, entry in enumerate(every) if entry.name.endswith(".list")}
        self._lists = {noun: at for noun, at in nouns.items() if self._names[at]}
        self._others = {word for name in self._names for word in name} - {*map(_stem, (*self._lists, *_ROW_VERBS))}
        self._lengths = [sum(weight.values()) for weight in self._weights]
        self._mean = sum(self._lengths) / len(every)
        holding = Counter(word for weight in self._weights for word in weight)
        self._rarity = {word: log(1 + (len(every) - count + 0.5) / (count + 0.5)) for word, count in holding.items()}

    def score_all(self, query: str) -> list[float]:
        """Return how well each entry fits; 0 if nothing of the query is in it."""
        terms = _expand_synonyms(list(_iter_stems(query)))
        return [self._score(terms, at) * self._weigh_name(terms, at) for at in range(len(self.every))]

    def is_foreign(self, query: str) -> bool:
        """Whether a query has a word that nothing here holds, and none that names a function: "import from Todoist"."""
        words = [*map(frozenset, (_weigh_synonyms(word, 1.0) for word in _iter_stems(query)))]
        known = [alike for alike in words if alike & self._rarity.keys()]
        named = {word for name in self._names for word in name}
        return 0 < 2 * len(known) <= len(words) and not any(alike & named for alike in known)

    def match_list(self, query: str) -> list[int]:
        """Return the list of the noun that a query is about, such as "overdue tasks" or "reminders due today".

        The noun is written as the SDK has it, with one word at most before it that is no act, and nothing names another
        function. By words and meaning alone any function of the noun is as near, and longer texts are nearer.
        """
        words = list(dropwhile(_STOP_WORDS.__contains__, _WORD.findall(query.lower())))
        noun = next((word for word in words[:2] if word in self._lists), None)
        if noun is None or words[0] in _ACTION_VERBS:
            return []
        rest = {stem for word in words if word != noun for stem in _weigh_synonyms(_stem(word), 1.0)}
        return [] if rest & self._others else [self._lists[noun]]

    def _weigh_name(self, terms: Sequence[Mapping[str, float]], at: int) -> float:
        """A function is worth more whose noun is asked for, more still if its verb is, too; then the usual verbs."""
        words = self._names[at]
        if len(words) < 2:
            return 1.0
        noun, *verbs = (any(word in alike for alike in terms) for word in words)
        usual = VERB_FACTORS.get(words[1], 1.0)
        return usual * ((NOUN_FACTOR * (FULL_NAME_FACTOR if all(verbs) else 1.0)) if noun else 1.0)

    def _score(self, terms: Sequence[Mapping[str, float]], at: int) -> float:
        """Add up what the words of the query are worth; of those that mean the same the best alone counts."""
        weights = self._weights[at]
        norm = BM25_K1 * (1 - BM25_B + BM25_B * self._lengths[at] / self._mean)
        return sum(
            max(
                worth * self._rarity.get(word, 0.0) * weights[word] * (BM25_K1 + 1) / (weights[word] + norm)
                if word in weights
                else 0.0
                for word, worth in alike.items()
            )
            for alike in terms
        )


def _weigh_words(entry: Entry) -> Mapping[str, float]:
    """Return what each word of an entry counts; in its text and code once, however often it stands there."""
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
    """Yield the words that tell something, each by its stem."""
    for word in _WORD.findall(text.lower().replace("to-do", "todo").replace("’s", "")):
        if word not in _STOP_WORDS:
            yield _stem(word)


def _stem(word: str) -> str:
    """Return a word without its ending: tags, tagged and tagging are one."""
    ending = next((suffix for suffix in _ENDINGS if word.endswith(suffix) and len(word) - len(suffix) >= 3), "")
    stem = word.removesuffix(ending) + ("y" if ending == "ies" else "")
    doubled = ending in ("ing", "ed", "ings") and stem[-1] == stem[-2]
    return (stem[:-1] if doubled else stem).removesuffix("e")


_SYNONYM_STEMS: dict[str, set[str]] = {}
for _line in _SYNONYMS:
    _stems = {_stem(word) for word in _line.split()}
    for _each in _stems:
        _SYNONYM_STEMS.setdefault(_each, set()).update(_stems)


def _expand_synonyms(words: Sequence[str]) -> list[Mapping[str, float]]:
    """Return for each word of a query those that mean the same, with what each is worth."""
    return [_weigh_synonyms(word, VAGUE_WORD_WEIGHTS.get(word, 1.0)) for word in dict.fromkeys(words)]


def _weigh_synonyms(word: str, worth: float) -> Mapping[str, float]:
    return dict.fromkeys(_SYNONYM_STEMS.get(word, ()), worth * SYNONYM_WEIGHT) | {word: worth}


def _fuse(orders: Iterable[Sequence[int]]) -> list[int]:
    """Join orders by reciprocal rank."""
    worth: Counter[int] = Counter()
    for order in orders:
        for rank, at in enumerate(order):
            worth[at] += 1 / (RRF_K + rank)  # pyright: ignore[reportArgumentType] (a Counter adds what it is given)
    return sorted(worth, key=lambda at: -worth[at])


def _is_name(entry: Entry, query: str) -> bool:
    """Return whether a query is an entry's name, with or without `sdk.` and arguments."""
    return query.strip().partition("(")[0].removeprefix("sdk.").lower() == entry.name.removeprefix("sdk.").lower()


def _build_result(entries: Sequence[Entry], detail: Detail) -> SdkSearchResult:
    shown: list[Entry] = []
    for entry in entries[: MAX_ENTRIES[detail]]:
        if len(_render_python([*shown, entry], detail)) > MAX_CHARS and shown:
            break
        shown.append(entry)
    return SdkSearchResult(shown=len(shown), total=len(entries), python=_render_python(shown, detail))


def _render_python(shown: Sequence[Entry], detail: Detail) -> str:
    """Return entries as Python, and what the rows hold that they give back."""
    if detail == "brief":
        return "\n".join(entry.brief for entry in shown)
    texts = [entry.full if detail == "full" else entry.stub for entry in shown]
    rows = fields(name for entry in shown for name in entry.rows)
    return "\n\n".join([*texts, *(["Fields:\n" + "\n".join(rows)] if rows else [])])


def _build_overview(every: Sequence[Entry]) -> SdkSearchResult:
    """Return all entries in one line each, by nouns."""
    lines = [GUIDE]
    for group, members in groupby(every, lambda entry: entry.group):
        lines.append(f"\n{group or 'sdk'}:")
        shorten = format_source_names if group.startswith(SOURCE_GROUP) else _shorten_all
        lines += _GROUP_LINES.get(group, shorten)(members)
    return SdkSearchResult(shown=len(every), total=len(every), python="\n".join(lines))


def _format_script_names(entries: Iterable[Entry]) -> list[str]:
    """Return the names of kept scripts in one line: how many there are is not ours to choose."""
    names = [entry.name.rpartition(".")[2] for entry in entries]
    shown = names[:MAX_SCRIPT_NAMES]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return [f"sdk.scripts.NAME(…): {', '.join(shown)}{more}. Ask with words for what they take."]


def _shorten_all(members: Iterable[Entry]) -> list[str]:
    return [_shorten(member) for member in members]


def _shorten(entry: Entry) -> str:
    if entry.group == RECIPES:
        return entry.name.partition(":")[0]
    return entry.brief.removeprefix(f"sdk.{entry.group}." if entry.group else "sdk.")


def _format_batch_tools(tools: Iterable[Entry]) -> list[str]:
    return [f'{", ".join(tool.name for tool in tools)}. get_item("tool:NAME") shows what one takes.']


_GROUP_LINES: Mapping[str, Callable[[Iterable[Entry]], list[str]]] = {
    KEPT: _format_script_names,
    BATCH_TOOLS: _format_batch_tools,
    COLLECTIONS: format_collections,
}
"""The groups that have no line for each member where everything is listed."""
