"""Forgetting for good: the only module that takes rows out, with everything that tells of them."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, delete, func, select, update

from panorama.domain.items import BASE32, folded
from panorama.domain.plain import is_list, is_object
from panorama.domain.secrets import HIDDEN
from panorama.store import alerts, fulltext, imports
from panorama.store.engine import Session
from panorama.store.passages import count_purge
from panorama.store.rows import NOUNS
from panorama.store.tables import (
    calls,
    changes,
    idempotency,
    jobs,
    marks,
    metadata,
    passages,
    reminders,
    runs,
    script_states,
    texts,
)

AT_ONCE = 400
"""Values in one condition."""

MERGED_PAGES = 64
"""Pages of the full-text index that are written in one step, some ten milliseconds."""

FORGOTTEN = {"forgotten": True}
"""Stands in the log for the arguments of a call that told of something that is forgotten."""

_CUT = re.compile(r"… \(([\d,]{1,15}) characters\)\Z")
_ID = re.compile(rf"\b[a-z]_[{BASE32}]{{10}}\b")
_OF = re.compile(r'"of":"([0-9a-f]{32})"')
_OLD = (calls, runs, script_states)
_INDEX = "index "


@dataclass(slots=True)
class Traces:
    """How the log may name items that are to be forgotten: ids, folded names, and the calls that wrote them.

    `scripts` are by their length the texts of the runs that told of them.
    """

    items: set[str] = field(default_factory=set[str])
    labels: set[str] = field(default_factory=set[str])
    calls: set[str] = field(default_factory=set[str])
    scripts: dict[int, set[str]] = field(default_factory=dict[int, set[str]])


@dataclass(frozen=True, slots=True)
class Taken:
    """How many items and lines of their history were taken out, and the number of the last line."""

    items: int = 0
    changes: int = 0
    last: int = 0


def due(session: Session, before: datetime) -> dict[str, list[str]]:
    """Return by kind what has been in the trash since before a moment, those kinds first that refer to others."""
    order = {table.name: at for at, table in enumerate(metadata.sorted_tables)}
    nouns = sorted(NOUNS.values(), key=lambda noun: -order[noun.table.name])
    found: dict[str, list[str]] = {}
    for noun in nouns:
        old = noun.table.c.deleted_at < before
        found[noun.kind] = list(session.connection.execute(select(noun.table.c.id).where(old)).scalars())
    return found


def referring(session: Session, kind: str, ids: Collection[str]) -> list[tuple[str, str]]:
    """Return which items, living or not, refer to some of a kind: pairs of who refers and to whom."""
    found: list[tuple[str, str]] = []
    for column in _ties(NOUNS[kind].table):
        key = column.table.c.id
        for some in _portions(list(ids)):
            rows = session.connection.execute(select(key, column).where(column.in_(some)))
            found += [(row[0], row[1]) for row in rows]
    return found


def _ties(table: Table) -> list[Column[Any]]:
    """Return the columns that refer to the items of a table."""
    every = (column for noun in NOUNS.values() for column in noun.table.c)
    return [column for column in every if any(key.column.table is table for key in column.foreign_keys)]


def trace(session: Session, kind: str, ids: Sequence[str], traces: Traces) -> None:
    """Note by what the log tells of some items."""
    noun = NOUNS[kind]
    for some in _portions(ids):
        labels = session.connection.execute(select(noun.label).where(noun.table.c.id.in_(some))).scalars()
        traces.items |= set(some)
        traces.labels |= {folded(label) for label in labels}
        wrote = select(changes.c.call, changes.c.unit).where(changes.c.item.in_(some)).distinct()
        traces.calls |= {name for row in session.connection.execute(wrote) for name in row}


def take_out(session: Session, kind: str, ids: Sequence[str], before: datetime) -> Taken:
    """Remove items with their history, words and passages.

    What came back from the trash meanwhile, or is referred to by now, stays.
    """
    noun = NOUNS[kind]
    old = noun.table.c.id.in_(ids), noun.table.c.deleted_at < before
    held = {target for who, target in referring(session, kind, ids) if who not in ids}
    found = session.connection.execute(select(noun.table.c.id).where(*old)).scalars().all()
    gone = [id_ for id_ in found if id_ not in held]
    if not gone:
        return Taken()
    of_them = select(func.count(), func.coalesce(func.max(changes.c.id), 0)).where(changes.c.item.in_(gone))
    count, last = session.connection.execute(of_them).one()
    for id_ in gone:
        fulltext.remove(session, id_)
        if kind == "reminder":
            alerts.stop(session, id_)
    imports.forget(session, gone)
    for table in (changes, passages):
        session.connection.execute(delete(table).where(table.c.item.in_(gone)))
    session.connection.execute(update(reminders).where(reminders.c.item.in_(gone)).values(item=None))
    session.connection.execute(delete(noun.table).where(noun.table.c.id.in_(gone)))
    return Taken(len(gone), count, last)


def named_texts(session: Session, after: int, limit: int) -> tuple[set[str], int]:
    """Return which long texts the next changes name, and the number of the last one that was read; 0 at the end."""
    statement = f'SELECT id, "before" FROM changes WHERE id > {after:d} ORDER BY id LIMIT {limit:d}'
    found: set[str] = set()
    last = 0
    for row in session.connection.exec_driver_sql(statement):
        last = row[0]
        found |= set(_OF.findall(row[1]))
    return found, last


def known_texts(session: Session) -> set[str]:
    """Return the digests of the long texts that are kept."""
    return set(session.connection.execute(select(texts.c.digest)).scalars())


def forget_texts(session: Session, digests: Collection[str], after: int) -> int:
    """Remove long texts, but those that a change behind one names by now."""
    named, _ = named_texts(session, after, 1 << 31)
    gone, count = sorted(set(digests) - named), 0
    for some in _portions(gone):
        count += session.connection.execute(delete(texts).where(texts.c.digest.in_(some))).rowcount
    return count


def forget_old(session: Session, before: datetime, limit: int) -> dict[str, int]:
    """Remove the oldest rows of the log, so many of each table; return how many there were."""
    counts: dict[str, int] = {}
    for table in _OLD:
        key = next(iter(table.primary_key.columns)) if table is not script_states else table.c.at
        oldest = select(key).where(table.c.at < before).order_by(table.c.at).limit(limit)
        counts[table.name] = session.connection.execute(delete(table).where(key.in_(oldest))).rowcount
    return counts


def count_old(session: Session, before: datetime) -> dict[str, int]:
    """Return how many rows of the log are older than a moment."""
    sizes = {table.name: select(func.count()).select_from(table).where(table.c.at < before) for table in _OLD}
    return {name: session.connection.execute(size).scalar_one() for name, size in sizes.items()}


def forget_answers(session: Session, before: datetime) -> None:
    """Remove answers to idempotency keys that are given no more."""
    session.connection.execute(delete(idempotency).where(idempotency.c.at < before))


@dataclass(frozen=True, slots=True)
class Log:
    """A table that tells of items: what of a row names a change, and what stands in it once it is emptied."""

    name: str
    table: Table
    wrote: Column[Any]
    nothing: Mapping[str, Any]
    only: tuple[ColumnElement[bool], ...] = ()


RUNS = Log("runs", runs, runs.c.id, {"source": "", "inputs": {}, "result": "", "output": "", "error": {}})
LOGS = (
    Log("calls", calls, calls.c.id, {"arguments": FORGOTTEN}),
    Log(
        "jobs",
        jobs,
        jobs.c.unit,
        {"arguments": {}, "message": "", "summary": "", "result": [None], "error": {}, "checkpoint": {}},
        (jobs.c.ended_at.is_not(None),),
    ),
    RUNS,
)
"""What is emptied when what it tells of is forgotten. A job that has not ended needs what it was given.

