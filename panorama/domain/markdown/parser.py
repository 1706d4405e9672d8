"""Parses Markdown as people write it: title, tags, links and tasks."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from panorama.domain.items.choices import RepeatFrom
from panorama.domain.items.item import TITLE_CHARS, is_blank
from panorama.domain.markdown import front_matter
from panorama.domain.markdown.front_matter import normalize_date
from panorama.domain.markdown.lines import (
    Heading,
    Line,
    collapse_whitespace,
    deduplicate,
    first_heading,
    iter_lines,
    iter_tags,
    list_file_targets,
    list_heading_titles,
    list_link_targets,
    mask_line,
    parse_headings,
    parse_tags,
    replace_controls,
)
from panorama.domain.markdown.task_fields import PRIORITIES, TaskFields, may_have_fields, parse_task_fields, split_rule
from panorama.domain.time.times import MAX_DATE, MIN_DATE

__all__ = [
    "Document",
    "Heading",
    "TaskDraft",
    "TaskLine",
    "build_task",
    "list_drafts",
    "list_heading_titles",
    "parse_headings",
    "parse_markdown",
]

TASK_TITLE_CHARS = 500

_TAB_COLUMNS = 4
_NEST_COLUMNS = 2  # CommonMark also tolerates one extra column

# Possessive quantifiers (*+ and ++) keep the time linear on hostile text.
_INDENT = re.compile(r"[ \t]*+")
_TASK = re.compile(
    r"[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++\[([^\[\]])\][ \t]++(?=[\s\x00-\x1f\x7f-\x9f]*+.)(.*)", re.DOTALL
)

_STATUSES = {" ": "todo", "/": "in_progress", "x": "done", "X": "done", "-": "cancelled"}
_QUOTE = re.compile(r"[ \t]*+(?:>[ \t]?)*+")

_DATES = {
    "due": "deadline", "scheduled": "scheduled", "start": "start", "created": "created", "completion": "completed",
    "cancelled": "cancelled",
}  # fmt: skip
TASK_TAG = "#task"
"""The usual global filter of the Tasks plug-in: it marks a checkbox as a task and is not part of the title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One line with a checkbox, its fields read, and the lines that belong to it.

    `title` is one line of 1 to 500 characters; a longer one is cut, and `notes` begins with it in full. Dates are ISO
    dates or "". `parent` is an index into the document's tasks, `line` counts from 1 in the original text. `anchor` is
    the task's own id in the file (🆔 or ^block). `unmapped` are values that a task has no field for, such as `Id:
    a1`.
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
    priority: int = 0
    repeat_from: RepeatFrom = "due"
    tags: tuple[str, ...] = ()
    line: int = 0
    parent: int | None = None
    notes: str = ""
    anchor: str = ""
    unmapped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One parsed Markdown text; `body` is its text after the front matter, unchanged.

    `file_targets` are links and embeds that may mean other files.
    `properties` are the fields of its front matter that notes do not have.
    `unmarked` counts checkboxes that are not tasks because they lack the global filter.
    """

    title: str
    body: str
    tags: tuple[str, ...]
    pinned: bool
    created: str
    modified: str
    project: str
    tasks: tuple[TaskLine, ...]
    links: tuple[str, ...]
    warnings: tuple[str, ...]
    unmarked: int = 0
    type: str = ""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    file_targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDraft:
    """A checkbox line and the lines below it, before its fields are read."""

    index: int
    parent: int | None
    indent: int
    quotes: int
    line: int
    mark: str
    text: str
    notes: list[str] = field(default_factory=list[str])


def parse_markdown(text: str, *, name: str, task_filter: str = "") -> Document:
    """Parse a Markdown text; `name` is used as its title if it has none.

    Never fails: text that is not understood stays in the body or in a task's title, with an entry in `warnings`.
    A byte order mark at the start belongs to the file and is not part of the body.

    Args:
        task_filter: The global filter of the Tasks plug-in: only checkboxes with this text are tasks.
    """
    front = front_matter.split(text.removeprefix("\ufeff"))
    lines = tuple(iter_lines(front.body, front.first_line))
    drafts, unmarked = _collect_drafts(lines, task_filter)
    wrong_tasks: list[str] = []
    tasks = tuple(build_task(draft, task_filter, wrong_tasks) for draft in drafts)
    return Document(
        title=_choose_title(front.title, first_heading(lines), name),
        body=front.body,
        tags=deduplicate((*front.tags, *iter_tags(lines))),
        pinned=front.pinned,
        created=front.created,
        modified=front.modified,
        project=front.project,
        tasks=tasks,
        links=list_link_targets(lines),
        warnings=(*front.warnings, *wrong_tasks),
        unmarked=unmarked,
        type=front.type,
        aliases=front.aliases,
        properties=front.properties,
        file_targets=list_file_targets(lines),
    )


def list_drafts(text: str) -> dict[int, TaskDraft]:
    """Return the checkbox lines of a Markdown text by their numbers; nothing else of it is read."""
    front = front_matter.split(text.removeprefix("\ufeff"))
    drafts, _ = _collect_drafts(iter_lines(front.body, front.first_line), "")
    return {draft.line: draft for draft in drafts}


def _choose_title(*candidates: str) -> str:
    cleaned = (collapse_whitespace(candidate) for candidate in candidates)
    return next((title[:TITLE_CHARS].rstrip() for title in cleaned if title), "Untitled")


# Tasks


def _collect_drafts(lines: Iterable[Line], task_filter: str) -> tuple[list[TaskDraft], int]:
    """Return the tasks with the lines below them, and the number of checkboxes without the filter.

    A line belongs to the nearest task that it is indented under.
    """
    drafts: list[TaskDraft] = []
    unmarked = 0
    above: list[TaskDraft] = []  # the tasks that may contain the next line, outermost first
    for line in lines:
        quote = _QUOTE.match(line.text)
        prefix = quote[0] if quote and ">" in quote[0] else ""
        quotes, text = prefix.count(">"), line.text[len(prefix) :]
        if line.fence != "inside" and not text.isspace() and text:
            outer, inner = _indent(line.text), _indent(text)
            while above and not _is_below(above[-1], quotes, outer, inner):
                above.pop()
            box = None if line.fence else _TASK.match(text)
            if box and not is_blank(box[2]) and task_filter not in box[2]:
                unmarked += 1
            elif box and not is_blank(box[2]):
                parent = above[-1].index if above else None
                draft = TaskDraft(
                    index=len(drafts), parent=parent, indent=inner if quotes else outer, quotes=quotes,
                    line=line.number, mark=box[1], text=box[2],
                )  # fmt: skip
                drafts.append(draft)
                above.append(draft)
                continue
        if above:
            above[-1].notes.append(text if above[-1].quotes else line.text)
    return drafts, unmarked


def _is_below(task: TaskDraft, quotes: int, outer: int, inner: int) -> bool:
    """Return whether a line is indented under a task; in a quote, columns after the markers count."""
    if task.quotes == quotes:
        return inner >= task.indent + _NEST_COLUMNS
    return not task.quotes and outer >= task.indent + _NEST_COLUMNS


def _indent(line: str) -> int:
    blank = _INDENT.match(line)
    return len(blank[0].expandtabs(_TAB_COLUMNS)) if blank and blank[0] else 0


def read_name(draft: TaskDraft) -> tuple[str, str]:
    """Return the title and the own id of a checkbox line, as `build_task` does in twice the time."""
    if not may_have_fields(draft.text):
        return _cut_title(collapse_whitespace(draft.text)), ""
    text = replace_controls(draft.text)
    masked = mask_line(text)
    fields = parse_task_fields(masked)
    return _cut_title(_task_title(text, masked, fields.end, "")), _read_anchor(fields)


def build_task(draft: TaskDraft, task_filter: str = "", warnings: list[str] | None = None) -> TaskLine:
    """Read the fields of a checkbox line; dates that do not exist are added to `warnings`."""
    text = replace_controls(draft.text)
    masked = mask_line(text)
    fields = parse_task_fields(masked)
    dates, unmapped = _read_dates(fields, draft.line, [] if warnings is None else warnings)
    rule, from_completion = split_rule(fields.values.get("repeat", ""))
    unmapped += _list_unmapped(fields, rule)
    priority = fields.values.get("priority", "")
    title = _task_title(text, masked, fields.end, task_filter)
    notes = _dedent(draft.notes)
    if len(title) > TASK_TITLE_CHARS:
        notes = f"{title}\n\n{notes}".rstrip()
        title = _cut_title(title)
    return TaskLine(
        title=title,
        status=_STATUSES.get(draft.mark, "todo"),
        **dates,
        recurrence=rule,
        urgent=priority == "highest",
        important=priority in ("highest", "high"),
        priority=PRIORITIES.get(priority, 0),
        repeat_from="done" if rule and from_completion else "due",
        tags=deduplicate(tag for tag in parse_tags(masked) if f"#{tag}" != task_filter) if "#" in masked else (),
        line=draft.line,
        parent=draft.parent,
        notes=notes,
        anchor=_read_anchor(fields),
        unmapped=tuple(unmapped),
    )


def _cut_title(title: str) -> str:
    return title if len(title) <= TASK_TITLE_CHARS else title[: TASK_TITLE_CHARS - 1].rstrip() + "…"


def _read_anchor(fields: TaskFields) -> str:
    return fields.values.get("id", "") or fields.block


def _read_dates(fields: TaskFields, line: int, warnings: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the dates by field name, and warnings for those that do not exist."""
    dates: dict[str, str] = {}
    wrong: list[str] = []
    for key, name in _DATES.items():
        day = fields.values.get(key, "")
        if day and normalize_date(day):
            dates[name] = day
        elif day:
            wrong.append(f"{key.capitalize()}: {day}")
            warnings.append(f"line {line}: {day} is not a date that exists ({MIN_DATE.year} to {MAX_DATE.year})")
    return dates, wrong


def _list_unmapped(fields: TaskFields, rule: str) -> list[str]:
    """Return the values that a task has no field for, as lines of its notes."""
    values, lines = fields.values, [f"{_LABELS[key]}: {value}" for key, value in fields.repeated]
    phrase = values.get("repeat", "")
    if phrase and not rule:
        lines.append(f"{_LABELS['repeat']}: {phrase}")
    if values.get("priority") == "lowest":  # it becomes low: there are four priorities
        lines.append(f"{_LABELS['priority']}: {values['priority']}")
    lines += [f"{_LABELS[key]}: {values[key]}" for key in ("id", "dependson", "oncompletion") if key in values]
    return [*lines, *([f"Block: ^{fields.block}"] if fields.block else [])]


_LABELS = {
    "due": "Due", "scheduled": "Scheduled", "start": "Start", "created": "Created", "completion": "Completed",
    "cancelled": "Cancelled", "repeat": "Repeats", "priority": "Priority", "id": "Id", "dependson": "Depends on",
    "oncompletion": "On completion",
}  # fmt: skip


def _task_title(text: str, masked: str, end: int, task_filter: str) -> str:
    """Return the text before the closing fields without the global filter, or all of it if that is empty."""
    title = text[:end]
    for word in filter(None, {task_filter, TASK_TAG}):
        if word in masked:
            title = re.sub(rf"(?<!\S){re.escape(word)}(?![\w/-])", " ", title)
    return collapse_whitespace(title) or collapse_whitespace(text)


def _dedent(lines: Sequence[str]) -> str:
    """Join the lines without the indentation that all of them share, and without blank lines around them."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return ""
    shared = min(_indent(line) for line in filled)
    dedented = (" " * (_indent(line) - shared) + line.lstrip(" \t") if line.strip() else "" for line in lines)
    return "\n".join(dedented).replace("\x00", "").strip("\n")
