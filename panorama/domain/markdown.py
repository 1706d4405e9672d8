"""Markdown as people write it: the only module that knows how a text shows its title, tags, links and tasks."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from panorama.domain import front_matter
from panorama.domain.front_matter import dated
from panorama.domain.items import TITLE_CHARS, is_blank
from panorama.domain.markdown_lines import (
    KEPT,
    Heading,
    Line,
    distinct,
    first_heading,
    headings,
    lines,
    links,
    masked,
    one_line,
    tag_places,
    tags,
    tags_in,
    without_controls,
)
from panorama.domain.recurrence_phrases import rrule
from panorama.domain.times import FIRST, LAST

__all__ = ["Document", "Heading", "TaskLine", "headings", "parsed"]

TASK_TITLE_CHARS = 500

_TAB_COLUMNS = 4
_NEST_COLUMNS = 2  # one column deeper is a slip of the hand, in CommonMark too
_CUT = "\x01"  # a filler as KEPT is one: it stands for what was read and is not part of the title

# Possessive quantifiers (*+ and ++) keep the time linear on hostile text.
_INDENT = re.compile(r"[ \t]*+")
_TASK = re.compile(
    r"[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++\[([^\[\]])\][ \t]++(?=[\s\x00-\x1f\x7f-\x9f]*+.)(.*)", re.DOTALL
)
_UNCUT = re.compile(f"[^{_CUT}]++")

_STATUSES = {" ": "todo", "/": "in_progress", "x": "done", "X": "done", "-": "cancelled"}
_DATE_FIELDS = {
    **dict.fromkeys(("📅", "📆", "🗓", "due"), "deadline"),
    **dict.fromkeys(("⏳", "⌛", "scheduled"), "scheduled"),
    **dict.fromkeys(("🛫", "start"), "start"),
    **dict.fromkeys(("➕", "created"), "created"),
    **dict.fromkeys(("✅", "completion", "completed"), "completed"),
    **dict.fromkeys(("❌", "cancelled"), "cancelled"),
}
_DATE_FIELD = re.compile(
    r"""(?:([📅📆🗓⏳⌛🛫➕✅❌])\ufe0f? |
    (?:(\[)|(\())? (?<!\w)(due|scheduled|start|created|completion|completed|cancelled)::)
    [ \t]*+ ([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9]) (?(2)[ \t]*+\]) (?(3)[ \t]*+\))""",
    re.VERBOSE | re.IGNORECASE,
)
_PRIORITY = re.compile(r"[🔺⏫🔼🔽⏬]\ufe0f?")
_RECURRENCE = re.compile(rf"🔁\ufe0f?([^{KEPT}{_CUT}#^\[(📅📆🗓⏳⌛🛫➕✅❌🔁🆔⛔🏁]*+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One line with a checkbox, its fields read, and the lines that belong to it.

    `title` is one line of 1 to 500 characters; a longer one is cut and stands in full at the head of `notes`. Dates are
    ISO dates or "". `parent` is an index into the document's tasks, `line` counts from 1 in the original text.
    """

    title: str
    status: str
    deadline: str = ""
    scheduled: str = ""
    start: str = ""
    created: str = ""
    completed: str = ""
    cancelled: str = ""
    recurrence: str = ""
    urgent: bool = False
    important: bool = False
    tags: tuple[str, ...] = ()
    line: int = 0
    parent: int | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What one Markdown text says about itself; `body` is its text after the front matter, unchanged."""

    title: str
    body: str
    tags: tuple[str, ...]
    pinned: bool
    created: str
    project: str
    tasks: tuple[TaskLine, ...]
    links: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A task whose own line is found and whose notes are still being gathered."""

    index: int
    parent: int | None
    indent: int
    line: int
    mark: str
    text: str
    notes: list[str] = field(default_factory=list[str])


def parsed(text: str, *, name: str) -> Document:
    """Return what a Markdown text says; `name` is its title if it gives none itself.

    Never fails: what is not understood stays in the body, or in a task's title, and is told in `warnings`.
    A byte order mark at the start belongs to the file and is not part of the body.
    """
    front = front_matter.split(text.removeprefix("\ufeff"))
    found = tuple(lines(front.body, front.first_line))
    tasks, wrong_tasks = _tasks(found)
    return Document(
        title=_title(front.title, first_heading(found), name),
        body=front.body,
        tags=distinct((*front.tags, *tags(found))),
        pinned=front.pinned,
        created=front.created,
        project=front.project,
        tasks=tasks,
        links=links(found),
        warnings=(*front.warnings, *wrong_tasks),
    )


def _title(*candidates: str) -> str:
    cleaned = (one_line(candidate) for candidate in candidates)
    return next((title[:TITLE_CHARS].rstrip() for title in cleaned if title), "Untitled")


# Tasks


