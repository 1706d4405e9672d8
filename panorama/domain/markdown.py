"""Markdown as people write it: the only module that knows how a text shows its title, tags, links and tasks."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple, cast

import yaml

from panorama.domain.items import TAG_CHARS, TITLE_CHARS, folded
from panorama.domain.recurrence_phrases import rrule
from panorama.domain.times import FIRST, LAST

FRONT_MATTER_CHARS = 65_536
TASK_TITLE_CHARS = 500

_DEEPEST_YAML = 20
_TAB_COLUMNS = 4
_NEST_COLUMNS = 2  # one column deeper is a slip of the hand, in CommonMark too

# Fillers keep every offset while a line is read; control characters are gone from it before.
_KEPT = "\x00"
_CUT = "\x01"

# libyaml is eight times faster; a build of PyYAML without it reads the same.
_Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
# The stubs leave these two untyped.
_events = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
_node = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]

# Possessive quantifiers (*+ and ++) keep the time linear on hostile text.
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n|[\r\n]|\Z)")
_FRONT_OPENING = re.compile(r"---[ \t]*+(?:\r\n|[\r\n])")
_FRONT_CLOSING = re.compile(r"[\r\n](?:---|\.\.\.)[ \t]*+(?:\r\n|[\r\n]|\Z)")
_FENCE = re.compile(r"[ \t]*+(>[> \t]*+)?(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*(`{3,}+(?=[^`]*+$)|~{3,}+)")
_HEADING = re.compile(r"\ufeff? {0,3}(#{1,6})(?![^ \t])(.*)", re.DOTALL)
_INDENT = re.compile(r"[ \t]*+")
_TASK = re.compile(
    r"[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++\[([^\[\]])\][ \t]++(?=[\s\x00-\x1f\x7f-\x9f]*+.)(.*)", re.DOTALL
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNCUT = re.compile(f"[^{_CUT}]++")
_TICKS = re.compile(r"`++")
_LINK = re.compile(r"\[\[([^\[\]|#]*+)(?:[|#][^\[\]]*+)?\]\]")
_OPAQUE = re.compile(r"\[\[[^\[\]]++\]\]|\]\([^()\s]*+|://\S*+")
# Letters as \w has them, and the marks that many scripts, and names from macOS, write after a letter.
_TAG_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u200d"
_TAG = re.compile(rf"(?<![\w#&/\\=%])(?<!=[\"'])#(?=\w)([\w\-/{_TAG_MARKS}]++)")

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
_RECURRENCE = re.compile(r"🔁\ufe0f?([^\x00\x01#^\[(📅📆🗓⏳⌛🛫➕✅❌🔁🆔⛔🏁]*+)")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ]\s*([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
    r"\s*([Zz]|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?)?"
)


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
class Heading:
    """A heading and its section, `text[start:end]`: up to the next heading of the same or a higher level."""

    level: int
    title: str
    start: int
    end: int


class _Line(NamedTuple):
    number: int
    start: int
    text: str
    fence: str  # "" outside fenced code, "opens", or "inside"; the closing line is inside


class _Front(NamedTuple):
    fields: dict[str, yaml.Node]
    body: str
    first_line: int = 1
    warnings: tuple[str, ...] = ()


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
    front = _front_matter(text.removeprefix("\ufeff"))
    lines = tuple(_lines(front.body, front.first_line))
    created, wrong_dates = _created(front.fields)
    tasks, wrong_tasks = _tasks(lines)
    title = _scalar(front.fields, "title")
    project = _scalar(front.fields, "project")
    linked = _LINK.fullmatch(project)
    return Document(
        title=_title(title, _first_heading(lines), name),
        body=front.body,
        tags=_distinct((*_front_tags(front.fields), *_inline_tags(lines))),
        pinned=_scalar(front.fields, "pinned").lower() in {"true", "yes", "on"},
        created=created,
        project=linked[1].strip() if linked else project,
        tasks=tasks,
        links=_links(lines),
        warnings=(*front.warnings, *_cut_title(title), *wrong_dates, *wrong_tasks),
    )


def headings(text: str) -> tuple[Heading, ...]:
    """Return the headings (`#` to `######`) outside fenced code, in their order, with the extent of their sections."""
    found = [(line.start, *heading) for line in _lines(text) if (heading := _heading(line))]
    ends: list[int] = []
    later: list[tuple[int, int]] = []  # (level, start) of the headings further down that can still end a section
    for start, level, _ in reversed(found):
        while later and later[-1][0] > level:
            later.pop()
        ends.append(later[-1][1] if later else len(text))
        later.append((level, start))
    return tuple(
        Heading(level=level, title=title, start=start, end=end)
        for (start, level, title), end in zip(found, reversed(ends), strict=True)
    )


def _lines(text: str, first: int = 1) -> Iterator[_Line]:
    """Yield the lines without their endings; only CR, LF and CRLF end a line, as in CommonMark."""
    mark, quoted = "", False
    for number, found in enumerate(_LINE.finditer(text), first):
        line = found[1]
        if mark and not (quoted and not line.lstrip().startswith(">")):
            yield _Line(number, found.start(), line, "inside")
            mark = "" if _closes(line, mark, quoted) else mark
            continue
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        mark, quoted = (fence[2], bool(fence[1])) if fence else ("", False)
        yield _Line(number, found.start(), line, "opens" if fence else "")


def _closes(line: str, mark: str, quoted: bool) -> bool:
    closing = line.lstrip(" \t>" if quoted else " \t").rstrip()
    return closing.startswith(mark) and not closing.strip(mark[0])


def _heading(line: _Line) -> tuple[int, str] | None:
    found = _HEADING.match(line.text) if "#" in line.text and not line.fence else None
    if not found:
        return None
    title = found[2].strip()
    unclosed = title.rstrip("#")
    return len(found[1]), _one_line(unclosed if not unclosed or unclosed[-1] in " \t" else title)


def _first_heading(lines: Iterable[_Line]) -> str:
    found = (_heading(line) for line in lines)
    return next((heading[1] for heading in found if heading and heading[0] == 1 and heading[1]), "")


def _title(*candidates: str) -> str:
    cleaned = (_one_line(candidate) for candidate in candidates)
    return next((title[:TITLE_CHARS].rstrip() for title in cleaned if title), "Untitled")


def _one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(folded(word), word)
    return tuple(first.values())


# Front matter


def _front_matter(text: str) -> _Front:
    """Split the front matter off; whatever is not a block of YAML fields stays in the body."""
    opening = _FRONT_OPENING.match(text)
    closing = _FRONT_CLOSING.search(text, opening.end() - 1) if opening else None
    if not opening or not closing:
        return _Front({}, text)
    source = text[opening.end() : closing.start() + 1]
    if len(source) > FRONT_MATTER_CHARS:
        return _Front({}, text, warnings=("line 1: the front matter is over 64 KB and stays in the text",))
    try:
        fields = _yaml_fields(source)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _Front({}, text, warnings=("line 1: the front matter is not YAML and stays in the text",))
    if fields is None:
        return _Front({}, text, warnings=("line 1: the front matter has no fields and stays in the text",))
    body = text[closing.end() :]
    return _Front(fields, body, 1 + len(re.findall(r"\r\n|[\r\n]", text[: closing.end()])))


def _yaml_fields(source: str) -> dict[str, yaml.Node] | None:
    """Return the top level's values as nodes, by key in lower case; None if there are no keys.

    Nodes, because building values is where bombs of aliases and merges go off, dates that do not exist raise, and a
    title of `1.10` turns into 1.1. The depth is checked on the flat stream of events first: libyaml's own recursion
    ends the whole process on 60,000 brackets.
    """
    depth = 0
    for event in _events(source, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST_YAML:
            raise yaml.YAMLError(f"nested deeper than {_DEEPEST_YAML}")
    root = _node(source, Loader=_Loader)
    if isinstance(root, yaml.MappingNode):
        return {key.value.lower(): value for key, value in root.value if isinstance(key, yaml.ScalarNode)}
    return None if source.strip() else {}


def _scalar(fields: dict[str, yaml.Node], key: str) -> str:
    return _text(fields[key]) if key in fields else ""


def _text(node: yaml.Node) -> str:
    """Return a scalar as it was written, on one line; nulls, lists and mappings are ""."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        return ""
    return _one_line(node.value)


