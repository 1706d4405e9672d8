"""Names: which living items a person may mean by a name."""

from collections.abc import Sequence
from functools import cache

from sqlalchemy import TextClause, select, text

from panorama.domain.items import MARKS, folded
from panorama.domain.words import terms
from panorama.store import fulltext
from panorama.store.engine import Session
from panorama.store.projects import escaped
from panorama.store.rows import NOUNS

Named = tuple[str, str, str]
"""Kind, id, label."""

_MANY = 400


def exact(session: Session, kinds: Sequence[str], key: str, *, trash: bool = False, limit: int = 20) -> list[Named]:
    """Return the living items of some kinds whose folded name is `key`; with `trash`, the deleted ones instead."""
    named = tuple(kind for kind in kinds if "key" in NOUNS[kind].table.c)
    if not named:
        return []
    rows = session.connection.execute(_exact(named, trash=trash), {"key": key, "limit": limit})
    return [(row[0], row[1], row[2]) for row in rows]


@cache
def _exact(kinds: tuple[str, ...], *, trash: bool) -> TextClause:
    """Ask all kinds at once: every search does, and six statements take 2 ms to make and send."""
    state = "IS NOT NULL" if trash else "IS NULL"
    each = (
        f"SELECT * FROM (SELECT '{kind}', id, {NOUNS[kind].label.name} FROM {NOUNS[kind].table.name} "
        f"WHERE key = :key AND deleted_at {state} ORDER BY id LIMIT :limit)"
        for kind in kinds
    )
    return text(" UNION ALL ".join(each))


def similar(session: Session, kinds: Sequence[str], name: str, *, limit: int) -> list[Named]:
    """Return living items that share words with a name, and of each kind the 400 that were changed last."""
    hits = [hit for hit in fulltext.matches(session, terms(name), every=False, limit=limit) if hit.kind in kinds]
    found = labels(session, [(hit.kind, hit.item) for hit in hits])
    for kind in kinds:
        table = NOUNS[kind].table
        if "key" in table.c:
            label = NOUNS[kind].label
            statement = (
                select(table.c.id, label).where(table.c.deleted_at.is_(None)).order_by(table.c.updated_at.desc())
            )
            rows = session.connection.execute(statement.limit(_MANY))
            found |= {row[0]: (kind, row[0], row[1]) for row in rows}
    return list(found.values())


def labels(session: Session, items: Sequence[tuple[str, str]]) -> dict[str, Named]:
    """Return kind, id and label of items given by kind and id, also of those in the trash."""
    found: dict[str, Named] = {}
    for kind in dict.fromkeys(kind for kind, _ in items):
        noun = NOUNS[kind]
        ids = [id_ for each, id_ in items if each == kind]
        for start in range(0, len(ids), _MANY):
            where = noun.table.c.id.in_(ids[start : start + _MANY])
            rows = session.connection.execute(select(noun.table.c.id, noun.label).where(where))
            found |= {row[0]: (kind, row[0], row[1]) for row in rows}
    return found


def begun(session: Session, kind: str, text: str, *, limit: int) -> list[Named]:
    """Return living items whose name begins with a text, or which share words with it; the last changed first."""
    table = NOUNS[kind].table
    label = NOUNS[kind].label
    where = (table.c.deleted_at.is_(None), table.c.key.like(escaped(folded(text)) + "%", escape="\\"))
    statement = select(table.c.id, label).where(*where).order_by(table.c.updated_at.desc()).limit(limit)
    found = {row[0]: (kind, row[0], row[1]) for row in session.connection.execute(statement)}
    if len(found) < limit and text.strip():
        hits = fulltext.matches(session, terms(text), every=True, limit=limit * 4)
        found |= labels(session, [(hit.kind, hit.item) for hit in hits if hit.kind == kind and hit.item not in found])
    return list(found.values())[:limit]


def marked(session: Session, *, limit: int) -> list[Named]:
    """Return the favourite projects and then the pinned notes that are alive, each by name."""
    found: list[Named] = []
    for kind, mark in MARKS.items():
        table = NOUNS[kind].table
        label = NOUNS[kind].label
        where = (table.c.deleted_at.is_(None), table.c[mark].is_(True))
        statement = select(table.c.id, label).where(*where).order_by(table.c.key, table.c.id)
        rows = session.connection.execute(statement.limit(limit - len(found)))
        found += [(kind, row[0], row[1]) for row in rows]
    return found
