"""Rows of writes that replaced the file of a script."""

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import func, insert, select

from panorama.store.backend import Session
from panorama.store.tables import changes, script_writes


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptWrite:
    """One write: the file of `name` held the text with the digest `before` and holds `after`, "" for no file.

    `change` is the number of the last item change at that time; `undoes` is the number of the write that this one
    undid, 0 if none.
    """

    name: str
    at: datetime
    unit: str
    conversation: str
    before: str
    after: str
    undoes: int = 0
    change: int = 0
    number: int = 0


_NAMES = tuple(field.name for field in fields(ScriptWrite))
_COLUMNS = tuple(script_writes.c[name] for name in _NAMES)


def add_write(session: Session, entry: ScriptWrite) -> None:
    """Store a write, ordered after all existing changes."""
    last = session.connection.execute(select(func.max(changes.c.id))).scalar() or 0
    values = {name: getattr(entry, name) for name in _NAMES if name not in ("number", "change")}
    session.connection.execute(insert(script_writes).values(**values, change=last))


def list_writes(session: Session, limit: int) -> list[ScriptWrite]:
    """Return the last writes, the newest first."""
    statement = select(*_COLUMNS).order_by(script_writes.c.number.desc()).limit(limit)
    return [ScriptWrite(**row) for row in session.connection.execute(statement).mappings()]


def find_by_unit(session: Session, unit: str) -> ScriptWrite | None:
    """Return the script write of a unit, None if there is none."""
    statement = select(*_COLUMNS).where(script_writes.c.unit == unit).order_by(script_writes.c.number.desc()).limit(1)
    row = session.connection.execute(statement).mappings().one_or_none()
    return ScriptWrite(**row) if row else None


def is_undone(session: Session, entry: ScriptWrite) -> bool:
    """Return whether a later write undid one."""
    statement = select(script_writes.c.number).where(script_writes.c.undoes == entry.number).limit(1)
    return session.connection.execute(statement).scalar() is not None
