"""Rows: the only place that knows how what comes back can be read as `task.title` and as `task["title"]`."""

import difflib
from collections.abc import Mapping
from typing import Any

SHOWN_CHARS = 80
"""How much of a long value `print(row)` shows."""

KINDS = {"t": "Task", "n": "Note", "p": "Project", "l": "Link", "r": "Reminder", "j": "Entry", "f": "File"}
"""The first letter of an id, and what it stands for."""

NOUNS = {
    "Task": "tasks", "Note": "notes", "Project": "projects", "Link": "links", "Reminder": "reminders",
    "Entry": "journal", "File": "files",
}  # fmt: skip
"""The noun whose functions change a kind of row."""

_NULLS = (
    "project", "deadline", "scheduled_at", "scheduled_minutes", "parent", "completed_at", "status_changed_at",
)  # fmt: skip
_NOTHING: dict[str, Mapping[str, object]] = {
    "t": {**dict.fromkeys(_NULLS), "urgent": False, "important": False, "recurrence": "", "tags": ()},
    "n": {"project": None, "pinned": False, "tags": (), "start": None, "end": None},
    "p": {"target_date": None, "favorite": False, "tags": ()},
    "l": {"project": None, "tags": ()},
    "r": {"snoozed_until": None, "item": None, "enabled": False, "recurrence": "", "acknowledged_at": None},
    "f": {"project": None, "tags": (), "chars": None, "start": None, "end": None, "text": None},
}
"""What a field of an item holds if the answer leaves it out: nulls are not sent, nor empty fields of brief rows."""

_MEANT = {
    "due": "deadline", "due_date": "deadline", "due_at": "deadline", "name": "title", "title": "name",
    "body": "content", "text": "content", "description": "notes", "done": "status", "completed": "status",
    "state": "status", "start": "scheduled_at", "created": "created_at", "updated": "updated_at",
    "modified": "updated_at", "label": "title",
}  # fmt: skip
_READ_ON = {"content": "Rows of a list are without it: sdk.notes.text(note) reads it."}


class NoFieldError(AttributeError, KeyError):
    """A row has no field of this name; the text names the nearest. It is found out only if somebody reads it."""

    def __init__(self, row: "Row", name: str) -> None:
        super().__init__(name)
        self._kind = _kind(row) or "row"
        self._fields = tuple(dict.fromkeys((*row, *_left_out(row))))
        self._wanted = name

    def __str__(self) -> str:
        """Return what is missing, and what is there."""
        near = [_MEANT.get(self._wanted, ""), *difflib.get_close_matches(str(self._wanted), self._fields, 2, 0.6)]
        known = list(dict.fromkeys(name for name in near if name in self._fields))
        meant = f" Did you mean {' or '.join(known)}?" if known else ""
        onward = _READ_ON.get(self._wanted, f"It has {', '.join(self._fields)}.")
        return f"This {self._kind.lower()} has no field {self._wanted!r}.{meant} {onward}"


class Row(dict[str, Any]):
    """One thing that came back: a dict whose fields are attributes too.

    A field that an item can have but has not, such as a task without a deadline, reads as None (lists as empty, flags
    as False), although the dict does not hold it. A row is a copy: names of one's own may be set, `row.late = True`;
    what came back cannot, since that would change nothing.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Return a field."""
        if name[:1] == "_":
            raise AttributeError(name)
        return self[name]

    def __missing__(self, name: str) -> Any:
        """Return what stands for a field that was left out.

        Raises:
            NoFieldError: Such an item has no field of this name.
        """
        nothing = _left_out(self)
        if name not in nothing:
            raise NoFieldError(self, name)
        value = nothing[name]
        return self.setdefault(name, []) if value == () else value

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name of one's own.

        Raises:
            TypeError: The item has a field of this name.
        """
        if name in self or name in _left_out(self):
            noun = NOUNS.get(_kind(self), "items")
            raise TypeError(
                f"A row is a copy: row.{name} = … changes nothing. Write sdk.{noun}.update(row, {name}=…), or "
                f"row[{name!r}] = … if only the copy is meant."
            )
        self[name] = value

    def __delattr__(self, name: str) -> None:
        """Remove a field."""
        if name not in self:
            raise NoFieldError(self, name)
        del self[name]

    def __repr__(self) -> str:
        """Return the fields that hold something, on one line; long values are cut."""
        fields = (f"{name}={_shown(value)}" for name, value in self.items() if value not in (None, "", []))
        return f"{_kind(self) or 'Row'}({', '.join(fields)})"

    __str__ = __repr__

    def copy(self) -> "Row":
        """Return a row with the same fields."""
        return Row(self)


def _kind(row: Row) -> str:
    """Return what kind of item a row is, "" if it is none."""
    id_ = row.get("id")
    return KINDS.get(id_[0], "") if isinstance(id_, str) and id_[1:2] == "_" else ""


def _left_out(row: Row) -> Mapping[str, object]:
    """Return what stands for the fields that a row of its kind may be without."""
    return _NOTHING.get(row["id"][0], {}) if _kind(row) else {}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"
