"""Quick add: parses the fields of a new task from one line, in English and German.

It reads `#tag`, `@project`, `!high` and other priorities, `!` (urgent) and `!!` (important, too), a date or time, and
a repetition with “every”, “montags” or “on mondays”. Everything else, and every ambiguous word, stays in
the title: a wrong date costs more than none.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.markdown.quick_add.dates import find_date, find_kept_day, find_start
from panorama.domain.markdown.quick_add.repetition import UnclearRepetitionError, choose_deadline, find_repetition
from panorama.domain.markdown.quick_add.spans import clean_span, remove_span
from panorama.domain.markdown.task_fields import PRIORITIES

_TAG = re.compile(r"(?<!\S)#(?=[\w/-]*[^\W\d])([\w/-]{1,60})(?!\S)")
_PROJECT = re.compile(r"(?<!\S)@(\"[^\"]+\"|[^\s\"]+)(?!\S)")
_MARK = re.compile(r"(?<!\S)!(!|[^\W\d_]+)?(?!\S)")
_GERMAN_PRIORITIES = {"hoch": 3, "mittel": 2, "niedrig": 1}
_PRIORITIES: Mapping[str, int] = {**PRIORITIES, **_GERMAN_PRIORITIES}
_MARKS: Mapping[str, Mapping[str, Any]] = {
    "": {"urgent": True}, "!": {"urgent": True, "important": True},
    **{word: {"urgent": True} for word in ("urgent", "dringend")},
    **{word: {"important": True} for word in ("important", "wichtig")},
    **{word: {"priority": number} for word, number in _PRIORITIES.items()},
}  # fmt: skip


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
    try:
        words, times, taken_times = _take_times(words, names, now, zone, given)
    except UnclearRepetitionError:
        return QuickAdd(" ".join(words), fields, taken, has_kept_repetition=True)
    fields, taken = fields | times, taken | taken_times
    title = " ".join(words).rstrip(" ,;:-–")
    kept_day = "" if "deadline" in given or "deadline" in fields else find_kept_day(words, names)
    return QuickAdd(title, fields, taken, kept_day) if title else QuickAdd(line, {}, {})


def _take_times(
    words: list[str], names: Collection[str], now: datetime, zone: ZoneInfo, given: Collection[str]
) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return words without those for a repetition and a deadline, these fields, and the words for each of them.

    Raises:
        UnclearRepetitionError: The words say more about a repetition than is understood.
    """
    with_clock = "deadline" not in given
    repetition = None if "recurrence" in given else find_repetition(words, with_clock=with_clock)
    fields: dict[str, str] = {}
    taken: dict[str, str] = {}
    if repetition:
        fields["recurrence"], taken["recurrence"] = repetition.recurrence, " ".join(repetition.span)
        words = remove_span(words, repetition.span)
    if "deadline" in given:
        return words, fields, taken
    if repetition:
        words, span = find_start(words, names, now, zone)
        deadline = choose_deadline(repetition, clean_span(span), now, zone)
    else:
        span = find_date(words, names, now, zone, is_repeated=False)
        deadline = clean_span(span)
    fields |= {"deadline": deadline} if deadline else {}
    taken |= {"deadline": " ".join(span)} if span else {}
    return remove_span(words, span), fields, taken


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
