"""Duplicates: whether something new is there already, as a remark on the answer that creates it."""

import re
from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.domain.items.item import Item, normalize_name
from panorama.index.points import Filter
from panorama.services.search.semantic import SemanticSearch
from panorama.store.backend import Session
from panorama.store.items import lookup, search

DUPLICATE_SCORES: Mapping[str, float] = {"minilm": 0.88, "static": 0.97}
"""Cosines from which two items are likely the same, by model; of other models nobody measured it.

In the corpus of `tests/retrieval` no two different items come nearer than 0.78 (static: 0.96); two of three copies with
every eighth word gone are nearer than this.
"""

MAX_NAMED = 2
"""How many are named."""

_NUMBERS = re.compile(r"\d+")


def duplicate_hint(session: Session, meaning: SemanticSearch | None, item: Item, zone: ZoneInfo) -> str:
    """Return a sentence on living items that a new one, stored already, may repeat, "" if there is none.

    Those of its kind with the same title; else those that are nearly the same in meaning, if the model is in memory.
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
    """Whether two titles name the same numbers: the minutes of two days are alike, and not the same."""
    return _NUMBERS.findall(label) == _NUMBERS.findall(title)


def _format_day(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local.day} {local:%B %Y}"
