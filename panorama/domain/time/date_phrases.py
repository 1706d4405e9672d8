"""Parses days and moments in words, in English and German: `next friday 3pm`, `in 2 weeks`, `letzter Tag im Monat`.

Every word has to be understood, and an ambiguous text is refused, since a wrong date costs more than a question. A
weekday is the next one after today, with or without “next”; “this friday” may be today. A date without a year is its
next occurrence, today included. `next week` is its Monday, `next month` its first day.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta

from panorama.domain.time.calendar_words import EASTER_DAYS, HOLIDAYS, MONTHS, NAMED_DAYS, WEEKDAYS, read_words
from panorama.domain.time.clock_phrases import parse_clock

MAX_PHRASE_CHARS = 80
_WEDNESDAY, _FRIDAY, _SATURDAY = 2, 4, 5
_LARGEST_MONTH = 12
_ON = frozenset(
    ("on", "by", "due", "until", "till", "from", "since", "before", "at", "am", "an", "bis", "zum", "spaetestens", "ab",
     "seit", "vom")
)  # fmt: skip
"""Words before a day that change nothing."""

_MINUTES = {"minute": 1, "min": 1, "hour": 60, "h": 60}
_DAYS = {"day": 1, "d": 1, "week": 7, "w": 7, "fortnight": 14}
_MONTHS = {"month": 1, "year": 12}

Day = date | datetime
_Build = Callable[[re.Match[str], datetime], Day]


def parse_date_phrase(text: str, now: datetime) -> Day | None:
    """Return the day, or the moment in UTC, that a text means; None if it is none, or could be two.

    Args:
        now: This moment, in the person's own zone.
    """
    if len(text) > MAX_PHRASE_CHARS:
        return None
    words = read_words(text)
    if words in (["now"], ["right", "now"], ["jetzt"]):
        return now.astimezone(UTC).replace(microsecond=0)
    if words in (["midnight"], ["mitternacht"]):
        return _combine(now.date() + timedelta(1), time(0), now)
    try:
        readings = set(_iter_readings(words, now))
    except OverflowError:
        return None
    return readings.pop() if len(readings) == 1 else None


def _iter_readings(words: Sequence[str], now: datetime) -> Iterator[Day]:
    """Yield what the words mean, split into a day and a time of day in every way, in either order."""
    for at in range(len(words) + 1):
        for day_words, clock_words in ((words[:at], words[at:]), (words[at:], words[:at])):
            day = _parse_day(day_words, now) if day_words else None
            if day_words and day is None:
                continue
            clock = parse_clock(" ".join(clock_words), has_day=bool(day_words)) if clock_words else None
            if clock_words and clock is None:
                continue
            if clock is None:
                if day is not None:
                    yield day
            elif not isinstance(day, datetime):
                moment = _combine(day or now.date(), clock, now)
                if day is None and moment is not None and moment <= now:
                    moment = _combine(now.date() + timedelta(1), clock, now)
                if moment is not None:
                    yield moment


def _combine(day: date, clock: time, now: datetime) -> datetime | None:
    """Return a moment of a day in UTC, None if clocks skip it."""
    local = datetime.combine(day, clock, now.tzinfo)
    moment = local.astimezone(UTC)
    return moment if moment.astimezone(now.tzinfo).replace(tzinfo=None) == local.replace(tzinfo=None) else None


def _parse_day(words: Sequence[str], now: datetime) -> Day | None:
    start = next((at for at, word in enumerate(words) if word not in _ON), len(words))
    text = " ".join(words[start:])
    if text in NAMED_DAYS:
        return now.date() + timedelta(NAMED_DAYS[text])
    if text in HOLIDAYS:
        return _next_of_year(*HOLIDAYS[text], None, now)
    if text in EASTER_DAYS:
        days = (_easter(now.year + ahead) + timedelta(EASTER_DAYS[text]) for ahead in range(2))
        return next(day for day in days if day >= now.date())
    if period := _PERIODS.get(_name_period(text)):
        return period(now.date())
    if start and (match := re.fullmatch(r"(\d{1,2})\.", text)):  # a number alone is no day, “am 5.” is one
        text = f"{match[1]}th"
    for pattern, build in _PATTERNS:
        if match := pattern.fullmatch(text):
            try:
                return build(match, now)
            except (ValueError, OverflowError):
                return None
    return None


def _name_period(text: str) -> str:
    """Return “last day in this month” as “end month”."""
    text = " ".join(word for word in text.split() if word not in ("in", "this"))
    for words, name in _PERIOD_WORDS.items():
        if text.startswith(f"{words} "):
            return f"{name}{text.removeprefix(words)}"
    return text


def _shift(start: datetime, match: re.Match[str], sign: int = 1) -> Day:
    """Return a day, or a moment, so many units from another; the spans are in the first four groups."""
    spans = [(match[1], match[2]), (match[3], match[4])] if match[3] else [(match[1], match[2])]
    day, minutes = start.date(), 0
    for amount, unit in spans:
        count = sign * int(amount)
        minutes += count * _MINUTES.get(unit, 0)
        day = add_months(day, count * _MONTHS.get(unit, 0)) + timedelta(count * _DAYS.get(unit, 0))
    if not minutes:
        return day
    moved = datetime.combine(day, start.time(), start.tzinfo) if day != start.date() else start
    return moved.astimezone(UTC).replace(microsecond=0) + timedelta(minutes=minutes)


def add_months(day: date, count: int) -> date:
    """Return the same day of a later month, or its last day if it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _coming(weekday: int, today: date, *, may_be_today: bool = False) -> date:
    ahead = (weekday - today.weekday()) % 7
    return today + timedelta(ahead if ahead or may_be_today else 7)


