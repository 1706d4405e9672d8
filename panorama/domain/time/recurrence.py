"""Finds the next occurrence of an RFC 5545 rule."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from panorama.domain.time import rrule, wall_clock
from panorama.domain.time.recurrence_phrases import parse_phrase, split_completion
from panorama.domain.time.times import Deadline, start_of_day
from panorama.errors import InvalidInputError

RULE_CHARS = 300
HORIZON = timedelta(days=366 * 20)
"""How far ahead to search for the next occurrence."""

MAX_TIMES_PER_DAY = 24
"""The maximum number of times of day in a rule."""

_HINT = (
    "Use words such as every friday, every 2 weeks or every month on the 1st, or an RFC 5545 rule such as "
    "FREQ=WEEKLY;BYDAY=MO."
)
_POSSIBLE_HINT = "Choose a day that exists, such as BYMONTHDAY=-1 for the last of a month."
_UNSUPPORTED = re.compile(r"DTSTART|[\n:]|(?:COUNT|INTERVAL)=(?:-|0*(?:;|$))")
_UNTIL = re.compile(r"UNTIL=([0-9]{8})(T[0-9]{6})?")
_TIMES = re.compile(r"(?:^|;)BY(?:HOUR|MINUTE|SECOND)=[\d,]+")
_KEPT_TIME = re.compile(r";BYHOUR=[0-9]{1,2};BYMINUTE=[0-9]{1,2}\Z")
_COUNT = re.compile(r"(?:^|;)COUNT=(\d+)")


def normalize_rule(text: str) -> str:
    """Return a recurrence rule in normal form: upper case, without `RRULE:`.

    Raises:
        InvalidInputError: It is not an RFC 5545 rule, more frequent than daily, or never occurs.
    """
    plain = text.strip().upper().removeprefix("RRULE:").strip().strip(";")
    if len(plain) > RULE_CHARS or _UNSUPPORTED.search(plain):
        raise _rule_error(text)
    rule = _parse_rule(plain, text)
    if rule.times_per_day > MAX_TIMES_PER_DAY or ("UNTIL=" in plain and not _UNTIL.search(plain)):
        raise _rule_error(text)
    is_over = _parse_until(plain) < datetime(2024, 1, 1)  # noqa: DTZ001 (rules are computed in wall-clock time)
    if is_over or not rule.is_possible:
        raise InvalidInputError(f"recurrence never occurs: {text[:60]!r}.", hint=_POSSIBLE_HINT)
    return plain


def validate_stored_rule(text: str) -> None:
    """Check a rule of a stored item, to which `keep_time` may have added a time of day beyond the longest rule.

    Raises:
        InvalidInputError: No item has this rule.
    """
    normalize_rule(_KEPT_TIME.sub("", text))
    _parse_rule(text)


def parse_recurrence(text: str) -> str:
    """Return the rule that words such as “every 2 weeks on tuesday” mean, or a rule in normal form.

    Raises:
        InvalidInputError: It is neither, more frequent than daily, or never occurs.
    """
    rule, from_completion = parse_repetition(text)
    if from_completion:
        raise InvalidInputError(
            f"recurrence cannot count from completion here: {text[:60]!r}.", hint="Leave out “when done” and the “!”."
        )
    return rule


def parse_repetition(text: str) -> tuple[str, bool]:
    """Return the rule that words or a rule mean, and whether it counts from completion.

    Raises:
        InvalidInputError: It is neither, more frequent than daily, or never occurs.
    """
    phrase, from_completion = split_completion(text)
    return normalize_rule(parse_phrase(phrase) or phrase), from_completion


def next_occurrence(rule_text: str, anchor: Deadline, *, not_before: date, zone: ZoneInfo) -> Deadline | None:
    """Return the first occurrence after `anchor` that is not before a day; None if the series has ended.

    Date-times keep their local time in the zone across daylight-saving changes; days have no times of a rule.
    """
    if not isinstance(anchor, datetime):
        rule_text = _TIMES.sub("", rule_text).strip(";")
    start = _to_local(anchor, zone)
    after = max(start, datetime.combine(not_before, time()) - timedelta(microseconds=1))
    times = _parse_rule(rule_text).iter_times(start, _last_day(rule_text, after), after)
    day = next((entry for entry in times if after < entry <= _parse_until(rule_text)), None)
    if day is None:
        return None
    return day.replace(tzinfo=zone).astimezone(UTC) if isinstance(anchor, datetime) else day.date()


def keep_time(rule_text: str, anchor: Deadline, following: Deadline, zone: ZoneInfo) -> str:
    """Return a rule that goes on at its time of day after an occurrence that is later because clocks went forward.

    Without it 02:30, which is 03:30 on that day, would stay 03:30. The rule has the time until the next occurrence.
    """
    if not isinstance(anchor, datetime) or not isinstance(following, datetime):
        return rule_text
    before, after = _to_local(anchor, zone), _to_local(following, zone)
    if before.time() == after.time():
        return rule_text
    if "BYHOUR" not in rule_text and "BYMINUTE" not in rule_text:
        return f"{rule_text};BYHOUR={before.hour};BYMINUTE={before.minute}"
    skipped = datetime.combine(before, after.time(), zone)
    was_skipped = _to_local(skipped.astimezone(UTC), zone) == before
    return rule_text.removesuffix(f";BYHOUR={after.hour};BYMINUTE={after.minute}") if was_skipped else rule_text


def iter_occurrences(rule_text: str, anchor: datetime, *, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the occurrences of a series after an instant, in order, for twenty years.

    The anchor is the first occurrence whether the rule matches it or not; without a rule it is the only one.
    """
    if anchor > after:
        yield anchor
    if rule_text:
        yield from wall_clock.to_instants(_iter_local_times(rule_text, anchor, after, zone), zone, max(after, anchor))


