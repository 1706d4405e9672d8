"""Walls: what a clock on the wall shows, and the moments that are meant by it where clocks are changed."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import islice
from zoneinfo import ZoneInfo, available_timezones

from panorama.errors import InvalidInputError

AROUND = timedelta(hours=25)
"""No clock was ever moved by more than a day (Samoa, 30 December 2011), so a day around a time tells all."""

MOST_COUNTED = 1000
_WINDOWS = tuple(timedelta(hours=hours) for hours in (1, 24, 24 * 8, 24 * 70, 24 * 400))

Following = Callable[[datetime], Iterator[datetime]]
"""Returns the occurrences after a moment, in order, in UTC."""


def known_zone(name: str) -> ZoneInfo:
    """Return the time zone of an IANA name.

    Raises:
        InvalidInputError: There is none.
    """
    try:
        return ZoneInfo(name.strip())
    except (ValueError, OSError, LookupError) as error:
        raise InvalidInputError(f"There is no time zone {name[:60]!r}.", hint=_hint(name.strip())) from error


def _hint(name: str) -> str:
    known = {each.casefold(): each for each in available_timezones()}
    near = difflib.get_close_matches(name.casefold()[:60], known, 1, 0.6)
    return f"Did you mean {known[near[0]]}?" if near else "Use an IANA name such as Europe/Berlin or America/New_York."


def wall(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return what a clock on the wall shows at a moment."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def moments(walls: Iterable[datetime], zone: ZoneInfo, after: datetime, *, twice: bool = False) -> Iterator[datetime]:
    """Return the moments after one at which a wall clock shows the given times, in order, each once.

    A time that is left out when clocks go forward is meant as if they had not gone (RFC 5545, 3.3.5): 02:30 is then
    03:30. One that comes twice when they go back is meant the first time, with `twice` both times. `walls` ascend;
    they begin no later than `first_wall(after)`.
    """
    waiting: list[datetime] = []
    last = after
    for each in walls:
        for moment in _meant(each, zone, twice=twice):
            heappush(waiting, moment)
        floor = each - _ahead(each, zone)
        while waiting and waiting[0].replace(tzinfo=None) <= floor:
            last, is_new = _next(waiting, last)
            if is_new:
                yield last
    while waiting:
        last, is_new = _next(waiting, last)
        if is_new:
            yield last


def _next(waiting: list[datetime], last: datetime) -> tuple[datetime, bool]:
    found = heappop(waiting)
    return (found, True) if found > last else (last, False)


def _meant(time: datetime, zone: ZoneInfo, *, twice: bool) -> Iterator[datetime]:
    first = time.replace(tzinfo=zone)
    yield first.astimezone(UTC)
    second = first.replace(fold=1)
    # Where clocks go forward the two differ also, but then the second is no time that they show.
    if twice and first.utcoffset() != second.utcoffset() and wall(second.astimezone(UTC), zone) == time:
        yield second.astimezone(UTC)


def _ahead(time: datetime, zone: ZoneInfo) -> timedelta:
    """Return how far the zone is ahead of UTC around a time, at most: no later time means an earlier moment."""
    known = (time.replace(tzinfo=zone).utcoffset(), (time - AROUND).replace(tzinfo=zone).utcoffset(),
             (time + AROUND).replace(tzinfo=zone).utcoffset())  # fmt: skip
    return max(each for each in known if each is not None)


def first_wall(after: datetime, zone: ZoneInfo) -> datetime:
    """Return the wall time from which on later moments are found."""
    shown = wall(after, zone)
    before, behind = ((after + span).astimezone(zone).utcoffset() for span in (-AROUND, AROUND))
    return shown if before == behind else shown - AROUND


def latest(following: Following, after: datetime, until: datetime) -> datetime | None:
    """Return the last occurrence after one moment that is not after another; None if there is none."""
    for window in _WINDOWS:
        if until - window <= after:
            break
        if found := _last(following(until - window), until):
            return found
    return _last(following(after), until)


def _last(occurrences: Iterator[datetime], until: datetime) -> datetime | None:
    found = None
    for each in occurrences:
        if each > until:
            break
        found = each
    return found


def counted(following: Following, after: datetime, until: datetime) -> int:
    """Count the occurrences after one moment that are not after another; over a thousand are not told apart."""
    return sum(1 for each in islice(following(after), MOST_COUNTED) if each <= until)
