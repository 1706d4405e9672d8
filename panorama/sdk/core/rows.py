"""Rows: results whose fields can be read as `task.title` and as `task["title"]`."""

import difflib
from collections.abc import Mapping
from typing import Any, cast

from panorama.kinds import ITEM_KINDS

SHOWN_CHARS = 80
"""The maximum number of characters of a value in `print(row)`."""

SHORT_CHARS = 120
"""The maximum number of characters of a row that is shown whole inside another."""

WITHIN_CHARS = 800
"""The maximum number of characters of a row without an id inside another."""

MAX_SHOWN_ROWS = 3
"""The maximum number of rows of a list inside a row."""

KINDS = {kind.letter: kind.row for kind in ITEM_KINDS}
"""The kind for the first letter of an id."""

NOUNS = {kind.row: kind.collection for kind in ITEM_KINDS}
"""The noun with the functions for a kind of row."""

FIELDS: Mapping[str, tuple[str, ...]] = {kind.letter: kind.fields for kind in ITEM_KINDS}
"""The fields of each kind of item. Whole rows have all of them; hits, reviews and batches have fewer."""

_SYNONYMS = {
    "due": "deadline", "due_date": "deadline", "due_at": "deadline", "name": "title", "title": "name",
    "body": "content", "text": "content", "description": "notes", "done": "status", "completed": "status",
    "state": "status", "start": "scheduled_at", "created": "created_at", "updated": "updated_at",
    "modified": "updated_at", "label": "title",
}  # fmt: skip
_TEXT_READERS = {("n", "content"): "sdk.notes.text(row)", ("f", "text"): "sdk.files.text(row)"}
"""The functions that return a long text whole; other fields are in the result of `get`."""


_ACTIONS = {
    **dict.fromkeys(("save", "set", "edit"), "sdk.{noun}.update(row, …)"),
    **dict.fromkeys(("complete", "finish", "close", "mark_done"), 'sdk.{noun}.update(row, status="done")'),
    **dict.fromkeys(("delete", "remove", "trash"), "sdk.{noun}.delete(row)"),
    **dict.fromkeys(("to_dict", "as_dict", "asdict", "dict", "model_dump", "json"), "dict(row)"),
}
"""Methods that rows do not have, and the functions to call instead."""


class NoFieldError(AttributeError, KeyError):
    """A row has no field of this name; the text, built when it is read, suggests the nearest."""

    def __init__(self, row: "Row", name: str) -> None:
        super().__init__(name)
        self._of = "search hit" if "snippet" in row else (_kind(row) or "row").lower()
        self._held = tuple(row)
        self._every = () if "label" in row else _all_fields(row)
        self._noun = NOUNS.get(_kind(row), "items")
        self._letter = str(row.get("id", ""))[:1]
        self._wanted = name

    def __str__(self) -> str:
        """Return the missing field, the function that reads it, and the fields of the row."""
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
    """A result: a dict whose fields are also attributes.

    A task without a deadline has deadline None; a search hit does not have the field, and its error says so. A row is a
    copy: new attributes can be set, `row.late = True`; its fields cannot, since that would not change the item.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Return a field."""
        if name[:1] == "_":
            raise AttributeError(name)
        return self[name]

    def __missing__(self, name: str) -> Any:
        """Raise an error that suggests names.

        Raises:
            NoFieldError: Always.
        """
        raise NoFieldError(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a new attribute.

        Raises:
            TypeError: The item has a field of this name.
        """
        if name in self or name in _all_fields(self):
            raise _copy_error(self, f"row.{name} = …", name)
        self[name] = value

    def update(self, *args: Any, **fields: Any) -> None:
        """Set entries of the copy, as dicts do.

        Raises:
            TypeError: A field of the item is given, which would not change the item.
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
        """Return the fields that are not empty, on one line; long values are cut."""
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
    """Return the kind of item of a row, "" if it is not an item."""
    id_ = row.get("id")
    return KINDS.get(id_[0], "") if isinstance(id_, str) and id_[1:2] == "_" else ""


def _all_fields(row: Row) -> tuple[str, ...]:
    """Return the fields that an item of a row's kind has."""
    return FIELDS[row["id"][0]] if _kind(row) else ()


def _format_value(value: object) -> str:
    """Return a field's value as text; inner rows show at least their name, lists of rows the first few."""
    if isinstance(value, Row):
        return _format_inner_row(value)
    if isinstance(value, list) and (rows := cast("list[object]", value)) and isinstance(rows[0], Row):
        more = f", … {len(rows) - MAX_SHOWN_ROWS} more" if len(rows) > MAX_SHOWN_ROWS else ""
        return f"[{', '.join(map(_format_value, rows[:MAX_SHOWN_ROWS]))}{more}]"
    text = repr(cast("object", value))
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


def _format_inner_row(row: Row) -> str:
    """Return a row inside another as text: whole if it is short or has no id, else its name."""
    whole = repr(row)
    if len(whole) <= SHORT_CHARS:
        return whole
    if "id" not in row:
        return whole if len(whole) <= WITHIN_CHARS else f"{whole[: WITHIN_CHARS - 1]}…"
    names = [name for name in ("id", "title", "name", "label", "text") if row.get(name)]
    return f"{_kind(row) or 'Row'}({', '.join(f'{name}={_format_value(row[name])}' for name in names)}, …)"
