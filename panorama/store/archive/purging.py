"""Permanent deletion: removes rows, and everything that refers to them. The only module that deletes items."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, delete, func, select, text, update

from panorama.domain.items.item import BASE32, normalize_name
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.secrets import REDACTED
from panorama.kinds import ITEM_KINDS
from panorama.store.archive.purged_words import split_words
from panorama.store.backend import Session
from panorama.store.column_types import TagList
from panorama.store.graph import edges, task_lines
from panorama.store.items import alerts
from panorama.store.items.projects import has_tag
from panorama.store.items.rows import NOUNS, Noun
from panorama.store.log import imports
from panorama.store.log.marks import record_purge
from panorama.store.tables import (
    calls,
    changes,
    idempotency,
    jobs,
    marks,
    metadata,
    other_names,
    passages,
    runs,
    script_states,
    session_lines,
    texts,
)

BATCH_SIZE = 400
"""Values in one condition."""

MIN_NAME_CHARS = 6
"""A shorter name matches only as the whole text: inside another text it is usually a different word."""

PURGED_ARGUMENTS = {"forgotten": True}
"""Replaces the logged arguments of a call that mentioned a purged item."""

_TRUNCATED = re.compile(r"… \(([\d,]{1,15}) characters\)\Z")
_WORD = re.compile(r"\w+")
_ID = re.compile(rf"\b[a-z]_[{BASE32}]{{10}}\b")
_TEXT_REFERENCE = re.compile(r'"of":"([0-9a-f]{32})"')
_BEFORE = text('SELECT id, CAST("before" AS TEXT) FROM changes WHERE id > :after ORDER BY id LIMIT :limit')
_LOG_TABLES = (calls, runs, script_states)
_INDEX = "index "


@dataclass(slots=True)
class PurgePlan:
    """How the log may refer to the items to purge: ids, normalised names, and the calls that wrote them.

    `scripts` are the texts of runs that mentioned them, by length; `words` were searched, and find nothing else.
    """

    items: set[str] = field(default_factory=set[str])
    labels: set[str] = field(default_factory=set[str])
    calls: set[str] = field(default_factory=set[str])
    scripts: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    words: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class PurgeCounts:
    """The number of deleted items and change lines, and the number of the last line."""

    items: int = 0
    changes: int = 0
    last: int = 0


def list_expired(session: Session, before: datetime) -> dict[str, list[str]]:
    """Return the ids trashed before a time by kind, referring kinds first."""
    order = {table.name: at for at, table in enumerate(metadata.sorted_tables)}
    nouns = sorted(NOUNS.values(), key=lambda noun: -order[noun.table.name])
    expired: dict[str, list[str]] = {}
    for noun in nouns:
        old = noun.table.c.deleted_at < before
        expired[noun.kind] = list(session.connection.execute(select(noun.table.c.id).where(old)).scalars())
    return expired


def list_references(session: Session, kind: str, ids: Collection[str]) -> list[tuple[str, str]]:
    """Return the references to items of a kind, from living or trashed items, as (source, target)."""
    references: list[tuple[str, str]] = []
    for column in _reference_columns(NOUNS[kind].table):
        key = column.table.c.id
        for batch in _in_batches(list(ids)):
            rows = session.connection.execute(select(key, column).where(column.in_(batch)))
            references += [(row[0], row[1]) for row in rows]
    return references


def _reference_columns(table: Table) -> list[Column[Any]]:
    """Return the columns that reference a table."""
    every = (column for noun in NOUNS.values() for column in noun.table.c)
    return [column for column in every if any(key.column.table is table for key in column.foreign_keys)]


def collect_traces(session: Session, kind: str, ids: Sequence[str], traces: PurgePlan) -> None:
    """Collect the traces by which the log refers to some items."""
    noun = NOUNS[kind]
    for batch in _in_batches(ids):
        labels = session.connection.execute(select(noun.label).where(noun.table.c.id.in_(batch))).scalars()
        names = select(other_names.c.key).where(other_names.c.item.in_(batch), ~other_names.c.is_short)
        traces.items |= set(batch)
        traces.labels |= {normalize_name(label) for label in labels}
        traces.labels |= set(session.connection.execute(names).scalars())
        traces.labels |= _list_earlier_labels(session, noun, batch)
        wrote = select(changes.c.call, changes.c.unit).where(changes.c.item.in_(batch)).distinct()
        traces.calls |= {name for row in session.connection.execute(wrote) for name in row}


def _list_earlier_labels(session: Session, noun: Noun, ids: Sequence[str]) -> set[str]:
    """Return the normalised names that items had before they were renamed."""
    sides = session.connection.execute(select(changes.c.before, changes.c.after).where(changes.c.item.in_(ids)))
    labels = (label for row in sides for side in row for label in _list_labels(noun, side))
    return {normalize_name(label) for label in labels if isinstance(label, str) and label.strip()}


def _list_labels(noun: Noun, side: Mapping[str, Any]) -> list[Any]:
    """Return the names in one side of a change line; a name of several fields is recorded with all of them."""
    parts = noun.value.TOGETHER if noun.label.name in noun.value.DERIVED else (noun.label.name,)
    whole = " ".join(str(side[part]) for part in parts if side.get(part))
    return [whole, *(side.get("aliases") or ()), side.get("email")]


def delete_items(session: Session, kind: str, ids: Sequence[str], before: datetime) -> PurgeCounts:
    """Delete items with their history, full text, passages and relations.

    Items that were restored or referenced in the meantime are kept.
    """
    noun = NOUNS[kind]
    old = noun.table.c.id.in_(ids), noun.table.c.deleted_at < before
    referenced = {target for who, target in list_references(session, kind, ids) if who not in ids}
    existing = session.connection.execute(select(noun.table.c.id).where(*old)).scalars().all()
    deleted = [id_ for id_ in existing if id_ not in referenced]
    if not deleted:
        return PurgeCounts()
    gone = [*deleted, *edges.list_relations_of(session, deleted)]
    of_them = select(func.count(), func.coalesce(func.max(changes.c.id), 0)).where(changes.c.item.in_(gone))
    count, last = session.connection.execute(of_them).one()
    session.full_text.remove(session, gone)
    if kind == "reminder":
        for id_ in gone:
            alerts.clear_alarm(session, id_)
    imports.clear_fields(session, deleted)
    for table in (changes, passages):
        session.connection.execute(delete(table).where(table.c.item.in_(gone)))
    edges.forget_items(session, deleted)
    task_lines.forget_items(session, deleted)
    session.connection.execute(delete(other_names).where(other_names.c.item.in_(deleted)))
    for column in _loose_references():
        _clear_references(session, column, deleted)
    session.connection.execute(delete(session_lines).where(session_lines.c.session.in_(deleted)))
    session.connection.execute(delete(noun.table).where(noun.table.c.id.in_(deleted)))
    return PurgeCounts(len(deleted), count, last)


def _clear_references(session: Session, column: Column[Any], ids: Sequence[str]) -> None:
    """Empty a column, or remove the ids from its lists."""
    if not isinstance(column.type, TagList):
        session.connection.execute(update(column.table).where(column.in_(ids)).values({column.name: None}))
        return
    for id_ in ids:
        holding = select(column.table.c.id, column).where(has_tag(column, id_))
        for item, values in session.connection.execute(holding).all():
            left = tuple(value for value in values if value != id_)
            change = update(column.table).where(column.table.c.id == item)
            session.connection.execute(change.values({column.name: left}))


def _loose_references() -> list[Column[Any]]:
    return [NOUNS[kind.name].table.c[name] for kind in ITEM_KINDS for name in kind.loose_references]


def list_referenced_texts(session: Session, after: int, limit: int) -> tuple[set[str], int]:
    """Return the long texts named by the next changes, and the number of the last change read (0 at the end)."""
    digests_named: set[str] = set()
    last = 0
    for row in session.connection.execute(_BEFORE, {"after": after, "limit": limit}):
        last = row[0]
        digests_named |= set(_TEXT_REFERENCE.findall(row[1]))
    return digests_named, last


def list_texts(session: Session) -> set[str]:
    """Return the digests of the stored long texts."""
    return set(session.connection.execute(select(texts.c.digest)).scalars())


def delete_texts(session: Session, digests: Collection[str], after: int) -> int:
    """Delete long texts, except those that a later change names."""
    named, _ = list_referenced_texts(session, after, 1 << 31)
    unused, count = sorted(set(digests) - named), 0
    for batch in _in_batches(unused):
        count += session.connection.execute(delete(texts).where(texts.c.digest.in_(batch))).rowcount
    return count


def delete_old(session: Session, before: datetime, limit: int) -> dict[str, int]:
    """Delete the oldest log rows, at most a number from each table; return how many were deleted."""
    counts: dict[str, int] = {}
    for table in _LOG_TABLES:
        key = next(iter(table.primary_key.columns)) if table is not script_states else table.c.at
        oldest = select(key).where(table.c.at < before).order_by(table.c.at).limit(limit)
        counts[table.name] = session.connection.execute(delete(table).where(key.in_(oldest))).rowcount
    return counts


def count_old(session: Session, before: datetime) -> dict[str, int]:
    """Count the log rows older than a time."""
    sizes = {table.name: select(func.count()).select_from(table).where(table.c.at < before) for table in _LOG_TABLES}
    return {name: session.connection.execute(size).scalar_one() for name, size in sizes.items()}


def list_traced_answers(session: Session, traces: PurgePlan) -> list[str]:
    """Return the idempotency keys whose answers mention purged items, or belong to calls that wrote them."""
    ids = traces.items | traces.calls
    answers = session.connection.execute(select(idempotency.c.key, idempotency.c.answer))
    return [
        key for key, answer in answers if _names_any(f"{key} {json.dumps(answer, ensure_ascii=False)}", ids, traces)
    ]


def _names_any(text: str, ids: Collection[str], traces: PurgePlan) -> bool:
    folded = normalize_name(text)
    return any(id_ in ids for id_ in _ID.findall(text)) or any(label in folded for label in traces.labels)


def delete_keys(session: Session, keys: Sequence[str]) -> None:
    """Delete the answers of some idempotency keys."""
    for batch in _in_batches(keys):
        session.connection.execute(delete(idempotency).where(idempotency.c.key.in_(batch)))


def delete_answers(session: Session, before: datetime) -> None:
    """Delete the answers of expired idempotency keys."""
    session.connection.execute(delete(idempotency).where(idempotency.c.at < before))


@dataclass(frozen=True, slots=True)
class LogTable:
    """A table that mentions items: the column that names a change, and the values of a cleared row."""

    name: str
    table: Table
    wrote: Column[Any]
    nothing: Mapping[str, Any]
    only: tuple[ColumnElement[bool], ...] = ()


RUNS = LogTable("runs", runs, runs.c.id, {"source": "", "inputs": {}, "result": "", "output": "", "error": {}})
LOGS = (
    LogTable("calls", calls, calls.c.id, {"arguments": PURGED_ARGUMENTS}),
    LogTable(
        "jobs",
        jobs,
        jobs.c.unit,
        {"arguments": {}, "message": "", "summary": "", "result": [None], "error": {}, "checkpoint": {}},
        (jobs.c.ended_at.is_not(None),),
    ),
    RUNS,
)
"""Tables whose rows are cleared if they mention purged items. Unfinished jobs still need their arguments.

