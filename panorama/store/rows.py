"""Items and their rows: the one place where an item is written, with its change line and its full text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from sqlalchemy import Column, Row, Select, Table, and_, bindparam, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from panorama.domain.files import StoredFile
from panorama.domain.items import Item, Kind, folded
from panorama.domain.journal import JournalEntry
from panorama.domain.links import Link
from panorama.domain.notes import Note
from panorama.domain.projects import Project
from panorama.domain.reminders import Reminder
from panorama.domain.tasks import Task
from panorama.errors import ConflictError, NotFoundError
from panorama.store import changes, column_types, fulltext, tables
from panorama.store.engine import Session


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind of item: its table, its value, and the value's fields, which are columns of the same name."""

    kind: Kind
    table: Table
    value: type[Item]
    fields: tuple[str, ...]

    @property
    def label(self) -> Column[Any]:
        """The column that holds what a person calls an item."""
        return next(self.table.c[name] for name in ("name", "title", "text") if name in self.table.c)


def _noun(table: Table, value: type[Item]) -> Noun:
    return Noun(value.KIND, table, value, tuple(field.name for field in fields(value)))


NOUNS: dict[str, Noun] = {
    noun.kind: noun
    for noun in (
        _noun(tables.projects, Project),
        _noun(tables.tasks, Task),
        _noun(tables.notes, Note),
        _noun(tables.links, Link),
        _noun(tables.reminders, Reminder),
        _noun(tables.journal, JournalEntry),
        _noun(tables.files, StoredFile),
    )
}

_READ: dict[str, Select[Any]] = {
    kind: select(*(noun.table.c[name] for name in noun.fields)).where(noun.table.c.id == bindparam("id_"))
    for kind, noun in NOUNS.items()
}


_ALIVE = {
    kind: select(noun.table.c.deleted_at).where(noun.table.c.id == bindparam("id_")) for kind, noun in NOUNS.items()
}
_ADD = {kind: insert(noun.table) for kind, noun in NOUNS.items()}


AT_ONCE = 32


class IdTakenError(ConflictError):
    """A new random id is one that exists: once in 10^15 ids; the call is run again with others."""


def columns(kind: str) -> list[Column[Any]]:
    """Return the columns that make up the value of a kind."""
    noun = NOUNS[kind]
    return [noun.table.c[name] for name in noun.fields]


def value(kind: str, row: Row[Any] | tuple[Any, ...]) -> Any:
    """Return the item that a row of `columns(kind)` holds."""
    noun = NOUNS[kind]
    return noun.value(**dict(zip(noun.fields, row[: len(noun.fields)], strict=True)))


def load(session: Session, kind: str, id_: str, *, trash: bool = False) -> Any:
    """Return one living item; with `trash`, also one that was deleted.

    Raises:
        NotFoundError: There is none.
    """
    row = session.connection.execute(_READ[kind], {"id_": id_}).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no {kind} {id_}.", hint=f"Find it with search, or list the {kind}s.")
    item = value(kind, row)
    if item.deleted_at is not None and not trash:
        raise in_trash(kind, id_, item.label)
    return item


def in_trash(kind: str, id_: str, label: str) -> NotFoundError:
    """Return the error of who looks for an item that was deleted."""
    return NotFoundError(
        f"The {kind} “{label}” ({id_}) is in the trash.",
        hint="Bring it back with undo, or `panorama restore` in a terminal.",
    )


def add(session: Session, item: Item) -> None:
    """Store a new item.

    Raises:
        IdTakenError: Its id is taken; whoever opened the transaction begins anew.
    """
    noun = NOUNS[item.KIND]
    try:
        session.connection.execute(_ADD[item.KIND], _row(item))
    except IntegrityError as error:
        if exists(session, item.KIND, item.id, trash=True):
            raise IdTakenError(f"The id {item.id} is taken.") from error
        raise
    fulltext.put(session, item.KIND, item.id, *item.words(), new=True)
    changes.record(session, "create", item, {}, _written(noun, item))


