"""Finds the words of a line that say how a task repeats, and the first day on which it is due."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from panorama.domain.markdown.quick_add.dates import is_weekday
from panorama.domain.markdown.quick_add.other_meanings import CLOCK
from panorama.domain.markdown.quick_add.qualifiers import EVERY, is_qualified
from panorama.domain.markdown.quick_add.spans import clean_span, find_place, iter_spans
from panorama.domain.markdown.quick_add.words import (
    AND_WORDS,
    ARTICLES,
    EVERYDAY,
    PLACE_LINKS,
    STARTS,
)
from panorama.domain.time import recurrence, times
from panorama.domain.time.calendar_words import PARTS_OF_DAY, PLURAL_WEEKDAYS, WEEKDAYS, read_words
from panorama.domain.time.recurrence_phrases import ADVERBS
from panorama.domain.time.times import Deadline
from panorama.errors import InvalidInputError

_PLURAL_DAYS = re.compile("|".join(PLURAL_WEEKDAYS), re.IGNORECASE)
_INTERVAL = re.compile(r";INTERVAL=\d+")
_ONLY_MONTHS = re.compile(r"FREQ=YEARLY;BYMONTH=[\d,]+")
_WEEKLY = re.compile(r"FREQ=WEEKLY(?:;INTERVAL=\d+)?;BYDAY=([A-Z,]+)")
_PLACE = re.compile(r"(?:\d{1,2}(?:th|\.)|last)")
_PERIODS = ("day", "tag", "weekend", "wochenende", "may", "mai", "march", "mar")


class UnclearRepetitionError(ValueError):
    """Words say more about a repetition than is understood."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The words that say how a task repeats, their recurrence, and the time of day that a part of the day means."""

    span: tuple[str, ...]
    recurrence: str
    clock: str = ""


def find_repetition(words: Sequence[str], *, with_clock: bool) -> Repetition | None:
    """Return how a task repeats, None if it does not.

    Args:
        with_clock: Take a part of the day, too: “every sunday evening”.

    Raises:
        UnclearRepetitionError: The words say more about it than is understood.
    """
    if not any(map(_may_repeat, words)):
        return None
    for span in iter_spans(words, whole=False):
        if not _may_be_repetition(words, span):
            continue
        if repetition := _read_repetition(words, span, with_clock=with_clock):
            if is_qualified(words, span):
                raise UnclearRepetitionError
            return repetition
    return None


def choose_deadline(repetition: Repetition, phrase: str, now: datetime, zone: ZoneInfo) -> str:
    """Return the deadline that a phrase means; without a day in it the first day on which the repetition falls.

    Raises:
        UnclearRepetitionError: The phrase names a weekday on which a weekly repetition never falls.
    """
    if phrase and not CLOCK.fullmatch(phrase):
        if _contradicts(repetition, phrase, now, zone):
            raise UnclearRepetitionError
        return _add_clock(phrase, repetition, now, zone)
    clock = phrase or repetition.clock
    today = times.today(now, zone)
    rule, _ = recurrence.parse_repetition(repetition.recurrence)
    if "BY" in rule:  # the series begins on the next such day, whether every one counts or every second
        rule = _INTERVAL.sub("", rule)
    first = _find_first(rule, today, clock, zone)
    if isinstance(first, datetime) and first <= now:
        first = _find_first(rule, today + timedelta(1), clock, zone)
    return times.format_time(first, zone) if first else ""


def _may_repeat(word: str) -> bool:
    plain = word.casefold().strip(",;:.")
    return (
        bool(EVERY.fullmatch(plain)) or plain in PLURAL_WEEKDAYS or plain in ("weekends", "once") or _is_adverb(plain)
    )


def _is_adverb(word: str) -> bool:
    return word[-2:] in ("ly", "ch") and not ADVERBS.isdisjoint(read_words(word))


def _may_be_repetition(words: Sequence[str], span: tuple[str, ...]) -> bool:
    """Return whether words begin and end like a repetition: “every …”, “on mondays”, “montags”, “weekly on …”.

    “Mondays” and “weekly” alone may belong to a noun, and “once a week” in a sentence to a condition.
    """
    first, last = span[0].casefold().strip(",;:"), span[-1].casefold().strip(",;:")
    is_open = last in AND_WORDS or not read_words(last)  # “every friday the”
    if is_open or _ends_in_everyday_word(words, span) or _is_all(words, span):
        return False
    if EVERY.fullmatch(first):
        return True
    if first == "once":
        return span[1:2] in (("a",), ("an",)) and words[-1] == span[-1]
    if first in ("on", "at"):
        return len(span) > 1
    if _is_adverb(first):
        return len(span) > 1 and span[1].casefold() in PLACE_LINKS
    if first in ARTICLES:
        return len(span) > 1 and bool(_PLACE.fullmatch(" ".join(read_words(" ".join(span[:2]))))) and _has_every(span)
    is_german_plural = bool(_PLURAL_DAYS.fullmatch(first)) and PLURAL_WEEKDAYS[first] + "s" != first
    return is_german_plural or (first not in AND_WORDS and _has_every(span))


