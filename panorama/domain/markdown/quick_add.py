"""Quick add: parses the fields of a new task from one line, in English and German.

It reads `#tag`, `@project`, `!high` and other priorities, `!` (urgent) and `!!` (important, too), a date or time, and
a repetition with “every”, “montags” or “on mondays”. Everything else, and every ambiguous word, stays in
the title: a wrong date costs more than none.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.item import normalize_name
from panorama.domain.markdown.quick_add_words import (
    AFTER_DAYS,
    CHOICES,
    DAY_NAMES,
    ENDINGS,
    ENGLISH_NAMES,
    EVERY_WORDS,
    EVERYDAY,
    EXCEPTIONS,
    IS,
    LINKS,
    MONTH_NAMES,
    NOT_BEFORE_DAYS,
    ORIGINS,
    PERIOD_WORDS,
)
from panorama.domain.markdown.task_fields import PRIORITIES
from panorama.domain.markdown.word_spans import MAX_WORDS, clean_span, find_place, iter_spans, remove_span
from panorama.domain.time import recurrence, times
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
"""The most words of a name that may have a day in it."""

_TAG = re.compile(r"(?<!\S)#(?=[\w/-]*[^\W\d])([\w/-]{1,60})(?!\S)")
_PROJECT = re.compile(r"(?<!\S)@(\"[^\"]+\"|[^\s\"]+)(?!\S)")
_MARK = re.compile(r"(?<!\S)!(!|[^\W\d_]+)?(?!\S)")
_EVERY = re.compile(r"(?:every|each|jede[nrs]?|alle|weekdays|werktags)!?", re.IGNORECASE)
_PLURAL_DAYS = re.compile("|".join(PLURAL_WEEKDAYS), re.IGNORECASE)
_REPEATED = re.compile(f"(?:{_EVERY.pattern}|{_PLURAL_DAYS.pattern}|weekends|once)", re.IGNORECASE)
"""A repetition contains one of these words."""
_GENITIVE = re.compile(r"jede[ns] (?:monats|quartals|jahres)", re.IGNORECASE)
_JOINING = ("of", "des", "and", "und")
_CLOCK = re.compile(
    r"(?:(?:at|um|by|bis|@) ?)?(?:\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|uhr)|\d{1,2}:\d\d(?: uhr)?)", re.IGNORECASE
)
_ORDINAL = re.compile(r"(?:the |de[nrsm] )?\d{1,2}(?:st|nd|rd|th|\.)", re.IGNORECASE)
_NUMBER_DATE = re.compile(r"(?<!\S)(?:\d{1,2}\. ?\d{1,2}\.(?:\d{2}|\d{4})?|\d{1,2}/\d{1,2}(?:/\d{4})?)(?!\S)")
_INTERVAL = re.compile(r";INTERVAL=\d+")
_GERMAN_PRIORITIES = {"hoch": 3, "mittel": 2, "niedrig": 1}
_PRIORITIES: Mapping[str, int] = {**PRIORITIES, **_GERMAN_PRIORITIES}
_MARKS: Mapping[str, Mapping[str, Any]] = {
    "": {"urgent": True}, "!": {"urgent": True, "important": True},
    **{word: {"urgent": True} for word in ("urgent", "dringend")},
    **{word: {"important": True} for word in ("important", "wichtig")},
    **{word: {"priority": number} for word, number in _PRIORITIES.items()},
}  # fmt: skip
_ANCHORS = frozenset(
    (*WEEKDAYS, *MONTHS, *NAMED_DAYS, *PARTS_OF_DAY, "minute", "hour", "day", "week", "fortnight", "weekend", "month",
     "quarter", "year", "midnight", "mitternacht",
     *(word for name in (*HOLIDAYS, *EASTER_DAYS) for word in name.split()))
)  # fmt: skip
"""A date in words contains at least one of these words."""


@dataclass(frozen=True, slots=True)
class QuickAdd:
    """The title and the fields of a new task; `taken` has the words that were taken for each field.

    `kept_day` is a weekday that may be part of a name or of another phrase and stays in the title, "" if there is none.
    `has_kept_repetition` is set if a repetition stays there, because it says more than is understood.
    """

    title: str
    fields: Mapping[str, Any]
    taken: Mapping[str, str]
    kept_day: str = ""
    has_kept_repetition: bool = False


MAX_LINE_CHARS = 2_000
"""The longest line that is parsed: a title of 500 characters, and words for fields. A longer one is no title."""


def parse_quick_add(
    line: str,
    projects: Mapping[str, str],
    *,
    now: datetime,
    zone: ZoneInfo,
    given: Collection[str] = (),
    names: Collection[str] = (),
) -> QuickAdd:
    """Return the task that a line means; without words for a title, or if it is too long, the line as it is.

    Args:
        names: Those of `list_day_names` that are names, so that their words are no date.
        projects: The names of projects by their ids; the beginning of one name is enough if it is the only one.
        given: Fields that have a value already; words for them stay in the title.
    """
    if len(line) > MAX_LINE_CHARS:
        return QuickAdd(line, {}, {})
    fields: dict[str, Any] = {}
    taken: dict[str, str] = {}
    rest = _take_signs(line, projects, fields, taken, given)
    words = rest.split()
    rule = () if "recurrence" in given else _find_repetition(words)
    if rule:
        taken["recurrence"] = fields["recurrence"] = " ".join(rule)
        words = remove_span(words, rule)
    if rule is None:
        return QuickAdd(" ".join(words), fields, taken, has_kept_repetition=True)
    if "deadline" not in given:
        span = _find_date(words, names, now, zone, is_repeated=bool(rule))
        words = remove_span(words, span)
        if deadline := _choose_deadline(" ".join(rule), clean_span(span), now, zone):
            fields["deadline"] = deadline
        if span:
            taken["deadline"] = " ".join(span)
    title = " ".join(words).rstrip(" ,;:-–")
    kept_day = "" if "deadline" in given or "deadline" in fields else _find_kept_day(words, names)
    return QuickAdd(title, fields, taken, kept_day) if title else QuickAdd(line, {}, {})


def _take_signs(
    line: str, projects: Mapping[str, str], fields: dict[str, Any], taken: dict[str, str], given: Collection[str]
) -> str:
    """Take tags, a project and marks out of a line, and return the rest."""
    if "tags" not in given and (tags := _TAG.findall(line)):
        fields["tags"], line = tags, _TAG.sub("", line)
        taken["tags"] = " ".join(f"#{tag}" for tag in tags)
    if (
        "project" not in given
        and (match := _PROJECT.search(line))
        and (project := _find_project(match[1].strip('"'), projects))
    ):
        fields["project"], taken["project"] = project, match[0]
        line = line[: match.start()] + line[match.end() :]
    for match in list(_MARK.finditer(line)):
        meaning = _MARKS.get((match[1] or "").casefold(), {})
        if meaning and not any(name in given for name in meaning):
            fields.update(meaning)
            taken.update(dict.fromkeys(meaning, match[0]))
            line = line.replace(match[0], "", 1) if match[1] not in (None, "!") else _MARK.sub(_drop_plain, line)
    return line


def _find_project(name: str, projects: Mapping[str, str]) -> str:
    """Return the id of the project that a name or its beginning means, "" if there is none."""
    same = [id_ for id_, known in projects.items() if known.casefold() == name.casefold()]
    near = [id_ for id_, known in projects.items() if known.casefold().startswith(name.casefold())]
    return same[0] if same else near[0] if len(near) == 1 else ""


def _drop_plain(match: re.Match[str]) -> str:
    """Return nothing for a plain mark, the match for one with a word."""
    return "" if match[1] in (None, "!") else match[0]


def _find_repetition(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the words that say how a task repeats, () if there are none, None if they say more than is understood."""
    if not any(_REPEATED.fullmatch(word.strip(",;:.")) for word in words):
        return ()
    for span in iter_spans(words, whole=False):
        if _begins_repetition(span) and _is_repetition(clean_span(span)):
            return None if _says_more(words, span) else span
    return ()


