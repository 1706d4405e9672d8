"""Change lines: records what each write changed, including long texts."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, case, exists, func, insert, or_, select, text

from panorama.domain.changes import (
    CHANGE_BYTES,
    SPLICE_MIN_CHARS,
    Action,
    Change,
    ItemChange,
    compute_splice,
    digest,
    effective_changes,
    fields_not_undone,
)
from panorama.domain.items.item import Item
from panorama.domain.text.json_types import is_sequence
from panorama.errors import ConflictError
from panorama.store.backend import Session
from panorama.store.column_types import format_deadline
from panorama.store.tables import changes, texts

__all__ = [
    "Action",
    "count_by_item",
    "count_by_unit",
    "list_by_items",
    "list_changes",
    "list_effective",
    "list_last_of_units",
    "record_all",
    "text_before",
]

PART = "part"
"""Marks the changed range of a long text: `before` holds {part, at, text or digest}, `after` the same for the new
text.
"""

_CHUNK = 500
_PORTION = 100


@dataclass(frozen=True, slots=True)
class UnitSummary:
    """How many changes some units have, how many of them create something, and by which operations."""

    changes: int
    created: int
    operations: frozenset[str]


@dataclass(frozen=True, slots=True)
class UnitStart:
    """The first line of a unit, and how many lines it has."""

    first: Change
    changes: int


@dataclass(frozen=True, slots=True)
class NewLine:
    """A change line to write: the item as it is now, and its changed fields before and after.

    `at` is the time of the write, by default the item's `updated_at`.
    """

    action: Action
    item: Item
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    undoes: int | None = None
    at: datetime | None = None


_NAMES = (
    "actor", "client", "conversation", "operation", "call", "unit",
    "at", "item", "kind", "action", "version", "before", "after", "undoes",
)  # fmt: skip


def record_all(session: Session, lines: Sequence[NewLine]) -> None:
    """Write change lines in order.

    Of a text over 4,096 characters only the changed range is stored. The removed part is stored in full (once, in
    `texts`, by digest); the inserted part is in the item's row until a later line removes it.
    """
    origin = session.origin
    if origin is None:
        raise RuntimeError("a change outside a write")
    by = origin.actor, origin.client, origin.conversation, origin.operation, origin.call, origin.unit
    created: list[tuple[Any, ...]] = []
    for line in lines:
        item, sides = line.item, _to_plain_sides(session, line.before, line.after)
        session.spend(json.dumps(sides, ensure_ascii=False) if origin.budget else "")
        session.spend_bytes(CHANGE_BYTES)
        what = line.at or item.updated_at, item.id, item.KIND, line.action, item.version
        created.append((*by, *what, *sides, line.undoes))
        session.touched.append(ItemChange.of(line.action, item, line.before, line.after))
    session.dialect.insert_rows(session.connection, changes, _NAMES, created, is_awaited=False)


def _to_plain_sides(
    session: Session, before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    old_side: dict[str, Any] = {}
    new_side: dict[str, Any] = {}
    for name, new in after.items():
        old = before.get(name)
        if isinstance(new, str) and max(len(new), len(old or "")) > SPLICE_MIN_CHARS:
            old_side[name], new_side[name] = _to_removed_and_inserted(session, old, new)
        else:
            old_side[name], new_side[name] = _to_plain(old), _to_plain(new)
    return ({} if not before else old_side), new_side


def _to_removed_and_inserted(session: Session, old: str | None, new: str) -> tuple[dict[str, Any], dict[str, Any]]:
    part = compute_splice(old or "", new)
    removed = _store_text(session, part.removed)
    inserted: dict[str, Any] = {"text": part.inserted} if len(part.inserted) <= SPLICE_MIN_CHARS else {}
    stands = {"chars": len(part.inserted), "digest": digest(new)}
    return {PART: True, "at": part.at} | removed, {PART: True, "at": part.at} | inserted | stands


def _store_text(session: Session, text: str) -> dict[str, Any]:
    if len(text) <= SPLICE_MIN_CHARS:
        return {"text": text}
    name = digest(text)
    if session.connection.execute(select(texts.c.digest).where(texts.c.digest == name)).first() is None:
        session.spend(text)
        session.send(insert(texts).inline(), {"digest": name, "text": text})
    return {"of": name, "chars": len(text)}


def _to_plain(value: Any) -> Any:
    if is_sequence(value):
        return list(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.microsecond else format_deadline(value)
    return value.isoformat() if isinstance(value, date) else value


def text_before(session: Session, now: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return a long text before a change, given the text after it.

    Raises:
        ConflictError: The text is not the result of the change.
    """
    if digest(now) != after["digest"]:
        raise ConflictError("The text was changed since.")
    at = int(after["at"])
    return now[:at] + removed_text(session, before) + now[at + int(after["chars"]) :]


