"""Finds one item, and checks that it is of the expected kind."""

from typing import Any

from panorama.kinds import BY_NAME
from panorama.sdk.core import wire
from panorama.sdk.core.rows import Row
from panorama.sdk.errors import InvalidInputError


def check_item(kind: str, item: Any, verb: str) -> None:
    """Check that an item is named at all.

    Raises:
        InvalidInputError: It is neither text nor a row with an id; the function that was called is named.
    """
    if isinstance(item, str) or (isinstance(item, Row) and isinstance(item.get("id"), str)):
        return
    called, type_name = f"sdk.{BY_NAME[kind].collection}.{verb}", type(item).__name__
    if item is None:
        type_name, hint = "None", "Empty fields are None: check first."
    elif type_name in ("list", "tuple", "set"):
        hint = f"Call it for each of them, as in sdk.parallel_map({called}, …)."
    else:
        hint = "Give one of these."
    raise InvalidInputError(f"{called} takes a {kind} by its id, its name or its row, not {type_name}.", hint=hint)


def get_item(kind: str, item: Any, verb: str = "get") -> Any:
    """Return the fields of one item of a kind.

    Raises:
        InvalidInputError: It is of another kind.
    """
    check_item(kind, item, verb)
    row: Row = wire.call("items.get", item=item)
    if row.kind != kind:
        raise InvalidInputError(
            f"{item!r} is a {row.kind} ({row.item.id}), not a {kind}.", hint="sdk.items.get takes any kind."
        )
    return row.item


def delete_item(kind: str, item: Any, items: str = "", confirm: bool | None = None) -> Any:
    """Move one item of a kind to the trash.

    Raises:
        InvalidInputError: It is of another kind, or something belongs to it.
    """
    id_ = item.get("id") if isinstance(item, Row) else item
    is_meant = isinstance(id_, str) and id_.startswith(f"{BY_NAME[kind].letter}_")
    resolved = id_ if is_meant else get_item(kind, item, "delete").id
    return wire.call("items.delete", item=resolved, items=items, confirm=confirm)
