"""Tells whether the words around a repetition change it: “first day of every month”, “every day until June”."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from panorama.domain.markdown.quick_add.dates import is_weekday
from panorama.domain.markdown.quick_add.other_meanings import CLOCK
from panorama.domain.markdown.quick_add.spans import find_place
from panorama.domain.markdown.quick_add.words import (
    AND_WORDS,
    CLAUSES,
    CONTRASTS,
    ENDINGS,
    EXCEPTIONS,
    IS,
    LINKS,
    NEGATIONS,
    RELATIVE_PRONOUNS,
)
from panorama.domain.time.calendar_words import PLURAL_WEEKDAYS

EVERY = re.compile(r"(?:every|each|jede[nrs]?|alle|weekdays|werktags)!?", re.IGNORECASE)
_GENITIVE = re.compile(r"jede[ns] (?:monats|quartals|jahres)", re.IGNORECASE)
_COUNT = re.compile(
    r"(?:for |für )?(?:\d+|two|three|four|five|six|ten|zwei|drei|vier|fünf|sechs|zehn) ?"
    r"(?:x|times|mal|days|weeks|months|years|(?:tage|wochen|monate|jahre) lang)(?!\w)"
)


def is_qualified(words: Sequence[str], span: tuple[str, ...]) -> bool:
    """Return whether the words around a repetition change it, or it is only told of in a clause."""
    place = find_place(words, span)
    before, after = ([word.casefold() for word in part] for part in (words[:place], words[place + len(span) :]))
    plain = [word.casefold() for word in span]
    return any(check(before, plain, after) for check in _CHECKS)


def _is_compared_or_denied(before: Sequence[str], span: Sequence[str], after: Sequence[str]) -> bool:
    """“more than once a week”, “never on mondays”, “jeden Freitag, am 24.12. nicht”, “every monday instead of …”."""
    if before and (before[-1] in NEGATIONS or (before[-1] == "to" and span[0] == "once")):
        return True
    return not {"nicht", "not"}.isdisjoint(after[:4]) or after[:1] in (["instead"], ["statt"], ["anstatt"], ["rather"])


def _is_part_of_longer(before: Sequence[str], span: Sequence[str], after: Sequence[str]) -> bool:
    """“first day of every quarter”, “erster Tag jedes Quartals”, “every day of the trip”, “every day is …”."""
    is_genitive = bool(before) and (before[-1] == "of" or bool(_GENITIVE.fullmatch(" ".join(span))))
    return is_genitive or (bool(after) and after[0] in ("of", "der", "des", *IS))


def _is_limited(_: Sequence[str], __: Sequence[str], after: Sequence[str]) -> bool:
    """“every day at 8 except sunday”, “every monday until June”, “every friday 10 times”."""
    after = _drop_clock(after)
    if _COUNT.match(" ".join(after[:4])):
        return True
    if len(after) < 2:
        return False
    if after[0] in EXCEPTIONS or (after[0] in CONTRASTS and (after[1] in ("not", "on") or is_weekday(after[1]))):
        return True
    return after[0] in ENDINGS and not CLOCK.match(" ".join(after[1:3]))


def _has_second(before: Sequence[str], _: Sequence[str], after: Sequence[str]) -> bool:
    """“every monday and every thursday”, “alle 14 Tage samstags”."""
    linked = LINKS | AND_WORDS
    if len(before) > 1 and before[-1] in linked and is_weekday(before[-2]):
        return True
    if (
        len(after) > 1
        and after[0] in linked
        and (is_weekday(after[1]) or after[1] in ("on", "am") or EVERY.fullmatch(after[1]))
    ):
        return True
    near = [*before[-1:], *(after[:2] if after[:1] in (["on"], ["am"]) else after[:1])]
    return any(word.strip(",;:.") in PLURAL_WEEKDAYS for word in near)


def _is_in_clause(before: Sequence[str], _: Sequence[str], __: Sequence[str]) -> bool:
    """“find out who works on saturdays”, “der Bericht, der jeden Montag kommt”."""
    if not CLAUSES.isdisjoint(before[1:]):
        return True
    return any(word.endswith(",") and following in RELATIVE_PRONOUNS for word, following in pairwise(before))


def _drop_clock(words: Sequence[str]) -> Sequence[str]:
    """Return words without a time of day at their beginning."""
    text = " ".join(words)
    clock = CLOCK.match(text)
    return text[clock.end() :].split() if clock else words


_CHECKS: tuple[Callable[[Sequence[str], Sequence[str], Sequence[str]], bool], ...] = (
    _is_compared_or_denied, _is_part_of_longer, _is_limited, _has_second, _is_in_clause,
)  # fmt: skip
