"""Detects possible duplicates of a new item, for a hint on its answer."""

import re
from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.domain.items.item import Item, normalize_name
from panorama.index.points import Filter
from panorama.services.search.semantic import SemanticSearch
from panorama.store.backend import Session
from panorama.store.items import lookup, search

DUPLICATE_SCORES: Mapping[str, float] = {"duo": 0.84, "trio": 0.84, "minilm": 0.88, "static": 0.97}
"""Cosine thresholds for likely duplicates, by model; only measured for these models.

Of the documents of `tests/retrieval` different ones reach at most 0.78 (static: 0.96). With duo, 95 % of the copies
without every eighth word exceed the threshold, with minilm two of three. The threshold of trio was chosen on every
second note; of the others, it finds 183 of 187 copies, and no hint is wrong.
"""

MAX_NAMED = 2
"""The maximum number of duplicates listed."""

_NUMBERS = re.compile(r"\d+")


def duplicate_hint(session: Session, meaning: SemanticSearch | None, item: Item, zone: ZoneInfo) -> str:
    """Return a hint on living items that a new, stored item may duplicate; "" if there are none.

    Checks for the same title within the kind; else for near-identical meaning, if the model is loaded.
    """
    title, body = item.search_text()
    same = [id_ for _, id_, _ in lookup.list_exact(session, [item.KIND], normalize_name(title), limit=MAX_NAMED + 1)]
    if same == [item.id] and meaning is not None:
        near = meaning.search_near_duplicates(title, body, Filter(kinds=(item.KIND,)))
        least = DUPLICATE_SCORES.get(near.model, 2.0)
        same = list(dict.fromkeys(hit.item for hit in near.hits if hit.score >= least))
    others = [id_ for id_ in same if id_ != item.id]
    known = search.load_items(session, others) if others else {}
    duplicates = [item for item in known.values() if item.deleted_at is None and _has_same_numbers(item.label, title)][
        :MAX_NAMED
    ]
    listed = ", ".join(
        f"{item.id} “{item.label}” (created {_format_day(item.created_at, zone)})" for item in duplicates
    )
    return f"Possible duplicate: {listed}." if listed else ""


def _has_same_numbers(label: str, title: str) -> bool:
    """Return whether two titles have the same numbers: minutes of two meetings are similar, but no duplicates."""
    return _NUMBERS.findall(label) == _NUMBERS.findall(title)


def _format_day(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local.day} {local:%B %Y}"
