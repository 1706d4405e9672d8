"""Quick add: one line of words as the arguments of a new task."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.time.times import parse_deadline
from panorama.errors import InvalidInputError

_TAG = re.compile(r"(?<!\S)#([\w/-]{1,60})(?!\S)")
_PROJECT = re.compile(r"(?<!\S)@(\"[^\"]+\"|\S+)")
_MARK = re.compile(r"(?<!\S)(!!?)(?!\S)")
_DAY = re.compile(
    r"\+\d{1,3}d|\d{4}-\d\d-\d\d|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun"
    r"|heute|morgen|übermorgen|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d{1,2}(?::\d\d)?(?:am|pm)|\d{1,2}:\d\d", re.IGNORECASE)


def parse_task(line: str, projects: Mapping[str, str], *, now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """Return the arguments of a new task that a line means: `#tag @project !` or `!!`, and a day with a time.

    What is not understood stays in the title.

    Args:
        projects: The names of projects by their ids; the beginning of one name is enough if it is the only one.
    """
    fields: dict[str, Any] = {}
    if tags := _TAG.findall(line):
        fields["tags"], line = tags, _TAG.sub("", line)
    if marks := _MARK.findall(line):
        fields["urgent"], line = True, _MARK.sub("", line)
        if "!!" in marks:
            fields["important"] = True
    if (match := _PROJECT.search(line)) and (project := _find_project(match[1].strip('"'), projects)):
        fields["project"], line = project, line[: match.start()] + line[match.end() :]
    words = line.split()
    if (span := _find_day(words, now, zone)) and len(words) > span[1] - span[0]:
        start, end = span
        fields["deadline"] = " ".join(words[start:end])
        words = words[:start] + words[end:]
    return {"title": " ".join(words), **fields}


def _find_project(name: str, projects: Mapping[str, str]) -> str:
    same = [id_ for id_, known in projects.items() if known.casefold() == name.casefold()]
    near = [id_ for id_, known in projects.items() if known.casefold().startswith(name.casefold())]
    return same[0] if same else near[0] if len(near) == 1 else ""


def _find_day(words: list[str], now: datetime, zone: ZoneInfo) -> tuple[int, int] | None:
    """Return the range of words that name the last day of a line, with a time that follows it."""
    for start in reversed(range(len(words))):
        if _DAY.fullmatch(words[start]):
            end = start + 1
            if end < len(words) and _TIME.fullmatch(words[end]):
                end += 1
            try:
                parse_deadline(" ".join(words[start:end]), "deadline", now=now, zone=zone)
            except InvalidInputError:
                return None
            return start, end
    return None
