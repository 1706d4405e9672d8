"""Finds the next occurrence of an RFC 5545 rule."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from panorama.domain.time import rrule, wall_clock
from panorama.domain.time.times import Deadline
from panorama.errors import InvalidInputError

RULE_CHARS = 300
HORIZON = timedelta(days=366 * 20)
"""How far ahead a next occurrence is looked for."""

MAX_TIMES_PER_DAY = 24
"""How many times of one day a rule may name."""

_HINT = "Use an RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO or FREQ=MONTHLY;BYMONTHDAY=1."
_POSSIBLE_HINT = "Choose a day that exists, such as BYMONTHDAY=-1 for the last of a month."
_UNSUPPORTED = re.compile(r"DTSTART|[\n:]|(?:COUNT|INTERVAL)=(?:-|0*(?:;|$))")
_UNTIL = re.compile(r"UNTIL=([0-9]{8})(T[0-9]{6})?")
_COUNT = re.compile(r"(?:^|;)COUNT=(\d+)")


def normalize_rule(text: str) -> str:
    """Return a recurrence rule in its plain form, upper case and without `RRULE:`.

    Raises:
        InvalidInputError: It is not an RFC 5545 rule, is faster than daily, or never occurs.
    """
    plain = text.strip().upper().removeprefix("RRULE:").strip().strip(";")
    if len(plain) > RULE_CHARS or _UNSUPPORTED.search(plain):
        raise _rule_error(text)
    rule = _parse_rule(plain)
    if rule.times_per_day > MAX_TIMES_PER_DAY or ("UNTIL=" in plain and not _UNTIL.search(plain)):
        raise _rule_error(text)
    is_over = _parse_until(plain) < datetime(2024, 1, 1)  # noqa: DTZ001 (rules are reckoned in wall-clock time)
    if is_over or not rule.is_possible:
        raise InvalidInputError(f"recurrence never occurs: {text[:60]!r}.", hint=_POSSIBLE_HINT)
    return plain


def next_occurrence(rule_text: str, anchor: Deadline, *, not_before: date, zone: ZoneInfo) -> Deadline | None:
    """Return the first occurrence after `anchor` that is not before a day; None if the series has ended.

    Moments keep their wall-clock time in the zone, also over daylight-saving changes.
    """
    start = _to_local(anchor, zone)
    after = max(start, datetime.combine(not_before, time()) - timedelta(microseconds=1))
    times = _parse_rule(rule_text).iter_times(start, _last_day(rule_text, after), after)
    day = next((entry for entry in times if after < entry <= _parse_until(rule_text)), None)
    if day is None:
        return None
    return day.replace(tzinfo=zone).astimezone(UTC) if isinstance(anchor, datetime) else day.date()


def iter_occurrences(rule_text: str, anchor: datetime, *, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Return the moments of a series after one of them or any other, in order, for twenty years.

    The series begins with its anchor, which counts as one, whether the rule names it or not; without a rule it is all.
    """
    if anchor > after:
        yield anchor
    if rule_text:
        yield from wall_clock.to_instants(_iter_local_times(rule_text, anchor, after, zone), zone, max(after, anchor))


def is_on_rule(rule_text: str, anchor: datetime, zone: ZoneInfo) -> bool:
    """Return whether a rule itself names the moment at which its series begins."""
    start = _to_local(anchor, zone)
    return next(_parse_rule(rule_text).iter_times(start, start.date()), None) == start


def _iter_local_times(rule_text: str, anchor: datetime, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Return the times on the wall's clock after the anchor, from shortly before a moment on."""
    start, begin = _to_local(anchor, zone), wall_clock.first_local(after, zone)
    count = _parse_count(rule_text)
    last = _last_day(rule_text, max(start, begin))
    # What counts is counted from its anchor on.
    times = _parse_rule(rule_text).iter_times(start, last, None if count else begin)
    later = islice((entry for entry in times if entry > start), count and min(count - 1, rrule.MAX_STEPS))
    return (entry for entry in later if begin <= entry <= _parse_until(rule_text))


def decrement_count(rule_text: str) -> str:
    """Return the rule for what comes after one occurrence: a COUNT is one less; "" when none is left."""
    count = _parse_count(rule_text)
    if count is None:
        return rule_text
    return "" if count <= 1 else re.sub(r"COUNT=\d+", f"COUNT={count - 1}", rule_text)


def _parse_count(rule_text: str) -> int | None:
    match = _COUNT.search(rule_text)
    return int(match[1]) if match else None


def _to_local(anchor: Deadline, zone: ZoneInfo) -> datetime:
    if isinstance(anchor, datetime):
        return anchor.astimezone(zone).replace(tzinfo=None)
    return datetime.combine(anchor, time())


def _parse_rule(rule_text: str) -> rrule.RecurrenceRule:
    try:
        return rrule.parse_rule(rule_text)
    except ValueError as error:
        raise _rule_error(rule_text) from error


def _rule_error(text: str) -> InvalidInputError:
    return InvalidInputError(f"recurrence is not an RFC 5545 rule of daily or slower: {text[:60]!r}.", hint=_HINT)


def _last_day(rule_text: str, begin: datetime) -> date:
    """Return the last day that is looked at: of its UNTIL, or twenty years on."""
    far = min(begin.toordinal() + HORIZON.days, date.max.toordinal())
    return min(_parse_until(rule_text).date(), date.fromordinal(far))


def _parse_until(rule_text: str) -> datetime:
    match = _UNTIL.search(rule_text)
    if not match:
        return datetime.max  # noqa: DTZ901 (wall-clock time)
    try:
        day = datetime.strptime(match[1], "%Y%m%d")  # noqa: DTZ007 (wall-clock time)
    except ValueError as error:
        raise _rule_error(rule_text) from error
    return datetime.combine(day, time.max)
