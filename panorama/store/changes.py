"""Change lines: the only module that knows how a change is kept, long texts included."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, func, insert, or_, select

from panorama.domain.changes import LONG_TEXT, Action, Change, Touch, digest, splice, standing, untaken
from panorama.domain.items import Item
from panorama.domain.plain import is_sequence
from panorama.errors import ConflictError
from panorama.store.column_types import written
from panorama.store.engine import Session
from panorama.store.tables import changes, texts

__all__ = [
    "Action",
    "count_of",
    "last_unit",
    "lines",
    "of_items",
    "recent_units",
    "record",
    "size_of_unit",
    "standing_of_unit",
    "text_before",
]

PART = "part"
"""Marks a long text's stretch: `before` holds {part, at, text or digest}, `after` the same for what is there now."""

_CHUNK = 500
_ADD = insert(changes).inline()


def record(
    session: Session,
    action: Action,
    item: Item,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    undoes: int | None = None,
) -> None:
    """Write one line: what an item was and what it is, the changed fields only.

    A text of over 4,096 characters is kept as the stretch that changed. The stretch that was removed is kept whole
    (in `texts`, by digest, once); the one that was inserted stands in the item's row until a later line removes it.
    """
    origin = session.origin
    if origin is None:
        raise RuntimeError("a change outside a write")
    plain_before, plain_after = _plain_sides(session, before, after)
    session.connection.execute(
        _ADD,
        {
            "at": item.updated_at, "actor": origin.actor, "client": origin.client, "conversation": origin.conversation,
            "operation": origin.operation, "call": origin.call, "unit": origin.unit, "item": item.id, "kind": item.KIND,
            "action": action, "version": item.version, "before": plain_before, "after": plain_after, "undoes": undoes,
        },
    )  # fmt: skip
    session.touched.append(Touch.of(action, item, before, after))


