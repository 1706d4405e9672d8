"""Checkbox lines of notes that are tasks: follows them through edits, and writes a task's state into its line."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from difflib import SequenceMatcher

from panorama.domain.markdown.line_difference import LineDifference, compare_lines, split_lines
from panorama.domain.markdown.lines import mask_line, replace_controls
from panorama.domain.markdown.parser import TaskLine, build_task, list_drafts, read_name
from panorama.domain.markdown.task_fields import parse_task_fields
from panorama.domain.markdown.task_matching import MAX_EQUALS, TaskBox, match_tasks
from panorama.errors import InvalidInputError

MARKS = {"todo": " ", "idea": " ", "in_progress": "/", "done": "x", "cancelled": "-"}
"""The mark in the box of a task with a status."""

_SIGNS = {"done": "✅", "cancelled": "❌"}
_BOX = re.compile(r"([ \t>]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++\[)([^\[\]])(\][ \t]++)(.*)", re.DOTALL)
_CLOSING = re.compile(
    r"[ \t]*(?:[✅❌]\ufe0f?[ \t]*[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[\[(](?:completion|completed|cancelled)::[ \t]*[0-9]{4}-[0-9]{2}-[0-9]{2}[\])])"
)
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*\Z")
_OWN_ID = re.compile(r"[ \t]*🆔\ufe0f?[ \t]*[A-Za-z0-9_-]+")
_DUE = re.compile(r"((?:[📅📆🗓]\ufe0f?|\bdue::)[ \t]*)[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE_DUE = re.compile(rf"[ \t]*(?:\[{_DUE.pattern}[ \t]*\]|\({_DUE.pattern}[ \t]*\)|{_DUE.pattern})")
_LINE_BREAK = re.compile(r"\r\n|[\r\n]")


MAX_TEXT_LINES, MAX_TEXT_CHARS = 5_000, 500_000
"""The longest text whose lines are followed: an edit of any part of it takes up to a quarter of a second."""

MAX_TASKS = 250
"""The maximum number of lines of a note that are tasks: one edit may change them all in a single transaction."""


@dataclass(frozen=True, slots=True)
class LinePlace:
    """Where a task's line is: its number from 1, its words, and its own id (🆔 or ^block) if it has one.

    The number of a line that is gone is the last one it had, negative; its id or words find it if it comes back.
    """

    line: int
    title: str
    anchor: str

    @classmethod
    def of(cls, box: TaskLine) -> "LinePlace":
        """Return the place of a checkbox line."""
        return cls(box.line, box.title, box.anchor)


def can_follow(content: str) -> bool:
    """Return whether a text is short enough for its lines to be followed."""
    if len(content) > MAX_TEXT_CHARS:
        return False
    returns = content.count("\r") - content.count("\r\n") if "\r" in content else 0
    return content.count("\n") + returns < MAX_TEXT_LINES


def text_too_long_error(title: str) -> InvalidInputError:
    """Return the error for a note whose text is too long to have lines that are tasks."""
    return InvalidInputError(
        f"“{title}” is too long: a note whose checkboxes are tasks has at most {MAX_TEXT_LINES:,} lines and "
        f"{MAX_TEXT_CHARS:,} characters.",
        hint="Move a part of the text, or the checkboxes, into another note.",
    )


def read_line(line: str) -> TaskLine | None:
    """Return the fields of one line with a checkbox; None for any other."""
    return next((build_task(draft) for draft in list_drafts(line).values()), None)


# Following lines through an edit


def compare_texts(old: str, new: str) -> LineDifference | None:
    """Return the difference between two texts; None if the new one is too long to be followed."""
    return compare_lines(old if can_follow(old) else "", new) if can_follow(new) else None


def follow_lines(places: Mapping[str, LinePlace], difference: LineDifference | None) -> dict[str, LinePlace]:
    """Return the places of tasks in a changed text, given as its difference to the former one.

    A line is known by the difference between the texts, by its own id, its words, and their similarity. A line that
    was gone is known by its id or its words. In a text that is too long to be followed, all are gone.
    """
    if difference is None:
        return {task: _mark_gone(place) for task, place in places.items()}
    matched, drafts = _match_lines(difference), difference.list_drafts()
    found: dict[str, LinePlace] = {}
    lost: list[str] = []
    for task in sorted(places, key=lambda task: abs(places[task].line)):
        place = places[task]
        unchanged = difference.find_line(place.line)
        line = unchanged or matched.get(place.line)
        if line in drafts or (unchanged and difference.is_local):
            found[task] = place if place.line == line else replace(place, line=line)
        elif place.line > 0:
            lost.append(task)
    stayed = sorted(matched), sorted(matched.values())  # with the boxes that are no tasks
    changed = range(difference.above + 1, difference.above + len(difference.new) + 1)
    free = [
        LinePlace(line, *read_name(drafts[line]))
        for line in sorted(drafts.keys() & set(changed) - set(stayed[1]))
    ]  # fmt: skip
    pairs = match_tasks(
        [
            _to_task_box(places[task], difference.count_stayed(places[task].line, stayed[0], is_old=True))
            for task in lost
        ],
        [_to_task_box(place, difference.count_stayed(place.line, stayed[1], is_old=False)) for place in free],
    )
    found |= {lost[at]: free[new_at] for new_at, at in pairs.items()}
    return _find_returned(places, found, [place for at, place in enumerate(free) if at not in pairs])


def _to_task_box(place: LinePlace, gap: int) -> TaskBox:
    return TaskBox(title=place.title, anchor=place.anchor, gap=gap)


def _mark_gone(place: LinePlace) -> LinePlace:
    return replace(place, line=-abs(place.line)) if place.line > 0 else place


def _match_lines(difference: LineDifference) -> dict[int, int]:
    """Return the new numbers of changed lines that stayed in their place; marks and closing days may differ.

    Numbers count from 1. Blank lines are left out.
    """
    first = difference.above + 1
    old, new = (
        [(at, bare) for at, line in enumerate(lines, first) if (bare := _without_state(line))]
        for lines in (difference.old, difference.new)
    )
    matched: dict[int, int] = {}
    counts = Counter(bare for _, bare in old)
    if sum(counts[bare] for _, bare in new) <= MAX_EQUALS:
        matcher = SequenceMatcher(None, [bare for _, bare in old], [bare for _, bare in new], autojunk=False)
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                matched[old[block.a + step][0]] = new[block.b + step][0]
    return matched


def _without_state(line: str) -> str:
    """Return a line as it is compared: a box without its mark and the day it was closed; "" for a blank line."""
    box = _BOX.fullmatch(line)
    return f"{box[1]}{box[3]}{_CLOSING.sub('', box[4]).rstrip()}" if box else line.strip()


def _find_returned(
    places: Mapping[str, LinePlace], found: dict[str, LinePlace], free: list[LinePlace]
) -> dict[str, LinePlace]:
    """Return the places of all tasks: of found lines, of lines that are back, and of lines that are gone."""
    result = dict(found)
    by_name: dict[str, list[LinePlace]] = {}
    for place in free:
        by_name.setdefault(place.anchor or place.title, []).append(place)
    for task, place in sorted(places.items(), key=lambda entry: -entry[1].line):
        if task not in found and place.line <= 0 and (same := by_name.get(place.anchor or place.title)):
            result[task] = same.pop(0)
        if task not in result:
            result[task] = _mark_gone(place)
    return result


# Writing a task's state into its line


def write_status(content: str, number: int, status: str, day: date) -> str:
    """Return a text in which a line has the mark of a status; the rest of the line stays.

    Args:
        day: The day of closing; it is written if another line of the text has one.
    """
    closed = day if _CLOSING.search(content) else None
    return _change_line(content, number, lambda box: _write_mark(box, status, closed))


def _write_mark(box: re.Match[str], status: str, day: date | None) -> str:
    mark = MARKS[status]
    if box[2].lower() == mark:
        return box[0]
    block = _BLOCK_ID.search(box[4])  # a block id stays the last thing in its line
    end = block[0] if block else ""
    words = _CLOSING.sub("", box[4].removesuffix(end))
    sign = f" {_SIGNS[status]} {day.isoformat()}" if day and status in _SIGNS else ""
    return f"{box[1]}{mark}{box[3]}{words.rstrip() if sign else words}{sign}{end}"


def write_title(content: str, number: int, title: str) -> str:
    """Return a text in which a line has other words; its mark and its fields stay."""

    def rename(box: re.Match[str]) -> str:
        end = parse_task_fields(mask_line(replace_controls(box[4]))).end
        return f"{box[1]}{box[2]}{box[3]}{title}{box[4][end:]}"

    return _change_line(content, number, rename)


def write_due_day(content: str, number: int, day: date | None) -> str:
    """Return a text in which a line that says a due day says another one, or none."""

    def change(box: re.Match[str]) -> str:
        words = _DUE.sub(lambda due: f"{due[1]}{day}", box[4]) if day else _WHOLE_DUE.sub("", box[4])
        return f"{box[1]}{box[2]}{box[3]}{words}"

    return _change_line(content, number, change)


def insert_next(content: str, days: Mapping[int, date | None]) -> str:
    """Return a text with open copies of some lines above them: the next occurrences of recurring tasks.

    The copies have no ids, because ids are unique.

    Args:
        days: The due day of each copy, if it has one, by the number of its line.
    """
    ends = [match.span() for match in _LINE_BREAK.finditer(content)]
    line_break = content[slice(*ends[0])] if ends else "\n"
    starts = [0, *(end for _, end in ends)]
    parts: list[str] = []
    done = 0
    for number in sorted(days):
        start, end = starts[number - 1], ends[number - 1][0] if number <= len(ends) else len(content)
        if box := _BOX.fullmatch(content, start, end):
            parts += (content[done:start], _repeat_box(box, days[number]), line_break)
            done = start
    return "".join((*parts, content[done:]))


def _repeat_box(box: re.Match[str], day: date | None) -> str:
    """Return an open copy of a checkbox line without its ids and its closing day."""
    words = _OWN_ID.sub("", _CLOSING.sub("", _BLOCK_ID.sub("", box[4])))
    return f"{box[1]} {box[3]}{_DUE.sub(lambda due: f'{due[1]}{day}', words) if day else words}"


def _change_line(content: str, number: int, change: Callable[[re.Match[str]], str]) -> str:
    """Return a text with the checkbox line of a number changed; unchanged if that line has no box."""
    texts = split_lines(content)
    if number > len(texts) or not (box := _BOX.fullmatch(texts[number - 1])):
        return content
    if "\r" in content:
        breaks = list(_LINE_BREAK.finditer(content))
        start = breaks[number - 2].end() if number > 1 else 0
    else:
        start = sum(map(len, texts[: number - 1])) + number - 1
    return f"{content[:start]}{change(box)}{content[start + len(texts[number - 1]) :]}"
