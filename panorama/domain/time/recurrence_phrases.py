"""Parses phrases such as “every 2 weeks on tuesday” into RFC 5545 rules."""

import re
from collections.abc import Mapping, Sequence

from panorama.domain.time.calendar_words import MONTHS, PLURAL_WEEKDAYS, WEEKDAYS, read_words

_MAX_PHRASE_CHARS = 200
_DAYS = {day: day[:2].upper() for day in WEEKDAYS}
_MONTHS = {month: str(number) for number, month in enumerate(MONTHS, start=1)}
_SAME = {
    **dict.fromkeys(("each", "jede", "jeden", "jedes", "jeder", "alle"), "every"), "am": "on", "zum": "on",
    "workday": "weekday", "werktag": "weekday", "werktags": "weekdays",
}  # fmt: skip
_PLURAL_DAYS = {word: _DAYS[day] for word, day in PLURAL_WEEKDAYS.items()}
_ADVERBS = {
    "daily": "day", "taeglich": "day", "weekly": "week", "woechentlich": "week", "monthly": "month",
    "monatlich": "month", "yearly": "year", "annually": "year", "jaehrlich": "year", "fortnightly": "2 week",
    "zweiwoechentlich": "2 week", "quarterly": "3 month", "vierteljaehrlich": "3 month", "half-yearly": "6 month",
    "halbjaehrlich": "6 month",
}  # fmt: skip
ADVERBS = frozenset(_ADVERBS)
"""Words such as “weekly” at the beginning of a phrase, as `read_words` returns them."""
_LONG_UNITS = {
    "fortnight": "2 week", "quarter": "3 month", "vierteljahr": "3 month", "half year": "6 month",
    "halbe year": "6 month", "halbjahr": "6 month",
}  # fmt: skip
"""Units of several weeks or months."""
_MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FROM_COMPLETION = re.compile(
    r"(?P<every>\s*(?:every|each|jede[nrs]?|alle))!(?=\s)"
    r"|\s+(?:when done|(?:from|after) completion|(?:nach|ab) erledigung)\s*\Z",
    re.IGNORECASE,
)
_WORKDAYS, _WEEKEND = "BYDAY=MO,TU,WE,TH,FR", "BYDAY=SA,SU"
_AND = ("and", "&", "+")
_RANGE = ("to", "bis", "through", "thru", "-", "–")
_HYPHENATED = re.compile(r"\b([a-z]{2,9})[-–]([a-z]{2,9})\b")
_SLASH = re.compile(r"(?<=[a-z])/(?=[a-z])")
_OF = re.compile(r"\b(?:of|in|des|im)\b")
_COUNT = re.compile(r"[1-9][0-9]{0,2}")
_NTH = re.compile(r"([2-9]|[1-9][0-9])(?:th|\.)")
_ORDINAL = re.compile(r"([1-9][0-9]?)(?:th|\.)?")
_STRICT_ORDINAL = re.compile(r"(?:[1-9][0-9]?(?:th|\.)|last)")
_DIGIT_ORDINALS = re.compile(r"\d(?:st|nd|rd|th|\.)")
_AND_LAST = re.compile(r"\b(?:and|und|&) (?:the |den |der |die )?(?:last|letzten?)\b")
_DAY_OF_MONTH = re.compile(r"([1-9]|[12][0-9]|3[01])(?:th|\.)?")
_NUMBER_DAY = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.")


def split_completion(phrase: str) -> tuple[str, bool]:
    """Return a phrase without the words that let it count from completion, and whether it had them.

    These are the mark in “every! 3 days”, and “when done” or “from completion” at the end.
    """
    plain = _FROM_COMPLETION.sub(lambda match: match["every"] or "", phrase)
    return plain, plain != phrase


