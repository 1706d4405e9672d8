"""Reads and writes items, with their change line and full text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from importlib import import_module
from typing import Any

from sqlalchemy import Column, Row, Select, Table, bindparam, delete, insert, select

from panorama.domain.changes import NAME_WORK_BYTES
from panorama.domain.items.item import AnyItem, Item, kind_of, normalize_name
from panorama.domain.items.session_lines import Transcript
from panorama.domain.items.sessions import LoggedSession
from panorama.errors import ConflictError, NotFoundError
from panorama.kinds import ITEM_KINDS, ItemKind, Kind, name_kind
from panorama.store import session_lines, tables
from panorama.store.backend import ItemText, Session
from panorama.store.graph import edges, task_lines
from panorama.store.log import changes


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind of item: its table, its value, and the value's fields, which are columns of the same name."""

    kind: Kind
    table: Table
    value: type[Item]
    fields: tuple[str, ...]

    @property
    def label(self) -> Column[Any]:
        """The column with an item's title or name."""
        return next(
            self.table.c[name] for name in ("full_name", "name", "title", "text", "kind") if name in self.table.c
        )

    @property
    def has_other_names(self) -> bool:
        """Whether its items are found by further names."""
        return self.value.list_other_names is not Item.list_other_names

    @property
    def computed_columns(self) -> list[str]:
        """The columns that follow from the fields."""
        return [name for name in ("key", *self.value.DERIVED) if name in self.table.c]


def _noun(kind: ItemKind) -> Noun:
    value = _find_value_class(kind)
    names = tuple(field.name for field in fields(value))
    return Noun(kind.name, tables.metadata.tables[kind.collection], value, names)


def _find_value_class(kind: ItemKind) -> type[Item]:
    """Return the stored class of a kind: the last class of its module with the kind (files have two)."""
    module = import_module(f"panorama.domain.items.{kind.collection}")
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Item)]
    return [value for value in classes if getattr(value, "KIND", "") == kind.name][-1]


NOUNS: dict[str, Noun] = {kind.name: _noun(kind) for kind in ITEM_KINDS}

_READ: dict[str, Select[Any]] = {
    kind: select(*(noun.table.c[name] for name in noun.fields)).where(noun.table.c.id == bindparam("id_"))
    for kind, noun in NOUNS.items()
}


_READ_ALL: dict[str, Select[Any]] = {
    kind: select(*(noun.table.c[name] for name in noun.fields)).where(
        noun.table.c.id.in_(bindparam("ids", expanding=True))
    )
    for kind, noun in NOUNS.items()
}
_ALIVE = {
    kind: select(noun.table.c.deleted_at).where(noun.table.c.id == bindparam("id_")) for kind, noun in NOUNS.items()
}

BATCH_SIZE = 32


class IdTakenError(ConflictError):
    """A new random id is already taken (once in 10^15 ids); the call is retried with others."""


def columns(kind: str) -> list[Column[Any]]:
    """Return the columns that make up the value of a kind."""
    noun = NOUNS[kind]
    return [noun.table.c[name] for name in noun.fields]


def to_item(kind: str, row: Row[Any] | tuple[Any, ...]) -> Any:
    """Return the item of a row of `columns(kind)`."""
    noun = NOUNS[kind]
    return noun.value(**dict(zip(noun.fields, row[: len(noun.fields)], strict=True)))


def load(session: Session, kind: str, id_: str, *, trash: bool = False) -> Any:
    """Return one living item; with `trash`, also one that was deleted.

    Raises:
        NotFoundError: There is no such item.
    """
    item = find(session, kind, id_)
    if item is None:
        raise NotFoundError(
            f"There is no {kind} {id_}.", hint=f"Find it with search, or list the {name_kind(kind, 2)}."
        )
    if item.deleted_at is not None and not trash:
        raise in_trash_error(kind, id_, item.label)
    return item


