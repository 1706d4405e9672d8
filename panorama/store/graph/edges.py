"""Edges: what items say about each other, by links in their texts, by fields with ids, and by relations.

They are written in the transaction of the item. A link that names nothing living has no `to_item`; whenever an item
gets or loses a name, the links by this name are resolved again, so the result never depends on the order of writes.
A field with the id of a person or team is stored as a link by this id without a position.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import column, delete, func, or_, select, text

from panorama.domain.changes import LINK_WORK_BYTES, PASSED_WORK_BYTES, READ_LINK_WORK_BYTES, STORED_LINK_BYTES
from panorama.domain.items.item import Item, kind_of, normalize_name
from panorama.domain.items.relations import FIELD_KINDS, Relation
from panorama.domain.markdown.wiki_links import (
    LINK_MARK,
    MAX_LINKS,
    WikiLink,
    find_changed_links,
    find_link_shift,
    parse_links,
)
from panorama.domain.text.json_types import is_sequence
from panorama.kinds import BY_NAME, ITEM_KINDS
from panorama.store.backend import Rows, Session, count_bytes
from panorama.store.tables import edges, marks, metadata, relations

LINKED_KINDS = ("note", "project", "task", "file", "link", "reminder")
"""The kinds that links name, in the order in which they are looked up; further ones follow."""

NO_POSITION = -1
"""The position of edges that come from fields, not from a text."""

MANY_LINKS = 20
"""A text with at least as many links is not read again for a change of a few lines."""

_TABLES = {kind.name: metadata.tables[kind.collection] for kind in ITEM_KINDS}
_NAMED = tuple(sorted(
    (kind.name for kind in ITEM_KINDS if "key" in _TABLES[kind.name].c),
    key=lambda name: LINKED_KINDS.index(name) if name in LINKED_KINDS else len(LINKED_KINDS),
))  # fmt: skip
_TITLES = [
    f"SELECT named.key, id, created_at, {rank} AS rank FROM given CROSS JOIN {_TABLES[kind].name} AS named "
    "WHERE named.key = given.key AND deleted_at IS NULL"
    for rank, kind in enumerate(_NAMED)
]
_OTHER_NAMES = [
    f"SELECT o.key, named.id, created_at, {len(_NAMED) + rank} AS rank FROM given CROSS JOIN other_names AS o "
    f"JOIN {_TABLES[kind].name} AS named ON named.id = o.item "
    "WHERE o.key = given.key AND NOT is_short AND deleted_at IS NULL"
    for rank, kind in enumerate(_NAMED)
    if "aliases" in _TABLES[kind].c
]
_LOOKUPS = [
    text(
        "WITH given(key) AS MATERIALIZED (SELECT value FROM json_each(:keys)) "
        f"SELECT key, id FROM ({' UNION ALL '.join(part)}) AS found ORDER BY rank DESC, created_at DESC, id DESC"
    )
    for part in (_TITLES[:1], [*_TITLES[1:], *_OTHER_NAMES])
]
"""The statements that look up names: titles of notes, which most links mean, then all others."""

_LIVING = {
    kind: text(f"SELECT id FROM {table.name} WHERE id IN (SELECT value FROM json_each(:ids)) AND deleted_at IS NULL")
    for kind, table in _TABLES.items()
}
_COLUMNS = ("from_item", "to_item", "kind", "relation", "target", "key", "tail", "position")
_NAMED_LINKS = text(
    "SELECT key, tail FROM edges WHERE key IN (SELECT value FROM json_each(:names)) UNION "
    "SELECT key, tail FROM edges WHERE tail IN (SELECT value FROM json_each(:names)) AND tail <> ''"
).columns(column("key"), column("tail"))
_RESOLVE = text(
    "UPDATE edges SET to_item = :found "
    "WHERE key = :key AND tail = :tail AND coalesce(to_item, '') <> coalesce(:found, '')"
)
_PREFIX = "links "


def ask_naming(session: Session, updates: Iterable[tuple[Item | None, Item]]) -> Rows:
    """Ask for the links by names that items get or lose, given as they were, None for a new one, and as they are."""
    names = {name for old, new in updates for name in _list_changed_names(old, new) if name}
    return session.ask(_NAMED_LINKS, {"names": json.dumps(sorted(names))}) if names else _no_rows


def _no_rows() -> Sequence[Sequence[Any]]:
    return ()


def add_items(session: Session, items: Sequence[Item], naming: Rows) -> None:
    """Write the edges of new items, and resolve the links that name them."""
    links: list[tuple[str, WikiLink]] = []
    for item in items:
        if isinstance(item, Relation):
            _add_relation(session, item)
        else:
            links += [(item.id, link) for link in _list_links(session, item)]
    _insert_links(session, links)
    _resolve_links(session, naming())


def update_items(session: Session, updates: Sequence[tuple[Item, Item]], naming: Rows) -> None:
    """Bring the edges up to date with changed, deleted and restored items, given as they were and as they are.

    Their rows, and all others of the transaction, must be written before; `naming` is what `ask_naming` returned.
    """
    rewritten: list[Item] = []
    restored: list[str] = []
    for old, new in updates:
        was_alive, is_alive = old.deleted_at is None, new.deleted_at is None
        if isinstance(new, Relation):
            _rebuild_relation(session, new)
            continue
        if is_alive and (not was_alive or not _edit_links(session, old, new) or _list_fields(old) != _list_fields(new)):
            rewritten.append(new)
        if is_alive and not was_alive:
            restored.append(new.id)
        elif was_alive and not is_alive:
            session.count_work(LINK_WORK_BYTES * min(new.linked_text().count(LINK_MARK), MAX_LINKS))
            _remove_edges(session, new.id)
    _write_links(session, rewritten)
    _resolve_links(session, naming())
    _restore_relations(session, restored)


def rebuild_item(session: Session, item: Item) -> None:
    """Rewrite the edges of a living item."""
    if isinstance(item, Relation):
        _rebuild_relation(session, item)
    else:
        _write_links(session, [item])


def list_relations_of(session: Session, items: Sequence[str]) -> list[str]:
    """Return the relations from or to some items."""
    by_end = or_(relations.c.from_item.in_(items), relations.c.to_item.in_(items))
    return list(session.connection.execute(select(relations.c.id).where(by_end)).scalars())


def forget_items(session: Session, items: Sequence[str]) -> None:
    """Delete the edges and relations of purged items."""
    for table in (edges, relations):
        session.connection.execute(delete(table).where(or_(table.c.from_item.in_(items), table.c.to_item.in_(items))))


def _list_names(item: Item) -> list[str]:
    """Return the normalised names by which links name an item."""
    if item.KIND not in _NAMED:
        return []
    return [normalize_name(name) for name in (item.label, *item.list_other_names())]


def _list_changed_names(old: Item | None, new: Item) -> Sequence[str]:
    """Return the names that an item gets or loses, the id of one that is deleted or restored included."""
    if isinstance(new, Relation):
        return ()
    if old is None:
        return _list_names(new)
    was_alive, is_alive = old.deleted_at is None, new.deleted_at is None
    former, current = _list_names(old), _list_names(new)
    if was_alive != is_alive:
        return (new.id, *former, *current)
    return (*current, *former) if is_alive and current != former else ()


# Links


def _list_links(session: Session, item: Item) -> list[WikiLink]:
    """Return the links in an item's text, and those that its fields are; of two to one item by a kind, the field."""
    (links, has_more), fields = parse_links(item.linked_text()), _list_fields(item)
    (session.unfollowed.add if has_more else session.unfollowed.discard)(item.id)
    places = {(link.key, link.kind) for link in fields}
    session.count_work(READ_LINK_WORK_BYTES * (len(links) + len(fields)))
    return [*(link for link in links if (link.key, link.kind) not in places), *fields] if fields else links


