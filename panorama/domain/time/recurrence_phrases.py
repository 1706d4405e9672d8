"""Parses phrases such as “every 2 weeks on tuesday” into RFC 5545 rules."""

import re
from collections.abc import Mapping, Sequence

_MAX_PHRASE_CHARS = 200
_DAYS = {
    day: code
    for names, code in (
        (("monday", "mon"), "MO"),
        (("tuesday", "tue", "tues"), "TU"),
        (("wednesday", "wed"), "WE"),
        (("thursday", "thu", "thur", "thurs"), "TH"),
        (("friday", "fri"), "FR"),
        (("saturday", "sat"), "SA"),
        (("sunday", "sun"), "SU"),
    )
    for day in names
}
_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTHS = {
    name: str(number)
    for number, month in enumerate(_MONTH_NAMES, start=1)
    for name in dict.fromkeys((month, month[:3]))
}
_MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_COUNT = re.compile(r"[1-9][0-9]{0,2}")
_ORDINAL = re.compile(r"([1-9][0-9]?)(?:st|nd|rd|th)?")


def parse_phrase(phrase: str) -> str:
    """Return the RRULE of a phrase, or "" if any word of it is not understood.

    Case, commas, the word “and” and a closing “when done” make no difference. Understood are days, weekdays, weeks,
    months and years, each with a number or “other”, and lists of days and months: `every week on tuesday, thursday`,
    `every month on the last friday`, `every january on the 15th`.
    """
    if len(phrase) > _MAX_PHRASE_CHARS:
        return ""
    match phrase.lower().strip().removesuffix("when done").replace(",", " ").split():
        case ["every", "weekday" | "weekdays"]:
            return "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
        case ["every", *rest]:
            words = [word for word in rest if word != "and"]
            return _parse_interval_phrase(words) or _parse_day_or_month_phrase(words)
        case _:
            return ""


def _parse_interval_phrase(words: Sequence[str]) -> str:
    """Return the rule of “[2] weeks [on …]”, the part after “every”."""
    interval, words = _parse_interval(words)
    match words:
        case ["day" | "days"]:
            return f"FREQ=DAILY{interval}"
        case ["week" | "weeks"]:
            return f"FREQ=WEEKLY{interval}"
        case ["week" | "weeks", "on", *days]:
            return _join_parts(f"FREQ=WEEKLY{interval}", _by_day(days))
        case ["month" | "months"]:
            return f"FREQ=MONTHLY{interval}"
        case ["month" | "months", "on", "the", *places]:
            return _join_parts(f"FREQ=MONTHLY{interval}", _by_position(places))
        case ["year" | "years"]:
            return f"FREQ=YEARLY{interval}"
        case _:
            return ""


def _parse_day_or_month_phrase(words: Sequence[str]) -> str:
    """Return the rule of “monday and friday” or “january on the 15th”."""
    if "on" not in words:
        months = _codes(words, _MONTHS)
        return f"FREQ=YEARLY;BYMONTH={months}" if months else _join_parts("FREQ=WEEKLY", _by_day(words))
    split = words.index("on")
    months, places = _codes(words[:split], _MONTHS), words[split + 1 :]
    if not months or places[:1] != ["the"]:
        return ""
    longest = max(_MONTH_LENGTHS[int(month) - 1] for month in months.split(","))
    return _join_parts(f"FREQ=YEARLY;BYMONTH={months}", _by_position(places[1:], longest))


def _parse_interval(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    if words and words[0] == "other":
        return ";INTERVAL=2", words[1:]
    if words and _COUNT.fullmatch(words[0]):
        return ("" if words[0] == "1" else f";INTERVAL={words[0]}"), words[1:]
    return "", words


def _by_day(words: Sequence[str]) -> str:
    days = _codes(words, _DAYS)
    return f"BYDAY={days}" if days else ""


def _by_position(words: Sequence[str], longest: int = 31) -> str:
    """Return the part for “15th”, “1st 15th”, “last day” or “2nd tuesday”, in a month of at most `longest` days."""
    match words:
        case [place, "last", day] if day in _DAYS:
            number = _parse_position(place, 5)
            return f"BYDAY=-{number}{_DAYS[day]}" if number and number != "-1" else ""
        case [place, day] if day in _DAYS:
            number = _parse_position(place, 5)
            return f"BYDAY={number}{_DAYS[day]}" if number else ""
        case [*places, "day"] | places:
            numbers = [_parse_position(place, longest) for place in places]
            return f"BYMONTHDAY={','.join(dict.fromkeys(numbers))}" if numbers and all(numbers) else ""


def _parse_position(word: str, largest: int) -> str:
    if word == "last":
        return "-1"
    match = _ORDINAL.fullmatch(word)
    return match[1] if match and int(match[1]) <= largest else ""


def _codes(words: Sequence[str], known: Mapping[str, str]) -> str:
    """Return the codes of all words, each once, or "" if one is unknown."""
    codes = [known.get(word, "") for word in words]
    return ",".join(dict.fromkeys(codes)) if all(codes) else ""


def _join_parts(frequency: str, part: str) -> str:
    return f"{frequency};{part}" if part else ""