def removed_text(session: Session, side: Mapping[str, Any]) -> str:
    """Return the text stored in a `before` side."""
    if "text" in side:
        return str(side["text"])
    return session.connection.execute(select(texts.c.text).where(texts.c.digest == side["of"])).scalar_one()


def list_changes(
    session: Session, *where: ColumnElement[bool], limit: int | None = None, newest_first: bool = False
) -> list[Change]:
    """Return change lines in the order they were written."""
    statement = select(changes).where(*where).order_by(changes.c.id.desc() if newest_first else changes.c.id)
    return [_to_change(row) for row in session.connection.execute(statement.limit(limit))]


def list_by_unit(session: Session, unit: str) -> list[Change]:
    """Return the lines of a unit: a change by its number, a call, or a batch, import, run or job."""
    if unit.isdigit():
        return list_changes(session, changes.c.id == int(unit)) if int(unit) < 1 << 63 else []
    return list_changes(session, changes.c.unit == unit) or list_changes(session, changes.c.call == unit)


def count_by_unit(session: Session, unit: str) -> int:
    """Count the lines of a unit; a single change is not checked for existence."""
    if unit.isdigit():
        return 1
    sizes = (select(func.count()).where(column == unit) for column in (changes.c.unit, changes.c.call))
    return next(filter(None, (session.connection.execute(size).scalar_one() for size in sizes)), 0)


def count_written(session: Session, unit: str) -> int:
    """Count the changes that a unit made, undone later or not, without those it reverted itself."""
    in_unit = changes.c.unit == unit
    mine = select(changes.c.id).where(in_unit)
    created = in_unit, or_(changes.c.undoes.is_(None), changes.c.undoes.not_in(mine))
    return session.connection.execute(select(func.count()).select_from(changes).where(*created)).scalar_one()


def count_actions(session: Session, unit: str) -> dict[str, int]:
    """Count a unit's effective changes by action, without undone ones."""
    if _has_undone_change(session, unit):
        return dict(Counter(line.action for line, _ in list_effective(session, unit)))
    counted = select(changes.c.action, func.count()).where(changes.c.unit == unit).group_by(changes.c.action)
    return {row[0]: row[1] for row in session.connection.execute(counted)}


def list_first_changes(session: Session, unit: str, limit: int) -> list[Change]:
    """Return a unit's first effective changes."""
    if _has_undone_change(session, unit):
        return [line for line, _ in list_effective(session, unit)][:limit]
    return list_changes(session, changes.c.unit == unit, limit=limit)


def list_effective(session: Session, unit: str) -> list[tuple[Change, frozenset[str]]]:
    """Return a unit's changes that were not undone, each with its remaining fields."""
    unit_changes = list_changes(session, changes.c.unit == unit)
    known = {line.id for line in unit_changes}
    items = sorted({line.item for line in unit_changes})
    fields = fields_not_undone(list_by_items(session, items, since=min(known, default=0)))
    return [(line, fields[line.id]) for line in unit_changes if fields[line.id] and line.undoes not in known]


