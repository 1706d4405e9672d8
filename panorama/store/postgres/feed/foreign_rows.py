"""Finds the rows that other processes wrote since the last query."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, get_args

from sqlalchemy import Connection, Row, literal, select, text

from panorama.domain.changes import ItemChange
from panorama.domain.items.item import FAVORITE_FIELDS
from panorama.store.backend import RowTopic, Topic
from panorama.store.items.rows import NOUNS
from panorama.store.postgres.connections import driver_connection
from panorama.store.postgres.feed.own_transactions import OwnTransactions

LOST_TRANSACTIONS = 100_000
"""How many transaction numbers a crash may lose, which the server then assigns again: those of half a second."""

BATCH_SIZE = 1000
"""Changes read at a time: an import by another process makes thousands."""

ROW_TOPICS: Sequence[RowTopic] = get_args(RowTopic)
_ROWS: Mapping[RowTopic, tuple[str, str]] = {
    "jobs": ("id", "jobs WHERE true"),
    "scripts": ("name", "scripts WHERE true"),
    "alerts": ("id", "alerts WHERE true"),
    "vectors": ("name", "marks WHERE name LIKE 'passages %'"),
}
"""The key and the rows of each table without change lines."""

# The number of the last change and the oldest transaction that is open. For each topic whose parameter is not null:
# the rows by transactions from that one on, and some before it; `age` counts back from now, also over the end of the
# 32 bits.
_LOOK = text(
    "SELECT 'items' AS topic, coalesce(max(id), 0)::text AS key, "
    "pg_snapshot_xmin(pg_current_snapshot())::xid::text::bigint AS xmin FROM changes"
    + "".join(
        f" UNION ALL SELECT '{topic}', {key}, xmin::text::bigint FROM {rows} AND CAST(:{topic} AS text) IS NOT NULL "
        f"AND age(xmin) <= age(CAST(CAST(:{topic} AS text) AS xid))::bigint + :before"
        for topic, (key, rows) in _ROWS.items()
    )
)
_MARK = ", ".join(f"""("before" ->> '{name}')""" for name in FAVORITE_FIELDS.values())
_CHANGES = text(
    'SELECT id, kind, item, action, ARRAY(SELECT json_object_keys("after")) AS fields, '
    f"""("before" ->> 'project') AS project, coalesce({_MARK}) = 'true' AS marked FROM changes """
    "WHERE id > :after AND id <= :last AND xmin::text::bigint <> ALL(CAST(:own AS bigint[])) "
    "ORDER BY id LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class News:
    """The writes of other processes: changes in the order of their commits, and keys of rows in no order."""

    changes: Sequence[ItemChange] = ()
    rows: Mapping[RowTopic, Sequence[str]] = field(default_factory=dict[RowTopic, Sequence[str]])
    has_more: bool = False
    """Whether there are more changes to read."""


class ForeignRows:
    """Remembers up to where this process has read the rows of others. For one thread."""

    def __init__(self, own: OwnTransactions) -> None:
        self._own = own
        self._last_change: int | None = None
        self._server_start = ""
        self._since: dict[RowTopic, str] = {}
        self._known: dict[RowTopic, dict[str, int]] = {}

    def begin(self, connection: Connection) -> None:
        """Start after the rows that exist now, unless it has started already."""
        if self._last_change is None:
            position = connection.execute(_LOOK, {**dict.fromkeys(ROW_TOPICS), "before": 0}).one()
            self._server_start = driver_connection(connection).server_start
            self._last_change = int(position.key)
            self._since = {topic: str(position.xmin) for topic in ROW_TOPICS}

    def look(self, connection: Connection, topics: Set[Topic]) -> News:
        """Return the rows of these topics that others wrote since the last query."""
        self.begin(connection)
        found = self._find_rows(connection, topics)
        ((last, oldest),) = found["items"].items()
        changes, has_more = self._read_changes(connection, int(last)) if "items" in topics else ([], False)
        rows: dict[RowTopic, list[str]] = {}
        for topic in ROW_TOPICS:
            if topic in topics:
                rows[topic] = self._select_new(topic, found[topic])
                self._since[topic] = str(oldest)
        return News(changes, rows, has_more)

    def _find_rows(self, connection: Connection, topics: Set[Topic]) -> dict[str, dict[str, int]]:
        """Return the `xmin` of rows that may be new by topic and key, and the row of `_LOOK` for items."""
        has_restarted = driver_connection(connection).server_start != self._server_start
        since = {topic: self._since[topic] if topic in topics else None for topic in ROW_TOPICS}
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for topic, key, xmin in connection.execute(_LOOK, {**since, "before": LOST_TRANSACTIONS * has_restarted}):
            found[topic][key] = xmin
        if has_restarted:
            self._known.clear()
            self._server_start = driver_connection(connection).server_start
        return found

    def _select_new(self, topic: RowTopic, found: dict[str, int]) -> list[str]:
        """Return the keys of rows that are new and foreign.

        While an older transaction is open anywhere on the server, the same rows are found again.
        """
        known, own = self._known.get(topic, {}), set(self._own.list_xmins(self._server_start))
        self._known[topic] = found
        return [key for key, xmin in found.items() if known.get(key) != xmin and xmin not in own]

    def _read_changes(self, connection: Connection, last: int) -> tuple[list[ItemChange], bool]:
        after = self._last_change or 0
        if last <= after:
            self._last_change = last  # smaller only after a restore or a purge
            return [], False
        values = {"after": after, "last": last, "own": self._own.list_xmins(self._server_start), "most": BATCH_SIZE}
        rows = connection.execute(_CHANGES, values).all()
        changes = _to_item_changes(connection, rows)
        has_more = len(rows) == BATCH_SIZE
        self._last_change = rows[-1].id if has_more else last
        return changes, has_more


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
    """Return the item change that a line of `changes` records.

    `item` is the item as it is now, None if it was purged. What was marked since counts as marked: listeners then look
    at a list once more than they need to.
    """
    projects = filter(None, (row.project, item.project if item else None))
    is_marked = bool(row.marked or (item and item.marked))
    return ItemChange(row.kind, row.item, row.action, tuple(row.fields), tuple(dict.fromkeys(projects)), is_marked)