def _begins_repetition(span: Sequence[str]) -> bool:
    """Return whether words begin with “every”, “on mondays”, “montags” or a day of “every month”.

    “Mondays” alone may be a noun.
    """
    first = span[0].casefold().strip(",;:")
    if _EVERY.fullmatch(first) or first == "once":
        return True
    if first in ("on", "at"):
        return len(span) > 1
    is_adverb = bool(_PLURAL_DAYS.fullmatch(first)) and PLURAL_WEEKDAYS[first] + "s" != first
    return is_adverb or (first not in _JOINING and any(map(_EVERY.fullmatch, span)))


def _says_more(words: Sequence[str], span: tuple[str, ...]) -> bool:
    """Return whether the words around a repetition change it: “first day of every month”, “every day until June”."""
    place = find_place(words, span)
    before, after = words[:place], words[place + len(span) :]
    if (before and before[-1].casefold() == "of") or _GENITIVE.fullmatch(" ".join(span)):
        return True
    if len(after) < 2:
        return False
    link = after[0].casefold()
    if link in EXCEPTIONS or (link == "but" and (after[1].casefold() == "not" or _is_weekday(after[1]))):
        return True
    if link in ENDINGS:
        return not _CLOCK.match(" ".join(after[1:3]))
    return link in LINKS and _is_weekday(after[1])