def describe_rule(rule_text: str, anchor: Deadline, zone: ZoneInfo, *, from_completion: bool = False) -> str:
    """Return a rule with the next three days of its series after the first one, unless completion decides them."""
    if from_completion:
        return f"{rule_text} (counted from completion)"
    start = anchor if isinstance(anchor, datetime) else start_of_day(anchor, zone)
    following = islice(iter_occurrences(rule_text, start, after=start, zone=zone), 3)
    days = ", ".join(f"{moment.astimezone(zone):%a %Y-%m-%d}" for moment in following)
    return f"{rule_text} (next {days})" if days else rule_text


def is_on_rule(rule_text: str, anchor: datetime, zone: ZoneInfo) -> bool:
    """Return whether a rule matches the start of its series."""
    start = _to_local(anchor, zone)
    return next(_parse_rule(rule_text).iter_times(start, start.date()), None) == start


def _iter_local_times(rule_text: str, anchor: datetime, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the local times after the anchor, from shortly before an instant on."""
    start, begin = _to_local(anchor, zone), wall_clock.first_local(after, zone)
    count = _parse_count(rule_text)
    last = _last_day(rule_text, max(start, begin))
    # A COUNT is counted from the anchor.
    times = _parse_rule(rule_text).iter_times(start, last, None if count else begin)
    later = islice((entry for entry in times if entry > start), count and min(count - 1, rrule.MAX_STEPS))
    return (entry for entry in later if begin <= entry <= _parse_until(rule_text))


def decrement_count(rule_text: str) -> str:
    """Return the rule after one occurrence: COUNT is decremented; "" if none is left."""
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


def _parse_rule(rule_text: str, original: str = "") -> rrule.RecurrenceRule:
    """Parse a rule; an error quotes the text that was originally given."""
    try:
        return rrule.parse_rule(rule_text)
    except ValueError as error:
        raise _rule_error(original or rule_text) from error


def _rule_error(text: str) -> InvalidInputError:
    return InvalidInputError(
        f"recurrence is neither in known words nor an RFC 5545 rule that repeats daily or less often: {text[:60]!r}.",
        hint=_HINT,
    )


def _last_day(rule_text: str, begin: datetime) -> date:
    """Return the last day to search: that of UNTIL, or twenty years ahead."""
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
