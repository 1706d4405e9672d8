"""Finds the living items that a name may refer to."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache

from sqlalchemy import TextClause, TextualSelect, column, select, text

from panorama.domain.items.item import FAVORITE_FIELDS, kind_of, normalize_name
from panorama.domain.text.tokens import parse_terms
from panorama.store.backend import Rows, Session
from panorama.store.items.projects import escape_like
from panorama.store.items.rows import NOUNS
from panorama.store.json_lists import json_values

NamedItem = tuple[str, str, str]
"""Kind, id, label."""

AskedNames = Callable[[], list[NamedItem]]
"""Returns the items that have a name."""

_CHUNK = 400


def list_exact(
    session: Session, kinds: Sequence[str], key: str, *, trash: bool = False, limit: int = 20
) -> list[NamedItem]:
    """Return the living items of some kinds with a name, as `ask_exact` asks for them."""
    return ask_exact(session, kinds, key, trash=trash, limit=limit)()


def ask_exact(session: Session, kinds: Sequence[str], key: str, *, trash: bool = False, limit: int = 20) -> AskedNames:
    """Ask for the living items of some kinds with `key` as a normalised name; with `trash`, the deleted ones instead.

    An item that only has it as a short name is returned if no other is found.
    """
    named = tuple(kind for kind in kinds if "key" in NOUNS[kind].table.c)
    asked = session.ask(_exact_statement(named, trash=trash), {"key": key, "limit": limit}) if named else None

    def read() -> list[NamedItem]:
        rows = asked() if asked else ()
        is_clear = any(not row[3] for row in rows)
        return [(row[0], row[1], row[2]) for row in rows if not (is_clear and row[3])]

    return read


@cache
def _exact_statement(kinds: tuple[str, ...], *, trash: bool) -> TextualSelect:
    """Build one statement for all kinds: every search runs it, and six statements take 2 ms.

    Its rows hold kind, id, label, and whether the name is a short one.
    """
    state = "IS NOT NULL" if trash else "IS NULL"
    selects = [
        f"SELECT * FROM (SELECT '{kind}', id, {NOUNS[kind].label.name}, false FROM {NOUNS[kind].table.name} "
        f"WHERE key = :key AND deleted_at {state} ORDER BY id LIMIT :limit) AS titles"
        for kind in kinds
    ]
    selects += [
        f"SELECT * FROM (SELECT '{kind}', item, {NOUNS[kind].label.name}, is_short FROM other_names "
        f"JOIN {NOUNS[kind].table.name} AS named ON named.id = item "
        f"WHERE other_names.key = :key AND deleted_at {state} ORDER BY item LIMIT :limit) AS names"
        for kind in kinds
        if NOUNS[kind].has_other_names
    ]
    return text(" UNION ALL ".join(selects)).columns(*map(column, ("kind", "id", "label", "is_short")))


def list_by_source(session: Session, kinds: Sequence[str], source_ref: str, *, trash: bool = False) -> list[NamedItem]:
    """Return the living items of some kinds with a source reference, at most one of each kind.

    With `trash`, return the last deleted one of each kind instead.
    """
    found: list[NamedItem] = []
    for kind in kinds:
        table = NOUNS[kind].table
        state = table.c.deleted_at.is_not(None) if trash else table.c.deleted_at.is_(None)
        statement = select(table.c.id, NOUNS[kind].label).where(table.c.source_ref == source_ref, state)
        rows = session.connection.execute(statement.order_by(table.c.deleted_at.desc(), table.c.id).limit(1))
        found += [(kind, row[0], row[1]) for row in rows]
    return found


def list_journal(session: Session, begins: datetime, ends: datetime, *, limit: int = 10) -> list[str]:
    """Return the living journal entries of a time, the last first."""
    table = NOUNS["journal"].table
    statement = select(table.c.id).where(table.c.at >= begins, table.c.at < ends, table.c.deleted_at.is_(None))
    return list(session.connection.execute(statement.order_by(table.c.at.desc(), table.c.id).limit(limit)).scalars())


def list_similar(session: Session, kinds: Sequence[str], name: str, *, limit: int) -> list[NamedItem]:
    """Return living items that share words with a name, and the last 400 changed of each kind."""
    hits = [
        hit
        for hit in session.full_text.search_terms(session, parse_terms(name), every=False, limit=limit)
        if hit.kind in kinds
    ]
    labels = get_labels(session, [(hit.kind, hit.item) for hit in hits])
    for kind in kinds:
        table = NOUNS[kind].table
        if "key" in table.c:
            label = NOUNS[kind].label
            statement = (
                select(table.c.id, label).where(table.c.deleted_at.is_(None)).order_by(table.c.updated_at.desc())
            )
            rows = session.connection.execute(statement.limit(_CHUNK))
            labels |= {row[0]: (kind, row[0], row[1]) for row in rows}
    return list(labels.values())


def get_labels(session: Session, items: Sequence[tuple[str, str]]) -> dict[str, NamedItem]:
    """Return kind, id and label of items given by kind and id, also of those in the trash."""
    asked: list[tuple[str, Rows]] = []
    for kind in dict.fromkeys(kind for kind, _ in items):
        of_kind = [id_ for entry, id_ in items if entry == kind]
        ids = [id_ for id_ in of_kind if id_ not in session.labels]
        asked += [(kind, session.labels.pop(id_)) for id_ in dict.fromkeys(of_kind) if id_ in session.labels]
        for start in range(0, len(ids), _CHUNK):
            asked.append((kind, _ask_labels(session, kind, ids[start : start + _CHUNK])))
    return {row[0]: (kind, row[0], row[1]) for kind, rows in asked for row in rows()}


def ask_label(session: Session, kind: str, id_: str) -> None:
    """Ask for the label of an item that the answer of this call may name."""
    session.labels[id_] = _ask_labels(session, kind, [id_])


def keep_label(session: Session, item: NamedItem) -> None:
    """Keep the label of an item that the answer of this call may name."""
    session.labels[item[1]] = lambda: [item[1:]]


def _ask_labels(session: Session, kind: str, ids: Sequence[str]) -> Rows:
    return session.ask(_LABELS[kind], {"ids": json.dumps(list(ids))})


_LABELS = {
    kind: select(noun.table.c.id, noun.label).where(noun.table.c.id.in_(json_values("ids")))
    for kind, noun in NOUNS.items()
}


_WINDOW = """
SELECT given.key, substr(item.{field}, CAST(json_extract(given.value, '$[1]') AS INTEGER) + 1, :chars)
FROM json_each(:places) AS given JOIN {table} AS item ON item.id = json_extract(given.value, '$[0]')
"""


@cache
def _window_statement(kind: str) -> TextClause:
    """Build the statement that reads ranges of the texts whose links are followed."""
    noun = NOUNS[kind]
    return text(_WINDOW.format(field=noun.value.LINKED, table=noun.table.name))


def load_windows(session: Session, places: Sequence[tuple[str, int]], chars: int) -> list[str]:
    """Return so many characters of the texts of items, each from a position; "" where the item is missing."""
    windows = [""] * len(places)
    numbers: dict[str, list[int]] = {}
    for number, (item, _) in enumerate(places):
        numbers.setdefault(kind_of(item) or "", []).append(number)
    for kind, of_kind in numbers.items():
        values = {"places": json.dumps([places[number] for number in of_kind]), "chars": chars}
        for row in session.connection.execute(_window_statement(kind), values):
            windows[of_kind[row[0]]] = row[1] or ""
    return windows


def list_by_prefix(session: Session, kind: str, text: str, *, limit: int) -> list[NamedItem]:
    """Return living items whose name begins with a text, or that share words with it; the last changed first."""
    table, label = NOUNS[kind].table, NOUNS[kind].label
    if "key" not in table.c:
        return []
    where = (table.c.deleted_at.is_(None), table.c.key.like(escape_like(normalize_name(text)) + "%", escape="\\"))
    statement = select(table.c.id, label).where(*where).order_by(table.c.updated_at.desc()).limit(limit)
    results = {row[0]: (kind, row[0], row[1]) for row in session.connection.execute(statement)}
    if len(results) < limit and text.strip():
        hits = session.full_text.search_terms(session, parse_terms(text), every=True, limit=limit * 4)
        results |= get_labels(
            session, [(hit.kind, hit.item) for hit in hits if hit.kind == kind and hit.item not in results]
        )
    return list(results.values())[:limit]


def list_favorites(session: Session, *, limit: int) -> list[NamedItem]:
    """Return the living favourite projects, then the pinned notes, each by name."""
    results: list[NamedItem] = []
    for kind, mark in FAVORITE_FIELDS.items():
        table = NOUNS[kind].table
        label = NOUNS[kind].label
        where = (table.c.deleted_at.is_(None), table.c[mark].is_(True))
        statement = select(table.c.id, label).where(*where).order_by(table.c.key, table.c.id)
        rows = session.connection.execute(statement.limit(limit - len(results)))
        results += [(kind, row[0], row[1]) for row in rows]
    return results
