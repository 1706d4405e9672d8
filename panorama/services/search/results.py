"""Results of search and of reindexing."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A search hit; what matches in `snippet` stands between `**`.

    `why` names what found it: id, title, keyword, semantic. `score` orders hits and means nothing else.
    """

    id: str
    kind: str
    title: str
    snippet: str
    project: str | None
    why: tuple[str, ...]
    score: float
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexResult:
    """What a reindex did: `items` were looked at, `embedded` texts were new, `resumed_at` items were done before."""

    scope: str
    model: str
    passages: int
    items: int
    embedded: int
    resumed_at: int
    seconds: float
