"""Duplicates: whether something new is there already, as a remark on the answer that creates it."""

import re
from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.domain.items import Item, folded
from panorama.index.points import Filter
from panorama.services.meaning import Meaning
from panorama.store import names, search
from panorama.store.engine import Session

CLOSE: Mapping[str, float] = {"minilm": 0.88, "static": 0.97}
"""Cosines from which two items are likely the same, by model; of other models nobody measured it.

In the corpus of `tests/retrieval` no two different items come nearer than 0.78 (static: 0.96); two of three copies with
every eighth word gone are nearer than this.
"""

NAMED = 2
"""How many are named."""

_NUMBERS = re.compile(r"\d+")


def remark(session: Session, meaning: Meaning | None, item: Item, zone: ZoneInfo) -> str:
    """Return a sentence on living items that a new one, stored already, may repeat, "" if there is none.

    Those of its kind with the same title; else those that are nearly the same in meaning, if the model is in memory.
    """
    title, body = item.words()
    same = [id_ for _, id_, _ in names.exact(session, [item.KIND], folded(title), limit=NAMED + 1)]
    if same == [item.id] and meaning is not None:
        near = meaning.close_to(title, body, Filter(kinds=(item.KIND,)))
        least = CLOSE.get(near.model, 2.0)
        same = list(dict.fromkeys(hit.item for hit in near.hits if hit.score >= least))
    others = [id_ for id_ in same if id_ != item.id]
    known = search.loaded(session, others) if others else {}
    found = [each for each in known.values() if each.deleted_at is None and _may_be_one(each.label, title)][:NAMED]
    told = ", ".join(f"{each.id} “{each.label}” (created {_day(each.created_at, zone)})" for each in found)
    return f"Possible duplicate: {told}." if told else ""


def _may_be_one(label: str, title: str) -> bool:
    """Whether two titles name the same numbers: the minutes of two days are alike, and not the same."""
    return _NUMBERS.findall(label) == _NUMBERS.findall(title)


def _day(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local.day} {local:%B %Y}"