def _plain_sides(
    session: Session, before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    old_side: dict[str, Any] = {}
    new_side: dict[str, Any] = {}
    for name, new in after.items():
        old = before.get(name)
        if isinstance(new, str) and max(len(new), len(old or "")) > LONG_TEXT:
            old_side[name], new_side[name] = _stretches(session, old, new)
        else:
            old_side[name], new_side[name] = _plain(old), _plain(new)
    return ({} if not before else old_side), new_side


def _stretches(session: Session, old: str | None, new: str) -> tuple[dict[str, Any], dict[str, Any]]:
    part = splice(old or "", new)
    removed = _kept(session, part.removed)
    inserted: dict[str, Any] = {"text": part.inserted} if len(part.inserted) <= LONG_TEXT else {}
    stands = {"chars": len(part.inserted), "digest": digest(new)}
    return {PART: True, "at": part.at} | removed, {PART: True, "at": part.at} | inserted | stands


def _kept(session: Session, text: str) -> dict[str, Any]:
    if len(text) <= LONG_TEXT:
        return {"text": text}
    name = digest(text)
    if session.connection.execute(select(texts.c.digest).where(texts.c.digest == name)).first() is None:
        session.connection.execute(insert(texts), {"digest": name, "text": text})
    return {"of": name, "chars": len(text)}


def _plain(value: Any) -> Any:
    if is_sequence(value):
        return list(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.microsecond else written(value)
    return value.isoformat() if isinstance(value, date) else value


def text_before(session: Session, now: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what a long text was before a change, from what it is after it.

    Raises:
        ConflictError: The text is not the one that the change left.
    """
    if digest(now) != after["digest"]:
        raise ConflictError("The text was changed since.")
    at = int(after["at"])
    return now[:at] + stretch(session, before) + now[at + int(after["chars"]) :]


def stretch(session: Session, side: Mapping[str, Any]) -> str:
    """Return the text that a `before` side keeps."""
    if "text" in side:
        return str(side["text"])
    return session.connection.execute(select(texts.c.text).where(texts.c.digest == side["of"])).scalar_one()


def lines(
    session: Session, *where: ColumnElement[bool], limit: int | None = None, newest_first: bool = False
) -> list[Change]:
    """Return change lines in the order they were written."""
    statement = select(changes).where(*where).order_by(changes.c.id.desc() if newest_first else changes.c.id)
    return [_change(row) for row in session.connection.execute(statement.limit(limit))]


def of_unit(session: Session, unit: str) -> list[Change]:
    """Return the lines of a unit: a change by its number, a call, or a batch, import, run or job."""
    if unit.isdigit():
        return lines(session, changes.c.id == int(unit)) if int(unit) < 1 << 63 else []
    return lines(session, changes.c.unit == unit) or lines(session, changes.c.call == unit)


def size_of_unit(session: Session, unit: str) -> int:
    """Return how many lines a unit has; of a single change it is not asked whether it is there."""
    if unit.isdigit():
        return 1
    sizes = (select(func.count()).where(column == unit) for column in (changes.c.unit, changes.c.call))
    return next(filter(None, (session.connection.execute(size).scalar_one() for size in sizes)), 0)


def written_by_unit(session: Session, unit: str) -> int:
    """Return how many changes a unit made, whether they stand or not; what it took back itself is none of them."""
    own = changes.c.unit == unit
    mine = select(changes.c.id).where(own)
    made = own, or_(changes.c.undoes.is_(None), changes.c.undoes.not_in(mine))
    return session.connection.execute(select(func.count()).select_from(changes).where(*made)).scalar_one()


def actions_of_unit(session: Session, unit: str) -> dict[str, int]:
    """Return how many changes of each action stand of a unit; what was taken back does not."""
    if _is_taken_back(session, unit):
        return dict(Counter(line.action for line, _ in standing_of_unit(session, unit)))
    counted = select(changes.c.action, func.count()).where(changes.c.unit == unit).group_by(changes.c.action)
    return {row[0]: row[1] for row in session.connection.execute(counted)}


def first_of_unit(session: Session, unit: str, limit: int) -> list[Change]:
    """Return the first changes that stand of a unit."""
    if _is_taken_back(session, unit):
        return [line for line, _ in standing_of_unit(session, unit)][:limit]
    return lines(session, changes.c.unit == unit, limit=limit)


def standing_of_unit(session: Session, unit: str) -> list[tuple[Change, frozenset[str]]]:
    """Return the changes of a unit that neither it nor another took back, each with the fields that were left."""
    own = lines(session, changes.c.unit == unit)
    known = {line.id for line in own}
    items = sorted({line.item for line in own})
    fields = untaken(of_items(session, items, since=min(known, default=0)))
    return [(line, fields[line.id]) for line in own if fields[line.id] and line.undoes not in known]


def is_void(session: Session, unit: str) -> bool:
    """Tell whether a unit took back itself all that it wrote."""
    own = changes.c.unit == unit
    return _is_taken_back(session, unit, own) and not standing(lines(session, own))


def _is_taken_back(session: Session, unit: str, *by: ColumnElement[bool]) -> bool:
    """Tell whether any line, or one of some, takes back one of a unit."""
    own = changes.c.unit == unit
    later = changes.c.id > select(func.min(changes.c.id)).where(own).scalar_subquery()
    undoing = changes.c.undoes.is_not(None), changes.c.undoes.in_(select(changes.c.id).where(own))
    found = select(changes.c.id).where(later, *by, *undoing).limit(1)
    return session.connection.execute(found).first() is not None


def of_items(session: Session, items: Sequence[str], *, since: int) -> list[Change]:
    """Return the lines of some items from a line on."""
    found: list[Change] = []
    for start in range(0, len(items), _CHUNK):
        some = items[start : start + _CHUNK]
        found += lines(session, changes.c.item.in_(some), changes.c.id >= since)
    return found


def of_item(session: Session, item: str, *, before: int | None, limit: int) -> list[Change]:
    """Return the newest lines of one item, before a line."""
    where = [changes.c.item == item] + ([changes.c.id < before] if before is not None else [])
    return lines(session, *where, limit=limit, newest_first=True)


def count_of(session: Session, item: str) -> int:
    """Return how many lines an item has."""
    return session.connection.execute(select(func.count()).where(changes.c.item == item)).scalar_one()


def last_unit(session: Session, conversation: str, but: Collection[str] = ()) -> str | None:
    """Return the unit of a conversation's last write, leaving out some."""
    mine = changes.c.conversation == conversation, changes.c.unit.not_in(but)
    return session.connection.execute(
        select(changes.c.unit).where(*mine).order_by(changes.c.id.desc()).limit(1)
    ).scalar_one_or_none()


def recent_units(session: Session, limit: int) -> list[tuple[str, str, datetime]]:
    """Return the last units: id, operation, moment; the newest first."""
    newest = func.max(changes.c.id)
    statement = (
        select(changes.c.unit, func.max(changes.c.operation), func.max(changes.c.at))
        .where(changes.c.id > select(func.coalesce(func.max(changes.c.id), 0) - 500).scalar_subquery())
        .group_by(changes.c.unit)
        .order_by(newest.desc())
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in session.connection.execute(statement)]


def _change(row: Row[Any]) -> Change:
    return Change(**row._mapping)  # pyright: ignore[reportPrivateUsage] (SQLAlchemy documents it as public)