def is_fully_undone(session: Session, unit: str) -> bool:
    """Return whether a unit reverted all its own changes."""
    in_unit = changes.c.unit == unit
    return _has_undone_change(session, unit, in_unit) and not effective_changes(list_changes(session, in_unit))


def _has_undone_change(session: Session, unit: str, *by: ColumnElement[bool]) -> bool:
    """Return whether any line, or one of some, undoes a line of a unit."""
    in_unit = changes.c.unit == unit
    later = changes.c.id > select(func.min(changes.c.id)).where(in_unit).scalar_subquery()
    undoing = changes.c.undoes.is_not(None), changes.c.undoes.in_(select(changes.c.id).where(in_unit))
    statement = select(changes.c.id).where(later, *by, *undoing).limit(1)
    return session.connection.execute(statement).first() is not None


def list_by_items(session: Session, items: Sequence[str], *, since: int) -> list[Change]:
    """Return the lines of some items from a line on."""
    results: list[Change] = []
    for start in range(0, len(items), _CHUNK):
        batch = items[start : start + _CHUNK]
        results += list_changes(session, changes.c.item.in_(batch), changes.c.id >= since)
    return results


def list_by_item(session: Session, item: str, *, before: int | None, limit: int) -> list[Change]:
    """Return the newest lines of one item, before a line."""
    where = [changes.c.item == item] + ([changes.c.id < before] if before is not None else [])
    return list_changes(session, *where, limit=limit, newest_first=True)


def last_deletion_unit(session: Session, item: str) -> str | None:
    """Return the unit that last moved an item to the trash."""
    deleted = (changes.c.item == item, changes.c.action == "delete")
    statement = select(changes.c.unit).where(*deleted).order_by(changes.c.id.desc()).limit(1)
    return session.connection.execute(statement).scalar()


def get_last_id(session: Session) -> int:
    """Return the number of the last line, 0 if there is none."""
    return session.connection.execute(select(func.max(changes.c.id))).scalar() or 0


def has_newer(session: Session, items: Sequence[str], *, since: int, but: str) -> bool:
    """Return whether any of some items has a later line of a unit other than `but`."""
    newer = changes.c.id > since, changes.c.unit != but, changes.c.item.in_(items)
    return session.connection.execute(select(changes.c.id).where(*newer).limit(1)).first() is not None


def count_by_item(session: Session, item: str) -> int:
    """Count the lines of an item."""
    return session.connection.execute(select(func.count()).where(changes.c.item == item)).scalar_one()


def list_last_of_units(
    session: Session, *, conversation: str | None = None, before: int | None = None, limit: int
) -> list[Change]:
    """Return the last line of each unit of a conversation before a line, the newest first."""
    later = changes.alias()
    where = [~exists().where(later.c.unit == changes.c.unit, later.c.id > changes.c.id)]
    where += [changes.c.conversation == conversation] if conversation is not None else []
    where += [changes.c.id < before] if before is not None else []
    return list_changes(session, *where, limit=limit, newest_first=True)


def describe_units(session: Session, units: Sequence[str]) -> dict[str, UnitStart]:
    """Return the first line and the number of lines of some units of at least one line, whatever their number."""
    starts = select(changes.c.unit, func.min(changes.c.id), func.count()).where(changes.c.unit.in_(units))
    rows = session.connection.execute(starts.group_by(changes.c.unit)).all()
    firsts = {line.id: line for line in list_changes(session, changes.c.id.in_([row[1] for row in rows]))}
    return {row[0]: UnitStart(firsts[row[1]], row[2]) for row in rows}


def list_last_units_of_items(session: Session, items: Sequence[str], limit: int) -> list[tuple[Change, Change]]:
    """Return the last units that changed any of some items: their first and last lines of these; newest first."""
    columns = func.min(changes.c.id), func.max(changes.c.id)
    units = select(*columns).where(changes.c.item.in_(items)).group_by(changes.c.unit)
    rows = session.connection.execute(units.order_by(columns[1].desc()).limit(limit)).all()
    lines = list_changes(session, changes.c.id.in_({id_ for row in rows for id_ in row}))
    by_id = {line.id: line for line in lines}
    return [(by_id[first], by_id[last]) for first, last in rows]


