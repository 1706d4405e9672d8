"""How well search finds: the corpus in a store of its own, and every arm asked every query of a half.

`python -m tests.retrieval.measuring [SET [MODEL]]` prints the table of a set, with all documents in the store. Only
`test_ranking.py` looks at the judging halves.
"""

import json
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.items.item import KINDS
from panorama.domain.paging import PageRequest
from panorama.domain.text.tokens import parse_terms
from panorama.index.points import Filter
from panorama.services.search.query_parser import parse_query
from panorama.services.search.search import MAX_PASSAGES, Mode, Search
from panorama.services.search.semantic import SemanticSearch
from panorama.services.search.semantic_results import SemanticResult
from panorama.store.items import search
from panorama.store.items.search import Filters

HERE = Path(__file__).parent
FOUND = 50
TOP, NEAR_TOP = 10, 5
PLAIN = 60
CORPUS, WHOLE = ("corpus",), ("corpus", "decoys", "world")
"""The documents of a store: those of the frozen halves, and with the decoys and the notes in eight more languages."""

SPOKEN = Conversation(id="v_0000000000", actor="tool", client="retrieval")

Order = list[str]
"""The ids of items, best first."""

Scores = Mapping[str, tuple[float, float]]
"""By kind of query, and of "all": the mean reciprocal rank among ten, and the recall among five."""


@dataclass(frozen=True)
class Query:
    """What is asked, of which kind it is, and what truly answers it."""

    text: str
    kind: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class Library:
    """The corpus in an open store; `known` are the ids of its documents by the ids in the store."""

    app: App
    search: Search
    known: Mapping[str, str]

    def found(self, mode: Mode, query: str) -> Order:
        """Return what the product answers."""
        page = self.search.search(query, PageRequest(limit=FOUND), mode=mode)
        assert mode == "keyword" or "semantic" in (page.index or {})["ran"], page.index
        return [self.known[row.id] for row in page.items]

    def keyword(self, query: str, *, repaired: bool = False) -> Order:
        """Return what FTS5 alone finds."""
        with self.app.context.database.reading() as session:
            asked = parse_query(session, query).asked if repaired else search.weigh_terms(session, parse_terms(query))
            hits = search.search_items(session, asked, Filters(kinds=KINDS), needed=FOUND)
        return [self.known[hit.item] for hit in hits]

    def semantic(self, query: str, *, repaired: bool = False) -> Order:
        """Return what the vectors alone find."""
        if repaired:
            with self.app.context.database.reading() as session:
                query = parse_query(session, query).query
        near = self.app.meaning.search(query, MAX_PASSAGES, Filter())
        return list(dict.fromkeys(self.known[hit.item] for hit in near.hits))

    def plain(self, query: str, *, repaired: bool = False) -> Order:
        """Return both arms joined by plain reciprocal ranks."""
        worth: dict[str, float] = {}
        for arm in (self.keyword(query, repaired=repaired), self.semantic(query, repaired=repaired)):
            for place, item in enumerate(arm[:FOUND], start=1):
                worth[item] = worth.get(item, 0.0) + 1 / (PLAIN + place)
        return sorted(worth, key=lambda item: (-worth[item], item))

    def ways(self) -> Mapping[str, Callable[[str], Order]]:
        """Return every way of searching by its name."""
        return {
            "keyword arm": self.keyword,
            "semantic arm": self.semantic,
            "plain RRF, k = 60": self.plain,
            "keyword arm, repaired": lambda query: self.keyword(query, repaired=True),
            "semantic arm, repaired": lambda query: self.semantic(query, repaired=True),
            "plain RRF, repaired": lambda query: self.plain(query, repaired=True),
            "product, keyword": lambda query: self.found("keyword", query),
            "product, semantic": lambda query: self.found("semantic", query),
            "product, hybrid": lambda query: self.found("hybrid", query),
        }


class Patient(SemanticSearch):
    """Meaning that is asked again until it answers: the machine may be busy, and the model still be loading."""

    def begin_search(self, query: str, limit: int, expected: Filter) -> Callable[[], SemanticResult]:
        """Return how to ask."""
        return lambda: self.search(query, limit, expected)

    def search(self, query: str, limit: int, expected: Filter) -> SemanticResult:
        """Return the passages that are nearest, however long it takes."""
        found = super().begin_search(query, limit, expected)()
        for _ in range(100):
            if found.has_run:
                return found
            found = super().begin_search(query, limit, expected)()
        raise AssertionError(found.missing)


def lines(name: str) -> list[dict[str, Any]]:
    """Return a file of the set."""
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def queries(half: str) -> list[Query]:
    """Return the queries of a half."""
    return [Query(line["query"], line["kind"], frozenset(line["relevant"])) for line in lines(half)]


@contextmanager
def library(home: Path, embedder: str = "duo", documents: Sequence[str] = CORPUS) -> Generator[Library]:
    """Write documents into a store, follow it until all of it is indexed, and keep it open."""
    with open_app(read_settings(home=home, timezone="UTC", embedder=embedder, index_engine="exact")) as app:
        known = {_created(app, line): line["id"] for part in documents for line in lines(part)}
        app.meaning.follow()
        app.meaning.ensure_open().active.resident.ensure_loading()
        app.meaning.__class__ = Patient
        yield Library(app, Search(app.context, app.meaning), known)


def _created(app: App, document: Mapping[str, str]) -> str:
    body = {"note": "content", "task": "notes"}[document["kind"]]
    asked = {"title": document["title"], body: document["content"]}
    return str(app.calls.call(f"create_{document['kind']}", asked, SPOKEN).data["id"])


def scores(asked: Sequence[Query], way: Callable[[str], Order]) -> Scores:
    """Return how well a way of searching does, by kind."""
    entry: dict[str, list[tuple[float, float]]] = {}
    for query in asked:
        order = way(query.text)
        place = next((at for at, item in enumerate(order[:TOP], start=1) if item in query.relevant), 0)
        recall = len(query.relevant & set(order[:NEAR_TOP])) / min(NEAR_TOP, len(query.relevant))
        for kind in (query.kind, "all"):
            entry.setdefault(kind, []).append((1 / place if place else 0.0, recall))
    return {kind: (fmean(a for a, _ in some), fmean(b for _, b in some)) for kind, some in entry.items()}


def table(found: Mapping[str, Scores]) -> str:
    """Return the scores of ways as text: MRR@10 / recall@5."""
    kinds = sorted(next(iter(found.values())), key=lambda kind: (kind != "all", kind))
    head = f"{'MRR@10 / recall@5':26}" + "".join(f"{kind:>14}" for kind in kinds)
    rows = [
        f"{name:26}" + "".join(f"{of[kind][0]:>8.3f}/{of[kind][1]:.3f}" for kind in kinds) for name, of in found.items()
    ]
    return "\n".join([head, *rows])


def format_results(half: str, embedder: str) -> str:
    """Return how every way does on a half, and what was repaired."""
    with TemporaryDirectory() as home, library(Path(home), embedder, WHOLE) as shelf:
        asked = queries(half)
        found = [table({name: scores(asked, way) for name, way in shelf.ways().items()})]
        for query in asked:
            with shelf.app.context.database.reading() as session:
                if repairs := parse_query(session, query.text).repairs:
                    found.append(f"{query.kind:11} {query.text}: {repairs}")
        return "\n".join(found)


if __name__ == "__main__":
    half, embedder = (*sys.argv[1:], *("tuning", "duo")[len(sys.argv) - 1 :])
    sys.stdout.write(format_results(half, embedder) + "\n")
