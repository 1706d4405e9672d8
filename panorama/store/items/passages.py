"""Passages of items, their vectors, and the position of each index in the changes.

A removed passage stays as a row without a digest, so that the index learns of its removal whenever it syncs.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    tuple_,
    union_all,
)

from panorama.domain.changes import Origin, digest
from panorama.domain.items.item import Item
from panorama.domain.text.chunks import MAX_CHUNK_CHARS, MAX_CHUNKS
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.items.rows import NOUNS
from panorama.store.json_lists import json_numbers, json_values
from panorama.store.tables import changes, passages, vectors

INDEXER = Origin(actor="index", client="", conversation="", operation="", call="", unit="")
"""The origin of writes to these tables; they add no change lines."""

DELETED_DIGEST = ""
"""The digest of a removed passage."""

BATCH_SIZE = 500
"""Values in one condition, well below SQLite's limit of variables, and rows in one page."""

MAX_CHARS = MAX_CHUNKS * MAX_CHUNK_CHARS
"""Text beyond has no passages, so it is not read."""

START = "", 0
"""A position before every passage."""

ID_CHARS, DIGEST_CHARS = 63, 16
"""Together with a space they fill the column."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The range of a passage in its item, and the digest of its embedded text."""

    item: str
    kind: str
    position: int
    digest: str
    begins: int
    ends: int

    @property
    def chunk(self) -> str:
        """Its name in the index."""
        return chunk_name(self.item, self.position)


_PARTS = tuple(field.name for field in fields(Passage))
_values = attrgetter(*_PARTS)


@dataclass(frozen=True, slots=True)
class EmbeddedPassage:
    """A passage with its vector and the fields used for filters."""

    item: str
    position: int
    kind: str
    project: str | None
    at: datetime
    digest: str
    vector: bytes

    @property
    def chunk(self) -> str:
        """Its name in the index."""
        return chunk_name(self.item, self.position)


@dataclass(frozen=True, slots=True)
class ItemScope:
    """A subset of items: a kind, a project (including the project itself), or both; "" for any."""

    kind: str = ""
    project: str = ""


ALL_ITEMS = ItemScope()


def chunk_name(item: str, position: int) -> str:
    """Return the name of a passage in the index."""
    return f"{item}:{position}"


def model_name(id_: str, model_digest: str) -> str:
    """Return the stored name of a model's vectors: its name (63 characters) and its digest."""
    return f"{id_[:ID_CHARS]} {digest(f'{id_} {model_digest}')[:DIGEST_CHARS]}"


def last_change_id(session: Session) -> int:
    """Return the number of the last change, 0 if there is none."""
    return session.connection.execute(_LAST_CHANGE).scalar_one() or 0


_LAST_CHANGE = select(func.max(changes.c.id))


def list_changes(
    session: Session,
    after: int,
    limit: int,
    *,
    until: int | None = None,
    created: bool = False,
    part: ItemScope = ALL_ITEMS,
) -> list[tuple[int, str, str]]:
    """Return the next changes as (number, kind, item); with `created`, only those that created an item of a scope."""
    statement = select(changes.c.id, changes.c.kind, changes.c.item).where(changes.c.id > after).order_by(changes.c.id)
    if until is not None:
        statement = statement.where(changes.c.id <= until)
    if created:
        statement = statement.where(*_creation_conditions(part))
    return [(row[0], row[1], row[2]) for row in session.connection.execute(statement.limit(limit))]


def count_created(session: Session, after: int = 0, part: ItemScope = ALL_ITEMS) -> int:
    """Count the items of a scope created after a change."""
    return session.connection.execute(
        select(func.count()).where(changes.c.id > after, *_creation_conditions(part)).select_from(changes)
    ).scalar_one()


def _creation_conditions(part: ItemScope) -> list[ColumnElement[bool]]:
    where: list[ColumnElement[bool]] = [changes.c.action == "create"]
    if part.kind:
        where.append(changes.c.kind == part.kind)
    if part.project:
        tables = [noun.table for noun in NOUNS.values() if "project" in noun.table.c]
        inside = union_all(*(select(table.c.id).where(table.c.project == part.project) for table in tables))
        where.append(or_(changes.c.item == part.project, changes.c.item.in_(inside)))
    return where