def _is_all(words: Sequence[str], span: tuple[str, ...]) -> bool:
    """Return whether German words mean all days, weeks or months of something: “alle Tage im Kalender”."""
    after = words[find_place(words, span) + len(span) :][:1]
    plain = [word.casefold() for word in span]
    is_plural = len(plain) == 2 and plain[0] == "alle" and plain[1] in ("tage", "wochen", "monate", "quartale", "jahre")
    return is_plural and bool(after) and after[0] in ("im", "in", "vom", "am", "aus")


def _has_every(span: Sequence[str]) -> bool:
    return any(map(EVERY.fullmatch, span))


def _ends_in_everyday_word(words: Sequence[str], span: tuple[str, ...]) -> bool:
    """Return whether the last word may be no day: “every friday to do”, “once a week do”. “Jeden Mo und Mi” is one."""
    last = span[-1].strip(",;:.")
    if last.casefold() not in EVERYDAY or last.casefold() in _PERIODS:
        return False
    days = [
        word.strip(",;:.") for word in span[:-1] if any(part in WEEKDAYS for part in read_words(word.strip(",;:.")))
    ]
    is_german = span[0].casefold().startswith(("jede", "alle")) and last[0].isupper()
    is_list = bool(days) and all(len(word) <= 4 for word in days) and "to" not in span
    is_end = last.casefold() in ("sat", "sun") and words[-1] == span[-1]
    return not (is_german or is_list or is_end)


def _read_repetition(words: Sequence[str], span: tuple[str, ...], *, with_clock: bool) -> Repetition | None:
    phrase = clean_span(span)
    if _is_repetition(phrase):
        return Repetition(span, phrase)
    plain = read_words(phrase)
    if not with_clock or plain[-1:] == [] or plain[-1] not in PARTS_OF_DAY or not _ends_part(words, span):
        return None
    phrase = " ".join(plain[:-1])
    return Repetition(span, phrase, f"{PARTS_OF_DAY[plain[-1]]}:00") if _is_repetition(phrase) else None


def _ends_part(words: Sequence[str], span: tuple[str, ...]) -> bool:
    """Return whether a part of the day after a repetition hardly begins a noun, as in “daily morning pages”."""
    place = find_place(words, span)
    after = words[place + len(span) :]
    if not after or after[0].casefold() in STARTS:
        return True
    return not place and after[0].islower() and not _is_adverb(span[0].casefold())


def _is_repetition(phrase: str) -> bool:
    try:
        recurrence.parse_repetition(phrase)
    except InvalidInputError:
        return False
    return True


def _contradicts(repetition: Repetition, phrase: str, now: datetime, zone: ZoneInfo) -> bool:
    rule, _ = recurrence.parse_repetition(repetition.recurrence)
    days = _WEEKLY.fullmatch(rule)
    if not days or not any(map(is_weekday, phrase.split())):
        return False
    day = times.parse_deadline(phrase, "deadline", now=now, zone=zone)
    return WEEKDAYS[day.weekday()][:2].upper() not in days[1].split(",")


def _add_clock(phrase: str, repetition: Repetition, now: datetime, zone: ZoneInfo) -> str:
    """Return a day with the time of day that a part of the day means, if it is to come."""
    with_clock = f"{phrase} {repetition.clock}".strip()
    try:
        moment = times.parse_deadline(with_clock, "deadline", now=now, zone=zone)
    except InvalidInputError:
        return phrase
    return with_clock if isinstance(moment, datetime) and moment > now else phrase


def _find_first(rule: str, day: date, clock: str, zone: ZoneInfo) -> Deadline | None:
    """Return the first day of a repetition from a day on, at a time of day if there is one; None if it never occurs."""
    first: Deadline | None = day
    if not recurrence.is_on_rule(rule, datetime.combine(day, time(), zone), zone):
        if _ONLY_MONTHS.fullmatch(rule):
            rule += ";BYMONTHDAY=1"
        first = recurrence.next_occurrence(rule, day, not_before=day, zone=zone)
    if first is None or not clock:
        return first
    return times.parse_deadline(clock, "deadline", now=datetime.combine(first, time(), zone), zone=zone)
