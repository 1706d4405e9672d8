"""Figures of the call log: by day, tool, client and error."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, func, select

from panorama.domain.changes import WEB_ACTOR
from panorama.store.backend import Session
from panorama.store.column_types import bucket_days
from panorama.store.tables import calls

MAX_ROWS = 100
"""The maximum number of tools, clients and errors that are returned, the most frequent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatistics:
    """The calls of one tool; `tokens` is what models read."""

    name: str
    calls: int
    failed: int
    median_ms: float
    p95_ms: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCount:
    """How many calls have a name: a client's, or the code of an error."""

    name: str
    calls: int


def count_per_day(session: Session, days: Sequence[datetime]) -> list[tuple[int, int]]:
    """Return how many calls succeeded and failed in each day; `days` are the starts of the days, and their end."""
    failed = func.sum(case((calls.c.success.is_(False), 1), else_=0))
    statement = (
        select(bucket_days(calls.c.at, days).label("day"), func.count(), failed)
        .where(_within(days[0], days[-1]))
        .group_by("day")
    )
    counts = {number: (count - bad, bad) for number, count, bad in session.connection.execute(statement)}
    return [counts.get(number, (0, 0)) for number in range(len(days) - 1)]


def measure_tools(session: Session, start: datetime, end: datetime) -> list[ToolStatistics]:
    """Return the figures of each tool between two times, the most called first."""
    ranked = (
        select(
            calls.c.name,
            calls.c.ms,
            func.row_number().over(partition_by=calls.c.name, order_by=(calls.c.ms, calls.c.number)).label("place"),
            func.count().over(partition_by=calls.c.name).label("of"),
        )
        .where(_within(start, end))
        .subquery()
    )
    figures = (
        select(
            calls.c.name,
            func.count().label("calls"),
            func.sum(case((calls.c.success.is_(False), 1), else_=0)).label("failed"),
            func.sum(calls.c.tokens).label("tokens"),
        )
        .where(_within(start, end))
        .group_by(calls.c.name)
        .subquery()
    )
    percentiles = (
        select(
            ranked.c.name, *(func.min(case((ranked.c.place * 100 >= ranked.c.of * n, ranked.c.ms))) for n in (50, 95))
        )
        .group_by(ranked.c.name)
        .subquery()
    )
    statement = (
        select(figures, *percentiles.c[1:])
        .join(percentiles, percentiles.c.name == figures.c.name)
        .order_by(figures.c.calls.desc(), figures.c.name)
        .limit(MAX_ROWS)
    )
    return [
        ToolStatistics(name=name, calls=count, failed=failed, median_ms=median, p95_ms=p95, tokens=tokens)
        for name, count, failed, tokens, median, p95 in session.connection.execute(statement)
    ]


def count_clients(session: Session, start: datetime, end: datetime) -> list[NamedCount]:
    """Return the calls of each client between two times, the busiest first."""
    return _count_names(session, calls.c.client, _within(start, end))


def count_errors(session: Session, start: datetime, end: datetime) -> list[NamedCount]:
    """Return how often each error occurred between two times, the most frequent first."""
    return _count_names(session, calls.c.code, and_(_within(start, end), calls.c.code != ""))


def _count_names(session: Session, name: ColumnElement[str], where: ColumnElement[bool]) -> list[NamedCount]:
    count = func.count().label("calls")
    statement = select(name, count).where(where).group_by(name).order_by(count.desc(), name).limit(MAX_ROWS)
    return [NamedCount(name=text, calls=number) for text, number in session.connection.execute(statement)]


def _within(start: datetime, end: datetime) -> ColumnElement[bool]:
    """Return the condition for calls between two times that the web page did not make."""
    return and_(calls.c.at >= start, calls.c.at < end, calls.c.actor != WEB_ACTOR)