Runs go last: only they hold whole scripts, by which a purge that was stopped finds again what else holds them.
"""


def telling(session: Session, log: Log, traces: Traces, after: int, limit: int) -> tuple[list[int], int]:
    """Return which of the next rows wrote or told of what is forgotten, and the number of the last that was read."""
    number, nothing = log.table.c.number, list(log.nothing.values())
    columns = [number, log.wrote, *(log.table.c[name] for name in log.nothing)]
    statement = select(*columns).where(number > after, *log.only).order_by(number).limit(limit)
    found: list[int] = []
    last = 0
    for row in session.connection.execute(statement):
        values = list[Any](row)
        last, wrote, said = values[0], values[1], values[2:]
        if said != nothing and any(said) and (wrote in traces.calls or any(_tells(each, traces) for each in said)):
            found.append(last)
    return found, last


def trace_scripts(session: Session, numbers: Sequence[int], traces: Traces) -> None:
    """Note the texts of runs; the calls that asked for them, and other runs of the same, hold them too."""
    for some in _portions(numbers):
        sources = session.connection.execute(select(runs.c.source).where(runs.c.number.in_(some))).scalars()
        for source in filter(None, sources):
            traces.scripts.setdefault(len(source), set()).add(source)


def empty(session: Session, log: Log, numbers: Sequence[int]) -> None:
    """Let rows stay without what was said in them."""
    for some in _portions(numbers):
        session.connection.execute(update(log.table).where(log.table.c.number.in_(some)).values(dict(log.nothing)))


def _tells(value: Any, traces: Traces) -> bool:
    """Tell whether a value names a forgotten item, by its id or its whole name, or is a script that told of one."""
    if isinstance(value, str):
        named = not traces.items.isdisjoint(_ID.findall(value)) or folded(value) in traces.labels
        return named or (bool(traces.scripts) and _is_script(value, traces.scripts))
    if is_object(value):
        return any(_tells(each, traces) for each in value.values())
    return is_list(value) and any(_tells(each, traces) for each in value)


def _is_script(shown: str, scripts: Mapping[int, Collection[str]]) -> bool:
    """Tell whether a text is one of some scripts as the log of calls keeps it.

    There secrets are hidden, and a long one is its beginning and its length: «… (1,234 characters)».
    """
    if shown in scripts.get(len(shown), ()):
        return True
    if cut := _CUT.search(shown):
        length = int(cut[1].replace(",", ""))
        return any(_fits(shown[: cut.start()].rstrip("•"), each) for each in scripts.get(length, ()))
    return HIDDEN in shown and any(_fits(shown, each) for some in scripts.values() for each in some)


def _fits(shown: str, text: str) -> bool:
    """Tell whether a text begins as is shown of it, where something may stand for what is hidden."""
    first, *others = shown.split(HIDDEN)
    at = len(first) if text.startswith(first) else -1
    for part in others:
        at = text.find(part, at) + len(part) if at >= 0 and part in text[at:] else -1
    return at >= 0


def forget_listeners(session: Session, last: int) -> None:
    """Let those indexes be built anew that have not heard of the end of what is forgotten; its lines are gone."""
    session.connection.execute(delete(marks).where(marks.c.name.startswith(_INDEX), marks.c.value < last))
    if last:
        count_purge(session)  # one that is being told of it now writes no mark


def merge_words(session: Session, *, begin: bool) -> bool:
    """Write a part of the full-text index anew without the words that were taken out; tell whether there is more."""
    before = session.connection.exec_driver_sql("SELECT total_changes()").scalar_one()
    pages = -MERGED_PAGES if begin else MERGED_PAGES
    session.connection.exec_driver_sql("INSERT INTO search_words (search_words, rank) VALUES ('merge', ?)", (pages,))
    after = session.connection.exec_driver_sql("SELECT total_changes()").scalar_one()
    return after - before >= 2  # sqlite.org/fts5.html#the_merge_command: less means that there was nothing to do


def _portions(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]


def waiting(due_: Mapping[str, Iterable[str]], ties: Iterable[tuple[str, str]]) -> set[str]:
    """Return which due items have to wait, because others that are not due, or wait too, refer to them. Pure."""
    is_due = {id_ for ids in due_.values() for id_ in ids}
    held: set[str] = set()
    pairs = list(ties)
    while found := {whom for who, whom in pairs if (who not in is_due or who in held) and whom not in held}:
        held |= found
    return held


def in_turn(ids: Collection[str], ties: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return items of one kind in rounds, so that who refers to another goes before it. Pure."""
    left = set(ids)
    pairs = [(who, whom) for who, whom in ties if who in left and whom in left]
    rounds: list[list[str]] = []
    while left:
        held = {whom for who, whom in pairs if who in left and whom in left}
        leaves = sorted(left - held) or sorted(left)
        rounds.append(leaves)
        left -= set(leaves)
    return rounds
