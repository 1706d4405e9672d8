"""Rows: the only place that knows how what comes back can be read as `task.title` and as `task["title"]`."""

import difflib
from collections.abc import Mapping
from typing import Any, cast

from panorama.kinds import ITEM_KINDS

SHOWN_CHARS = 80
"""How much of a long value `print(row)` shows."""

SHORT_CHARS = 120
"""How long a row is at most that is shown whole in another."""

WITHIN_CHARS = 800
"""How much of a row without an id it shows that stands in another."""

MAX_SHOWN_ROWS = 3
"""How many rows it shows of a list in a row."""

KINDS = {kind.letter: kind.row for kind in ITEM_KINDS}
"""The first letter of an id, and what it stands for."""

NOUNS = {kind.row: kind.collection for kind in ITEM_KINDS}
"""The noun whose functions change a kind of row."""

FIELDS: Mapping[str, tuple[str, ...]] = {kind.letter: kind.fields for kind in ITEM_KINDS}
"""What the items of each kind have. Whole rows hold all of it, empty or not; hits, reviews and batches hold less."""

_SYNONYMS = {
    "due": "deadline", "due_date": "deadline", "due_at": "deadline", "name": "title", "title": "name",
    "body": "content", "text": "content", "description": "notes", "done": "status", "completed": "status",
    "state": "status", "start": "scheduled_at", "created": "created_at", "updated": "updated_at",
    "modified": "updated_at", "label": "title",
}  # fmt: skip
_TEXT_READERS = {("n", "content"): "sdk.notes.text(row)", ("f", "text"): "sdk.files.text(row)"}
"""What reads a long text whole; all else is a field of what `get` gives."""


_ACTIONS = {
    **dict.fromkeys(("save", "set", "edit"), "sdk.{noun}.update(row, …)"),
    **dict.fromkeys(("complete", "finish", "close", "mark_done"), 'sdk.{noun}.update(row, status="done")'),
    **dict.fromkeys(("delete", "remove", "trash"), "sdk.{noun}.delete(row)"),
    **dict.fromkeys(("to_dict", "as_dict", "asdict", "dict", "model_dump", "json"), "dict(row)"),
}
"""What rows cannot do themselves, and what does it."""


class NoFieldError(AttributeError, KeyError):
    """A row has no field of this name; the text names the nearest. It is found out only if somebody reads it."""

    def __init__(self, row: "Row", name: str) -> None:
        super().__init__(name)
        self._of = "search hit" if "snippet" in row else (_kind(row) or "row").lower()
        self._held = tuple(row)
        self._every = () if "label" in row else _all_fields(row)
        self._noun = NOUNS.get(_kind(row), "items")
        self._letter = str(row.get("id", ""))[:1]
        self._wanted = name

    def __str__(self) -> str:
        """Return what is missing, what reads it, and what is there."""
        has = f"It has {', '.join(map(str, self._held))}."
        if self._wanted in self._every:
            plain = f"sdk.{self._noun}.get(row).{self._wanted}"
            read = _TEXT_READERS.get((self._letter, self._wanted), plain)
            subject = self._of if self._of == "search hit" else f"row of a {self._of}"
            return f"This {subject} is without {self._wanted!r}: {read} reads it. {has}"
        if deed := _ACTIONS.get(self._wanted, ""):
            return f"This {self._of} has no {self._wanted!r}. Write {deed.format(noun=self._noun)}. {has}"
        known = dict.fromkeys((*self._held, *self._every))
        likely = [
            _SYNONYMS.get(self._wanted, ""),
            *difflib.get_close_matches(str(self._wanted), map(str, known), 2, 0.6),
        ]
        near = list(dict.fromkeys(name for name in likely if name in known))
        suggestion = f" Did you mean {' or '.join(near)}?" if near else ""
        return f"This {self._of} has no field {self._wanted!r}.{suggestion} {has}"


class Row(dict[str, Any]):
    """One thing that came back: a dict whose fields are attributes too.

    A row holds what came back and no more: a task without a deadline has deadline None, and a search hit, which came
    without one, says so. A row is a copy: names of one's own may be set, `row.late = True`; what came back cannot,
    since that would change nothing.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Return a field."""
        if name[:1] == "_":
            raise AttributeError(name)
        return self[name]

    def __missing__(self, name: str) -> Any:
        """Say what there is instead.

        Raises:
            NoFieldError: Always.
        """
        raise NoFieldError(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name of one's own.

        Raises:
            TypeError: The item has a field of this name.
        """
        if name in self or name in _all_fields(self):
            raise _copy_error(self, f"row.{name} = …", name)
        self[name] = value

    def update(self, *args: Any, **fields: Any) -> None:
        """Set entries of the copy, as dicts do.

        Raises:
            TypeError: A field of the item is given by name, as if that changed the item.
        """
        for name in fields:
            if name in _all_fields(self):
                raise _copy_error(self, f"row.update({name}=…)", name)
        super().update(*args, **fields)

    def __delattr__(self, name: str) -> None:
        """Remove a field."""
        if name not in self:
            raise NoFieldError(self, name)
        del self[name]

    def __repr__(self) -> str:
        """Return the fields that hold something, on one line; long values are cut."""
        fields = (f"{name}={_format_value(value)}" for name, value in self.items() if value not in (None, "", []))
        return f"{_kind(self) or 'Row'}({', '.join(fields)})"

    __str__ = __repr__

    def copy(self) -> "Row":
        """Return a row with the same fields."""
        return Row(self)


def _copy_error(row: Row, message: str, name: str) -> TypeError:
    noun = NOUNS.get(_kind(row), "items")
    return TypeError(
        f"A row is a copy: {message} changes nothing. Write sdk.{noun}.update(row, {name}=…), or "
        f"row[{name!r}] = … if only the copy is meant."
    )


def is_item(row: Mapping[str, Any]) -> bool:
    """Return whether fields are those of an item, by their id."""
    return bool(_kind(row))


def _kind(row: Mapping[str, Any]) -> str:
    """Return what kind of item a row is, "" if it is none."""
    id_ = row.get("id")
    return KINDS.get(id_[0], "") if isinstance(id_, str) and id_[1:2] == "_" else ""


def _all_fields(row: Row) -> tuple[str, ...]:
    """Return the fields that an item of a row's kind has."""
    return FIELDS[row["id"][0]] if _kind(row) else ()


def _format_value(value: object) -> str:
    """Return a field's value; rows in it show at least what they are, lists of rows the first few."""
    if isinstance(value, Row):
        return _format_inner_row(value)
    if isinstance(value, list) and (rows := cast("list[object]", value)) and isinstance(rows[0], Row):
        more = f", … {len(rows) - MAX_SHOWN_ROWS} more" if len(rows) > MAX_SHOWN_ROWS else ""
        return f"[{', '.join(map(_format_value, rows[:MAX_SHOWN_ROWS]))}{more}]"
    text = repr(cast("object", value))
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


def _format_inner_row(row: Row) -> str:
    """Return a row that stands in another: whole if it is short or has no id, else by what names it."""
    whole = repr(row)
    if len(whole) <= SHORT_CHARS:
        return whole
    if "id" not in row:
        return whole if len(whole) <= WITHIN_CHARS else f"{whole[: WITHIN_CHARS - 1]}…"
    names = [name for name in ("id", "title", "name", "label", "text") if row.get(name)]
    return f"{_kind(row) or 'Row'}({', '.join(f'{name}={_format_value(row[name])}' for name in names)}, …)"