def parse_phrase(phrase: str) -> str:
    """Return the RRULE of a phrase, or "" if any word of it is not understood.

    Case, commas and the word “and” make no difference. Understood are days, weekdays, weeks, months, quarters and
    years, each with a number or “other”, and lists of days and months, in English and German: `every week on tuesday,
    thursday`, `every second tuesday`, `every month on the last friday`, `the last weekday of every month`,
    `every monday to friday`, `every 24 december`, `alle 2 Wochen freitags`.
    """
    if len(phrase) > _MAX_PHRASE_CHARS:
        return ""
    plain = phrase.lower().strip()
    words = [word for word in read_words(_split_day_ranges(plain)) if word not in _AND]
    if days := _codes(_expand_plurals(words[words[:1] in (["on"], ["am"]) :]), _PLURAL_DAYS):
        return f"FREQ=WEEKLY;BYDAY={days}"
    match _expand_ranges([_SAME.get(word, PLURAL_WEEKDAYS.get(word, word)) for word in words]):
        case ["every", "weekday" | "weekdays"] | ["weekdays"] | ["on", "weekdays"]:
            return f"FREQ=WEEKLY;{_WORKDAYS}"
        case ["every", "weekend"] | ["weekends"] | ["on" | "at", "weekends"]:
            return f"FREQ=WEEKLY;{_WEEKEND}"
        case ["every", *places, "in", "month"] | ["every", *places, "month"] if places and _OF.search(plain):
            return _join_parts("FREQ=MONTHLY", _by_position(places))
        case ["on", *places, "every", "month"]:
            return _join_parts("FREQ=MONTHLY", _by_position(places))
        case [*places, "every", "month"] if places and _is_ordinal(places):
            return _join_parts("FREQ=MONTHLY", _by_position(places))
        case ["on", *places, "every", "year"] | [*places, "every", "year"] if places:
            return _join_parts("FREQ=YEARLY", _by_day_of_year(places))
        case ["once", "1", *rest]:
            return _parse_interval_phrase(rest)
        case ["every", first, second, *rest] if _is_ordinal([first]) and _is_ordinal([second]):
            is_day_list = not rest and len(_DIGIT_ORDINALS.findall(plain)) > 1
            is_place_list = rest[-1:] and rest[-1] in _DAYS and not _AND_LAST.search(plain)
            places = [first, second, *rest] if is_day_list or is_place_list else []
            return _join_parts("FREQ=MONTHLY", _by_position(places))
        case ["every", *rest]:
            return _parse_interval_phrase(rest) or _parse_day_or_month_phrase(rest)
        case [adverb, *rest] if adverb in _ADVERBS:
            return _parse_interval_phrase([*_ADVERBS[adverb].split(), *rest])
        case _:
            return ""


def _is_ordinal(places: Sequence[str]) -> bool:
    """Return whether places begin with “15th”, “15.” or “last”; a bare number counts other things."""
    return bool(_STRICT_ORDINAL.fullmatch(places[0]))


def _expand_plurals(words: Sequence[str]) -> Sequence[str]:
    """Return “mondays to fridays” with each day in the place of the range."""
    if len(words) == 3 and words[1] in _RANGE and all(word in PLURAL_WEEKDAYS for word in words[::2]):
        return [f"{day}s" for day in _expand_ranges([PLURAL_WEEKDAYS.get(word, word) for word in words])]
    return words


def _split_day_ranges(phrase: str) -> str:
    """Return “mon-fri” as “mon to fri”, and “mon/fri” as “mon fri”."""
    return _HYPHENATED.sub(
        lambda match: f"{match[1]} to {match[2]}" if _codes(read_words(f"{match[1]} {match[2]}"), _DAYS) else match[0],
        _SLASH.sub(" ", phrase),
    )


def _expand_ranges(words: Sequence[str]) -> Sequence[str]:
    """Return words with each day of “monday to friday” in the place of the range."""
    for at in range(1, len(words) - 1):
        first, link, last = words[at - 1 : at + 2]
        if link in _RANGE and first in WEEKDAYS and last in WEEKDAYS:
            start = WEEKDAYS.index(first)
            days = WEEKDAYS[start:] + WEEKDAYS[:start]
            return [*words[: at - 1], *days[: days.index(last) + 1], *words[at + 2 :]]
    return words


def _parse_interval_phrase(words: Sequence[str]) -> str:
    """Return the rule of “2 weeks [on …]”, the part after “every”."""
    interval, words = _parse_interval(_split_long_unit(words))
    unit, rest = words[:1], words[1:]
    places = rest[rest[:1] == ["on"] :]
    if unit == ["week"] and places:
        return _join_parts(f"FREQ=WEEKLY{interval}", _by_day(places))
    if unit == ["month"] and places and (rest[0] == "on" or _is_ordinal(rest)):
        return _join_parts(f"FREQ=MONTHLY{interval}", _by_position(places))
    if unit == ["year"] and rest[:1] == ["in"]:
        months = _codes(rest[1:], _MONTHS)
        return f"FREQ=YEARLY{interval};BYMONTH={months}" if months else ""
    if unit == ["year"] and places:
        return _join_parts(f"FREQ=YEARLY{interval}", _by_day_of_year(places))
    frequency = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}.get(" ".join(words))
    return f"FREQ={frequency}{interval}" if frequency else ""