def find(session: Session, kind: str, id_: str) -> Any:
    """Return one item, also of those in the trash; None if there is none."""
    if (prefetched := session.prefetched.pop(id_, None)) is not None:
        return prefetched
    row = session.connection.execute(_READ[kind], {"id_": id_}).one_or_none()
    if row is None:
        return None
    session.count_loaded(row)
    return to_item(kind, row)


def prefetch(session: Session, kind: str, id_: str) -> bool:
    """Return whether a living item has this id, and keep the item for the next `find` in the same call."""
    item = find(session, kind, id_)
    if item is not None:
        session.prefetched[id_] = item
    return item is not None and item.deleted_at is None


def load_all(session: Session, ids: Sequence[str]) -> dict[str, Any]:
    """Return items by id, also of those in the trash, in the order of the ids; missing ones are left out."""
    found: dict[str, Any] = {}
    for kind in dict.fromkeys(map(kind_of, ids)):
        if kind in NOUNS:
            given = [id_ for id_ in ids if kind_of(id_) == kind]
            for row in session.connection.execute(_READ_ALL[kind], {"ids": given}):
                found[row[0]] = to_item(kind, row)
    return {id_: found[id_] for id_ in ids if id_ in found}


def read_rows(session: Session, item: AnyItem, most_chars: int | None = None) -> AnyItem | Transcript:
    """Return an item as search reads it: a session with its lines, up to so many characters."""
    if isinstance(item, LoggedSession) and item.has_rows:
        return session_lines.load_transcript(session, item, most_chars)
    return item


def find_version(session: Session, kind: str, id_: str) -> int | None:
    """Return the version of one item, also of those in the trash; None if there is none."""
    table = NOUNS[kind].table
    return session.connection.execute(select(table.c.version).where(table.c.id == id_)).scalar_one_or_none()


def in_trash_error(kind: str, id_: str, label: str) -> NotFoundError:
    """Return the error for an item that is in the trash."""
    return NotFoundError(
        f"The {kind} “{label}” ({id_}) is in the trash.",
        hint="Bring it back with undo, or `panorama restore` in a terminal.",
    )


def add(session: Session, item: Item, *, at: datetime | None = None) -> None:
    """Store a new item; `at` is the time of the write if the item was updated earlier.

    Raises:
        IdTakenError: Its id is taken; the transaction must be retried.
        ConflictError: Another item has its name, and only one can.
    """
    if not _insert_all(session, [item], at):
        if exists(session, item.KIND, item.id, trash=True):
            raise IdTakenError(f"The id {item.id} is taken.")
        raise ConflictError(f"Another {item.KIND} is called “{item.label}” by now.", hint="Read it again, then repeat.")


def add_all(session: Session, items: Sequence[Item]) -> None:
    """Store new items of one kind whose names need not differ, by the same statements.

    Raises:
        IdTakenError: An id is taken; the transaction must be retried.
    """
    for start in range(0, len(items), BATCH_SIZE):
        if not _insert_all(session, items[start : start + BATCH_SIZE]):
            raise IdTakenError(f"The id of one of {len(items)} {name_kind(items[0].KIND, 2)} is taken.")


def _insert_all(session: Session, items: Sequence[Item], at: datetime | None = None) -> bool:
    """Store new items of one kind; return false if one could not be stored."""
    noun, stored = NOUNS[items[0].KIND], [_to_row(item) for item in items]
    for row in stored:
        session.spend(row)
    naming = edges.ask_naming(session, [(None, item) for item in items])
    values = [tuple(row.values()) for row in stored]
    names = tuple(stored[0])
    if session.dialect.insert_rows(session.connection, noun.table, names, values, skip_existing=True) != len(items):
        return False
    if noun.has_other_names:
        for item in items:
            _write_names(session, item)
    edges.add_items(session, items, naming)
    session.full_text.set_words(session, [index_entry(item) for item in items], new=True)
    lines = [changes.NewLine("create", item, {}, _initial_fields(noun, item), at=at) for item in items]
    changes.record_all(session, lines)
    return True