def _is_repetition(phrase: str) -> bool:
    try:
        recurrence.parse_repetition(phrase)
    except InvalidInputError:
        return False
    return True


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


def _find_date(
    words: Sequence[str], names: Collection[str], now: datetime, zone: ZoneInfo, *, is_repeated: bool
) -> tuple[str, ...]:
    """Return the words that name a day or a moment to come, () if there are none."""
    anchors = {word for word in words[-MAX_WORDS:] if _is_anchor(word)}
    if not anchors:
        return ()
    for span in iter_spans(words, whole=False):
        deadline = None if anchors.isdisjoint(span) else _parse(clean_span(span), now, zone)
        if deadline is not None and _is_plain_date(words, span, deadline) and not _is_in_known(words, span, names):
            is_clock = is_repeated and bool(_CLOCK.fullmatch(clean_span(span)))
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
    if _is_of_other_words(before, span, after) or _is_in_name(span, after, is_first=not place):
        return False
    heavy = [word for word in span if read_words(word.strip(",;:."))]
    if heavy[-1:] != list(span[-1:]) or clean_span(heavy).casefold() in EVERYDAY or _ORDINAL.fullmatch(phrase):
        return False
    if _CLOCK.fullmatch(phrase) and any(map(_is_day_word, (*before, *after))):
        return False  # the time is of a day that stays in the title
    if " ".join(read_words(phrase)) in {
        *HOLIDAYS,
        *EASTER_DAYS,
    }:  # “christmas presents” are due before; “by christmas” is a day
        return False
    has_day = any(part in _ANCHORS for part in read_words(phrase)) or not isinstance(deadline, datetime)
    return has_day or bool(_CLOCK.fullmatch(phrase) or _NUMBER_DATE.search(phrase)) or "+" in phrase or "-" in phrase


def _is_weekday(word: str) -> bool:
    plain = word.strip(",;:.").casefold()
    return plain not in EVERYDAY and any(part in WEEKDAYS or part in PLURAL_WEEKDAYS for part in read_words(plain))


def _is_day_word(word: str) -> bool:
    return _is_weekday(word) or bool(_NUMBER_DATE.fullmatch(word))


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
    if first in ORIGINS or (first in NOT_BEFORE_DAYS and len(span) == 2 and _is_weekday(span[1])):
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
    return span[0].casefold() in PERIOD_WORDS or (len(words) == 2 and words[0] in MONTH_NAMES and words[1].isdigit())


def _is_in_known(words: Sequence[str], span: tuple[str, ...], names: Collection[str]) -> bool:
    """Return whether words that can be a date are a part of a known name."""
    return bool(names) and not set(names).isdisjoint(_iter_names(words, find_place(words, span), len(span)))


def _find_kept_day(words: Sequence[str], names: Collection[str]) -> str:
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


def _choose_deadline(rule: str, phrase: str, now: datetime, zone: ZoneInfo) -> str:
    """Return the deadline that a phrase means; of a repetition without a day, the first day on which it falls."""
    if not rule or (phrase and not _CLOCK.fullmatch(phrase)):
        return phrase
    today = times.today(now, zone)
    text, _ = recurrence.parse_repetition(rule)
    if "BY" in text:  # the series begins on the next such day, whether every one counts or every second
        text = _INTERVAL.sub("", text)
    first = _find_first(text, today, phrase, zone)
    if isinstance(first, datetime) and first <= now:
        first = _find_first(text, today + timedelta(1), phrase, zone)
    return times.format_time(first, zone) if first else ""


def _find_first(rule: str, day: date, clock: str, zone: ZoneInfo) -> Deadline | None:
    """Return the first day of a repetition from a day on, at a time of day if there is one; None if it never occurs."""
    first: Deadline | None = day
    if not recurrence.is_on_rule(rule, datetime.combine(day, time(), zone), zone):
        first = recurrence.next_occurrence(rule, day, not_before=day, zone=zone)
    if first is None or not clock:
        return first
    return times.parse_deadline(clock, "deadline", now=datetime.combine(first, time(), zone), zone=zone)
