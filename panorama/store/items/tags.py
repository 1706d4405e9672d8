"""The tags of all items."""

from collections import Counter

from sqlalchemy import select

from panorama.domain.items.item import normalize_name
from panorama.store.backend import Session
from panorama.store.items.lookup import NamedItem
from panorama.store.items.projects import has_tag
from panorama.store.items.rows import NOUNS

TAGGED = {kind: noun for kind, noun in NOUNS.items() if "tags" in noun.table.c}
"""The kinds whose items have tags."""


def count_tags(session: Session) -> dict[str, int]:
    """Return every tag of living items and how many have it; spellings that differ in case count as one."""
    counts: Counter[str] = Counter()
    spellings: dict[str, str] = {}
    for noun in TAGGED.values():
        for (tags,) in session.connection.execute(
            select(noun.table.c.tags).where(noun.table.c.deleted_at.is_(None), noun.table.c.tags != "")
        ):
            for tag in tags:
                counts[spellings.setdefault(normalize_name(tag), tag)] += 1
    return dict(counts)


def list_tagged(session: Session, tag: str) -> list[NamedItem]:
    """Return kind, id and label of every living item with a tag."""
    results: list[NamedItem] = []
    for kind, noun in TAGGED.items():
        where = (noun.table.c.deleted_at.is_(None), has_tag(noun.table.c.tags, tag))
        statement = select(noun.table.c.id, noun.label).where(*where).order_by(noun.table.c.id)
        results += [(kind, row[0], row[1]) for row in session.connection.execute(statement)]
    return results
