"""Finds the words of a line that name a day or a moment, and tells them from names and nouns."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.domain.items.item import normalize_name
from panorama.domain.markdown.quick_add.other_meanings import CLOCK, NUMBER_DATE, has_other_meaning
from panorama.domain.markdown.quick_add.spans import MAX_WORDS, clean_span, find_place, iter_spans
from panorama.domain.markdown.quick_add.words import (
    AFTER_DAYS,
    CHOICES,
    DAY_NAMES,
    ENGLISH_NAMES,
    EVERY_WORDS,
    EVERYDAY,
    IS,
    LINKS,
    MONTH_NAMES,
    NOT_BEFORE_DAYS,
    ORIGINS,
    PERIOD_WORDS,
    STARTS,
)
from panorama.domain.time import times
from panorama.domain.time.calendar_words import (
    EASTER_DAYS,
    HOLIDAYS,
    MONTHS,
    NAMED_DAYS,
    PARTS_OF_DAY,
    PLURAL_WEEKDAYS,
    WEEKDAYS,
    read_words,
)
from panorama.domain.time.times import Deadline
from panorama.errors import InvalidInputError

MAX_NAME_WORDS = 6
"""The maximum number of words of a name that may have a day in it."""

_ORDINAL = re.compile(r"(?:the |de[nrsm] )?\d{1,2}(?:st|nd|rd|th|\.)", re.IGNORECASE)
_ANCHORS = frozenset(
    (*WEEKDAYS, *MONTHS, *NAMED_DAYS, *PARTS_OF_DAY, "minute", "hour", "day", "week", "fortnight", "weekend", "month",
     "quarter", "year", "midnight", "mitternacht",
     *(word for name in (*HOLIDAYS, *EASTER_DAYS) for word in name.split()))
)  # fmt: skip
"""A date in words contains at least one of these words."""


def list_day_names(line: str) -> list[str]:
    """Return the normalised texts in a line that may be names with a day in them: two to six words."""
    words = line.split()[-MAX_WORDS:]
    return [name for place in range(len(words)) if _is_anchor(words[place]) for name in _iter_names(words, place, 1)]


def _iter_names(words: Sequence[str], place: int, length: int) -> Iterator[str]:
    """Yield the normalised texts, longer than a run of words, that may be names and have the run in them."""
    for start in range(max(0, place + length - MAX_NAME_WORDS), place + 1):
        for end in range(place + length, min(len(words), start + MAX_NAME_WORDS) + 1):
            if end - start > length:
                yield normalize_name(" ".join(words[start:end]).strip(",;:.!?"))


def find_date(
    words: Sequence[str], names: Collection[str], now: datetime, zone: ZoneInfo, *, is_repeated: bool
) -> tuple[str, ...]:
    """Return the words that name a day or a moment to come, () if there are none."""
    anchors = {word for word in words[-MAX_WORDS:] if _is_anchor(word)}
    if not anchors:
        return ()
    for span in iter_spans(words, whole=False):
        deadline = None if anchors.isdisjoint(span) else _parse(clean_span(span), now, zone)
        if deadline is not None and _is_plain_date(words, span, deadline) and not _is_in_known(words, span, names):
            is_clock = is_repeated and bool(CLOCK.fullmatch(clean_span(span)))
            return span if is_clock or _is_to_come(deadline, now, zone) else ()
    return ()


def _is_to_come(deadline: Deadline, now: datetime, zone: ZoneInfo) -> bool:
    return deadline >= now if isinstance(deadline, datetime) else deadline >= times.today(now, zone)


def _is_anchor(word: str) -> bool:
    plain = word.strip(",;:.")
    return any(letter.isdigit() for letter in plain) or any(part in _ANCHORS for part in read_words(plain))


def _is_plain_date(words: Sequence[str], span: tuple[str, ...], deadline: Deadline) -> bool:
    """Return whether words that can be a date hardly mean anything else."""
    phrase, place = clean_span(span), find_place(words, span)
    before, after = words[:place], words[place + len(span) :]
    if _is_of_other_words(before, span, after) or has_other_meaning(before, span, after):
        return False
    if _is_in_name(span, after, is_first=not place):
        return False
    heavy = [word for word in span if read_words(word.strip(",;:."))]
    if (
        heavy[-1:] != list(span[-1:])
        or clean_span(heavy).casefold().rstrip(".") in EVERYDAY
        or _ORDINAL.fullmatch(phrase)
    ):
        return False
    if CLOCK.fullmatch(phrase) and any(map(_is_day_word, (*before, *after))):
        return False  # the time is of a day that stays in the title
    if " ".join(read_words(phrase)) in {
        *HOLIDAYS,
        *EASTER_DAYS,
    }:  # “christmas presents” are due before; “by christmas” is a day
        return False
    has_day = any(part in _ANCHORS for part in read_words(phrase)) or not isinstance(deadline, datetime)
    return has_day or bool(CLOCK.fullmatch(phrase) or NUMBER_DATE.search(phrase)) or "+" in phrase or "-" in phrase


def is_weekday(word: str) -> bool:
    plain = word.strip(",;:.").casefold()
    return plain not in EVERYDAY and any(part in WEEKDAYS or part in PLURAL_WEEKDAYS for part in read_words(plain))


def _is_day_word(word: str) -> bool:
    return is_weekday(word) or bool(NUMBER_DATE.fullmatch(word))


def _is_of_other_words(before: Sequence[str], span: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether the words around a day make it something else: “the friday report”, “from 2 may to 5 may”."""
    first = span[0].casefold()
    if before and (
        before[-1].casefold().rstrip(".") in NOT_BEFORE_DAYS
        or not CHOICES.isdisjoint(read_words(before[-1]))
        or before[-1].casefold() in EVERY_WORDS
        or (first in LINKS and _is_day_word(before[-1]))
    ):
        return True
    if first in ORIGINS or (first in NOT_BEFORE_DAYS and len(span) == 2 and is_weekday(span[1])):
        return True
    if len(before) > 1 and before[-2].casefold() in ORIGINS and _is_anchor(before[-1]):
        return True
    pairs = (before[-2:][::-1], after[:2])
    return any(
        len(pair) == 2 and pair[0].casefold() in LINKS and _is_anchor(pair[1]) and not pair[1].isdigit()
        for pair in pairs
    )