def filter_changed(session: Session, after: int, items: Sequence[str]) -> set[str]:
    """Return which of some items changed after a change."""
    results: set[str] = set()
    for start in range(0, len(items), BATCH_SIZE):
        where = changes.c.id > after, changes.c.item.in_(items[start : start + BATCH_SIZE])
        results |= set(session.connection.execute(select(changes.c.item).where(*where)).scalars())
    return results


def list_by_items(session: Session, items: Sequence[str]) -> dict[str, list[Passage]]:
    """Return the passages of some items, by item."""
    results: dict[str, list[Passage]] = {}
    for start in range(0, len(items), BATCH_SIZE):
        where = passages.c.item.in_(items[start : start + BATCH_SIZE])
        for row in session.connection.execute(_PASSAGE.where(where).order_by(passages.c.item, passages.c.position)):
            results.setdefault(row[0], []).append(Passage(*row))
    return results


_PASSAGE = select(
    passages.c.item, passages.c.kind, passages.c.position, passages.c.digest, passages.c.begins, passages.c.ends
)
# SQLite uses no index for pairs of values in a list, so both are matched separately, which finds a few more.
_PASSAGE_AT = _PASSAGE.where(
    passages.c.item.in_(json_values("items")), passages.c.position.in_(json_numbers("positions"))
)


def load_living(session: Session, items: Sequence[tuple[str, str]]) -> dict[str, Item]:
    """Return the living items among some (kind, id), by id."""
    results: dict[str, Item] = {}
    for kind in dict.fromkeys(kind for kind, _ in items):
        table = NOUNS[kind].table
        where = table.c.id.in_([id_ for item_kind, id_ in items if item_kind == kind]), table.c.deleted_at.is_(None)
        for row in session.connection.execute(select(*rows.columns(kind)).where(*where)):
            item: Item = rows.to_item(kind, row)
            results[item.id] = rows.read_rows(session, item, MAX_CHARS)
    return results


def has_more_passages(session: Session, limit: int, after: int, until: int) -> bool:
    """Return whether the items changed between two changes have more passages than a number."""
    items = select(changes.c.item).where(changes.c.id > after, changes.c.id <= until)
    batch = select(literal(1)).where(passages.c.item.in_(items)).limit(limit + 1).subquery()
    return session.connection.execute(select(func.count()).select_from(batch)).scalar_one() > limit


def load_at(session: Session, chunks: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Passage]:
    """Return some passages by item and position."""
    chunk_set = set(chunks)
    if not chunk_set:
        return {}
    values = {
        "items": json.dumps(list({item for item, _ in chunk_set})),
        "positions": json.dumps(list({at for _, at in chunk_set})),
    }
    results = {(row[0], row[2]): Passage(*row) for row in session.connection.execute(_PASSAGE_AT, values)}
    return {place: results[place] for place in chunk_set if place in results}


def replace(session: Session, new: Mapping[str, Sequence[Passage]]) -> None:
    """Replace the passages of some items; surplus ones are marked as removed."""
    before = list_by_items(session, list(new))
    rows_of = {item: [*batch, *_to_deleted(before.get(item, []), len(batch))] for item, batch in new.items()}
    differing = [item for item, batch in rows_of.items() if batch != before.get(item, [])]
    for start in range(0, len(differing), BATCH_SIZE):
        batch = differing[start : start + BATCH_SIZE]
        session.connection.execute(delete(passages).where(passages.c.item.in_(batch)))
    session.dialect.insert_rows(
        session.connection, passages, _PARTS, (_values(passage) for item in differing for passage in rows_of[item])
    )


def _to_deleted(before: Sequence[Passage], count: int) -> list[Passage]:
    return [Passage(passage.item, passage.kind, passage.position, DELETED_DIGEST, 0, 0) for passage in before[count:]]


def list_known_digests(session: Session, model: str, digests: Sequence[str]) -> set[str]:
    """Return the digests of those texts that have a vector of a model."""
    results: set[str] = set()
    for start in range(0, len(digests), BATCH_SIZE):
        where = vectors.c.model == model, vectors.c.digest.in_(digests[start : start + BATCH_SIZE])
        results |= set(session.connection.execute(select(vectors.c.digest).where(*where)).scalars())
    return results


def has_missing(session: Session, model: str, digests: Sequence[str]) -> bool:
    """Return whether any of these texts lacks a vector."""
    return len(list_known_digests(session, model, digests)) < len(digests)