NO_ROWS: Mapping[str, tuple[int, int]] = {}


@dataclass(frozen=True, slots=True)
class ItemUpdate:
    """The new value of an item to store.

    `at` is the time of the write if the item was updated earlier. `counted` names ranges of its rows in another table
    that were added or removed, with their number before and after; the change line records them as it does fields.
    """

    old: Item
    new: Item
    undoes: int | None = None
    at: datetime | None = None
    counted: Mapping[str, tuple[int, int]] = field(default_factory=lambda: NO_ROWS)

    def list_differing(self) -> list[str]:
        """Return the fields with another value."""
        return [name for name in NOUNS[self.old.KIND].fields if getattr(self.old, name) != getattr(self.new, name)]


def save(
    session: Session,
    old: Item,
    new: Item,
    *,
    undoes: int | None = None,
    at: datetime | None = None,
    counted: Mapping[str, tuple[int, int]] = NO_ROWS,
) -> None:
    """Store the new value of an item, as `save_all` does."""
    save_all(session, [ItemUpdate(old, new, undoes, at, counted)])


def save_all(session: Session, updates: Sequence[ItemUpdate]) -> None:
    """Store the new values of different items; those that equal the old ones are skipped.

    Raises:
        ConflictError: One was changed since its old value was read; the transaction must be rolled back.
    """
    updates = [update for update in updates if update.new != update.old]
    if not updates:
        return
    differing = [update.list_differing() for update in updates]
    pairs = [(update.old, update.new) for update in updates]
    naming, written = edges.ask_naming(session, pairs), _select_indexed(session, updates)
    known = session.full_text.ask_known(session, [entry.item for entry in written]) if written else None
    _write_rows(session, updates, differing)
    for update in updates:
        if NOUNS[update.new.KIND].has_other_names:
            _write_names(session, update.new, update.old)
    edges.update_items(session, pairs, naming)
    task_lines.follow_notes(session, pairs)
    if removed := [new.id for old, new in pairs if new.deleted_at is not None and old.deleted_at is None]:
        session.full_text.remove(session, removed)
    if written:
        session.full_text.set_words(session, written, known=known)
    changes.record_all(session, [_to_line(*pair) for pair in zip(updates, differing, strict=True)])


