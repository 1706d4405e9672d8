"""Finds the occurrences of an RFC 5545 rule, daily or slower, in bounded time.

`dateutil.rrule` iterates day by day until the year 9999 if a rule matches no day, and always from the first occurrence
even if only the next one is needed.
"""

import calendar
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import islice, product
from typing import Literal, cast

MAX_STEPS = 12_000
"""The maximum number of days or times examined in one search: more than there are in 28 years."""

Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY"]

_FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY")
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY = re.compile(r"([+-]?\d{1,3})?(MO|TU|WE|TH|FR|SA|SU)|(MO|TU|WE|TH|FR|SA|SU)\(([+-]?\d{1,3})\)")
_NUMBERS = (
    "BYSETPOS", "BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYEASTER", "BYHOUR", "BYMINUTE", "BYSECOND",
)  # fmt: skip
_NAMES = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYWEEKDAY", *_NUMBERS}
_LAST_DAY = date.max.toordinal() - 2
"""The days before and after a time are searched too, because of its zone."""

_CYCLE = (datetime(2000, 1, 1), date(2027, 12, 31))  # noqa: DTZ001 (wall-clock time)
"""28 years contain every kind of year: leap or not, starting on each weekday."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrenceRule:
    """A parsed rule; parts that it does not have are empty.

    Days of the week count from Monday, 0; `nth` has pairs as (2, 0), the second Monday, (-1, 4), the last Friday.
    """

    frequency: Frequency
    interval: int
    week_start: int
    positions: frozenset[int]
    months: frozenset[int]
    month_days: frozenset[int]
    year_days: frozenset[int]
    weeks: frozenset[int]
    easters: frozenset[int]
    weekdays: frozenset[int]
    nth: frozenset[tuple[int, int]]
    hours: frozenset[int]
    minutes: frozenset[int]
    seconds: frozenset[int]

    @property
    def times_per_day(self) -> int:
        """The number of times of day in the rule."""
        return max(len(self.hours), 1) * max(len(self.minutes), 1) * max(len(self.seconds), 1)

    @property
    def is_possible(self) -> bool:
        """Whether any day matches it, wherever it starts."""
        start, last = _CYCLE
        return next(replace(self, interval=1).iter_times(start, last), None) is not None

    def iter_times(self, start: datetime, last: date, begin: datetime | None = None) -> Iterator[datetime]:
        """Yield its times from a start on, in order, up to a day; with `begin`, only those from then on.

        It ends early after `MAX_STEPS` steps.
        """
        filled = self._with_defaults(start)
        times = sorted(time(*entry) for entry in product(filled.hours, filled.minutes, filled.seconds))
        begin = max(start, begin or start).replace(microsecond=0)
        looks = _iter_steps(filled, _period_range(filled, start, last, begin), times)
        for at in islice(looks, MAX_STEPS):
            if at and at.date() > last:
                return
            if at and at >= begin:
                yield at

    def _with_defaults(self, start: datetime) -> "RecurrenceRule":
        """Return it completed from its start: the time, and the day if it has none.

        Weekly and daily rules with BYMONTH are searched by month, which skips the other months.
        """
        months, month_days, weekdays, frequency = self.months, self.month_days, self.weekdays, self.frequency
        if not (month_days or weekdays or self.nth or self.weeks or self.year_days or self.easters):
            if frequency == "YEARLY":
                months = months or frozenset({start.month})
            if frequency in ("YEARLY", "MONTHLY"):
                month_days = frozenset({start.day})
            if frequency == "WEEKLY":
                weekdays = frozenset({start.weekday()})
        if self.interval == 1 and not self.positions and frequency in ("WEEKLY", "DAILY"):
            frequency = "MONTHLY"
        return replace(
            self, frequency=frequency, months=months, month_days=month_days, weekdays=weekdays,
            hours=self.hours or frozenset({start.hour}), minutes=self.minutes or frozenset({start.minute}),
            seconds=self.seconds or frozenset({start.second}),
        )  # fmt: skip


def parse_rule(text: str) -> RecurrenceRule:
    """Parse a rule in upper case, without its COUNT and UNTIL.

    Raises:
        ValueError: It is not a rule, or more frequent than daily.
    """
    parts = dict(_split_part(entry) for entry in text.split(";"))
    if parts.keys() - _NAMES or parts.get("FREQ") not in _FREQUENCIES:
        raise ValueError(text)
    int(parts.get("COUNT", "1"))
    numbers = {name: frozenset(map(int, parts[name].split(","))) if name in parts else _NONE for name in _NUMBERS}
    days = [_parse_day(entry) for entry in (parts.get("BYDAY") or parts.get("BYWEEKDAY") or "").split(",") if entry]
    rule = RecurrenceRule(
        frequency=cast("Frequency", parts["FREQ"]),
        interval=_parse_interval(parts),
        week_start=_DAYS.index(parts.get("WKST", "MO")),
        positions=numbers["BYSETPOS"],
        months=numbers["BYMONTH"],
        month_days=numbers["BYMONTHDAY"],
        year_days=numbers["BYYEARDAY"],
        weeks=numbers["BYWEEKNO"],
        easters=numbers["BYEASTER"],
        weekdays=frozenset(day for number, day in days if not number or parts["FREQ"] in ("WEEKLY", "DAILY")),
        nth=frozenset((number, day) for number, day in days if number and parts["FREQ"] in ("YEARLY", "MONTHLY")),
        hours=numbers["BYHOUR"],
        minutes=numbers["BYMINUTE"],
        seconds=numbers["BYSECOND"],
    )
    if any(not -366 <= entry <= 366 or not entry for entry in rule.positions):
        raise ValueError(text)
    for entry in product(rule.hours or {0}, rule.minutes or {0}, rule.seconds or {0}):
        time(*entry)
    return rule


_NONE: frozenset[int] = frozenset()


def _split_part(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise ValueError(text)
    return name, value


def _parse_interval(parts: Mapping[str, str]) -> int:
    interval = int(parts.get("INTERVAL", "1"))
    if interval < 1:
        raise ValueError("INTERVAL")
    return interval


def _parse_day(text: str) -> tuple[int, int]:
    match = _DAY.fullmatch(text)
    if not match:
        raise ValueError(text)
    return int(match[1] or match[4] or 0), _DAYS.index(match[2] or match[3])


def _period_range(rule: RecurrenceRule, start: datetime, last: date, begin: datetime) -> range:
    """Return the numbers of the periods with possible occurrences: years, months, weeks or days."""
    origin = _period_number(rule, start.date())
    passed = (_period_number(rule, begin.date()) - origin) // rule.interval * rule.interval
    return range(origin + passed, _period_number(rule, min(last, date.fromordinal(_LAST_DAY))) + 1, rule.interval)


def _period_number(rule: RecurrenceRule, day: date) -> int:
    if rule.frequency == "YEARLY":
        return day.year
    if rule.frequency == "MONTHLY":
        return day.year * 12 + day.month - 1
    ordinal = day.toordinal() - 1
    return (ordinal - rule.week_start) // 7 if rule.frequency == "WEEKLY" else ordinal


def _iter_steps(rule: RecurrenceRule, periods: range, times: list[time]) -> Iterator[datetime | None]:
    """Yield the times in some periods, and None for each period or day without a match."""
    for period in periods:
        days: list[date] = []
        day = None
        for day in _iter_days(rule, period):
            if not _is_match(rule, day):
                yield None
            elif rule.positions:
                days.append(day)
                yield None
            else:
                yield from (datetime.combine(day, entry) for entry in times)
        yield from _pick_positions(days, times, rule.positions)
        if day is None:
            yield None


def _pick_positions(days: list[date], times: list[time], positions: Iterable[int]) -> list[datetime]:
    size = len(days) * len(times)
    places = {place - 1 if place > 0 else size + place for place in positions}
    found = (divmod(place, len(times)) for place in sorted(places) if 0 <= place < size)
    return [datetime.combine(days[day], times[at]) for day, at in found]


def _iter_days(rule: RecurrenceRule, period: int) -> Iterator[date]:
    """Yield the days of one period that match the rule's months and month days."""
    frequency = rule.frequency
    if frequency == "DAILY":
        yield date.fromordinal(period + 1)
    elif frequency == "WEEKLY":
        first = period * 7 + rule.week_start + 1
        yield from (date.fromordinal(entry) for entry in range(max(first, 1), min(first + 6, _LAST_DAY) + 1))
    elif frequency == "MONTHLY":
        yield from _iter_month_days(rule, period // 12, period % 12 + 1)
    else:
        for month in range(1, 13):
            yield from _iter_month_days(rule, period, month)


def _iter_month_days(rule: RecurrenceRule, year: int, month: int) -> Iterator[date]:
    if rule.months and month not in rule.months:
        return
    length = calendar.monthrange(year, month)[1]
    days: Iterable[int] = range(1, length + 1)
    if rule.month_days:
        days = {entry if entry > 0 else length + 1 + entry for entry in rule.month_days if entry}
        days = sorted(entry for entry in days if 1 <= entry <= length)
    yield from (date(year, month, entry) for entry in days)


def _is_match(rule: RecurrenceRule, day: date) -> bool:
    if rule.months and day.month not in rule.months:
        return False
    if (rule.weekdays or rule.nth) and day.weekday() not in rule.weekdays and not _is_nth(rule, day):
        return False
    if rule.month_days and rule.frequency in ("WEEKLY", "DAILY"):
        length = calendar.monthrange(day.year, day.month)[1]
        if day.day not in rule.month_days and day.day - length - 1 not in rule.month_days:
            return False
    if rule.year_days:
        number, length = _day_of_year(day), 365 + calendar.isleap(day.year)
        if number not in rule.year_days and number - length - 1 not in rule.year_days:
            return False
    if rule.easters and (day - _easter(day.year)).days not in rule.easters:
        return False
    return not rule.weeks or _is_in_weeks(rule, day)


def _is_nth(rule: RecurrenceRule, day: date) -> bool:
    """Return whether a day matches an nth weekday of its month, or of its year without BYMONTH."""
    numbers = [number for number, weekday in rule.nth if weekday == day.weekday()]
    if not numbers:
        return False
    if rule.frequency == "YEARLY" and not rule.months:
        number, length = _day_of_year(day), 365 + calendar.isleap(day.year)
    else:
        number, length = day.day, calendar.monthrange(day.year, day.month)[1]
    return (number - 1) // 7 + 1 in numbers or -((length - number) // 7 + 1) in numbers


def _is_in_weeks(rule: RecurrenceRule, day: date) -> bool:
    """Return whether a day's ISO week number matches; week 1 has at least four days in its year."""
    middle = day + timedelta(days=3 - (day.weekday() - rule.week_start) % 7)
    number = _day_of_year(middle)
    week = (number - 1) // 7 + 1
    left = (365 + calendar.isleap(middle.year) - number) // 7
    return week in rule.weeks or -(left + 1) in rule.weeks


def _day_of_year(day: date) -> int:
    return day.toordinal() - date(day.year, 1, 1).toordinal() + 1


def _easter(year: int) -> date:
    """Return Easter Sunday, by the Gregorian algorithm of Meeus, Jones and Butcher."""
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)