def save_vectors(session: Session, model: str, made: Mapping[str, bytes]) -> None:
    """Store vectors by the digests of their texts; existing ones are kept."""
    batch = ((name, model, vector) for name, vector in made.items())
    session.dialect.insert_rows(session.connection, vectors, ("digest", "model", "vector"), batch, skip_existing=True)


def list_unused_vectors(session: Session) -> list[tuple[str, str]]:
    """Return the vectors, as (digest, model), of texts that no item contains any more."""
    statement = select(vectors.c.digest, vectors.c.model).where(vectors.c.digest.not_in(select(passages.c.digest)))
    return [(row[0], row[1]) for row in session.connection.execute(statement)]


def delete_vectors(session: Session, batch: Sequence[tuple[str, str]]) -> None:
    """Delete some vectors, except those that an item uses again."""
    is_held = exists().where(passages.c.digest == vectors.c.digest)
    one = vectors.c.digest == bindparam("digest_"), vectors.c.model == bindparam("model_")
    session.connection.execute(
        delete(vectors).where(*one, ~is_held),
        [{"digest_": name, "model_": model} for name, model in batch],
    )


def list_embedded(
    session: Session,
    model: str,
    kind: str,
    *,
    items: Sequence[str] | None = None,
    after: tuple[str, int] = START,
) -> list[EmbeddedPassage]:
    """Return the passages of a kind that have a vector of a model: of some items, or the next after a position."""
    table = NOUNS[kind].table
    project = table.c.project if "project" in table.c else table.c.id if kind == "project" else null()
    has_vector = and_(vectors.c.digest == passages.c.digest, vectors.c.model == model)
    statement = (
        select(passages.c.item, passages.c.position, project, table.c.updated_at, passages.c.digest, vectors.c.vector)
        .select_from(passages.join(table, table.c.id == passages.c.item).join(vectors, has_vector))
        .order_by(passages.c.item, passages.c.position)
    )
    if items is not None:
        statement = statement.where(passages.c.item.in_(items))
    else:
        behind = tuple_(passages.c.item, passages.c.position) > tuple_(*map(literal, after))
        statement = statement.where(passages.c.kind == kind, behind).limit(BATCH_SIZE)
    return [EmbeddedPassage(row[0], row[1], kind, *row[2:]) for row in session.connection.execute(statement)]


def iter_digests(session: Session, model: str) -> Iterator[tuple[str, str]]:
    """Yield each passage that has a vector of a model, with the digest of its text."""
    has_vector = and_(vectors.c.digest == passages.c.digest, vectors.c.model == model)
    statement = select(passages.c.item, passages.c.position, passages.c.digest).join(vectors, has_vector)
    for row in session.connection.execute(statement.execution_options(yield_per=BATCH_SIZE)):
        yield chunk_name(row[0], row[1]), row[2]


def list_vectors(session: Session, model: str, item: str, limit: int) -> list[bytes]:
    """Return a model's vectors of an item's first passages."""
    has_vector = and_(vectors.c.digest == passages.c.digest, vectors.c.model == model)
    statement = select(vectors.c.vector).select_from(passages.join(vectors, has_vector))
    statement = statement.where(passages.c.item == item).order_by(passages.c.position).limit(limit)
    return [row[0] for row in session.connection.execute(statement)]


def sample_vectors(session: Session, model: str, limit: int) -> list[bytes]:
    """Return a model's vectors of a random sample of the texts in use."""
    is_held = exists().where(passages.c.digest == vectors.c.digest)
    statement = select(vectors.c.vector).where(vectors.c.model == model, is_held)
    return list(session.connection.execute(statement.order_by(vectors.c.digest).limit(limit)).scalars())


def list_deleted_chunks(session: Session, items: Sequence[str]) -> list[str]:
    """Return the removed chunks of some items."""
    where = passages.c.item.in_(items), passages.c.digest == DELETED_DIGEST
    rows = session.connection.execute(select(passages.c.item, passages.c.position).where(*where))
    return [chunk_name(row[0], row[1]) for row in rows]


def count(session: Session) -> int:
    """Return how many passages there are."""
    there = select(func.count()).select_from(passages).where(passages.c.digest != DELETED_DIGEST)
    return session.connection.execute(there).scalar_one()