def _split_long_unit(words: Sequence[str]) -> Sequence[str]:
    """Return “quarter” as “3 month”."""
    for length in (1, 2):
        if unit := _LONG_UNITS.get(" ".join(words[:length])):
            return [*unit.split(), *words[length:]]
    return words


def _parse_day_or_month_phrase(words: Sequence[str]) -> str:
    """Return the rule of “monday and friday”, “second tuesday”, “24 december” or “january on the 15th”."""
    if day := _by_day_of_year(words):
        return f"FREQ=YEARLY;{day}"
    match words:
        case ["other" | "2th" | "2.", *days] if days:
            return _join_parts("FREQ=WEEKLY;INTERVAL=2", _by_day(days))
        case ["1th" | "1." | "last", day] if day in _DAYS:
            return _join_parts("FREQ=MONTHLY", _by_position(words))
        case [*_] if "on" not in words:
            months = _codes(words, _MONTHS)
            return f"FREQ=YEARLY;BYMONTH={months}" if months else _join_parts("FREQ=WEEKLY", _by_day(words))
        case _:
            return _parse_months_phrase(words)


def _parse_months_phrase(words: Sequence[str]) -> str:
    """Return the rule of “january and july on the 15th”."""
    split = words.index("on")
    months, places = _codes(words[:split], _MONTHS), words[split + 1 :]
    if not months:
        return ""
    longest = max(_MONTH_LENGTHS[int(month) - 1] for month in months.split(","))
    return _join_parts(f"FREQ=YEARLY;BYMONTH={months}", _by_position(places, longest))


def _parse_interval(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    if words and words[0] == "other":
        return ";INTERVAL=2", words[1:]
    if words and _COUNT.fullmatch(words[0]):
        return ("" if words[0] == "1" else f";INTERVAL={words[0]}"), words[1:]
    if words and (nth := _NTH.fullmatch(words[0])):
        return f";INTERVAL={nth[1]}", words[1:]
    return "", words


def _by_day_of_year(words: Sequence[str]) -> str:
    """Return the part for “24 december”, “december 24th” or “24.12.”, "" for a day that no year has."""
    match words:
        case [number] if found := _NUMBER_DAY.fullmatch(number):
            day, month = int(found[1]), int(found[2])
        case [first, second]:
            name, number = (first, second) if first in _MONTHS else (second, first)
            found = _DAY_OF_MONTH.fullmatch(number)
            day, month = (int(found[1]), int(_MONTHS[name])) if found and name in _MONTHS else (0, 0)
        case _:
            return ""
    is_day = 1 <= month <= len(_MONTH_LENGTHS) and 1 <= day <= _MONTH_LENGTHS[month - 1]
    return f"BYMONTH={month};BYMONTHDAY={day}" if is_day else ""


def _by_day(words: Sequence[str]) -> str:
    days = _codes(words, _DAYS)
    return f"BYDAY={days}" if days else ""


def _by_position(words: Sequence[str], longest: int = 31) -> str:
    """Return the part for “15th”, “last day”, “last weekday” or “2nd tuesday”, in a month of at most `longest` days."""
    match words:
        case [place, "weekday"]:
            number = _parse_position(place, 20)
            return f"{_WORKDAYS};BYSETPOS={number}" if number else ""
        case [place, "last", day] if day in _DAYS:
            number = _parse_position(place, 5)
            return f"BYDAY=-{number}{_DAYS[day]}" if number and number != "-1" else ""
        case [place, day] if day in _DAYS:
            number = _parse_position(place, 5)
            return f"BYDAY={number}{_DAYS[day]}" if number else ""
        case [*places, day] if day in _DAYS and places:
            numbers = [_parse_position(place, 5) for place in places]
            return "BYDAY=" + ",".join(f"{number}{_DAYS[day]}" for number in numbers) if all(numbers) else ""
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
