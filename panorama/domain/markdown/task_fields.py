"""The fields of a task line, as the Obsidian Tasks plug-in documents them: emoji and Dataview fields at its end.

Source: publish.obsidian.md/tasks, "Reference": Task Formats, Priority, Recurring Tasks, On Completion, Task
Dependencies, Filters (global filter). The plug-in reads fields from the end of the line and stops at the first text
that is not a field; everything before that is the title.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from panorama.domain.markdown.lines import FILLER, locate_tags
from panorama.domain.time.recurrence_phrases import parse_phrase, split_completion

MAX_FIELDS = 40
_TAIL_CHARS = 400
"""The longest field that is read, which keeps the time linear in the length of the line."""

_EMOJI_KEYS = {
    **dict.fromkeys("📅📆🗓", "due"),
    **dict.fromkeys("⏳⌛", "scheduled"),
    "🛫": "start",
    "➕": "created",
    "✅": "completion",
    "❌": "cancelled",
    "🔁": "repeat",
    "🏁": "oncompletion",
    "🆔": "id",
    "⛔": "dependson",
}
_PRIORITY_NAMES = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}
PRIORITIES = {"highest": 4, "high": 3, "medium": 2, "low": 1, "lowest": 1}
"""The priority of a task by its name here."""

_KEYS = "due|scheduled|start|created|completion|completed|cancelled|repeat|priority|onCompletion|id|dependsOn"
_DATE_KEYS = ("due", "scheduled", "start", "created", "completion", "cancelled")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_IDS = r"[A-Za-z0-9_-]+(?:[ ]*,[ ]*[A-Za-z0-9_-]+)*"

_EMOJI_FIELD = re.compile(
    rf"""(?P<emoji>[📅📆🗓⏳⌛🛫➕✅❌])\ufe0f?[ \t]*(?P<date>{_DATE})\Z
    | (?P<repeat>🔁)\ufe0f?[ \t]*(?P<rule>[A-Za-z0-9, !]+)\Z
    | (?P<word>[🏁🆔⛔])\ufe0f?[ \t]*(?P<value>{_IDS})[ \t,]*\Z
    | (?P<priority>[🔺⏫🔼🔽⏬])\ufe0f?\Z""",
    re.VERBOSE,
)
_INLINE_FIELD = re.compile(
    rf"""(?:\[[ \t]*(?P<key>{_KEYS})::[ \t]*(?P<value>[^\[\]{FILLER}]*?)[ \t]*\]
    | \([ \t]*(?P<key2>{_KEYS})::[ \t]*(?P<value2>[^(){FILLER}]*?)[ \t]*\)
    | (?<![\w\[(])(?P<key3>due|scheduled|start|created|completion|completed|cancelled)::[ \t]*(?P<value3>{_DATE}))
    [ \t]*,?\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_BLOCK_LINK = re.compile(r"(?:\A|[ \t])\^([A-Za-z0-9-]+)\Z")
_CLOSING_TAG = re.compile(r"(?:\A|(?<=[ \t,]))#[^\s#,]+,?\Z")


_FIELD_MARK = re.compile(rf"[#^{''.join((*_EMOJI_KEYS, *_PRIORITY_NAMES))}]|::")


@dataclass(slots=True)
class TaskFields:
    """The fields at the end of a line: values by Dataview key in lower case, and the end of the title.

    `end` is the length of the title in the line; `block` is the block id without `^`.
    """

    end: int
    values: dict[str, str] = field(default_factory=dict[str, str])
    repeated: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    block: str = ""

    def add(self, key: str, value: str) -> None:
        """Add a field; the value nearest to the title is used, other values are recorded as repeated."""
        if key in self.values and self.values[key] != value:
            self.repeated.append((key, self.values[key]))
        self.values[key] = value


def may_have_fields(text: str) -> bool:
    """Return whether a line has a mark of a field, tag or block id; most lines have none."""
    return _FIELD_MARK.search(text) is not None


def parse_task_fields(masked: str) -> TaskFields:
    """Return the fields at the end of a line whose code, links and addresses are masked."""
    fields = TaskFields(_strip_end(masked, len(masked)))
    if block := _BLOCK_LINK.search(_tail(masked, fields.end)):
        fields.block = block[1]
        fields.end = _strip_end(masked, fields.end - len(block[0]))
    tags = {last for tag, _, last in locate_tags(masked) if tag} if "#" in masked else set[int]()
    for _ in range(MAX_FIELDS):
        length = _read_field(masked, fields, tags)
        if not length:
            break
        fields.end = _strip_end(masked, fields.end - length)
    return fields


def _read_field(masked: str, fields: TaskFields, tags: set[int]) -> int:
    """Read the last field; return its length, 0 if there is none."""
    tail = _tail(masked, fields.end)
    if tag := _CLOSING_TAG.search(tail):
        is_tag = fields.end - tag[0].endswith(",") in tags
        return len(tag[0]) if is_tag else 0
    if emoji := _EMOJI_FIELD.search(tail):
        fields.add(*_emoji_value(emoji))
        return len(emoji[0])
    if inline := _INLINE_FIELD.search(tail):
        key = (inline["key"] or inline["key2"] or inline["key3"]).lower()
        value = (inline["value"] or inline["value2"] or inline["value3"] or "").strip()
        key = "completion" if key == "completed" else key
        if not _is_valid(key, value):
            return 0
        fields.add(key, value.lower() if key == "priority" else value)
        return len(inline[0])
    return 0


def _emoji_value(match: re.Match[str]) -> tuple[str, str]:
    if match["priority"]:
        return "priority", _PRIORITY_NAMES[match["priority"]]
    key = _EMOJI_KEYS[match["emoji"] or match["repeat"] or match["word"]]
    return key, " ".join((match["date"] or match["rule"] or match["value"]).split())


def _is_valid(key: str, value: str) -> bool:
    """Return whether the plug-in accepts the value of a Dataview field."""
    if key in _DATE_KEYS:
        return re.fullmatch(_DATE, value) is not None
    if key == "priority":
        return value.lower() in PRIORITIES
    return re.fullmatch(r"[A-Za-z0-9, !]+" if key == "repeat" else _IDS, value) is not None


def _tail(text: str, end: int) -> str:
    return text[max(0, end - _TAIL_CHARS) : end]


def _strip_end(text: str, end: int) -> int:
    """Return the end of a text without the blanks before it."""
    while end and text[end - 1] in " \t":
        end -= 1
    return end


@lru_cache(256)
def split_rule(phrase: str) -> tuple[str, bool]:
    """Return the rule of a recurrence phrase ("" if not understood), and whether it counts from completion."""
    if not phrase:
        return "", False
    plain, from_completion = split_completion(phrase)
    return parse_phrase(plain), from_completion
