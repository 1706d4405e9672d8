"""Marks: the last change that each reader of the change log has read, and other state of these readers."""

import json
import secrets
from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, insert, select

from panorama.domain.changes import Origin
from panorama.store.backend import Database, Session
from panorama.store.json_lists import json_values
from panorama.store.tables import marks

_PURGED = "purged"
_INDEX = "index "
_SERVED = "serves "
_STORE = "store"
_OWNER = Origin(actor="panorama", client="panorama", conversation="", operation="", call="", unit="")

_GET_MARKS = select(marks.c.name, marks.c.value).where(marks.c.name.in_(json_values("names")))
_DELETE_MARK = delete(marks).where(marks.c.name == bindparam("mark"))
_ADD_MARK = insert(marks)


def get_mark(session: Session, name: str) -> int:
    """Return the last change that a reader has read, 0 if it has not started."""
    return session.connection.execute(select(marks.c.value).where(marks.c.name == name)).scalar_one_or_none() or 0


def get_marks(session: Session, names: Sequence[str]) -> Mapping[str, int]:
    """Return the marks of readers by name, without those that have not started."""
    rows = session.connection.execute(_GET_MARKS, {"names": json.dumps(list(names))})
    return {row[0]: row[1] for row in rows}


def list_marks(session: Session, prefix: str) -> list[str]:
    """Return the names of the marks that begin so."""
    return list(session.connection.execute(select(marks.c.name).where(marks.c.name.startswith(prefix))).scalars())


def set_mark(session: Session, name: str, value: int) -> None:
    """Store the last change that a reader has read."""
    set_marks(session, [name], value)


def set_marks(session: Session, names: Sequence[str], value: int) -> None:
    """Store a value under several names, in two statements."""
    if names:
        session.connection.execute(_DELETE_MARK, [{"mark": name} for name in names])
        session.connection.execute(_ADD_MARK, [{"name": name, "value": value} for name in names])


def has_mark(session: Session, name: str) -> bool:
    """Return whether a reader has a mark."""
    return session.connection.execute(select(marks.c.value).where(marks.c.name == name)).first() is not None


def clear_mark(session: Session, name: str) -> None:
    """Delete the mark of a reader."""
    session.connection.execute(delete(marks).where(marks.c.name == name))


def count_purges(session: Session) -> int:
    """Return the number of purges, by which a reader can tell that items it has read may be gone."""
    return get_mark(session, _PURGED)


def record_purge(session: Session) -> None:
    """Record a purge, which also deletes the change lines of the purged items."""
    set_mark(session, _PURGED, count_purges(session) + 1)


def clear_readers(session: Session, model: str) -> None:
    """Delete the marks of a model's readers, so that they start again and find missing vectors."""
    readers = [name for name in list_marks(session, "") if name.startswith(("passages ", _INDEX))]
    own = [name for name in readers if name.endswith(f" {model}")]
    session.connection.execute(delete(marks).where(marks.c.name.in_(own)))


# The model whose vectors the index holds, and the number of this store on a Qdrant server.


def find_served_model(session: Session) -> tuple[str, str, int] | None:
    """Return the model whose vectors were last served, as (id, digest, size); None if there is none."""
    where = marks.c.name.startswith(_SERVED, autoescape=True)
    row = session.connection.execute(select(marks.c.name, marks.c.value).where(where)).first()
    if row is None:
        return None
    id_, _, model_digest = row[0].removeprefix(_SERVED).rpartition(" ")
    return id_, model_digest, row[1]


def set_served_model(session: Session, id_: str, model_digest: str, size: int) -> None:
    """Store the model whose vectors are served."""
    clear_served_model(session)
    set_mark(session, f"{_SERVED}{id_} {model_digest}", size)


def clear_served_model(session: Session) -> None:
    """Delete the record of the served model."""
    session.connection.execute(delete(marks).where(marks.c.name.startswith(_SERVED, autoescape=True)))


def read_store_number(database: Database) -> int:
    """Return the number of a store, created at the first use; a dry run has the number of the real store."""
    with database.redirect(lambda _writes: None):
        with database.reading() as session:
            number = get_mark(session, _STORE)
        if not number:
            with database.transaction(_OWNER) as session:
                if not (number := get_mark(session, _STORE)):
                    number = 1 + secrets.randbits(62)
                    set_mark(session, _STORE, number)
    return number


def reset_indexes(session: Session) -> None:
    """Delete the marks of all indexes and the number of this store, so that every index is rebuilt."""
    session.connection.execute(delete(marks).where((marks.c.name == _STORE) | marks.c.name.startswith(_INDEX)))
