"""Passages of items, their vectors, and how far a reader of the changes has come; none of it is a person's own.

A passage that an item had once and has no more stays as a row without a digest, so that the index hears of its end
whenever it listens.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, func, insert, null, select, tuple_

from panorama.domain.changes import Origin
from panorama.store.engine import Session
from panorama.store.rows import NOUNS
from panorama.store.tables import changes, marks, passages, vectors

INDEXER = Origin(actor="index", client="", conversation="", operation="", call="", unit="")
"""Who writes these tables; it leaves no line in `changes`."""

GONE = ""
"""The digest of a passage that is no more."""

AT_ONCE = 500
"""Values in one condition, well below SQLite's limit of variables."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a passage of an item stands, and the digest of what is embedded of it."""

    item: str
    kind: str
    position: int
    digest: str
    begins: int
    ends: int

    @property
    def chunk(self) -> str:
        """The name under which the index keeps it."""
        return chunk_of(self.item, self.position)


@dataclass(frozen=True, slots=True)
class Stored:
    """A passage with its vector and what it may be filtered by."""

    chunk: str
    item: str
    kind: str
    project: str | None
    at: datetime
    digest: str
    vector: bytes


def chunk_of(item: str, position: int) -> str:
    """Return the name of a passage."""
    return f"{item}:{position}"


def mark(session: Session, name: str) -> int:
    """Return how far a reader has come, 0 if it has not begun."""
    return session.connection.execute(select(marks.c.value).where(marks.c.name == name)).scalar_one_or_none() or 0


def set_mark(session: Session, name: str, value: int) -> None:
    """Remember how far a reader has come."""
    session.connection.execute(delete(marks).where(marks.c.name == name))
    session.connection.execute(insert(marks).values(name=name, value=value))


def is_begun(session: Session, name: str) -> bool:
    """Tell whether a reader has a mark."""
    return session.connection.execute(select(marks.c.value).where(marks.c.name == name)).first() is not None


def newest(session: Session) -> int:
    """Return the number of the last change, 0 if there is none."""
    return session.connection.execute(select(func.max(changes.c.id))).scalar_one() or 0


def touched(session: Session, after: int, limit: int, *, until: int | None = None) -> tuple[list[tuple[str, str]], int]:
    """Return the items that the next changes touched, each once, as (kind, id), and the last of those changes."""
    statement = select(changes.c.id, changes.c.kind, changes.c.item).where(changes.c.id > after).order_by(changes.c.id)
    if until is not None:
        statement = statement.where(changes.c.id <= until)
    found = session.connection.execute(statement.limit(limit)).all()
    return list(dict.fromkeys((row[1], row[2]) for row in found)), found[-1][0] if found else after


def of_items(session: Session, items: Sequence[str]) -> dict[str, list[Passage]]:
    """Return the passages of some items, by item."""
    found: dict[str, list[Passage]] = {}
    for start in range(0, len(items), AT_ONCE):
        where = passages.c.item.in_(items[start : start + AT_ONCE])
        for row in session.connection.execute(_PASSAGE.where(where).order_by(passages.c.item, passages.c.position)):
            found.setdefault(row[0], []).append(Passage(*row))
    return found


_PASSAGE = select(
    passages.c.item, passages.c.kind, passages.c.position, passages.c.digest, passages.c.begins, passages.c.ends
)


def at(session: Session, chunks: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Passage]:
    """Return some passages by item and position."""
    wanted = list(chunks)
    found: dict[tuple[str, int], Passage] = {}
    for start in range(0, len(wanted), AT_ONCE // 2):
        where = tuple_(passages.c.item, passages.c.position).in_(wanted[start : start + AT_ONCE // 2])
        found |= {(row[0], row[2]): Passage(*row) for row in session.connection.execute(_PASSAGE.where(where))}
    return found


def replace(session: Session, item: str, new: Sequence[Passage]) -> None:
    """Make these the passages of an item; of those that it had beyond, the end is kept."""
    last = session.connection.execute(select(func.max(passages.c.position)).where(passages.c.item == item)).scalar_one()
    kind = new[0].kind if new else ""
    gone = [Passage(item, kind, at, GONE, 0, 0) for at in range(len(new), -1 if last is None else last + 1)]
    session.connection.execute(delete(passages).where(passages.c.item == item))
    if rows := [{name: getattr(each, name) for name in _COLUMNS} for each in (*new, *gone)]:
        session.connection.execute(insert(passages), rows)


_COLUMNS = ("item", "kind", "position", "digest", "begins", "ends")


def embedded(session: Session, model: str, digests: Sequence[str]) -> dict[str, bytes]:
    """Return the vectors that a model has made of some texts, by their digest."""
    found: dict[str, bytes] = {}
    for start in range(0, len(digests), AT_ONCE):
        some = digests[start : start + AT_ONCE]
        statement = select(vectors.c.digest, vectors.c.vector).where(
            vectors.c.model == model, vectors.c.digest.in_(some)
        )
        found |= {row[0]: row[1] for row in session.connection.execute(statement)}
    return found


def keep(session: Session, model: str, made: Mapping[str, bytes]) -> None:
    """Keep vectors by the digests of their texts; those that are there already stay."""
    known = embedded(session, model, list(made))
    fresh = [{"digest": name, "model": model, "vector": each} for name, each in made.items() if name not in known]
    if fresh:
        session.connection.execute(insert(vectors), fresh)


def forget_unused(session: Session, model: str) -> int:
    """Forget vectors of texts that no item holds any more, and those of other models; return how many."""
    used = select(passages.c.digest)
    unused = delete(vectors).where((vectors.c.model != model) | vectors.c.digest.not_in(used))
    return session.connection.execute(unused).rowcount


def stored(session: Session, model: str, kind: str, items: Sequence[str] | None = None) -> Iterator[Stored]:
    """Give the passages of a kind, or of some items of it, of which a model's vector is known."""
    table = NOUNS[kind].table
    project = table.c.project if "project" in table.c else table.c.id if kind == "project" else null()
    has_vector = and_(vectors.c.digest == passages.c.digest, vectors.c.model == model)
    statement = (
        select(passages.c.item, passages.c.position, project, table.c.updated_at, passages.c.digest, vectors.c.vector)
        .select_from(passages.join(table, table.c.id == passages.c.item).join(vectors, has_vector))
        .where(passages.c.kind == kind if items is None else passages.c.item.in_(items))
        .order_by(passages.c.item, passages.c.position)
    )
    for row in session.connection.execute(statement.execution_options(yield_per=AT_ONCE)):
        yield Stored(chunk_of(row[0], row[1]), row[0], kind, *row[2:])


def gone(session: Session, items: Sequence[str]) -> list[str]:
    """Return the chunks of some items that are no more."""
    where = passages.c.item.in_(items), passages.c.digest == GONE
    found = session.connection.execute(select(passages.c.item, passages.c.position).where(*where))
    return [chunk_of(row[0], row[1]) for row in found]


def counts(session: Session, model: str) -> tuple[int, int]:
    """Return how many passages there are, and of how many of them a model's vector is known."""
    there = select(func.count()).select_from(passages).where(passages.c.digest != GONE)
    every = session.connection.execute(there).scalar_one()
    joined = passages.join(vectors, and_(vectors.c.digest == passages.c.digest, vectors.c.model == model))
    return every, session.connection.execute(select(func.count()).select_from(joined)).scalar_one()
