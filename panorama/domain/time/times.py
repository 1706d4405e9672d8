"""Parses dates and times in words, and formats them."""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import cast
from zoneinfo import ZoneInfo

from panorama.errors import InvalidInputError

Deadline = date | datetime
"""A day in the user's zone, or an instant in UTC. A datetime is also a date: test for datetime first."""

_NAMED_DAYS = {"today": 0, "tomorrow": 1, "yesterday": -1}
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:$|[T ]\d)")
_SHORT_HOUR = re.compile(r"[T ](?=\d:)")
_DAY_OFFSET = re.compile(r"([+-]\d{1,4})([dw])")
_DAY_WITH_TIME = re.compile(r"(\S+)(?: at)? (\d\d?):(\d\d)")
_TIME_OFFSET = re.compile(r"\+(\d{1,4}) ?(h|min)")
_HINT = (
    "Use 2026-05-31, 2026-05-31T15:00 (your own zone), 2026-05-31T15:00+02:00, today, friday 3pm, in 2 weeks, "
    "next month, +3d, -2w, or +2h."
)
_MOMENT_HINT = (
    "Use 2026-05-31T15:00 (your own zone), 2026-05-31T15:00+02:00, tomorrow 9:00, friday 3pm, in 2 hours, or +2h."
)
MIN_DATE, MAX_DATE = date(1900, 1, 1), date(2199, 12, 31)


def today(now: datetime, zone: ZoneInfo) -> date:
    """Return today's date in a zone."""
    return now.astimezone(zone).date()


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the start of a day in a zone, in UTC."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def at_noon(day: date, zone: ZoneInfo) -> datetime:
    """Return noon of a day in a zone, in UTC."""
    return datetime.combine(day, time(12), zone).astimezone(UTC)


def is_iso(text: str) -> bool:
    """Return whether a day or a time is written as digits, such as 2026-05-31, and not in words."""
    return _ISO.match(text.strip()) is not None


def parse_deadline(text: str, name: str, *, now: datetime, zone: ZoneInfo) -> Deadline:
    """Parse a day or a time.

    Raises:
        InvalidInputError: It is neither, does not exist, or is outside 1900 to 2199.
    """
    deadline = _parse_text(text.strip(), now, zone)
    if deadline is None:
        raise InvalidInputError(f"{name} is {_describe_invalid('date', text)}.", hint=_HINT)
    return _check_range(deadline, text, name, _HINT)


def _describe_invalid(kind: str, text: str) -> str:
    """Describe why a text is not a date: it does not exist, or it is not understood."""
    word = text.strip()
    wrong = "that exists" if _ISO.match(word) else "in a form that is understood"
    return f"not a {kind} {wrong}: {word[:40]!r}"


def _check_range(deadline: Deadline, text: str, name: str, hint: str) -> Deadline:
    if not MIN_DATE <= (deadline.date() if isinstance(deadline, datetime) else deadline) <= MAX_DATE:
        raise InvalidInputError(f"{name} is outside the years 1900 to 2199: {text[:40]!r}.", hint=hint)
    return deadline


def _parse_text(word: str, now: datetime, zone: ZoneInfo) -> Deadline | None:
    """Parse one expression to a day or an instant; None if it is not understood."""
    if _ISO.match(word):
        return _parse_iso(word, zone)
    return _parse_short(word.lower(), now, zone) or _parse_phrase(word, now, zone)


def _parse_phrase(words: str, now: datetime, zone: ZoneInfo) -> Deadline | None:
    # Its patterns take a tenth of a second to compile, which most processes need not spend.
    from panorama.domain.time.date_phrases import parse_date_phrase

    return parse_date_phrase(words, now.astimezone(zone))


def _parse_short(word: str, now: datetime, zone: ZoneInfo) -> Deadline | None:
    """Return the day or the moment of a short form, such as +3d or tomorrow 9:00."""
    if match := _TIME_OFFSET.fullmatch(word):
        unit = timedelta(hours=1) if match[2] == "h" else timedelta(minutes=1)
        return now.astimezone(UTC).replace(microsecond=0) + int(match[1]) * unit
    if match := _DAY_WITH_TIME.fullmatch(word):
        day, hour, minute = _parse_relative(match[1], today(now, zone)), int(match[2]), int(match[3])
        if day is None or hour > 23 or minute > 59:
            return None
        try:
            return datetime.combine(day, time(hour, minute), zone).astimezone(UTC)
        except OverflowError:
            return None
    return _parse_relative(word, today(now, zone))