def _monday(today: date, weeks: int = 0) -> date:
    return today + timedelta(7 * weeks - today.weekday())


def _last_of_month(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _next_of_year(month: int, day: int, year: str | None, now: datetime) -> date:
    """Return a day of a year, or the next one if no year is given; of a leap year if need be."""
    if year:
        return date(int(year) if len(year) > 2 else 2000 + int(year), month, day)
    for ahead in range(9):
        if day <= monthrange(now.year + ahead, month)[1] or (month, day) != (2, 29):
            found = date(now.year + ahead, month, day)
            if found >= now.date():
                return found
    raise ValueError(day)


def _easter(year: int) -> date:
    """Return Easter Sunday, by the Gregorian algorithm of Meeus, Jones and Butcher."""
    century, rest = divmod(year, 100)
    golden = year % 19
    leaps = century - century // 4 - (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + leaps + 15) % 30
    to_sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * to_sunday) // 451
    month, day = divmod(epact + to_sunday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def _next_of_month(number: int, today: date) -> date:
    for ahead in range(3):
        first = add_months(today.replace(day=1), ahead)
        if number <= monthrange(first.year, first.month)[1] and first.replace(day=number) >= today:
            return first.replace(day=number)
    raise ValueError(number)


def _check_weekday(weekday: str | None, day: date) -> date:
    if weekday and WEEKDAYS.index(weekday) != day.weekday():
        raise ValueError(weekday)
    return day


def _parse_slashes(first: int, second: int, year: str | None, now: datetime) -> date:
    """Return 24/12 or 12/24; which is the month must be plain."""
    if max(first, second) <= _LARGEST_MONTH and not (year and first == second):
        raise ValueError(first)
    day, month = max(first, second), min(first, second)
    return _next_of_year(month, day, year, now)


def _nth_weekday(ordinal: str, weekday: str, first: date) -> date:
    """Return the second tuesday of a month."""
    days = [first.replace(day=number) for number in range(1, monthrange(first.year, first.month)[1] + 1)]
    fitting = [day for day in days if day.weekday() == WEEKDAYS.index(weekday)]
    number = len(fitting) if ordinal == "last" else int(ordinal.removesuffix("th").removesuffix("."))
    if not 1 <= number <= len(fitting):
        raise ValueError(ordinal)
    return fitting[number - 1]


def _nth_weekday_of(match: re.Match[str], now: datetime) -> date:
    ordinal, weekday, month, year = match.groups()
    for ahead in range(2):
        first = date(int(year) if year else now.year + ahead, _month(month), 1)
        found = _nth_weekday(ordinal, weekday, first)
        if year or found >= now.date():
            return found
    raise ValueError(ordinal)


def _first_of_month(today: date, ahead: int) -> date:
    return add_months(today.replace(day=1), ahead)


def _first_of_quarter(today: date, ahead: int) -> date:
    return add_months(today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1), 3 * ahead)


def _nth_weekday_of_month(match: re.Match[str], now: datetime) -> date:
    """Return the second tuesday of the month: of the next one if it is over in this one."""
    found = _nth_weekday(match[1], match[2], _first_of_month(now.date(), bool(match[3])))
    return found if found >= now.date() else _nth_weekday(match[1], match[2], _first_of_month(now.date(), 1))


def _month(name: str) -> int:
    return MONTHS.index(name) + 1


def _end_of_named_month(name: str, year: str | None, now: datetime) -> date:
    month = _month(name)
    if year:
        return _last_of_month(date(int(year), month, 1))
    this_year = _last_of_month(date(now.year, month, 1))
    return this_year if this_year >= now.date() else _last_of_month(date(now.year + 1, month, 1))


def _working_days(count: int, day: date) -> date:
    """Return the day after so many days from Monday to Friday."""
    while count > 0:
        day += timedelta(1)
        count -= day.weekday() < _SATURDAY
    return day


