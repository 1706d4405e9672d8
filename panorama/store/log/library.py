"""Rows of the script library: reviews, reviewed texts, and statistics of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, case, delete, func, insert, select

from panorama.domain.scripts.library import ReviewState
from panorama.store.backend import Session
from panorama.store.tables import calls, reviews, runs, scripts

APPROVED, REJECTED, RETIRED = "approved", "rejected", "retired"
SAVED, WRITTEN = "saved", "written"
"""Verdicts of undecided texts: saved through Panorama, or written by the user with an editor."""

VERSIONS = (APPROVED, SAVED, WRITTEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A decision on one text: when, and through which interface; `number` counts the reviews of all scripts."""

    name: str
    at: datetime
    verdict: str
    digest: str
    text: str
    door: str
    client: str
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStats:
    """A script run in the statistics; `tokens` is the size of its answer to a model."""

    id: str
    at: datetime
    status: str
    ms: float
    calls: int
    tokens: int
    error: Mapping[str, Any]
    options: Mapping[str, Any]


_NAMES = tuple(field.name for field in fields(Review))
_COLUMNS = tuple(reviews.c[name] for name in _NAMES)


def list_states(session: Session) -> dict[str, ReviewState]:
    """Return the review states of all scripts that have one, by name."""
    rows = session.connection.execute(select(scripts.c.name, *_STATE_COLUMNS).order_by(scripts.c.name))
    return {row[0]: _to_state(row[1:]) for row in rows}


def list_promoted(session: Session, name: str | None = None) -> dict[str, ReviewState]:
    """Return the review states of promoted scripts, or of one, by name."""
    statement = select(scripts.c.name, *_STATE_COLUMNS).where(scripts.c.state == "promoted").order_by(scripts.c.name)
    if name is not None:
        statement = statement.where(scripts.c.name == name)
    return {row[0]: _to_state(row[1:]) for row in session.connection.execute(statement)}


def find_state(session: Session, name: str) -> ReviewState | None:
    """Return the review state of a script, None if it has none."""
    row = session.connection.execute(select(*_STATE_COLUMNS).where(scripts.c.name == name)).one_or_none()
    return _to_state(row) if row else None


def list_approved_names(session: Session) -> list[str]:
    """Return the names of the scripts with a text that is reviewed, promoted or retired."""
    return list(session.connection.execute(select(scripts.c.name).where(_HAS_APPROVED)).scalars())


def find_approved_digest(session: Session, name: str) -> str:
    """Return the digest of the text of a script that is reviewed, promoted or retired, "" if none is."""
    statement = select(scripts.c.digest).where(scripts.c.name == name, _HAS_APPROVED)
    return session.connection.execute(statement).scalar() or ""


def find_text(session: Session, name: str, digest: str) -> str:
    """Return the text of a script that is stored with a digest, "" if none is."""
    statement = select(reviews.c.text).where(reviews.c.name == name, reviews.c.digest == digest).limit(1)
    return session.connection.execute(statement).scalar() or ""


def was_approved(session: Session, name: str, digest: str) -> bool:
    """Return whether a text of a script was approved at any time."""
    where = (reviews.c.name == name, reviews.c.digest == digest, reviews.c.verdict == APPROVED)
    return session.connection.execute(select(reviews.c.number).where(*where).limit(1)).first() is not None


def set_state(session: Session, name: str, new: ReviewState, now: datetime) -> None:
    """Store the review state of a script."""
    session.connection.execute(delete(scripts).where(scripts.c.name == name))
    calls = None if new.calls is None else list(new.calls)
    values = {"state": new.state, "digest": new.digest, "read_only": new.read_only, "calls": calls, "updated_at": now}
    session.connection.execute(insert(scripts).values(name=name, **values))


_HAS_APPROVED = and_(scripts.c.state != "draft", scripts.c.digest != "")
_STATE_COLUMNS = (scripts.c.state, scripts.c.digest, scripts.c.read_only, scripts.c.calls)


def _to_state(row: Any) -> ReviewState:
    calls = None if row[3] is None else tuple(row[3])
    return ReviewState(state=row[0], digest=row[1], read_only=row[2], calls=calls)


def add_review(session: Session, entry: Review) -> None:
    """Store a decision on a text; it is never deleted."""
    values = {name: getattr(entry, name) for name in _NAMES if name != "number"}
    session.connection.execute(insert(reviews).values(values))


def list_reviews(session: Session, name: str) -> list[Review]:
    """Return the decisions on the texts of a script, the newest first."""
    return [review for review in list_texts(session, name) if review.verdict not in (SAVED, WRITTEN)]


