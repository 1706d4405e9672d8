"""Search over a real store, with a semantic index that finds what a test says."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from panorama.app import App
from panorama.domain.paging import Page, PageRequest
from panorama.index.points import Filter
from panorama.services.items.notes import Notes
from panorama.services.items.tasks import Tasks
from panorama.services.search.results import SearchHit
from panorama.services.search.search import Mode, Search
from panorama.services.search.semantic import SemanticSearch
from panorama.services.search.semantic_results import SemanticHit, SemanticResult

OFF = SemanticResult(missing="The model is loading.", hint="Ask again in a moment.")


@dataclass
class StandInSearch(SemanticSearch):
    """A meaning that finds what it is told to, and remembers what it was asked."""

    hits: dict[str, float] = field(default_factory=dict[str, float])
    positions: dict[str, int] = field(default_factory=dict[str, int])
    gap: SemanticResult | None = None
    pending: int = 0
    model: str = "minilm"
    asked: list[tuple[str, Filter]] = field(default_factory=list[tuple[str, Filter]])

    def begin_search(self, query: str, limit: int, expected: Filter) -> Callable[[], SemanticResult]:
        """Return how to ask."""
        return lambda: self.search(query, limit, expected)

    def search(self, query: str, limit: int, expected: Filter) -> SemanticResult:
        self.asked.append((query, expected))
        near = [
            SemanticHit(item=item, position=self.positions.get(item, 0), score=score)
            for item, score in self.hits.items()
        ]
        return self.gap or SemanticResult(hits=tuple(near[:limit]), pending=self.pending, model=self.model)

    def search_similar(self, item: str, limit: int, expected: Filter) -> SemanticResult:
        return self.search(item, limit, expected)

    def search_near_duplicates(self, title: str, body: str, expected: Filter) -> SemanticResult:
        return self.search(f"{title}\n{body}", 8, expected)


@pytest.fixture
def meaning() -> StandInSearch:
    """The meaning that is asked."""
    return StandInSearch()


@dataclass
class SearchServices:
    """Services over one store, with the meaning that was told."""

    search: Search
    notes: Notes
    tasks: Tasks

    def note(self, title: str, content: str = "") -> str:
        return self.notes.create(title, content).value.id

    def found(self, query: str, mode: Mode = "hybrid", limit: int = 50) -> Page[SearchHit]:
        return self.search.search(query, PageRequest(limit=limit), mode=mode)

    def titles(self, query: str, mode: Mode = "hybrid") -> list[str]:
        return [row.title for row in self.found(query, mode).items]


@pytest.fixture
def context(app: App, meaning: StandInSearch) -> SearchServices:
    """The services."""
    return SearchServices(Search(app.context, meaning), Notes(app.context, meaning), Tasks(app.context, meaning))