def _write_rows(session: Session, updates: Sequence[ItemUpdate], differing: Sequence[list[str]]) -> None:
    """Write the changed columns, by one statement for all items of a kind with the same ones.

    Raises:
        ConflictError: One was changed since its old value was read.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[Any, ...]]] = {}
    for update, names in zip(updates, differing, strict=True):
        old, row = update.old, _to_row(update.new)
        written = (*names, *(name for name in NOUNS[old.KIND].computed_columns if name not in names))
        session.spend([row[name] for name in written], [getattr(old, name) for name in names])
        values = (*(row[name] for name in written), old.id, old.version)
        groups.setdefault((old.KIND, written), []).append(values)
        session.prefetched.pop(old.id, None)
    for (kind, written), values in groups.items():
        table = NOUNS[kind].table
        count = session.dialect.update_rows(session.connection, table, written, ("id", "version"), values)
        if count != len(values):
            which = f"The {kind} {values[0][-2]}" if len(values) == 1 else f"One of {len(values)} {name_kind(kind, 2)}"
            raise ConflictError(f"{which} was changed meanwhile.", hint="Read it again, then repeat.")


def _to_line(update: ItemUpdate, differing: list[str]) -> changes.NewLine:
    """Return the change line of an update."""
    old, new = update.old, update.new
    logged = _select_logged_fields(NOUNS[old.KIND], differing, old)
    before, after = ({name: counts[side] for name, counts in update.counted.items()} for side in (0, 1))
    return changes.NewLine(
        _action(old, new), new, _pick_fields(old, logged) | before, _pick_fields(new, logged) | after,
        undoes=update.undoes, at=update.at,
    )  # fmt: skip


def _select_logged_fields(noun: Noun, differing: list[str], old: Item) -> list[str]:
    """Return the fields recorded in a change line."""
    joined = old.TOGETHER if any(name in old.TOGETHER for name in differing) else ()
    unsaid = ("updated_at", "version", *old.COUNTED)
    return [name for name in noun.fields if (name in differing or name in joined) and name not in unsaid]


def _select_indexed(session: Session, updates: Sequence[ItemUpdate]) -> list[ItemText]:
    """Return the words of the living items whose words changed; those of items with many rows are written later."""
    written: list[ItemText] = []
    for update in updates:
        old, new = update.old, update.new
        if new.deleted_at is None and (old.deleted_at is not None or old.search_text() != new.search_text()):
            if new.has_rows:
                session.long_texts.add(new.id)
            else:
                written.append(index_entry(new))
    return written


def index_entry(item: Item) -> ItemText:
    """Return the texts of an item for the full-text index."""
    return ItemText(item.KIND, item.id, *item.search_text())


def _write_names(session: Session, new: Item, old: Item | None = None) -> None:
    """Store the names besides its label by which an item is found."""
    names = _list_names(new)
    if old is not None:
        if names == _list_names(old):
            return
        session.connection.execute(delete(tables.other_names).where(tables.other_names.c.item == new.id))
    if names:
        session.count_work(NAME_WORK_BYTES * len(names))
        entries = [{"key": key, "item": new.id, "is_short": is_short} for key, is_short in names.items()]
        session.connection.execute(insert(tables.other_names), entries)


def _list_names(item: Item) -> dict[str, bool]:
    """Return the normalised names besides the label, and whether each is a short one."""
    names = {normalize_name(name): True for name in item.list_short_names()}
    names |= {normalize_name(name): False for name in item.list_other_names()}
    names.pop(normalize_name(item.label), None)
    return names


def _action(old: Item, new: Item) -> changes.Action:
    if (old.deleted_at is None) == (new.deleted_at is None):
        return "update"
    return "restore" if new.deleted_at is None else "delete"


def _to_row(item: Item) -> dict[str, Any]:
    noun = NOUNS[item.KIND]
    row = {name: getattr(item, name) for name in noun.fields}
    return row | {name: key_of(item) if name == "key" else getattr(item, name) for name in noun.computed_columns}


def key_of(item: Item) -> str:
    """Return the form in which an item's name is compared."""
    return normalize_name(item.label)


def _pick_fields(item: Item, names: list[str]) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


def _initial_fields(noun: Noun, item: Item) -> dict[str, Any]:
    unsaid = ("id", "version", "created_at", "updated_at", *item.COUNTED)
    initial = {name: getattr(item, name) for name in noun.fields if name not in unsaid}
    return {name: value for name, value in initial.items() if value not in (None, "", (), {}, False)}


def exists(session: Session, kind: str, id_: str, *, trash: bool = False) -> bool:
    """Return whether a living item has this id; with `trash`, also a deleted one."""
    row = session.connection.execute(_ALIVE[kind], {"id_": id_}).first()
    return row is not None and (trash or row[0] is None)


def list_living(session: Session, kind: str, **ties: str | None) -> list[str]:
    """Return the ids of the living items of a kind, the oldest first.

    Args:
        ties: Only those with these values in these columns, such as project=None.
    """
    table = NOUNS[kind].table
    where = [table.c[name] == value if value is not None else table.c[name].is_(None) for name, value in ties.items()]
    statement = select(table.c.id).where(table.c.deleted_at.is_(None), *where).order_by(table.c.created_at, table.c.id)
    return list(session.connection.execute(statement).scalars())


def iter_items(session: Session, ids: Sequence[str]) -> Iterator[Any]:
    """Yield items by their ids, in that order; only a few are in memory at a time, because each may have 10 MB."""
    for start in range(0, len(ids), BATCH_SIZE):
        yield from load_all(session, ids[start : start + BATCH_SIZE]).values()