def _tasks(lines: Iterable[Line]) -> tuple[tuple[TaskLine, ...], list[str]]:
    warnings: list[str] = []
    return tuple(_task(draft, warnings) for draft in _drafts(lines)), warnings


def _drafts(lines: Iterable[Line]) -> list[_Draft]:
    """Return the tasks with the lines below them; a line belongs to the nearest task that it is indented under."""
    drafts: list[_Draft] = []
    above: list[_Draft] = []  # the tasks that the next line may stand under, outermost first
    for line in lines:
        if line.fence != "inside" and not line.text.isspace() and line.text:
            indent = _indent(line.text)
            while above and indent < above[-1].indent + _NEST_COLUMNS:
                above.pop()
            found = None if line.fence else _TASK.match(line.text)
            if found and not is_blank(found[2]):
                parent = above[-1].index if above else None
                draft = _Draft(
                    index=len(drafts), parent=parent, indent=indent, line=line.number, mark=found[1], text=found[2]
                )
                drafts.append(draft)
                above.append(draft)
                continue
        if above:
            above[-1].notes.append(line.text)
    return drafts


def _indent(line: str) -> int:
    blank = _INDENT.match(line)
    return len(blank[0].expandtabs(_TAB_COLUMNS)) if blank and blank[0] else 0


def _task(draft: _Draft, warnings: list[str]) -> TaskLine:
    text = without_controls(draft.text)
    rest = masked(text)
    found_tags = tags_in(rest) if "#" in rest else []
    rest, dates, wrong = _dates(rest)
    warnings += [f"line {draft.line}: {day} is not a date that exists ({FIRST.year} to {LAST.year})" for day in wrong]
    rest, priorities = _priorities(rest)
    rest, recurrence = _recurrence(rest)
    title = _task_title(text, rest)
    notes = _dedented(draft.notes)
    if len(title) > TASK_TITLE_CHARS:
        notes = f"{title}\n\n{notes}".rstrip()
        title = title[: TASK_TITLE_CHARS - 1].rstrip() + "…"
    return TaskLine(
        title=title,
        status=_STATUSES.get(draft.mark, "todo"),
        deadline=dates.get("deadline", ""),
        scheduled=dates.get("scheduled", ""),
        start=dates.get("start", ""),
        created=dates.get("created", ""),
        completed=dates.get("completed", ""),
        cancelled=dates.get("cancelled", ""),
        recurrence=recurrence,
        urgent="🔺" in priorities,
        important="🔺" in priorities or "⏫" in priorities,
        tags=distinct(found_tags),
        line=draft.line,
        parent=draft.parent,
        notes=notes,
    )


def _dates(rest: str) -> tuple[str, dict[str, str], list[str]]:
    """Cut the dates out; return the rest, the dates by field (the first of each), and those that do not exist."""
    dates: dict[str, str] = {}
    wrong: list[str] = []

    def cut(found: re.Match[str]) -> str:
        name, day = _DATE_FIELDS[(found[1] or found[4]).lower()], found[5]
        if not dated(day):
            wrong.append(day)
            return found[0]
        return found[0] if dates.setdefault(name, day) != day else _CUT * len(found[0])

    return _DATE_FIELD.sub(cut, rest), dates, wrong


def _priorities(rest: str) -> tuple[str, str]:
    marks = "".join(_PRIORITY.findall(rest))
    return (_PRIORITY.sub(_cut, rest) if marks else rest), marks


def _cut(found: re.Match[str]) -> str:
    return _CUT * len(found[0])


def _recurrence(rest: str) -> tuple[str, str]:
    """Cut the first phrase after 🔁 that is understood; return the rest and its rule, or ""."""
    for found in _RECURRENCE.finditer(rest):
        if rule := rrule(found[1]):
            return f"{rest[: found.start()]}{_cut(found)}{rest[found.end() :]}", rule
    return rest, ""


def _task_title(text: str, rest: str) -> str:
    """Return what is left of the text between the cuts and before the closing tags; all of it if that is nothing."""
    if "#" not in rest and _CUT not in rest:
        return one_line(text)
    end = len(rest)
    for tag, first, last in reversed(tag_places(rest)):
        if rest[last:end].strip(f"{_CUT} \t,") or not tag:
            break
        end = first
    kept = (text[part.start() : part.end()] for part in _UNCUT.finditer(rest, 0, end))
    return one_line(" ".join(kept)) or one_line(text)


def _dedented(lines: Sequence[str]) -> str:
    """Join the lines without the indentation that all of them share, and without blank lines around them."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return ""
    shared = min(_indent(line) for line in filled)
    dedented = (" " * (_indent(line) - shared) + line.lstrip(" \t") if line.strip() else "" for line in lines)
    return "\n".join(dedented).replace("\x00", "").strip("\n")
