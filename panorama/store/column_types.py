"""Column types for times, tags and deadlines."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, ColumnElement, DateTime, Dialect, String, Text, TypeDecorator, case

from panorama.domain.time.times import Deadline, format_utc


class Utc(TypeDecorator[datetime]):
    """An instant. SQLite does not store the zone, so every value is written and read as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert an aware datetime to UTC."""
        return None if value is None else _require_aware(value).astimezone(UTC)

    def bind_processor(self, dialect: Dialect) -> Callable[..., str | datetime | None] | None:
        """Format a datetime as SQLAlchemy does for SQLite, three times as fast: every row has two or three."""
        return _to_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Replace the driver's own object for UTC."""
        return None if value is None else value.astimezone(UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[..., datetime | None] | None:
        """Add the zone again."""
        return _to_utc if dialect.name == "sqlite" else super().result_processor(dialect, coltype)


def _require_aware(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time without a zone cannot be stored")
    return value


def _to_text(value: datetime | None) -> str | None:
    if value is None:
        return None
    return _require_aware(value).astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


@lru_cache(4096)  # rows of a list share many times, and one object is hashed and formatted only once
def _to_utc(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(f"{text}+00:00")


class TagList(TypeDecorator[tuple[str, ...]]):
    """Tags, each between line feeds, so that one LIKE finds a whole word in every database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | str | None, dialect: Dialect) -> str | None:
        """Join the words."""
        if value is None or isinstance(value, str):
            return value
        return "\n" + "\n".join(value) + "\n" if value else ""

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        """Split the words."""
        return tuple(value.strip("\n").split("\n")) if value else ()


class DeadlineText(TypeDecorator[Deadline]):
    """A deadline as text: `2026-05-31` for a day, `2026-05-31T13:00:00Z` for a time."""

    impl = String(20)
    cache_ok = True

    def process_bind_param(self, value: Deadline | str | None, dialect: Dialect) -> str | None:
        """Format the day or the time."""
        return value if value is None or isinstance(value, str) else format_deadline(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Deadline | None:
        """Parse the day or the time."""
        if value is None:
            return None
        return date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)


def format_deadline(deadline: Deadline) -> str:
    """Return a deadline in its stored form."""
    return format_utc(deadline) if isinstance(deadline, datetime) else deadline.isoformat()


def bucket_days(moment: ColumnElement[datetime], days: Sequence[datetime]) -> ColumnElement[int]:
    """Return the number of the day that a moment is in, from 0; `days` are the starts of the days, and their end.

    The starts come from the caller because databases do not know the days of the user's zone.
    """
    return case(*((moment < end, number) for number, end in enumerate(days[1:])), else_=len(days))


def decode_value(column: Column[Any], stored: Any) -> Any:
    """Decode a field's value from its plain form in `changes`."""
    if stored is None:
        return None
    if isinstance(column.type, TagList):
        return tuple(stored)
    if isinstance(column.type, Utc):
        return datetime.fromisoformat(stored)
    if isinstance(column.type, DeadlineText):
        return date.fromisoformat(stored) if len(stored) == 10 else datetime.fromisoformat(stored)
    return date.fromisoformat(stored) if column.type.python_type is date else stored
