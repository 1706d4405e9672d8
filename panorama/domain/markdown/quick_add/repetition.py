"""Finds the words of a line that say how a task repeats, and the first day on which it is due."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from panorama.domain.markdown.quick_add.dates import CLOCK, is_weekday
from panorama.domain.markdown.quick_add.spans import clean_span, find_place, iter_spans
from panorama.domain.markdown.quick_add.words import ENDINGS, EXCEPTIONS, LINKS, NEGATIONS
from panorama.domain.time import recurrence, times
from panorama.domain.time.calendar_words import PARTS_OF_DAY, PLURAL_WEEKDAYS, read_words
from panorama.domain.time.recurrence_phrases import ADVERBS
from panorama.domain.time.times import Deadline
from panorama.errors import InvalidInputError

_EVERY = re.compile(r"(?:every|each|jede[nrs]?|alle|weekdays|werktags)!?", re.IGNORECASE)
_PLURAL_DAYS = re.compile("|".join(PLURAL_WEEKDAYS), re.IGNORECASE)
_GENITIVE = re.compile(r"jede[ns] (?:monats|quartals|jahres)", re.IGNORECASE)
_INTERVAL = re.compile(r";INTERVAL=\d+")
_ONLY_MONTHS = re.compile(r"FREQ=YEARLY;BYMONTH=[\d,]+")
_JOINING = ("of", "des", "and", "und")


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
        ValueError: The words say more about it than is understood.
    """
    if not any(map(_may_repeat, words)):
        return None
    for span in iter_spans(words, whole=False):
        if _begins_repetition(span) and (repetition := _read_repetition(span, with_clock=with_clock)):
            if _says_more(words, span):
                raise ValueError
            return repetition
    return None


def choose_deadline(repetition: Repetition, phrase: str, now: datetime, zone: ZoneInfo) -> str:
    """Return the deadline that a phrase means; without a day in it the first day on which the repetition falls."""
    if phrase and not CLOCK.fullmatch(phrase):
        has_time = isinstance(times.parse_deadline(phrase, "deadline", now=now, zone=zone), datetime)
        return phrase if has_time else f"{phrase} {repetition.clock}".strip()
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
        bool(_EVERY.fullmatch(plain)) or plain in PLURAL_WEEKDAYS or plain in ("weekends", "once") or _is_adverb(plain)
    )


def _is_adverb(word: str) -> bool:
    return word[-2:] in ("ly", "ch") and not ADVERBS.isdisjoint(read_words(word))


def _begins_repetition(span: Sequence[str]) -> bool:
    """Return whether words begin with “every”, “on mondays”, “montags”, “weekly on …”, or a day of “every month”.

    “Mondays” and “weekly” alone may belong to a noun.
    """
    first = span[0].casefold().strip(",;:")
    if _EVERY.fullmatch(first) or first == "once":
        return True
    if first in ("on", "at") or _is_adverb(first):
        return len(span) > 1
    is_german_plural = bool(_PLURAL_DAYS.fullmatch(first)) and PLURAL_WEEKDAYS[first] + "s" != first
    return is_german_plural or (first not in _JOINING and any(map(_EVERY.fullmatch, span)))


def _read_repetition(span: tuple[str, ...], *, with_clock: bool) -> Repetition | None:
    phrase = clean_span(span)
    if _is_repetition(phrase):
        return Repetition(span, phrase)
    words = read_words(phrase) if with_clock else []
    if words[-1:] and words[-1] in PARTS_OF_DAY and _is_repetition(phrase := " ".join(words[:-1])):
        return Repetition(span, phrase, f"{PARTS_OF_DAY[words[-1]]}:00")
    return None


def _is_repetition(phrase: str) -> bool:
    try:
        recurrence.parse_repetition(phrase)
    except InvalidInputError:
        return False
    return True


def _says_more(words: Sequence[str], span: tuple[str, ...]) -> bool:
    """Return whether the words around a repetition change it: “first day of every month”, “every day until June”."""
    place = find_place(words, span)
    before, after = [word.casefold() for word in words[max(0, place - 1) : place]], words[place + len(span) :]
    if not NEGATIONS.isdisjoint(before) or "of" in before or _GENITIVE.fullmatch(" ".join(span)):
        return True
    if len(after) < 2:
        return False
    link = after[0].casefold()
    if link in EXCEPTIONS or (link == "but" and (after[1].casefold() == "not" or is_weekday(after[1]))):
        return True
    if link in ENDINGS:
        return not CLOCK.match(" ".join(after[1:3]))
    return link in LINKS and is_weekday(after[1])


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