def _parse_relative(word: str, day: date) -> date | None:
    if word in _NAMED_DAYS:
        return day + timedelta(days=_NAMED_DAYS[word])
    if match := _DAY_OFFSET.fullmatch(word):
        return day + timedelta(days=int(match[1]) * (7 if match[2] == "w" else 1))
    return None


def _parse_iso(word: str, zone: ZoneInfo) -> Deadline | None:
    try:
        if len(word) <= 10:
            return date.fromisoformat(word)
        moment = datetime.fromisoformat(_SHORT_HOUR.sub("T0", word).replace(" ", "T", 1))
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_date(text: str, name: str, *, now: datetime, zone: ZoneInfo) -> date:
    """Parse a day; a time is converted to its day in the zone."""
    deadline = parse_deadline(text, name, now=now, zone=zone)
    return deadline.astimezone(zone).date() if isinstance(deadline, datetime) else deadline


def check_order(first: date | None, last: date | None, *names: str) -> None:
    """Reject a period that ends before it begins; either end may be open.

    Args:
        names: The names of the two arguments.

    Raises:
        InvalidInputError: The last day is before the first.
    """
    if first and last and first > last:
        raise InvalidInputError(
            f"{names[0]} ({first}) is later than {names[1]} ({last}).", hint="Give the first day and the last."
        )


def parse_datetime(text: str, name: str, *, now: datetime, zone: ZoneInfo) -> datetime:
    """Parse a point in time; return it in UTC.

    Raises:
        InvalidInputError: It is a day without a time, or not a date.
    """
    parsed = _parse_text(text.strip(), now, zone)
    if parsed is None:
        raise InvalidInputError(f"{name} is {_describe_invalid('moment', text)}.", hint=_MOMENT_HINT)
    if not isinstance(_check_range(parsed, text, name, _MOMENT_HINT), datetime):
        raise InvalidInputError(f"{name} needs a time of day: {text[:40]!r}.", hint=_MOMENT_HINT)
    return cast("datetime", parsed)


_FROM_START = re.compile(
    r"\+\d+ ?(?:h|min|d|w)|(?:at |um )?\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|uhr)?|noon|midnight", re.IGNORECASE
)
"""Ends that are counted from the start: a distance, or only a time of day."""

_MINUTES = re.compile(r"\+(\d{1,4}) ?m", re.IGNORECASE)

MAX_NIGHT = timedelta(hours=12)
"""An end that is only a time of day is that of the next day if the span then lasts no longer: 22:00 to 2:00."""


def parse_end(text: str, name: str, *, start: Deadline, zone: ZoneInfo) -> Deadline | None:
    """Parse an end that counts from a start, a time of day or a distance; return None for any other.

    After a time, +30m is 30 minutes; after a day it is refused, since it might be months.

    Raises:
        InvalidInputError: It is outside the years 1900 to 2199.
    """
    if isinstance(start, datetime) and (match := _MINUTES.fullmatch(text.strip())):
        text = f"+{match[1]}min"
    if not _FROM_START.fullmatch(text.strip()):
        return None
    base = start if isinstance(start, datetime) else start_of_day(start, zone)
    end = parse_deadline(text, name, now=base, zone=zone)
    if isinstance(end, datetime) and not text.strip().startswith("+") and end - base > MAX_NIGHT:
        return end - timedelta(days=1)  # the hour of the same day, which is refused
    return end


def to_local_day(deadline: Deadline, zone: ZoneInfo) -> date:
    """Return the day of a deadline in a zone."""
    return deadline.astimezone(zone).date() if isinstance(deadline, datetime) else deadline


def format_utc(when: datetime) -> str:
    """Return an instant in the stored form of deadlines, `2026-05-31T13:00:00Z`; it sorts after its bare day."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_time(when: date | datetime, zone: ZoneInfo, *, exact: bool = False) -> str:
    """Format a day as 2026-05-31 and an instant as 2026-05-31T15:00+02:00 in the zone, with seconds only if not 0.

    With `exact`, fractions of a second are included, so that the text denotes the same instant.
    """
    return _format_datetime(when, zone, exact) if isinstance(when, datetime) else when.isoformat()


@lru_cache(4096)  # rows of a list share many times: created and changed at once
def _format_datetime(when: datetime, zone: ZoneInfo, exact: bool) -> str:
    local = when.astimezone(zone)
    if exact and local.microsecond:
        return local.isoformat()
    whole = local.second == 0 and local.microsecond == 0
    return local.isoformat(timespec="minutes" if whole else "seconds")


def next_day(day: date) -> date:
    """Return the day after."""
    return day + timedelta(days=1)
