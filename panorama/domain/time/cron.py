"""Parses crontab lines (crontab(5) of Vixie cron) and finds their times."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from panorama.errors import InvalidInputError

CRON_CHARS = 200
HORIZON_YEARS = 41
"""How far ahead to search: 29 February on a given weekday recurs after forty years at most."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NICKNAMES = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
_PART = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d{1,4}))?")
_HINT = "Give minute, hour, day of month, month and day of week, as in “30 7 * * mon-fri” or “0 9 1 * *”."


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    names: Mapping[str, int]


_FIELDS = (
    _Field("minute", 0, 59, {}),
    _Field("hour", 0, 23, {}),
    _Field("day of month", 1, 31, {}),
    _Field("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, start=1)}),
    _Field("day of week", 0, 7, {name: number for number, name in enumerate(_DAYS)}),
)


@dataclass(frozen=True, slots=True)
class CronExpression:
    """The times of a cron line with five fields; days of the week count from Sunday, 0.

    As in crontab(5): if both day fields are restricted, a day that matches either one matches; a field that begins
    with `*` is not restricted.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool

    @property
    def is_every_hour(self) -> bool:
        """Whether it runs in every elapsed hour, including one repeated when clocks go back."""
        return len(self.hours) == 24

    def matches(self, day: date) -> bool:
        """Return whether a day matches."""
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (by_month or by_week if self.either else by_month and by_week)

    def local_times(self, begin: datetime) -> Iterator[datetime]:
        """Yield the local times from a start on, in order, for 41 years."""
        day, last = begin.date(), min(date.max.toordinal() - 2, begin.toordinal() + 366 * HORIZON_YEARS)
        while day.toordinal() < last:
            if self.matches(day):
                times = (datetime.combine(day, time(hour, minute)) for hour in self.hours for minute in self.minutes)
                yield from (entry for entry in times if entry >= begin)
            day += timedelta(days=1)


def parse_cron(text: str) -> CronExpression:
    """Parse a crontab line without a command.

    Raises:
        InvalidInputError: It is not a cron line, or it never fires.
    """
    plain = " ".join(text.lower().split())
    words = _NICKNAMES.get(plain, plain).split(" ")
    if len(text) > CRON_CHARS or len(words) != len(_FIELDS):
        raise InvalidInputError(f"cron needs five fields, and {text[:60]!r} has {len(words)}.", hint=_HINT)
    minutes, hours, days, months, weekdays = map(_parse_field, words, _FIELDS)
    created = CronExpression(
        text=plain,
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=frozenset(entry % 7 for entry in weekdays),
        either=not words[2].startswith("*") and not words[4].startswith("*"),
    )
    if next(created.local_times(_ANY_DAY), None) is None:
        raise InvalidInputError(
            f"cron {text[:60]!r} never fires: none of its months has such a day.",
            hint="Choose a day that exists, such as 28 for every month or “0 9 29 2 *” for leap years.",
        )
    return created


_ANY_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 (wall-clock time)


def _parse_field(word: str, field: _Field) -> frozenset[int]:
    return frozenset(number for part in word.split(",") for number in _parse_part(part, field))


def _parse_part(part: str, field: _Field) -> range:
    match = _PART.fullmatch(part)
    if not match:
        raise _field_error(part, field)
    first, last, step = match["first"], match["last"], int(match["step"] or 1)
    if first == "*":
        low, high = field.least, min(field.most, 6) if field.most == 7 else field.most
    else:
        low = _parse_number(first, part, field)
        high = _parse_number(last, part, field) if last else field.most if match["step"] else low
        high = 7 if last == "sun" else high  # the week may end with it
    if step == 0 or high < low or (first == "*" and last):
        raise _field_error(part, field)
    return range(low, high + 1, step)


def _parse_number(word: str, part: str, field: _Field) -> int:
    number = field.names.get(word, int(word) if word.isascii() and word.isdigit() and len(word) < 4 else -1)
    if not field.least <= number <= field.most:
        raise _field_error(part, field)
    return number


def _field_error(part: str, field: _Field) -> InvalidInputError:
    known = f" or {next(iter(field.names))}" if field.names else ""
    return InvalidInputError(
        f"cron: {part[:30]!r} is not a valid {field.name}.",
        hint=f"A {field.name} is {field.least} to {field.most}{known}, a range 1-5, a list 1,3, a step */2, or *.",
    )