def _list_fields(item: Item) -> list[WikiLink]:
    """Return links for the fields of an item that have ids of people and teams."""
    links: list[WikiLink] = []
    for name in BY_NAME[item.KIND].loose_references:
        if kind := FIELD_KINDS.get(name):
            value: object = getattr(item, name)
            ids = value if is_sequence(value) else [value] if value else []
            links += [WikiLink(name, str(id_), "", kind, NO_POSITION) for id_ in ids]
    return links


def _write_links(session: Session, items: Sequence[Item]) -> None:
    """Store the links in the texts of some items; stored ones that did not change are kept."""
    if not items:
        return
    links = {(item.id, link.key, link.kind): link for item in items for link in _list_links(session, item)}
    stored = _list_stored(session, [item.id for item in items])
    if gone := [row[0] for place, row in stored.items() if place not in links]:
        session.count_work(LINK_WORK_BYTES * len(gone))
        session.send(_DELETE, {"ids": json.dumps(gone)})
    moved = [
        (stored[place][0], link.target, link.start)
        for place, link in links.items()
        if place in stored and stored[place][1:] != (link.target, link.start)
    ]
    _move_links(session, moved)
    _insert_links(session, [(place[0], link) for place, link in links.items() if place not in stored])


def _move_links(session: Session, moved: Sequence[tuple[int, str, int]]) -> None:
    """Store the targets and positions of links that are already stored, given by their ids."""
    if moved:
        session.count_work(LINK_WORK_BYTES * len(moved))
        session.send(_MOVE, {"moved": json.dumps(moved)})