def list_texts(session: Session, name: str) -> list[Review]:
    """Return all texts of a script, reviewed or not, the newest first."""
    statement = select(*_COLUMNS).where(reviews.c.name == name).order_by(reviews.c.number.desc())
    return [_to_review(row) for row in session.connection.execute(statement)]


def _to_review(row: Row[Any]) -> Review:
    return Review(**dict(zip(_NAMES, row, strict=True)))


def count_runs(session: Session) -> dict[str, tuple[int, int]]:
    """Return how often each script ran and how often it succeeded, by name."""
    succeeded = func.sum(case((runs.c.status == "succeeded", 1), else_=0))
    statement = select(runs.c.script, func.count(), succeeded).where(runs.c.script != "").group_by(runs.c.script)
    return {row[0]: (row[1], row[2]) for row in session.connection.execute(statement)}


def list_runs(session: Session, name: str, limit: int) -> list[RunStats]:
    """Return the last runs of a script, the newest first."""
    statement = (
        select(*_run_columns()).join_from(runs, calls, _RUN_CALL, isouter=True).where(runs.c.script == name)
        .order_by(runs.c.number.desc()).limit(limit)
    )  # fmt: skip
    return [_to_run_stats(row) for row in session.connection.execute(statement)]


_RUN_CALL = and_(calls.c.id == runs.c.id, calls.c.unit == runs.c.id, calls.c.actor == "tool")


def _run_columns() -> tuple[Any, ...]:
    return (runs.c.id, runs.c.at, runs.c.status, runs.c.ms, runs.c.calls, calls.c.tokens, runs.c.error, runs.c.options)


def _to_run_stats(row: Any) -> RunStats:
    return RunStats(
        id=row[0], at=row[1], status=row[2], ms=row[3], calls=row[4], tokens=row[5] or 0, error=row[6], options=row[7]
    )


def count_changes_by_operation(session: Session, runs_: Sequence[str]) -> dict[str, int]:
    """Return the operations that some runs called, with the number of changes of each."""
    statement = (
        select(calls.c.name, func.sum(calls.c.changes)).where(calls.c.unit.in_(runs_), calls.c.position > 0)
        .group_by(calls.c.name).order_by(calls.c.name)
    )  # fmt: skip
    return {row[0]: int(row[1] or 0) for row in session.connection.execute(statement)}


def list_changing_calls(session: Session, run: str, limit: int) -> list[dict[str, Any]]:
    """Return the first calls of a run that changed something: names, arguments and numbers of changes."""
    statement = (
        select(calls.c.name, calls.c.arguments, calls.c.changes)
        .where(calls.c.unit == run, calls.c.position > 0, calls.c.changes > 0).order_by(calls.c.position).limit(limit)
    )  # fmt: skip
    return [{"name": row[0], "arguments": row[1], "changes": row[2]} for row in session.connection.execute(statement)]


MAX_CALLS = 1000
"""Runs with more calls are ignored, because reading them takes too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCode:
    """A run of code outside the library: its calls in the order of their first use, and its cost."""

    id: str
    source: str
    called: tuple[str, ...]
    tokens: int


def list_run_code(session: Session, limit: int) -> list[RunCode]:
    """Return the last successful runs of code outside the library, the newest first."""
    statement = (
        select(runs.c.id, runs.c.source, calls.c.tokens).join_from(runs, calls, _RUN_CALL, isouter=True)
        .where(runs.c.script == "", runs.c.status == "succeeded", runs.c.calls.between(1, MAX_CALLS))
        .order_by(runs.c.number.desc()).limit(limit)
    )  # fmt: skip
    results = {row[0]: (row[1], row[2] or 0) for row in session.connection.execute(statement)}
    called: dict[str, dict[str, None]] = {id_: {} for id_ in results}
    first = func.min(calls.c.position)
    names = select(calls.c.unit, calls.c.name).where(calls.c.unit.in_(results), calls.c.position > 0)
    for unit, name in session.connection.execute(names.group_by(calls.c.unit, calls.c.name).order_by(first)):
        called[unit][name] = None
    return [
        RunCode(id=id_, source=source, called=tuple(called[id_]), tokens=tokens)
        for id_, (source, tokens) in results.items()
    ]


def list_tool_calls(session: Session, limit: int) -> list[tuple[str, str, int]]:
    """Return the last successful calls of tools as (conversation, name, tokens), the oldest first."""
    statement = (
        select(calls.c.conversation, calls.c.name, calls.c.tokens)
        .where(calls.c.actor == "tool", calls.c.position == 0, calls.c.success)
        .order_by(calls.c.number.desc()).limit(limit)
    )  # fmt: skip
    return [(row[0], row[1], row[2]) for row in session.connection.execute(statement)][::-1]