def _front_tags(fields: dict[str, yaml.Node]) -> list[str]:
    """Return the tags of `tags` and `tag`: a list, or one text divided by commas or spaces."""
    words: list[str] = []
    for node in (fields[key] for key in ("tags", "tag") if key in fields):
        if isinstance(node, yaml.SequenceNode):
            words += [_text(item) for item in node.value]
        else:
            words += _text(node).split("," if "," in _text(node) else None)
    cleaned = (word.strip(" '\"").lstrip("#").strip() for word in words)
    return [tag for tag in cleaned if 0 < len(tag) <= TAG_CHARS]


def _created(fields: dict[str, yaml.Node]) -> tuple[str, list[str]]:
    """Return the first of `created` and `date` that is a date, in ISO form, and a warning for each that is not."""
    warnings: list[str] = []
    for key in ("created", "date"):
        written = _scalar(fields, key)
        moment = _moment(written)
        if moment:
            return moment, warnings
        if written:
            warnings.append(f"front matter: {key} “{written[:40]}” is not a date")
    return "", warnings


def _moment(written: str) -> str:
    """Return a date or date-time in ISO form, "" if it is none that exists and the product can hold."""
    found = _MOMENT.fullmatch(written)
    try:
        if not found or not FIRST <= date.fromisoformat(found[1]) <= LAST:
            return ""
        if not found[2]:
            return found[1]
        return datetime.fromisoformat(f"{found[1]}T{found[2]}{(found[3] or '').upper()}").isoformat()
    except ValueError:
        return ""