_SHIFT = text(
    "UPDATE edges SET position = position + :by WHERE from_item = :item AND position >= :start AND relation IS NULL"
)


def _edit_links(session: Session, old: Item, new: Item) -> bool:
    """Store the changed links of a text, and the positions of the others; return False if all must be read again."""
    before, after = old.linked_text(), new.linked_text()
    if before == after or (LINK_MARK not in before and LINK_MARK not in after):
        return True
    shift = find_link_shift(before, after)
    if shift is None:
        return before.count(LINK_MARK) >= MANY_LINKS and _write_changed_links(session, new, before)
    start, by = shift
    if by:
        session.send(_SHIFT, {"item": new.id, "start": start, "by": by})
    return True


def _write_changed_links(session: Session, item: Item, before: str) -> bool:
    """Store the links in the changed lines of a text, and return whether the others are the same links."""
    after = item.linked_text()
    changed = find_changed_links(before, after)
    if changed is None:
        return False
    session.count_work(PASSED_WORK_BYTES * changed.read_count + READ_LINK_WORK_BYTES * len(changed.links))
    keys = json.dumps([link.key for link in changed.links])
    rows = session.connection.execute(_STORED_BY_KEY, {"item": item.id, "keys": keys}).all()
    stored = {(row[0], row[1]): (row[2], row[3]) for row in rows}
    if changed.shift and changed.end < len(before):
        session.send(_SHIFT, {"item": item.id, "start": changed.end, "by": changed.shift})
    found = [(link, stored.get((link.key, link.kind))) for link in changed.links]
    # Of several links to one item by one kind, the first is stored.
    _move_links(session, [(row[0], link.target, link.start) for link, row in found if row and row[1] >= changed.start])
    _insert_links(session, [(item.id, link) for link, row in found if row is None])
    session.unfollowed.discard(item.id)
    return True


_STORED = text(
    "SELECT from_item, key, kind, id, target, position, relation FROM edges "
    "WHERE from_item IN (SELECT value FROM json_each(:items))"
)
_STORED_BY_KEY = text(
    "SELECT key, kind, id, position FROM edges "
    "WHERE from_item = :item AND relation IS NULL AND key IN (SELECT value FROM json_each(:keys))"
)
_DELETE = text("DELETE FROM edges WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids))")
_MOVE = text(
    "UPDATE edges SET target = json_extract(value, '$[1]'), position = CAST(json_extract(value, '$[2]') AS BIGINT) "
    "FROM json_each(:moved) WHERE edges.id = CAST(json_extract(value, '$[0]') AS BIGINT)"
)


def _list_stored(session: Session, items: Sequence[str]) -> dict[tuple[str, str, str], tuple[int, str, int]]:
    """Return the stored links of some items, by item, key and kind: id, target and position."""
    found = session.connection.execute(_STORED, {"items": json.dumps(items)}).all()
    return {(row[0], row[1], row[2]): (row[3], row[4], row[5]) for row in found if row[6] is None}


def _insert_links(session: Session, links: Sequence[tuple[str, WikiLink]]) -> None:
    """Store new links, each with the item that has it."""
    if not links:
        return
    session.count_work(LINK_WORK_BYTES * len(links))
    sizes = (2 * count_bytes(link.target) + count_bytes(link.key) for _, link in links)
    session.spend_bytes(STORED_LINK_BYTES * len(links) + sum(sizes))
    found = resolve_keys(session, {name for _, link in links for name in (link.key, link.tail) if name})
    session.dialect.insert_rows(
        session.connection, edges, _COLUMNS,
        [
            (item, found.get(link.key) or found.get(link.tail), link.kind, None, link.target, link.key, link.tail,
             link.start)
            for item, link in links
        ],
        is_awaited=False,
    )  # fmt: skip


