"""One item: the only place that makes sure that an item of any kind is of the one that is meant."""

from typing import Any

from panorama.sdk import _wire
from panorama.sdk._rows import Row
from panorama.sdk.errors import InvalidInputError

_LETTERS = {"project": "p", "task": "t", "note": "n", "link": "l", "reminder": "r", "journal": "j", "file": "f"}


def shown(kind: str, item: Any) -> Any:
    """Return the fields of one item of a kind.

    Raises:
        InvalidInputError: It is of another kind.
    """
    found: Row = _wire.call("items.get", item=item)
    if found.kind != kind:
        raise InvalidInputError(
            f"{item!r} is a {found.kind} ({found.item.id}), not a {kind}.", hint="sdk.items.get takes any kind."
        )
    return found.item


def removed(kind: str, item: Any, items: str = "", confirm: bool | None = None) -> Any:
    """Move one item of a kind to the trash.

    Raises:
        InvalidInputError: It is of another kind, or something belongs to it.
    """
    id_ = item.get("id") if isinstance(item, Row) else item
    is_meant = isinstance(id_, str) and id_.startswith(f"{_LETTERS[kind]}_")
    return _wire.call("items.delete", item=id_ if is_meant else shown(kind, item).id, items=items, confirm=confirm)
