"""Converts local times to instants across daylight-saving changes."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import islice
from zoneinfo import ZoneInfo, available_timezones

from panorama.errors import InvalidInputError

MAX_CLOCK_SHIFT = timedelta(hours=25)
"""No clock was ever moved by more than a day (Samoa, 30 December 2011)."""

MAX_COUNT = 1000
_WINDOWS = tuple(timedelta(hours=hours) for hours in (1, 24, 24 * 8, 24 * 70, 24 * 400))

Following = Callable[[datetime], Iterator[datetime]]
"""Returns the occurrences after an instant, in order, in UTC."""


def get_zone(name: str) -> ZoneInfo:
    """Return the time zone of an IANA name.

    Raises:
        InvalidInputError: There is no such zone.
    """
    try:
        return ZoneInfo(name.strip())
    except (ValueError, OSError, LookupError) as error:
        raise InvalidInputError(f"There is no time zone {name[:60]!r}.", hint=_zone_hint(name.strip())) from error


def _zone_hint(name: str) -> str:
    known = {entry.casefold(): entry for entry in available_timezones()}
    near = difflib.get_close_matches(name.casefold()[:60], known, 1, 0.6)
    return f"Did you mean {known[near[0]]}?" if near else "Use an IANA name such as Europe/Berlin or America/New_York."


def to_local(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return the local time at an instant."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def to_instants(
    walls: Iterable[datetime], zone: ZoneInfo, after: datetime, *, twice: bool = False
) -> Iterator[datetime]:
    """Yield the instants after one at which the local clock shows the given times, in order, each once.

    A time skipped when clocks go forward is shifted (RFC 5545, 3.3.5): 02:30 becomes 03:30. A repeated time counts the
    first time only, or both times with `twice`. `walls` ascend and start no later than `first_local(after)`.
    """
    waiting: list[datetime] = []
    last = after
    for entry in walls:
        for moment in _resolve_local(entry, zone, twice=twice):
            heappush(waiting, moment)
        floor = entry - _max_utc_offset(entry, zone)
        while waiting and waiting[0].replace(tzinfo=None) <= floor:
            last, is_new = _pop_next(waiting, last)
            if is_new:
                yield last
    while waiting:
        last, is_new = _pop_next(waiting, last)
        if is_new:
            yield last


def _pop_next(waiting: list[datetime], last: datetime) -> tuple[datetime, bool]:
    moment = heappop(waiting)
    return (moment, True) if moment > last else (last, False)


def _resolve_local(time: datetime, zone: ZoneInfo, *, twice: bool) -> Iterator[datetime]:
    first = time.replace(tzinfo=zone)
    yield first.astimezone(UTC)
    second = first.replace(fold=1)
    # The two also differ when clocks go forward, but then the second does not exist.
    if twice and first.utcoffset() != second.utcoffset() and to_local(second.astimezone(UTC), zone) == time:
        yield second.astimezone(UTC)


def _max_utc_offset(time: datetime, zone: ZoneInfo) -> timedelta:
    """Return the largest UTC offset around a time, so that no later local time is an earlier instant."""
    known = (time.replace(tzinfo=zone).utcoffset(), (time - MAX_CLOCK_SHIFT).replace(tzinfo=zone).utcoffset(),
             (time + MAX_CLOCK_SHIFT).replace(tzinfo=zone).utcoffset())  # fmt: skip
    return max(entry for entry in known if entry is not None)


def first_local(after: datetime, zone: ZoneInfo) -> datetime:
    """Return the local time from which later instants are found."""
    shown = to_local(after, zone)
    before, behind = ((after + span).astimezone(zone).utcoffset() for span in (-MAX_CLOCK_SHIFT, MAX_CLOCK_SHIFT))
    return shown if before == behind else shown - MAX_CLOCK_SHIFT


def last_before(following: Following, after: datetime, until: datetime) -> datetime | None:
    """Return the last occurrence after one instant and not after another; None if there is none."""
    for window in _WINDOWS:
        if until - window <= after:
            break
        if last := _last_until(following(until - window), until):
            return last
    return _last_until(following(after), until)


def _last_until(occurrences: Iterator[datetime], until: datetime) -> datetime | None:
    last = None
    for entry in occurrences:
        if entry > until:
            break
        last = entry
    return last


def count_between(following: Following, after: datetime, until: datetime) -> int:
    """Count the occurrences after one instant and not after another, up to a thousand."""
    return sum(1 for entry in islice(following(after), MAX_COUNT) if entry <= until)