def _cut_title(title: str) -> list[str]:
    return [f"front matter: the title was cut to {TITLE_CHARS} characters"] if len(title) > TITLE_CHARS else []


# Tags and links


def _inline_tags(lines: Iterable[_Line]) -> Iterator[str]:
    for line in lines:
        if "#" in line.text and not line.fence:
            yield from _tags(_masked(line.text))


def _tags(masked: str) -> list[str]:
    return [tag for found in _TAG.finditer(masked) if (tag := _tag(found))]


def _tag(found: re.Match[str]) -> str:
    tag = found[1].rstrip("-/")
    return "" if tag.isnumeric() or len(tag) > TAG_CHARS else tag


def _links(lines: Iterable[_Line]) -> tuple[str, ...]:
    plain = (_without_code(line.text) for line in lines if "[[" in line.text and not line.fence)
    # A backslash at the end is the table's way to write the bar: [[Target\|label]].
    targets = (_one_line(found[1].rstrip("\\")) for line in plain for found in _LINK.finditer(line))
    return tuple(dict.fromkeys(target for target in targets if target))


def _masked(line: str) -> str:
    """Return the line with code spans, wikilinks and addresses filled up, so that nothing is found in them."""
    return _OPAQUE.sub(_kept, _without_code(line))


def _kept(found: re.Match[str]) -> str:
    return _KEPT * len(found[0])


def _without_code(line: str) -> str:
    """Return the line with its code spans filled up; a span lies between two equal runs of backticks."""
    if "`" not in line:
        return line
    parts: list[str] = []
    done = 0
    for start, end in _code_spans(line):
        parts += (line[done:start], _KEPT * (end - start))
        done = end
    return "".join((*parts, line[done:]))


