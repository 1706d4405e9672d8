"""Tells words that can be a date from hours, counts, numbered things and parts of nouns."""

import re
from collections.abc import Callable, Sequence

from panorama.domain.markdown.quick_add.words import AND_WORDS, BEFORE_NO_DAY, GERMAN_DAYS, LATER, NUMBERED
from panorama.domain.time.calendar_words import MONTHS, PARTS_OF_DAY, WEEKDAYS, read_words

CLOCK = re.compile(
    r"(?:(?:at|um|by|bis|@) ?)?(?:\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|uhr)|\d{1,2}:\d\d(?: uhr)?)", re.IGNORECASE
)
NUMBER_DATE = re.compile(r"(?<!\S)(?:\d{1,2}\. ?\d{1,2}\.(?:\d{2}|\d{4})?|\d{1,2}/\d{1,2}(?:/\d{4})?)(?!\S)")
_HOUR = re.compile(r"(?:\d|1\d|2[0-4])(?:[:.]\d\d)?")
_GERMAN_DAY_OF_MONTH = re.compile(r"\d{1,2}\.")


def has_other_meaning(before: Sequence[str], span: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether words that can be a date mean something else, given those before and after them."""
    words = [word.casefold().rstrip(",;:") for word in span]
    return any(check([word.casefold() for word in before], words, after) for check in _CHECKS)


def _is_number_before_a_german_day(_: Sequence[str], span: Sequence[str], __: Sequence[str]) -> bool:
    """“Folge 7 am Sonntag” is no 7 a.m."""
    if len(span) < 3 or not span[0].isdigit() or span[1] != "am":
        return False
    return span[2].rstrip(".") in GERMAN_DAYS or bool(_GERMAN_DAY_OF_MONTH.fullmatch(span[2]))


def _ends_hours(before: Sequence[str], span: Sequence[str], _: Sequence[str]) -> bool:
    """“von 14 bis 16 Uhr” is no deadline at 16:00."""
    if not CLOCK.fullmatch(" ".join(span)):
        return False
    place = -1 if span[0] == "bis" else -2 if before[-1:] and before[-1] in ("bis", "-", "–") else 0
    return -len(before) <= place < 0 and bool(_HOUR.fullmatch(before[place]))


def _is_count_at_part_of_day(_: Sequence[str], span: Sequence[str], after: Sequence[str]) -> bool:
    """“Abends 3 Zeilen” has three lines."""
    is_count = len(span) == 2 and span[1].isdigit() and bool(after)
    return is_count and any(part in PARTS_OF_DAY for part in read_words(span[0])[-1:])


def _is_part_of_noun(before: Sequence[str], span: Sequence[str], _: Sequence[str]) -> bool:
    """“Straße des 17. Juni”, “vor Weihnachten”, “the 1 May riots”."""
    if span[0] == "des" or (before and before[-1] in BEFORE_NO_DAY):
        return True
    if "the" not in span[:-1]:
        return False
    following = span[span.index("the") + 1]
    return following.isdigit() or any(word in MONTHS for word in read_words(following))


def _is_second_of_pair(before: Sequence[str], span: Sequence[str], _: Sequence[str]) -> bool:
    """“Robinson and Friday”."""
    is_day = len(span) == 1 and any(word in WEEKDAYS for word in read_words(span[0].rstrip(".")))
    return bool(before) and before[-1] in AND_WORDS and is_day


def _is_numbered(before: Sequence[str], span: Sequence[str], _: Sequence[str]) -> bool:
    """“Kapitel 3.4.”."""
    return bool(before) and before[-1] in NUMBERED and bool(NUMBER_DATE.fullmatch(" ".join(span)))


def _is_origin_of_later(_: Sequence[str], __: Sequence[str], after: Sequence[str]) -> bool:
    """“am Morgen danach”."""
    return bool(after) and after[0].casefold() in LATER


def _is_open(_: Sequence[str], span: Sequence[str], __: Sequence[str]) -> bool:
    """“Ende des Monats im Bericht” ends before “im”."""
    return span[-1] in ("im", "in", "am", "um")


def _is_every_week(_: Sequence[str], span: Sequence[str], __: Sequence[str]) -> bool:
    """“Sonntagabends” is each Sunday's evening."""
    parts = [read_words(word.rstrip(".")) for word in span]
    return any(
        len(part) == 2 and part[0] in WEEKDAYS and part[1] in PARTS_OF_DAY and part[1][-1] == "s" for part in parts
    )


_CHECKS: tuple[Callable[[Sequence[str], Sequence[str], Sequence[str]], bool], ...] = (
    _is_number_before_a_german_day, _ends_hours, _is_count_at_part_of_day, _is_part_of_noun, _is_second_of_pair,
    _is_numbered, _is_origin_of_later, _is_open, _is_every_week,
)  # fmt: skip