def _is_in_name(span: Sequence[str], after: Sequence[str], *, is_first: bool) -> bool:
    """Return whether a day before more words may be a part of a name or noun: “Sunday Times”, “a sunday roast”.

    Args:
        is_first: The line begins with the day; then it is no part of a name in German, or in small letters.
    """
    last = span[-1]
    if after and after[0].casefold() in IS:
        return True
    if not after or after[0].casefold() in AFTER_DAYS:
        return False
    if len(span) > 1 and not is_first and _is_in_noun(span):
        return True
    if not last[-1].isalpha():
        return False
    is_capital, word = last[0].isupper(), last.casefold()
    if is_capital and after[0][0].isupper() and word in ENGLISH_NAMES:
        return True
    if len(span) > 1:
        return False
    if word in DAY_NAMES:
        return not is_first or (is_capital and word in WEEKDAYS)
    return is_capital and not is_first and word in NAMED_DAYS


def _is_in_noun(span: Sequence[str]) -> bool:
    """Return whether a date before another word may be part of its noun: “end of year report”, “Jan 5 questions”."""
    words = read_words(" ".join(span))
    is_day = len(words) == 2 and not MONTH_NAMES.isdisjoint(words) and any(word.isdigit() for word in words)
    return span[0].casefold() in PERIOD_WORDS or is_day


def _is_in_known(words: Sequence[str], span: tuple[str, ...], names: Collection[str]) -> bool:
    """Return whether words that can be a date are a part of a known name."""
    return bool(names) and not set(names).isdisjoint(_iter_names(words, find_place(words, span), len(span)))


def find_start(
    words: Sequence[str], names: Collection[str], now: datetime, zone: ZoneInfo
) -> tuple[list[str], tuple[str, ...]]:
    """Return the words beside a repetition, and those of its first day: “monday” of “starting monday”.

    The word before the day is dropped with it.
    """
    for place, word in enumerate(words[:-1]):
        if word.casefold() in STARTS:
            rest = [*words[:place], *words[place + 1 :]]
            span = find_date(rest, names, now, zone, is_repeated=True)
            start = find_place(rest, span) if span else len(rest)
            if start <= place < start + len(span) and not _is_followed_by_noun(rest, start + len(span), span):
                return rest, span
    return list(words), find_date(words, names, now, zone, is_repeated=True)


def _is_followed_by_noun(words: Sequence[str], end: int, span: Sequence[str]) -> bool:
    """Return whether a clock or another word of the sentence follows: “from 9:00 to 17:00”, “from Friday market”."""
    after = words[end : end + 1]
    return bool(after) and (after[0].casefold() in LINKS or _is_in_name(span, after, is_first=False))


def find_kept_day(words: Sequence[str], names: Collection[str]) -> str:
    """Return the first weekday that may be part of a name or of another phrase, "" if there is none."""
    near = words[-MAX_WORDS:]
    days = (
        word
        for place, word in enumerate(near)
        if word.casefold() in DAY_NAMES
        and (
            _is_in_name((word,), near[place + 1 :], is_first=not place)
            or _is_of_other_words(near[:place], (word,), near[place + 1 :])
            or _is_in_known(words, (word,), names)
        )
    )
    return next(days, "")


def _parse(phrase: str, now: datetime, zone: ZoneInfo) -> Deadline | None:
    try:
        return times.parse_deadline(phrase, "deadline", now=now, zone=zone)
    except InvalidInputError:
        return None