def _calendar_week(number: str, year: str | None, today: date) -> date:
    if year:
        return date.fromisocalendar(int(year), int(number), 1)
    found = date.fromisocalendar(today.isocalendar().year, int(number), 1)
    return found if found >= _monday(today) else date.fromisocalendar(today.isocalendar().year + 1, int(number), 1)


def _day_of_week(number: str, year: str | None, weekday: str | None, today: date) -> date:
    return _calendar_week(number, year, today) + timedelta(WEEKDAYS.index(weekday) if weekday else 0)


def _iso_week(match: re.Match[str], now: datetime) -> date:
    del now
    return date.fromisocalendar(int(match[1]), int(match[2]), int(match[3] or 1))


def _year_first(match: re.Match[str], now: datetime) -> date:
    del now
    return _check_weekday(match[1], date(int(match[2]), int(match[4]), int(match[5])))


def _weekday_of(match: re.Match[str], now: datetime) -> date:
    """Return next, this or last friday."""
    which, weekday = match[1], WEEKDAYS.index(match[2])
    if which == "last":
        return _coming(weekday, now.date()) - timedelta(14 if weekday == now.weekday() else 7)
    return _coming(weekday, now.date(), may_be_today=which == "this")


def _weekday_of_week(weekday: str, which: str, now: datetime) -> date:
    return _monday(now.date(), {"last": -1, "this": 0, "next": 1}[which]) + timedelta(WEEKDAYS.index(weekday))


def _from_day(match: re.Match[str], now: datetime) -> Day:
    """Return a week from friday, or two days after tomorrow; only days are counted."""
    base = _parse_day(match[5].split(), now)
    if base is None or isinstance(base, datetime) or match[2] in _MINUTES or match[4] in _MINUTES:
        raise ValueError(match[0])
    return _shift(datetime.combine(base, time()), match)


def _end_of_day(words: Sequence[str], now: datetime) -> date:
    """Return the day of “end of day tomorrow”."""
    day = _parse_day(words, now)
    if day is None or isinstance(day, datetime):
        raise ValueError(words)
    return day


_WEEKDAY, _MONTH = f"({'|'.join(WEEKDAYS)})", f"({'|'.join(MONTHS)})"
_UNIT = "(minute|min|hour|h|day|d|week|w|fortnight|month|year)"
_SPAN = rf"(\d{{1,4}}) ?{_UNIT}(?: (?:and )?(\d{{1,4}}) ?{_UNIT})?"
_ORDINAL, _NUMBER, _YEAR = r"(last|\d{1,2}(?:th|\.))", r"(\d{1,2})(?:th|\.)?", r"(?: (\d{4}))?"
_START, _END = r"(?:start|1th day|1\. day)", "(?:end|last day)"

_PERIODS: Mapping[str, Callable[[date], date]] = {
    "next week": lambda today: _monday(today, 1),
    "week after next": lambda today: _monday(today, 2),
    "last week": lambda today: _monday(today, -1),
    "start next week": lambda today: _monday(today, 1),
    "middle week": lambda today: _coming(_WEDNESDAY, today, may_be_today=True),
    "middle next week": lambda today: _monday(today, 1) + timedelta(_WEDNESDAY),
    "end week": lambda today: _coming(_FRIDAY, today, may_be_today=True),
    "end next week": lambda today: _monday(today, 1) + timedelta(_FRIDAY),
    "weekend": lambda today: _coming(_SATURDAY, today, may_be_today=True),
    "next month": lambda today: _first_of_month(today, 1),
    "last month": lambda today: _first_of_month(today, -1),
    "start next month": lambda today: _first_of_month(today, 1),
    "middle month": lambda today: _next_of_month(15, today),
    "middle next month": lambda today: _first_of_month(today, 1).replace(day=15),
    "month after next": lambda today: _first_of_month(today, 2),
    "after next month": lambda today: _first_of_month(today, 2),
    "end month": _last_of_month,
    "end next month": lambda today: _last_of_month(_first_of_month(today, 1)),
    "next quarter": lambda today: _first_of_quarter(today, 1),
    "start next quarter": lambda today: _first_of_quarter(today, 1),
    "end quarter": lambda today: _first_of_quarter(today, 1) - timedelta(1),
    "end next quarter": lambda today: _first_of_quarter(today, 2) - timedelta(1),
    "next year": lambda today: date(today.year + 1, 1, 1),
    "start next year": lambda today: date(today.year + 1, 1, 1),
    "end year": lambda today: date(today.year, 12, 31),
    "end next year": lambda today: date(today.year + 1, 12, 31),
    "end day": lambda today: today,
}
"""Periods by the day that each stands for, without “in” and “this”."""
_PERIOD_WORDS = {"1th day": "start", "1. day": "start", "last day": "end"}