Runs come last: only they hold whole scripts, which an interrupted purge needs to find the other rows.
"""


def list_matching_rows(
    session: Session, log: LogTable, traces: PurgePlan, after: int, limit: int
) -> tuple[list[int], int]:
    """Return which of the next rows wrote or mentioned purged items, and the number of the last row read."""
    number, nothing = log.table.c.number, list(log.nothing.values())
    names = _NameMatcher(traces.labels)
    columns = [number, log.wrote, *(log.table.c[name] for name in log.nothing)]
    statement = select(*columns).where(number > after, *log.only).order_by(number).limit(limit)
    numbers: list[int] = []
    last = 0
    for row in session.connection.execute(statement):
        values = list[Any](row)
        last, wrote, texts = values[0], values[1], values[2:]
        if (
            texts != nothing
            and any(texts)
            and (wrote in traces.calls or any(_has_trace(text, traces, names) for text in texts))
        ):
            numbers.append(last)
    return numbers, last


def collect_scripts(session: Session, numbers: Sequence[int], traces: PurgePlan) -> None:
    """Collect the texts of runs; the calls that started them and repeated runs contain them too."""
    for batch in _in_batches(numbers):
        sources = session.connection.execute(select(runs.c.source).where(runs.c.number.in_(batch))).scalars()
        for source in filter(None, sources):
            traces.scripts.setdefault(len(source), set()).add(source)


def clear_rows(session: Session, log: LogTable, numbers: Sequence[int]) -> None:
    """Clear the contents of rows but keep the rows."""
    for batch in _in_batches(numbers):
        session.connection.execute(update(log.table).where(log.table.c.number.in_(batch)).values(dict(log.nothing)))


class _NameMatcher:
    """Finds the names of purged items in texts: as the whole text, as words in it, or as a search query."""

    def __init__(self, labels: Collection[str]) -> None:
        self._labels = labels
        phrases = (tuple(_WORD.findall(label)) for label in labels)
        self._phrases = {phrase for phrase in phrases if len(" ".join(phrase)) >= MIN_NAME_CHARS}
        self._lengths = sorted({len(phrase) for phrase in self._phrases})
        self._names_with: dict[str, set[int]] = {}
        for number, phrase in enumerate(self._phrases):
            for word in phrase:
                self._names_with.setdefault(word, set()).add(number)

    def matches(self, text: str) -> bool:
        """Return whether a text is a name, or contains one as words."""
        folded = normalize_name(text)
        if folded in self._labels:
            return True
        words = tuple(_WORD.findall(folded))
        return any(
            words[at : at + length] in self._phrases
            for length in self._lengths
            for at in range(len(words) - length + 1)
        )

    def matches_search(self, text: str) -> bool:
        """Return whether the words of a search are all in one name, in any order."""
        words = _WORD.findall(normalize_name(text))
        numbers = [self._names_with.get(word, set[int]()) for word in words]
        return len(" ".join(words)) >= MIN_NAME_CHARS and bool(set[int].intersection(*numbers))


def _has_trace(value: Any, traces: PurgePlan, names: _NameMatcher) -> bool:
    """Return whether a value names a purged item by id or name, or is a script that mentioned one."""
    if isinstance(value, str):
        is_named = not traces.items.isdisjoint(_ID.findall(value)) or names.matches(value)
        is_named = is_named or (bool(traces.words) and not traces.words.isdisjoint(split_words(value)))
        return is_named or (bool(traces.scripts) and _is_script(value, traces.scripts))
    if is_object(value):
        query = value.get("query")
        is_search = isinstance(query, str) and names.matches_search(query)
        return is_search or any(_has_trace(entry, traces, names) for entry in value.values())
    return is_list(value) and any(_has_trace(entry, traces, names) for entry in value)


def _is_script(shown: str, scripts: Mapping[int, Collection[str]]) -> bool:
    """Return whether a text is one of some scripts in its logged form.

    The log redacts secrets, and keeps the beginning and length of a long text: «… (1,234 characters)».
    """
    if shown in scripts.get(len(shown), ()):
        return True
    if cut := _TRUNCATED.search(shown):
        length = int(cut[1].replace(",", ""))
        return any(_is_shown_form(shown[: cut.start()].rstrip("•"), script) for script in scripts.get(length, ()))
    return REDACTED in shown and any(_is_shown_form(shown, script) for group in scripts.values() for script in group)


def _is_shown_form(shown: str, text: str) -> bool:
    """Return whether a text begins with its logged form, in which secrets are replaced."""
    first, *others = shown.split(REDACTED)
    at = len(first) if text.startswith(first) else -1
    for part in others:
        at = text.find(part, at) + len(part) if at >= 0 and part in text[at:] else -1
    return at >= 0


def reset_stale_indexes(session: Session, last: int) -> None:
    """Mark indexes for rebuilding that have not read the deletions, because the change lines are gone."""
    session.connection.execute(delete(marks).where(marks.c.name.startswith(_INDEX), marks.c.value < last))
    if last:
        record_purge(session)  # an index that is syncing now writes no mark


def _in_batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), BATCH_SIZE):
        yield values[start : start + BATCH_SIZE]
