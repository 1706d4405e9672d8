"""Values for recorded changes, and the rules for undoing them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Self

from panorama.domain.items.item import FAVORITE_FIELDS, Item, Kind
from panorama.errors import InvalidInputError

Action = Literal["create", "update", "delete", "restore"]

SCRIPT_ACTOR = "script"
CLI_ACTOR = "cli"
"""The actor who is a person at a terminal."""

WEB_ACTOR = "web"
"""The actor who is a person at the web page."""

PERSON_ACTORS = (CLI_ACTOR, WEB_ACTOR)
"""The actors who are a person; what they do needs no approval by a person."""

SHARED_CONVERSATION = "s_"
"""The beginning of the id of a conversation that clients without a session share."""

SPLICE_MIN_CHARS = 4096
"""Changed texts of at least this many characters are stored as the part that changed."""

_BLOCK_CHARS = 1 << 16


MAX_UNIT_BYTES = 256 << 20
"""The maximum number of bytes that one batch or script run may store, in fields and file contents."""

MAX_ATOMIC_BYTES = 20 << 20
"""The maximum bytes of text that an atomic batch may load and write, so that other writes wait a quarter of a second.

The text of an item that a step reads or changes counts whole. Work that takes longer than its text counts more: the
constants named `…_WORK_BYTES` are how much text is loaded or written in the same time, 12 nanoseconds a byte.
"""

CHANGE_BYTES = 1_000
"""The bytes that a `WriteBudget` counts for each change besides its texts: rows and entries of indexes and logs."""

STORED_LINK_BYTES = 150
"""The bytes that a `WriteBudget` counts for each link besides its names: its row and entries of indexes."""

READ_LINK_WORK_BYTES = 1_000
"""The work of an atomic batch for each link that is read in a changed text, and compared with the stored ones."""

PASSED_WORK_BYTES = 100
"""The work of an atomic batch for each link or task line of a changed text that is passed over, because it stayed."""

LINK_WORK_BYTES = 1_500
"""The work of an atomic batch for each link that is stored, moved or removed."""

NAME_WORK_BYTES = 2_500
"""The work of an atomic batch for each further name of an item."""

LINE_WORK_BYTES = 1_000
"""The work of an atomic batch for each changed line of a note with task lines, and each task line that moved."""

TASK_LINE_WORK_BYTES = 50_000
"""The work of an atomic batch for each task that changes with its line."""


@dataclass(slots=True)
class WriteBudget:
    """The bytes that a batch or script run may still store, shared by all its calls."""

    left_bytes: int = MAX_UNIT_BYTES

    def spend(self, size_bytes: int) -> None:
        """Subtract bytes that are about to be stored.

        Raises:
            InvalidInputError: The budget is exceeded.
        """
        self.left_bytes -= size_bytes
        if self.left_bytes < 0:
            raise InvalidInputError(
                "The calls of this batch or script would together exceed the storage limit; this call changed nothing.",
                hint=f"A batch, or a script in a minute, stores at most {MAX_UNIT_BYTES >> 20} MB: split the work.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a write comes from: actor, client and call; `unit` groups what one undo reverts.

    `budget` limits the bytes stored; None means no limit.
    """

    actor: str
    client: str
    conversation: str
    operation: str
    call: str
    unit: str
    budget: WriteBudget | None = field(default=None, compare=False, repr=False)

    @property
    def is_shared(self) -> bool:
        """Whether several clients may write in this conversation."""
        return self.conversation.startswith(SHARED_CONVERSATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One item's fields before and after one write; `undoes` is the change it reverts."""

    id: int
    at: datetime
    actor: str
    client: str
    conversation: str
    operation: str
    call: str
    unit: str
    item: str
    kind: str
    action: Action
    version: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item's change as sent to subscribers: the action and the pages it affects.

    `fields` are the changed fields, `projects` the old and new project if any; `marked` is true if the item was or is
    a favourite project or a pinned note.
    """

    kind: Kind
    id: str
    action: Action
    fields: tuple[str, ...]
    projects: tuple[str, ...]
    marked: bool

    @classmethod
    def of(cls, action: Action, item: Item, before: Mapping[str, Any], after: Mapping[str, Any]) -> Self:
        """Return the item change of a change line, from the item as it is now and both sides of the line."""
        mark, now = FAVORITE_FIELDS.get(item.KIND, ""), getattr(item, "project", None)
        projects = tuple(dict.fromkeys(id_ for id_ in (before.get("project", now), now) if id_))
        marked = bool(mark) and bool(getattr(item, mark) or before.get(mark))
        return cls(item.KIND, item.id, action, tuple(after), projects, marked)


@dataclass(frozen=True, slots=True)
class Splice:
    """The range in which two texts differ: `removed` is at `at` in the first, `inserted` in the second."""

    at: int
    removed: str
    inserted: str


def compute_splice(old: str, new: str) -> Splice:
    """Return the range in which two texts differ."""
    head = _common_prefix_length(old, new, min(len(old), len(new)))
    limit = min(len(old), len(new)) - head
    tail = _common_suffix_length(old, new, limit)
    return Splice(head, old[head : len(old) - tail], new[head : len(new) - tail])


def find_changed_lines(old: str, new: str) -> tuple[int, int, int]:
    """Return where the lines in which two texts differ begin, and where they end in the first and in the second.

    Lines end with LF; the last one counts as if it ended with one, too, so that an end may be one beyond the text.
    """
    old, new = f"{old}\n", f"{new}\n"
    splice = compute_splice(old, new)
    start = old.rfind("\n", 0, splice.at) + 1
    end, changed_end = splice.at + len(splice.removed), splice.at + len(splice.inserted)
    if any(at > 0 and text[at - 1] != "\n" for text, at in ((old, end), (new, changed_end))):
        rest = old.find("\n", end) + 1 - end
        end, changed_end = end + rest, changed_end + rest
    return start, end, changed_end


def _common_prefix_length(old: str, new: str, limit: int) -> int:
    """Return the length of the common prefix: compares whole blocks, then bisects the block that differs."""
    at = 0
    while at + _BLOCK_CHARS <= limit and old[at : at + _BLOCK_CHARS] == new[at : at + _BLOCK_CHARS]:
        at += _BLOCK_CHARS
    low, high = at, min(at + _BLOCK_CHARS, limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _common_suffix_length(old: str, new: str, limit: int) -> int:
    """Return the length of the common suffix, at most `most`, in the same way."""

    def same(low: int, high: int) -> bool:
        return old[len(old) - high : len(old) - low] == new[len(new) - high : len(new) - low]

    at = 0
    while at + _BLOCK_CHARS <= limit and same(at, at + _BLOCK_CHARS):
        at += _BLOCK_CHARS
    low, high = at, min(at + _BLOCK_CHARS, limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(low, middle) else (low, middle - 1)
    return low


def digest(text: str) -> str:
    """Return the sha256 of a text in UTF-8, as 32 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def fields_not_undone(lines: Iterable[Change]) -> dict[int, frozenset[str]]:
    """Return for each change the fields that no later undo reverted.

    An undo that was itself undone reverts nothing. Undoing a creation reverts every field.
    """
    by_id = {line.id: line for line in lines}
    fields = {id_: frozenset(line.after) for id_, line in by_id.items()}
    for id_ in sorted(by_id, reverse=True):
        target = by_id.get(by_id[id_].undoes or 0)
        if target and fields[id_]:
            fields[target.id] = frozenset() if target.action == "create" else fields[target.id] - fields[id_]
    return fields


EffectiveChange = tuple[Change, frozenset[str]]
"""A change that still has an effect, and the fields it has it on."""


def effective_changes(lines: Sequence[Change]) -> list[EffectiveChange]:
    """Return the changes that still have an effect, each with the fields it has it on.

    A change and the undo that reverted it cancel out if both are among the lines.
    """
    known = {line.id for line in lines}
    fields = fields_not_undone(lines)
    return [(line, fields[line.id]) for line in lines if fields[line.id] and line.undoes not in known]


def overridden_by(line: Change, later: Iterable[EffectiveChange]) -> dict[str, Change]:
    """Return the fields of a change that a later one changed again, with the first such change.

    Undoing a creation touches every field.
    """
    results: dict[str, Change] = {}
    for other, fields in later:
        if other.id > line.id:
            for name in sorted(fields):
                if line.action == "create" or name in line.after:
                    results.setdefault(name, other)
    return results
