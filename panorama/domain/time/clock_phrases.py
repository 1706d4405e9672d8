"""Parses times of day in words, in English and German: `3pm`, `15:30`, `halb vier`, `in the evening at 8`."""

import re
from collections.abc import Callable
from datetime import time

from panorama.domain.time.calendar_words import PARTS_OF_DAY

_AT = r"(?:at |um |by |bis |gegen |@ ?)"
_HALF_OF_DAY = r"(am|pm|a\.m\.?|p\.m\.?)"
_BESIDE_DAY = rf"(?:in |at |by |am |um |on |this )?({'|'.join(sorted(PARTS_OF_DAY, key=len, reverse=True))})"
_ALONE = _BESIDE_DAY.replace("|morgen|", "|")
"""Without a day, “morgen” is not the morning but tomorrow."""

_NOON = 12
_FIRST_MORNING_HOUR = 7
"""A spoken hour before this is in the afternoon: “at 6” is 18:00, “at 7” 7:00."""


def parse_clock(text: str, *, has_day: bool) -> time | None:
    """Return the time of day that words mean, as `read_words` gives them; None if they mean none.

    Args:
        has_day: Words for a day stand beside it; without, only “in the evening” means a time, and “evening” none.
    """
    part_of_day = _BESIDE_DAY if has_day else _ALONE
    if part := re.fullmatch(part_of_day, text):
        is_plain = has_day or PARTS_OF_DAY[part[1]] == _NOON or part[0] != part[1]
        return time(PARTS_OF_DAY[part[1]]) if is_plain else None
    for pattern, is_first in ((rf"(.+?) {part_of_day}", True), (rf"{part_of_day} (.+)", False)):
        if both := re.fullmatch(pattern, text):
            clock, word = (both[1], both[2]) if is_first else (both[2], both[1])
            spoken = _parse_hour_and_minute(f"at {clock}" if clock.isdigit() else clock, is_spoken=False)
            return _shift_to_part(spoken, word) if spoken else None
    return _parse_hour_and_minute(text, is_spoken=True)


def _shift_to_part(clock: time, part: str) -> time | None:
    """Return a clock of twelve hours in a part of the day: 8 in the evening is 20:00."""
    if PARTS_OF_DAY[part] >= _NOON:
        return clock.replace(hour=clock.hour + _NOON) if clock.hour < _NOON else clock
    return clock if clock.hour < _NOON else None


def _parse_hour_and_minute(text: str, *, is_spoken: bool) -> time | None:
    """Return a time of day; a spoken hour of the twelve is taken for the likelier half of the day."""
    for pattern, build in _PATTERNS:
        if match := pattern.fullmatch(text):
            try:
                hour, minute, is_exact = build(match)
                is_afternoon = is_spoken and not is_exact and 0 < hour < _FIRST_MORNING_HOUR
                return time(hour + _NOON if is_afternoon else hour, minute)
            except ValueError:
                return None
    return None


_Built = tuple[int, int, bool]
"""Hour, minute, and whether the hour is one of twenty-four."""


def _with_half(match: re.Match[str]) -> _Built:
    """3 pm, 3:30 pm."""
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if not 1 <= hour <= _NOON:
        raise ValueError(hour)
    return hour % _NOON + (_NOON if half.startswith("p") else 0), minute, True


def _before_hour(hour: str, minutes: int) -> _Built:
    """Halb vier, quarter to four."""
    return int(hour) - 1 or _NOON, 60 - minutes, False


def _minutes_beside(match: re.Match[str]) -> _Built:
    """Ten past three, zehn vor drei."""
    if match[2] in ("last", "after", "nach"):  # “past” is read as “last”
        return int(match[3]), int(match[1]), False
    return _before_hour(match[3], int(match[1]))


_HOUR = r"(\d{1,2})"
_CLOCKS: list[tuple[str, Callable[[re.Match[str]], _Built]]] = [
    (rf"{_AT}?{_HOUR}(?:[:.](\d\d))? ?{_HALF_OF_DAY}", _with_half),
    (rf"{_AT}?{_HOUR}:(\d\d)(?::\d\d)?(?: ?uhr| ?h)?", lambda m: (int(m[1]), int(m[2]), True)),
    (rf"{_AT}{_HOUR}\.(\d\d)(?: uhr)?", lambda m: (int(m[1]), int(m[2]), True)),
    (rf"{_HOUR}\.(\d\d) uhr", lambda m: (int(m[1]), int(m[2]), True)),
    (rf"{_AT}?{_HOUR} ?(?:h|uhr) ?(\d\d)?", lambda m: (int(m[1]), int(m[2] or 0), True)),
    (rf"{_AT}?{_HOUR} ?o'?clock", lambda m: (int(m[1]), 0, False)),
    (rf"{_AT}{_HOUR}", lambda m: (int(m[1]), 0, False)),
    (rf"{_AT}?half last {_HOUR}", lambda m: (int(m[1]), 30, False)),
    (rf"{_AT}?halb {_HOUR}", lambda m: _before_hour(m[1], 30)),
    (rf"{_AT}?(?:a )?(?:quarter last|viertel nach) {_HOUR}", lambda m: (int(m[1]), 15, False)),
    (rf"{_AT}?(?:a )?(?:quarter to|viertel vor|dreiviertel) {_HOUR}", lambda m: _before_hour(m[1], 15)),
    (rf"{_AT}?{_HOUR}(?: minute)? (last|after|to|nach|vor) {_HOUR}", _minutes_beside),
]
"""What a time of day may be called; “past” is read as “last”."""
_PATTERNS = [(re.compile(pattern), build) for pattern, build in _CLOCKS]
