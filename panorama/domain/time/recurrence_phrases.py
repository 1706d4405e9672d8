"""Parses phrases such as “every 2 weeks on tuesday” into RFC 5545 rules."""

import re
from collections.abc import Mapping, Sequence

from panorama.domain.time.calendar_words import MONTHS, WEEKDAYS, read_words

_MAX_PHRASE_CHARS = 200
_DAYS = {day: day[:2].upper() for day in WEEKDAYS}
_MONTHS = {month: str(number) for number, month in enumerate(MONTHS, start=1)}
_SAME = {
    **dict.fromkeys(("each", "jede", "jeden", "jedes", "jeder", "alle"), "every"), "am": "on", "workday": "weekday",
    "werktag": "weekday", "werktags": "weekdays",
}  # fmt: skip
_ADVERBS = {
    "daily": "day", "taeglich": "day", "weekly": "week", "woechentlich": "week", "monthly": "month",
    "monatlich": "month", "yearly": "year", "annually": "year", "jaehrlich": "year",
}  # fmt: skip
_MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FROM_COMPLETION = re.compile(
    r"(?P<every>\s*(?:every|each|jede[nrs]?|alle))!(?=\s)|\s+(?:when done|nach erledigung)\s*\Z", re.IGNORECASE
)
_COUNT = re.compile(r"[1-9][0-9]{0,2}")
_NTH = re.compile(r"([2-9]|[1-9][0-9])(?:th|\.)")
_ORDINAL = re.compile(r"([1-9][0-9]?)(?:th|\.)?")


def split_completion(phrase: str) -> tuple[str, bool]:
    """Return a phrase without the words that let it count from completion, and whether it had them.

    These are the mark in “every! 3 days”, and “when done” at the end.
    """
    plain = _FROM_COMPLETION.sub(lambda match: match["every"] or "", phrase)
    return plain, plain != phrase


def parse_phrase(phrase: str) -> str:
    """Return the RRULE of a phrase, or "" if any word of it is not understood.

    Case, commas and the word “and” make no difference. Understood are days, weekdays, weeks, months and years, each
    with a number or “other”, and lists of days and months, in English and German: `every week on tuesday, thursday`,
    `every month on the last friday`, `every january on the 15th`, `alle 2 Wochen am Dienstag`.
    """
    if len(phrase) > _MAX_PHRASE_CHARS:
        return ""
    words = [word for word in read_words(phrase.lower().strip()) if word != "and"]
    match [_SAME.get(word, word) for word in words]:
        case ["every", "weekday" | "weekdays"] | ["weekdays"]:
            return "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
        case ["every", place, day, "month"] | ["every", place, day, "in", "month"] if day in _DAYS:
            return _join_parts("FREQ=MONTHLY", _by_position([place, day]))
        case ["every", *rest]:
            return _parse_interval_phrase(rest) or _parse_day_or_month_phrase(rest)
        case [adverb, *rest] if adverb in _ADVERBS:
            return _parse_interval_phrase([_ADVERBS[adverb], *rest])
        case _:
            return ""


def _parse_interval_phrase(words: Sequence[str]) -> str:
    """Return the rule of “2 weeks [on …]”, the part after “every”."""
    interval, words = _parse_interval(words)
    match words:
        case ["day"]:
            return f"FREQ=DAILY{interval}"
        case ["week"]:
            return f"FREQ=WEEKLY{interval}"
        case ["week", "on", *days]:
            return _join_parts(f"FREQ=WEEKLY{interval}", _by_day(days))
        case ["month"]:
            return f"FREQ=MONTHLY{interval}"
        case ["month", "on", *places]:
            return _join_parts(f"FREQ=MONTHLY{interval}", _by_position(places))
        case ["year"]:
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
    if not months:
        return ""
    longest = max(_MONTH_LENGTHS[int(month) - 1] for month in months.split(","))
    return _join_parts(f"FREQ=YEARLY;BYMONTH={months}", _by_position(places, longest))


def _parse_interval(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    if words and words[0] == "other":
        return ";INTERVAL=2", words[1:]
    if words and _COUNT.fullmatch(words[0]):
        return ("" if words[0] == "1" else f";INTERVAL={words[0]}"), words[1:]
    if words and (nth := _NTH.fullmatch(words[0])) and words[1:2] != ["month"]:
        return f";INTERVAL={nth[1]}", words[1:]
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