def resolve_keys(session: Session, keys: Collection[str]) -> dict[str, str]:
    """Return the living items that links by some normalised names mean, by name.

    An id comes first, then a title, notes before other kinds and the oldest first, then another name.
    """
    found = find_living(session, [key for key in keys if key[1:2] == "_" and kind_of(key)])
    left = set(keys) - found.keys()
    for statement in _LOOKUPS:
        if not left:
            break
        rows = session.connection.execute(statement, {"keys": json.dumps(sorted(left))})
        found |= {row[0]: row[1] for row in rows}  # the first choice is last
        left -= found.keys()
    return found


def find_living(session: Session, ids: Iterable[str]) -> dict[str, str]:
    """Return those of some ids that belong to living items, each as its own value."""
    found: dict[str, str] = {}
    for kind, entries in groupby(sorted(ids, key=lambda id_: kind_of(id_) or ""), kind_of):
        living = session.connection.execute(_LIVING[kind or ""], {"ids": json.dumps(list(entries))})
        found |= {id_: id_ for id_ in living.scalars()}
    return found


def list_linking(session: Session, item: str, name: str) -> list[str]:
    """Return the items whose links mean an item by a normalised name."""
    by_name = or_(edges.c.key == name, edges.c.tail == name)
    where = edges.c.to_item == item, edges.c.relation.is_(None), by_name
    return list(session.connection.execute(select(edges.c.from_item).where(*where).distinct()).scalars())


def _resolve_links(session: Session, places: Sequence[Sequence[Any]]) -> None:
    """Resolve links again, given by name and tail."""
    if not places:
        return
    found = resolve_keys(session, {part for place in places for part in place if part})
    session.connection.execute(
        _RESOLVE, [{"key": key, "tail": tail, "found": found.get(key) or found.get(tail)} for key, tail in places]
    )


_REMOVE = text("DELETE FROM edges WHERE from_item = :item OR (to_item = :item AND relation IS NOT NULL)")


def _remove_edges(session: Session, item: str) -> None:
    """Remove the links of an item's text, and the edges of its relations."""
    session.send(_REMOVE, {"item": item})


# Relations


def _add_relation(session: Session, relation: Relation) -> None:
    """Write the edge of a relation whose ends both live."""
    ends = {relation.from_item, relation.to_item}
    if len(find_living(session, ends)) == len(ends):
        row = (relation.from_item, relation.to_item, relation.kind, relation.id, "", "", "", 0)
        session.dialect.insert_rows(session.connection, edges, _COLUMNS, [row], is_awaited=False)


def _rebuild_relation(session: Session, relation: Relation) -> None:
    """Rewrite the edge of a changed relation."""
    session.send(delete(edges).where(edges.c.relation == relation.id))
    if relation.deleted_at is None:
        _add_relation(session, relation)


def _restore_relations(session: Session, items: Sequence[str]) -> None:
    """Write the edges of the living relations of items that are back from the trash."""
    if not items:
        return
    by_end = or_(relations.c.from_item.in_(items), relations.c.to_item.in_(items))
    columns = [
        relations.c[name] for name in ("id", "version", "created_at", "updated_at", "from_item", "kind", "to_item")
    ]
    for row in session.connection.execute(select(*columns).where(by_end, relations.c.deleted_at.is_(None))).all():
        _rebuild_relation(session, Relation(**row._mapping))  # pyright: ignore[reportPrivateUsage] (SQLAlchemy documents it as public)


# Texts that were there before


def list_unread(session: Session, limit: int) -> list[str]:
    """Return the items whose links were not read yet."""
    names = select(marks.c.name).where(marks.c.name.startswith(_PREFIX)).order_by(marks.c.name).limit(limit)
    return [name.removeprefix(_PREFIX) for name in session.connection.execute(names).scalars()]


def clear_unread(session: Session, items: Sequence[str]) -> None:
    """Record that the links of some items were read."""
    session.connection.execute(delete(marks).where(marks.c.name.in_([f"{_PREFIX}{item}" for item in items])))


def count_unread(session: Session) -> int:
    """Count the items whose links were not read yet."""
    return session.connection.execute(select(func.count()).where(marks.c.name.startswith(_PREFIX))).scalar_one()