def list_undone_units(session: Session, units: Sequence[str]) -> set[str]:
    """Return those of some units of which all was undone."""
    starts = select(changes.c.unit).where(changes.c.unit.in_(units)).group_by(changes.c.unit).subquery()
    line, undoing = changes.alias(), changes.alias()
    undone = select(undoing.c.id).join(line, undoing.c.undoes == line.c.id).where(line.c.unit == starts.c.unit)
    rows = session.connection.execute(select(starts.c.unit).where(undone.exists())).scalars().all()
    return {unit for unit in rows if not has_effective_change(session, unit)}


def get_first(session: Session, unit: str) -> Change:
    """Return the first line of a unit."""
    return list_changes(session, changes.c.unit == unit, limit=1)[0]


def get_last(session: Session, unit: str) -> Change:
    """Return the last line of a unit that has one: a change by its number, a call, or a batch, import, run or job."""
    for column in (changes.c.unit, changes.c.call):
        if lines := list_changes(session, column == unit, limit=1, newest_first=True):
            return lines[0]
    return list_by_unit(session, unit)[-1]


def has_effective_change(session: Session, unit: str, *, but: Set[int] = frozenset()) -> bool:
    """Return whether any change of a unit, other than some, has an effect; a large unit is not read as a whole."""
    last = 0
    while ids := session.connection.execute(_DOUBTFUL, {"unit": unit, "last": last, "limit": _PORTION}).scalars().all():
        last = ids[-1]
        lines = list_changes(session, changes.c.id.in_(set(ids) - but))
        fields = fields_not_undone(list_by_items(session, sorted({line.item for line in lines}), since=ids[0]))
        if any(fields[line.id] for line in lines):
            return True
    return False


MAY_BE_EFFECTIVE = """
NOT EXISTS (SELECT 1 FROM changes AS own WHERE own.id = c.undoes AND own.unit = c.unit)
AND NOT EXISTS (
    SELECT 1 FROM changes AS u
    WHERE u.item = c.item AND u.id > c.id AND u.undoes = c.id
    AND NOT EXISTS (SELECT 1 FROM changes AS v WHERE v.item = u.item AND v.id > u.id AND v.undoes = u.id)
    AND (c.action = 'create' OR NOT EXISTS (
        SELECT key FROM json_each(c."after") EXCEPT SELECT key FROM json_each(u."after")
    ))
)
"""
"""The condition of all lines `c` but those that a line took back which nothing took back: of a creation, or in all
fields."""
_DOUBTFUL = text(
    "SELECT c.id FROM changes AS c "
    f"WHERE c.unit = :unit AND c.id > :last AND {MAY_BE_EFFECTIVE} ORDER BY c.id LIMIT :limit"
)


def is_untouched(session: Session, units: Sequence[str]) -> bool:
    """Return whether nothing of some units was undone, and no other unit changed their items since."""
    if any(_has_undone_change(session, unit) for unit in units):
        return False
    later = changes.alias()
    since = changes.c.unit.in_(units), later.c.item == changes.c.item, later.c.id > changes.c.id
    found = select(later.c.id).where(*since, later.c.unit.not_in(units)).limit(1)
    return session.connection.execute(found).first() is None


def summarize_units(session: Session, units: Sequence[str]) -> UnitSummary:
    """Return how much some units changed, and by which operations."""
    columns = changes.c.operation, func.count(), func.sum(case((changes.c.action == "create", 1), else_=0))
    statement = select(*columns).where(changes.c.unit.in_(units)).group_by(changes.c.operation)
    rows = session.connection.execute(statement).all()
    return UnitSummary(sum(row[1] for row in rows), sum(row[2] for row in rows), frozenset(row[0] for row in rows))


def _to_change(row: Row[Any]) -> Change:
    return Change(**row._mapping)  # pyright: ignore[reportPrivateUsage] (SQLAlchemy documents it as public)
