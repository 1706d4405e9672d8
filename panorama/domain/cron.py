"""Cron: what the five fields of a crontab line say (crontab(5) of Vixie cron), by the clock on the wall."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from panorama.errors import InvalidInputError

CRON_CHARS = 200
YEARS = 41
"""How far ahead a day is looked for: a 29 February on a given day of the week comes after forty years at most."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_WORDS = {
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
class Cron:
    """The times that a line of five fields names; days of the week count from Sunday, 0.

    As in crontab(5): if both day fields are restricted, a day that fits one of them fits; one that begins with `*` is
    not restricted.
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
        """Whether it means each hour that passes, also the one that comes twice; else it names hours of the day."""
        return len(self.hours) == 24

    def fits(self, day: date) -> bool:
        """Tell whether it means a day."""
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (by_month or by_week if self.either else by_month and by_week)

    def walls(self, begin: datetime) -> Iterator[datetime]:
        """Return the times on the wall's clock from one on, in order, for 41 years."""
        day, last = begin.date(), min(date.max.toordinal() - 2, begin.toordinal() + 366 * YEARS)
        while day.toordinal() < last:
            if self.fits(day):
                times = (datetime.combine(day, time(hour, minute)) for hour in self.hours for minute in self.minutes)
                yield from (each for each in times if each >= begin)
            day += timedelta(days=1)


def cron(text: str) -> Cron:
    """Read a line of a crontab, without its command.

    Raises:
        InvalidInputError: It is none, or no day is ever meant by it.
    """
    plain = " ".join(text.lower().split())
    words = _WORDS.get(plain, plain).split(" ")
    if len(text) > CRON_CHARS or len(words) != len(_FIELDS):
        raise InvalidInputError(f"cron needs five fields, and {text[:60]!r} has {len(words)}.", hint=_HINT)
    minutes, hours, days, months, weekdays = map(_read, words, _FIELDS)
    made = Cron(
        text=plain,
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=frozenset(each % 7 for each in weekdays),
        either=not words[2].startswith("*") and not words[4].startswith("*"),
    )
    if next(made.walls(_ANY_DAY), None) is None:
        raise InvalidInputError(
            f"cron {text[:60]!r} never fires: none of its months has such a day.",
            hint="Choose a day that exists, such as 28 for every month or “0 9 29 2 *” for leap years.",
        )
    return made


_ANY_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 (wall-clock time)


def _read(word: str, field: _Field) -> frozenset[int]:
    return frozenset(number for part in word.split(",") for number in _numbers(part, field))


def _numbers(part: str, field: _Field) -> range:
    found = _PART.fullmatch(part)
    if not found:
        raise _unreadable(part, field)
    first, last, step = found["first"], found["last"], int(found["step"] or 1)
    if first == "*":
        low, high = field.least, min(field.most, 6) if field.most == 7 else field.most
    else:
        low = _number(first, part, field)
        high = _number(last, part, field) if last else field.most if found["step"] else low
        high = 7 if last == "sun" else high  # the week may end with it
    if step == 0 or high < low or (first == "*" and last):
        raise _unreadable(part, field)
    return range(low, high + 1, step)


def _number(word: str, part: str, field: _Field) -> int:
    number = field.names.get(word, int(word) if word.isascii() and word.isdigit() and len(word) < 4 else -1)
    if not field.least <= number <= field.most:
        raise _unreadable(part, field)
    return number


def _unreadable(part: str, field: _Field) -> InvalidInputError:
    known = f" or {next(iter(field.names))}" if field.names else ""
    return InvalidInputError(
        f"cron: {part[:30]!r} is no {field.name}.",
        hint=f"A {field.name} is {field.least} to {field.most}{known}, a range 1-5, a list 1,3, a step */2, or *.",
    )
