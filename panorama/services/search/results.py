"""Results of search and of reindexing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A search hit; matches in `snippet` are between `**`.

    `why` lists how it was found: id, title, name (a project or person that the query asks about), day (of a journal
    entry), keyword, semantic. `score` only orders hits.
    """

    id: str
    kind: str
    title: str
    snippet: str
    project: str | None
    why: tuple[str, ...]
    score: float
    updated_at: datetime


SEARCHES = frozenset({"keyword", "semantic"})
"""The reasons in `why` that name a search, not the item."""


def select_line(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a hit that the text for a model shows; rows are in order, and ids tell their kinds.

    `why` is shown if the query names the item.
    """
    hidden = {"kind", "score", "updated_at", *(() if set(row["why"]) - SEARCHES else ("why",))}
    return {name: value for name, value in row.items() if name not in hidden and value not in (None, "")}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexResult:
    """The result of a reindex.

    `items` were examined and `embedded` texts were new; an earlier, interrupted run had done `resumed_at` items.
    """

    scope: str
    model: str
    passages: int
    items: int
    embedded: int
    resumed_at: int
    seconds: float

    def summarize(self) -> str:
        """Return a one-line summary."""
        return (
            f"{self.passages:,} passages can be found by meaning ({self.model}); {self.items:,} items were looked at "
            f"and {self.embedded:,} texts embedded in {self.seconds:g} s"
        )