def save(session: Session, old: Item, new: Item, *, undoes: int | None = None) -> None:
    """Store the new value of an item; nothing happens if it equals the old one.

    Raises:
        ConflictError: Somebody else wrote it since `old` was read.
    """
    if new == old:
        return
    noun = NOUNS[old.KIND]
    differing = [name for name in noun.fields if getattr(old, name) != getattr(new, name)]
    row = _row(new)
    statement = update(noun.table).where(noun.table.c.id == old.id, noun.table.c.version == old.version)
    written = {name: row[name] for name in (*differing, *(("key",) if "key" in row else ()))}
    if session.connection.execute(statement.values(written)).rowcount != 1:
        raise ConflictError(f"The {old.KIND} {old.id} was changed meanwhile.", hint="Read it again, then repeat.")
    _index(session, old, new)
    kept = _told(noun, differing, old.TOGETHER)
    changes.record(session, _action(old, new), new, _only(old, kept), _only(new, kept), undoes=undoes)


def _told(noun: Noun, differing: list[str], together: tuple[str, ...]) -> list[str]:
    """Return the fields that a change line holds."""
    joined = together if any(name in together for name in differing) else ()
    unsaid = ("updated_at", "version")
    return [name for name in noun.fields if (name in differing or name in joined) and name not in unsaid]


def _index(session: Session, old: Item, new: Item) -> None:
    if new.deleted_at is not None:
        if old.deleted_at is None:
            fulltext.remove(session, new.id)
    elif old.deleted_at is not None or old.words() != new.words():
        fulltext.put(session, new.KIND, new.id, *new.words())


def _action(old: Item, new: Item) -> changes.Action:
    if (old.deleted_at is None) == (new.deleted_at is None):
        return "update"
    return "restore" if new.deleted_at is None else "delete"


def _row(item: Item) -> dict[str, Any]:
    noun = NOUNS[item.KIND]
    row = {name: getattr(item, name) for name in noun.fields}
    if "key" in noun.table.c:
        row["key"] = key_of(item)
    return row


def key_of(item: Item) -> str:
    """Return the form in which an item's name is compared."""
    return folded(item.label)


def _only(item: Item, names: list[str]) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


def _written(noun: Noun, item: Item) -> dict[str, Any]:
    given = {
        name: getattr(item, name) for name in noun.fields if name not in ("id", "version", "created_at", "updated_at")
    }
    return {name: value for name, value in given.items() if value not in (None, "", (), False)}


def restored(kind: str, name: str, stored: Any) -> Any:
    """Return the value of a field from the plain form it has in `changes`."""
    column = NOUNS[kind].table.c[name]
    if stored is None:
        return None
    if isinstance(column.type, column_types.Words):
        return tuple(stored)
    if isinstance(column.type, column_types.Utc):
        return datetime.fromisoformat(stored)
    if isinstance(column.type, column_types.Due):
        return date.fromisoformat(stored) if len(stored) == 10 else datetime.fromisoformat(stored)
    return date.fromisoformat(stored) if column.type.python_type is date else stored


def exists(session: Session, kind: str, id_: str, *, trash: bool = False) -> bool:
    """Tell whether a living item has this id; with `trash`, also one that was deleted."""
    row = session.connection.execute(_ALIVE[kind], {"id_": id_}).first()
    return row is not None and (trash or row[0] is None)


def living(session: Session, kind: str, **ties: str | None) -> list[str]:
    """Return the ids of the living items of a kind, those that began first first.

    Args:
        ties: Only those with these values in these columns, such as project=None.
    """
    table = NOUNS[kind].table
    where = [table.c[name] == value if value is not None else table.c[name].is_(None) for name, value in ties.items()]
    statement = select(table.c.id).where(table.c.deleted_at.is_(None), *where).order_by(table.c.created_at, table.c.id)
    return list(session.connection.execute(statement).scalars())


def several(session: Session, kind: str, ids: Sequence[str]) -> Iterator[Any]:
    """Give items by their ids, in that order; few are in memory at a time, for each may have 10 MB."""
    table = NOUNS[kind].table
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        found = {row[0]: row for row in session.connection.execute(select(*columns(kind)).where(table.c.id.in_(some)))}
        for id_ in some:
            yield value(kind, found[id_])


def is_indexed(session: Session) -> bool:
    """Tell whether every living item has its words in the index, and no deleted one has."""
    known = select(tables.search_parts.c.item)
    for noun in NOUNS.values():
        id_, alive = noun.table.c.id, noun.table.c.deleted_at.is_(None)
        wrong = select(id_).where(or_(and_(alive, id_.not_in(known)), and_(~alive, id_.in_(known)))).limit(1)
        if session.connection.execute(wrong).first():
            return False
    return fulltext.parts_match(session)
