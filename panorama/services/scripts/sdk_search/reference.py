"""Searches the SDK reference: finds functions and recipes for a given purpose."""

from collections.abc import Callable, Sequence
from functools import cache

from panorama.sdk import SURFACE
from panorama.sdk.reference import Entry, entries
from panorama.services.scripts.sdk_search.collections import is_named_collection
from panorama.services.scripts.sdk_search.rendering import (
    MAX_ENTRIES,
    Detail,
    SdkSearchResult,
    render_entries,
    render_overview,
)
from panorama.services.scripts.sdk_search.word_ranking import MIN_SCORE_RATIO, WordRanking, fuse_orders

ScoreTexts = Callable[[str, Sequence[str]], Sequence[float]]
"""Returns the similarity of each text to a query; a text above 0 is a match even without a common word."""

NOTHING_FITS = "No function matches. Without a query, all functions are listed, one line each."


def _noop() -> None:
    """Do nothing."""


def _no_entries() -> Sequence[Entry]:
    """Return no saved script."""
    return ()


@cache
def _load_functions() -> Sequence[Entry]:
    """Return all functions and recipes; the first call takes 20 ms to build them."""
    return entries(SURFACE)


class SdkReference:
    """Searches the functions of the SDK, recipes and saved scripts."""

    def __init__(
        self,
        score_texts: ScoreTexts | None = None,
        on_search: Callable[[], None] = _noop,
        list_scripts: Callable[[], Sequence[Entry]] = _no_entries,
    ) -> None:
        """Initialize the search.

        Args:
            score_texts: Scores texts by meaning; returns nothing while no model is ready.
            on_search: Is called at each search, because the client will probably run a script next.
            list_scripts: Returns the saved scripts that a script may run, as they are now.
        """
        self._score_texts = score_texts
        self._on_search = on_search
        self._list_scripts = list_scripts
        self._ranking: WordRanking | None = None

    def search(self, query: str = "", detail: Detail = "signatures") -> SdkSearchResult:
        """Find functions of `sdk` for run_code, reviewed scripts and recipes, by what you want to do.

        Also the tools that only batch reaches: schedules, backup, export. Without a query: all of them, one line each.

        Args:
            query: As "overdue tasks", "CSV out" or "tasks.update".
            detail: full adds arguments, errors and an example.
        """
        self._on_search()
        if not query.strip():
            return render_overview(self._get_ranking().entries)
        matches = self._rank_entries(query)
        return render_entries(matches, detail) if matches else SdkSearchResult(shown=0, total=0, python=NOTHING_FITS)

    def _rank_entries(self, query: str) -> Sequence[Entry]:
        """Return the matches, best first: those that are named, the list or collection, then by words and meaning."""
        ranking = self._get_ranking()
        if ranking.is_foreign(query):
            return []
        scores = ranking.score_all(query)
        threshold = max(scores) * MIN_SCORE_RATIO
        by_words = sorted((at for at, score in enumerate(scores) if score > threshold), key=lambda at: -scores[at])
        orders = [by_words]
        if self._score_texts is not None:
            texts = [f"{entry.name}: {entry.line} {entry.words}" for entry in ranking.entries]
            cosines = self._score_texts(query, texts)
            near = [at for at in range(len(cosines)) if by_words or cosines[at] > 0]
            orders.append(sorted(near, key=lambda at: -cosines[at])[: MAX_ENTRIES["brief"]])
        named = [at for at, entry in enumerate(ranking.entries) if _is_name(entry, query)]
        collections = [at for at, entry in enumerate(ranking.entries) if is_named_collection(entry, query)]
        lists = ranking.match_list(query)
        first = [*named, *lists, *collections] if lists else [*collections, *named]
        return [ranking.entries[at] for at in dict.fromkeys([*first, *fuse_orders(orders)])]

    def _get_ranking(self) -> "WordRanking":
        """Return the ranking of all entries; it is built again, in 30 ms, when a saved script has changed."""
        entries_ = (*_load_functions(), *self._list_scripts())
        ranking = self._ranking
        if ranking is None or ranking.entries != entries_:
            self._ranking = ranking = WordRanking(entries_)
        return ranking


def _is_name(entry: Entry, query: str) -> bool:
    """Return whether a query is an entry's name, with or without `sdk.` and arguments."""
    return query.strip().partition("(")[0].removeprefix("sdk.").lower() == entry.name.removeprefix("sdk.").lower()