_RULES: list[tuple[str, _Build]] = [
    (rf"(?:(next|last|this) )?{_WEEKDAY}", _weekday_of),
    (rf"{_WEEKDAY} (?:in )?(next|this|last) week", lambda m, n: _weekday_of_week(m[1], m[2], n)),
    (rf"(next|this|last) week (?:on |am )?{_WEEKDAY}", lambda m, n: _weekday_of_week(m[2], m[1], n)),
    (rf"{_WEEKDAY} (?:in (\d) )?week",
     lambda m, n: _coming(WEEKDAYS.index(m[1]), n.date()) + timedelta(7 * int(m[2] or 1))),
    (rf"after next {_WEEKDAY}|{_WEEKDAY} after next",
     lambda m, n: _coming(WEEKDAYS.index(m[1] or m[2]), n.date()) + timedelta(7)),
    (r"end day (.+)|(.+) end day", lambda m, n: _end_of_day((m[1] or m[2]).split(), n)),
    (rf"(?:heute |today )?in {_SPAN}(?: time)?", lambda m, n: _shift(n, m)),
    (rf"{_SPAN} (?:from (?:now|today)|hence|ab (?:heute|jetzt))", lambda m, n: _shift(n, m)),
    (rf"{_SPAN} ago", lambda m, n: _shift(n, m, -1)),
    (rf"vor {_SPAN}", lambda m, n: _shift(n, m, -1)),
    (rf"{_SPAN} (?:from|after|nach|ab) (.+)", _from_day),
    (r"in (\d{1,3}) (?:(?:business|working|work) day|arbeitstag(?:en)?)",
     lambda m, n: _working_days(int(m[1]), n.date())),
    (rf"{_END} (?:in )?{_MONTH}{_YEAR}", lambda m, n: _end_of_named_month(m[1], m[2], n)),
    (rf"{_START} (?:in )?{_MONTH}{_YEAR}", lambda m, n: _next_of_year(_month(m[1]), 1, m[2], n)),
    (rf"middle {_MONTH}{_YEAR}", lambda m, n: _next_of_year(_month(m[1]), 15, m[2], n)),
    (rf"{_ORDINAL} {_WEEKDAY} (?:in )?{_MONTH}{_YEAR}", _nth_weekday_of),
    (rf"{_ORDINAL} {_WEEKDAY} (?:in )?(?:this )?(next )?month", _nth_weekday_of_month),
    (r"(\d{1,2})(?:th|\.) (?:in )?(?:this )?(next )?month",
     lambda m, n: _first_of_month(n.date(), bool(m[2])).replace(day=int(m[1]))),
    (rf"(?:{_WEEKDAY} )?{_NUMBER} ?{_MONTH}{_YEAR}",
     lambda m, n: _check_weekday(m[1], _next_of_year(_month(m[3]), int(m[2]), m[4], n))),
    (rf"(?:{_WEEKDAY} )?{_MONTH} {_NUMBER}{_YEAR}",
     lambda m, n: _check_weekday(m[1], _next_of_year(_month(m[2]), int(m[3]), m[4], n))),
    (rf"(?:{_WEEKDAY} )?(\d{{1,2}})\. ?(\d{{1,2}})\.(?: ?(\d{{4}}|\d{{2}}))?",
     lambda m, n: _check_weekday(m[1], _next_of_year(int(m[3]), int(m[2]), m[4], n))),
    (r"(\d{1,2})/(\d{1,2})(?:/(\d{4}))?", lambda m, n: _parse_slashes(int(m[1]), int(m[2]), m[3], n)),
    (rf"(?:{_WEEKDAY} )?(\d{{4}})([-/.])(\d{{1,2}})\3(\d{{1,2}})",
     _year_first),
    (rf"(?:{_WEEKDAY} )?(\d{{1,2}})th", lambda m, n: _check_weekday(m[1], _next_of_month(int(m[2]), n.date()))),
    (rf"(?:in )?(?:{_WEEKDAY} )?(?:kw|week) ?(\d{{1,2}})(?:[ /](\d{{4}}))?",
     lambda m, n: _day_of_week(m[2], m[3], m[1], n.date())),
    (rf"(?:kw|week) ?(\d{{1,2}})(?:[ /](\d{{4}}))? (?:on |am )?{_WEEKDAY}",
     lambda m, n: _day_of_week(m[1], m[2], m[3], n.date())),
    (r"(\d{4})[- ]?w(\d{2})(?:-?([1-7]))?", _iso_week),
]  # fmt: skip
"""What a day may be called, each way with how it becomes a day; the first that fits counts."""

_PATTERNS = [(re.compile(pattern), build) for pattern, build in _RULES]
