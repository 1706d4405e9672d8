"""Finds what other processes wrote since the last look."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, TextClause, literal, select, text

from panorama.domain.changes import ItemChange
from panorama.domain.items.item import FAVORITE_FIELDS
from panorama.store.backend import RowTopic
from panorama.store.items.rows import NOUNS
from panorama.store.postgres.feed.own_transactions import OwnTransactions

BATCH_SIZE = 1000
"""Changes read at a time: an import by another process makes thousands."""

_MARK = ", ".join(f"""("before" ->> '{name}')""" for name in FAVORITE_FIELDS.values())
_POSITION = text(
    "SELECT coalesce((SELECT max(id) FROM changes), 0), pg_snapshot_xmin(pg_current_snapshot())::xid::text"
)
_CHANGES = text(
    'SELECT id, kind, item, action, ARRAY(SELECT json_object_keys("after")) AS fields, '
    f"""("before" ->> 'project') AS project, coalesce({_MARK}) = 'true' AS marked FROM changes """
    "WHERE id > :after AND id <= :last AND xmin::text::bigint <> ALL(CAST(:own AS bigint[])) "
    "ORDER BY id LIMIT :most"
)
# Transactions from the oldest that was open at the last look on; `age` counts back from now, also over the end of the
# 32 bits.
_ROWS = "SELECT {key}, xmin::text::bigint FROM {table} WHERE age(xmin) <= age(CAST(CAST(:since AS text) AS xid))"
_ROW_QUERIES: Mapping[RowTopic, TextClause] = {
    "jobs": text(_ROWS.format(key="id", table="jobs")),
    "scripts": text(_ROWS.format(key="name", table="scripts")),
}


class ForeignRows:
    """Remembers how far this process has read what others wrote. For one thread."""

    def __init__(self, own: OwnTransactions) -> None:
        self._own = own
        self._last_change: int | None = None
        self._since: dict[RowTopic, str] = {}
        self._known: dict[RowTopic, dict[str, int]] = {}

    def begin(self, connection: Connection) -> None:
        """Take what is there now as known, if nothing is known yet."""
        if self._last_change is None:
            self._last_change, since = _read_position(connection)
            self._since = dict.fromkeys(_ROW_QUERIES, since)

    def read_changes(self, connection: Connection) -> tuple[list[ItemChange], bool]:
        """Return the next changes of others in the order of their commits, and whether there are more."""
        after, (last, _) = self._last_change or 0, _read_position(connection)
        if last <= after:
            self._last_change = last  # smaller only after a restore or a purge
            return [], False
        values = {"after": after, "last": last, "own": self._own.list_all(), "most": BATCH_SIZE}
        rows = connection.execute(_CHANGES, values).all()
        changes = _to_item_changes(connection, rows)
        has_more = len(rows) == BATCH_SIZE
        self._last_change = rows[-1].id if has_more else last
        return changes, has_more

    def read_rows(self, connection: Connection, topic: RowTopic) -> list[str]:
        """Return the keys of rows of a table without change lines that others wrote, in no order."""
        _, since = _read_position(connection)
        rows = connection.execute(_ROW_QUERIES[topic], {"since": self._since[topic]}).all()
        known, own = self._known.get(topic, {}), set(self._own.list_all())
        found: dict[str, int] = {row[0]: row[1] for row in rows}
        # While an older transaction is open anywhere on the server, the same rows are returned again.
        self._since[topic], self._known[topic] = since, found
        return [key for key, xmin in found.items() if known.get(key) != xmin and xmin not in own]


def _read_position(connection: Connection) -> tuple[int, str]:
    """Return the number of the last change, and the oldest transaction that is still open."""
    row = connection.execute(_POSITION).one()
    return row[0], row[1]


def _to_item_changes(connection: Connection, rows: Collection[Row[Any]]) -> list[ItemChange]:
    items: dict[str, Any] = {}
    for kind in {row.kind for row in rows} & NOUNS.keys():
        items |= {item.id: item for item in _list_items(connection, kind, {r.item for r in rows if r.kind == kind})}
    return [_to_item_change(row, items.get(row.item)) for row in rows]


def _list_items(connection: Connection, kind: str, ids: Iterable[str]) -> Sequence[Any]:
    """Return the project and the mark that some items of a kind have now."""
    columns = NOUNS[kind].table.c
    project = columns.project if "project" in columns else literal(None)
    marked = columns[name] if (name := FAVORITE_FIELDS.get(NOUNS[kind].kind)) else literal(value=False)
    query = select(columns.id, project.label("project"), marked.label("marked"))
    return connection.execute(query.where(columns.id.in_(sorted(ids)))).all()


def _to_item_change(row: Row[Any], item: Any) -> ItemChange:
    """Return what a line of `changes` touched.

    `item` is the item as it is now, None if it was purged. What was marked since counts as marked: listeners then look
    at a list once more than they need to.
    """
    projects = filter(None, (row.project, item.project if item else None))
    is_marked = bool(row.marked or (item and item.marked))
    return ItemChange(row.kind, row.item, row.action, tuple(row.fields), tuple(dict.fromkeys(projects)), is_marked)
