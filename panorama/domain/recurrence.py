"""Recurrence: what an RFC 5545 rule says comes next."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from panorama.domain import walls
from panorama.domain.times import Deadline
from panorama.errors import InvalidInputError

RULE_CHARS = 300
HORIZON = timedelta(days=366 * 20)
"""How far ahead a next occurrence is looked for; a rule such as every 30 February would be searched for seconds."""

_SLOW = {"YEARLY", "MONTHLY", "WEEKLY", "DAILY"}
_HINT = "Use an RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO or FREQ=MONTHLY;BYMONTHDAY=1."
_FREQUENCY = re.compile(r"(?:^|;)FREQ=([A-Z]+)")
_FOREIGN = re.compile(r"DTSTART|[\n:]|(?:COUNT|INTERVAL)=(?:-|0*(?:;|$))")
_COUNT = re.compile(r"(?:^|;)COUNT=(\d+)")


def rule(text: str) -> str:
    """Return a recurrence rule in its plain form, upper case and without `RRULE:`.

    Raises:
        InvalidInputError: It is not an RFC 5545 rule, is faster than daily, or never occurs.
    """
    plain = text.strip().upper().removeprefix("RRULE:").strip().strip(";")
    frequency = _FREQUENCY.search(plain)
    if len(plain) > RULE_CHARS or not frequency or frequency[1] not in _SLOW or _FOREIGN.search(plain):
        raise InvalidInputError(f"recurrence is not a rule of daily or slower: {text[:60]!r}.", hint=_HINT)
    start = datetime(2024, 1, 1)  # noqa: DTZ001 (rules are reckoned in wall-clock time)
    if _following(plain, start, start - timedelta(seconds=1)) is None:
        raise InvalidInputError(f"recurrence never occurs: {text[:60]!r}.", hint=_HINT)
    return plain


def following(rule_text: str, anchor: Deadline, *, not_before: date, zone: ZoneInfo) -> Deadline | None:
    """Return the first occurrence after `anchor` that is not before a day; None if the series has ended.

    Moments keep their wall-clock time in the zone, also over daylight-saving changes.
    """
    start = _wall(anchor, zone)
    earliest = datetime.combine(not_before, time()) - timedelta(microseconds=1)
    found = _following(rule_text, start, max(start, earliest))
    if found is None:
        return None
    return found.replace(tzinfo=zone).astimezone(UTC) if isinstance(anchor, datetime) else found.date()


def occurrences(rule_text: str, anchor: datetime, *, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Return the moments of a series after one of them or any other, in order, for twenty years.

    The series begins with its anchor, which counts as one, whether the rule names it or not; without a rule it is all.
    """
    if anchor > after:
        yield anchor
    if rule_text:
        yield from walls.moments(_times(rule_text, anchor, after, zone), zone, max(after, anchor))


def _times(rule_text: str, anchor: datetime, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Return the times on the wall's clock after the anchor, from shortly before a moment on."""
    start, begin = _wall(anchor, zone), walls.first_wall(after, zone)
    count = _count(rule_text)
    series = _series(rule_text, start, max(start, begin) + HORIZON)
    times = islice(series.xafter(start), count and count - 1)
    return (each for each in times if each >= begin)


def remaining(rule_text: str) -> str:
    """Return the rule for what comes after one occurrence: a COUNT is one less; "" when none is left."""
    count = _count(rule_text)
    if count is None:
        return rule_text
    return "" if count <= 1 else re.sub(r"COUNT=\d+", f"COUNT={count - 1}", rule_text)


def _count(rule_text: str) -> int | None:
    match = _COUNT.search(rule_text)
    return int(match[1]) if match else None


def _wall(anchor: Deadline, zone: ZoneInfo) -> datetime:
    if isinstance(anchor, datetime):
        return anchor.astimezone(zone).replace(tzinfo=None)
    return datetime.combine(anchor, time())


def _following(rule_text: str, start: datetime, after: datetime) -> datetime | None:
    try:
        return _series(rule_text, start, after + HORIZON).after(after)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise InvalidInputError(f"recurrence is not an RFC 5545 rule: {rule_text[:60]!r}.", hint=_HINT) from error


def _series(rule_text: str, start: datetime, last: datetime) -> rrule:
    """Return the series without its COUNT, up to a time or its UNTIL."""
    endless = re.sub(r";?UNTIL=[^;]*", "", rule_text).strip(";")
    series = rrulestr(endless, dtstart=start)
    if not isinstance(series, rrule):
        raise TypeError("a set of rules")
    return series.replace(until=min(_until(rule_text), last), count=None)


def _until(rule_text: str) -> datetime:
    match = re.search(r"UNTIL=([0-9]{8})(T[0-9]{6})?", rule_text)
    if not match:
        return datetime.max  # noqa: DTZ901 (wall-clock time)
    day = datetime.strptime(match[1], "%Y%m%d")  # noqa: DTZ007 (wall-clock time)
    return day + timedelta(days=1, microseconds=-1)