def _code_spans(line: str) -> Iterator[tuple[int, int]]:
    runs = [found.span() for found in _TICKS.finditer(line)]
    nearest: dict[int, int] = {}
    closers: list[int] = []  # for each run, the end of the next one of the same length, or 0; built from the back
    for start, end in reversed(runs):
        closers.append(nearest.get(end - start, 0))
        nearest[end - start] = end
    done = 0
    for (start, _), closer in zip(runs, reversed(closers), strict=True):
        if start >= done and closer:
            yield start, closer
            done = closer


# Tasks


def _tasks(lines: Iterable[_Line]) -> tuple[tuple[TaskLine, ...], list[str]]:
    warnings: list[str] = []
    return tuple(_task(draft, warnings) for draft in _drafts(lines)), warnings


def _drafts(lines: Iterable[_Line]) -> list[_Draft]:
    """Return the tasks with the lines below them; a line belongs to the nearest task that it is indented under."""
    drafts: list[_Draft] = []
    above: list[_Draft] = []  # the tasks that the next line may stand under, outermost first
    for line in lines:
        if line.fence != "inside" and not line.text.isspace() and line.text:
            indent = _indent(line.text)
            while above and indent < above[-1].indent + _NEST_COLUMNS:
                above.pop()
            found = None if line.fence else _TASK.match(line.text)
            if found:
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
    text = _CONTROL.sub(" ", draft.text)
    masked = _masked(text)
    tags = _tags(masked) if "#" in masked else []
    masked, dates, wrong = _dates(masked)
    warnings += [f"line {draft.line}: {day} is not a date that exists ({FIRST.year} to {LAST.year})" for day in wrong]
    masked, priorities = _priorities(masked)
    masked, recurrence = _recurrence(masked)
    title = _task_title(text, masked)
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
        tags=_distinct(tags),
        line=draft.line,
        parent=draft.parent,
        notes=notes,
    )


def _dates(masked: str) -> tuple[str, dict[str, str], list[str]]:
    """Cut the dates out; return the rest, the dates by field (the first of each), and those that do not exist."""
    dates: dict[str, str] = {}
    wrong: list[str] = []

    def cut(found: re.Match[str]) -> str:
        name, day = _DATE_FIELDS[(found[1] or found[4]).lower()], found[5]
        if not _moment(day):
            wrong.append(day)
            return found[0]
        return found[0] if dates.setdefault(name, day) != day else _CUT * len(found[0])

    return _DATE_FIELD.sub(cut, masked), dates, wrong


def _priorities(masked: str) -> tuple[str, str]:
    marks = "".join(_PRIORITY.findall(masked))
    return (_PRIORITY.sub(_cut, masked) if marks else masked), marks


def _cut(found: re.Match[str]) -> str:
    return _CUT * len(found[0])


def _recurrence(masked: str) -> tuple[str, str]:
    """Cut the first phrase after 🔁 that is understood; return the rest and its rule, or ""."""
    for found in _RECURRENCE.finditer(masked):
        if rule := rrule(found[1]):
            return f"{masked[: found.start()]}{_cut(found)}{masked[found.end() :]}", rule
    return masked, ""


def _task_title(text: str, masked: str) -> str:
    """Return what is left of the text between the cuts and before the closing tags; all of it if that is nothing."""
    if "#" not in masked and _CUT not in masked:
        return _one_line(text)
    end = len(masked)
    for tag in reversed(list(_TAG.finditer(masked))):
        if masked[tag.end() : end].strip(f"{_CUT} \t,") or not _tag(tag):
            break
        end = tag.start()
    kept = (text[part.start() : part.end()] for part in _UNCUT.finditer(masked, 0, end))
    return _one_line(" ".join(kept)) or _one_line(text)


def _dedented(lines: Sequence[str]) -> str:
    """Join the lines without the indentation that all of them share, and without blank lines around them."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return ""
    shared = min(_indent(line) for line in filled)
    dedented = (" " * (_indent(line) - shared) + line.lstrip(" \t") if line.strip() else "" for line in lines)
    return "\n".join(dedented).replace("\x00", "").strip("\n")
