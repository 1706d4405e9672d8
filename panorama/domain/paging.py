"""Pages of a list with a cursor, and results with a hint."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeGuard, TypeVar

from panorama.errors import InvalidInputError

T = TypeVar("T")

Key = tuple[Any, ...]
"""The sort values of a row; the next page begins after it, even if rows were written in between."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The requested part of a list: at most `limit` rows after the row with the sort values `after`.

    With `counts` False the total is not computed, because counting takes as long as reading the whole list.
    """

    limit: int = 50
    after: Key | None = None
    counts: bool = True

    def get_start_key(self, *types: type | tuple[type, ...]) -> Key | None:
        """Return the position after which the page begins, None for the start.

        Raises:
            InvalidInputError: The position does not have values of these types, so the cursor is invalid.
        """
        if self.after is None:
            return None
        if len(self.after) == len(types) and all(map(_is_of_type, self.after, types)):
            return self.after
        raise InvalidInputError("Invalid cursor.", hint="Pass next_cursor of the last answer, unchanged.")


def _is_of_type(value: object, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        return False
    fits = not isinstance(value, int) or -(1 << 63) <= value < 1 << 63  # what both databases store
    return isinstance(value, kind) and isinstance(value, bool) == (kind is bool) and fits


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a list; `keys` are the rows' sort values, `total` counts the whole list (None if that is not known).

    `hint` is a remark for the caller, `scope` names a default filter, and `index` says which kinds of search ran.
    """

    items: tuple[T, ...]
    keys: tuple[Key, ...]
    total: int | None
    more: bool
    hint: str = ""
    scope: str = ""
    index: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """A value and a hint for the caller; `wrote` False means that nothing had to be written."""

    value: T
    hint: str = ""
    wrote: bool = True


def is_page(value: object) -> TypeGuard[Page[Any]]:
    """Return whether a result is a page."""
    return isinstance(value, Page)


def is_result(value: object) -> TypeGuard[Result[Any]]:
    """Return whether a result has a hint."""
    return isinstance(value, Result)
