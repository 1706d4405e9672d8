"""Previews the changes of a batch from its arguments, without running it."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.item import KINDS, Item, kind_of, normalize_name
from panorama.domain.items.notes import Note
from panorama.domain.items.references import Reference
from panorama.domain.text.json_types import is_object
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError
from panorama.services import references
from panorama.services.history.change_excerpts import excerpt_pair
from panorama.services.items.batch import normalize_step
from panorama.services.items.notes import check_version
from panorama.store.backend import Session
from panorama.store.items import rows

_NO_ZONE = ZoneInfo("UTC")
"""Candidates, which have days, are not shown."""

_REFERENCE = re.compile(r"\$(\d{1,3})\b")
_TARGETS = (*KINDS, "item")
"""The arguments that name the item a step changes."""

_CREATING = ("create_", "add_", "log_")
_NAMES = ("title", "name", "full_name")
"""The arguments that name what a step creates."""


def preview_steps(
    session: Session, operations: Sequence[Mapping[str, Any]], find_problem: Callable[[str], str]
) -> tuple[Mapping[str, Any], ...]:
    """Return for each step its tool, the item that it changes, and each field's value now and then.

    A step whose tool cannot be called, or whose item is not found or was changed meanwhile has a `problem`. What
    earlier steps create and change is taken into account.

    Args:
        find_problem: Returns why a tool cannot be a step, "" if it can.

    Raises:
        InvalidInputError: A step has no tool.
    """
    plan: list[dict[str, Any]] = []
    for number, step in enumerate(operations):
        plan.append(_preview_step(session, number, normalize_step(step), plan))
    problems = [find_problem(shown["tool"]) for shown in plan]
    return tuple(
        shown | {"problem": problem} if problem else shown for shown, problem in zip(plan, problems, strict=True)
    )


def _preview_step(
    session: Session, number: int, step: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    arguments = step["args"]
    if not isinstance(tool := step.get("tool"), str) or not is_object(arguments):
        raise InvalidInputError(
            f"Step {number} has no tool.", hint='Example: {"tool": "create_task", "args": {"title": "…"}}.'
        )
    fields = dict(arguments)
    target = _choose_target(tool, fields)
    if not target:
        return {"step": number, "tool": tool, "fields": _list_fields(fields, None)}
    text = str(fields.pop(target))
    unknown: dict[str, Any] = {"step": number, "tool": tool, "item": text, "fields": _list_fields(fields, None)}
    if match := _REFERENCE.match(text):
        return unknown | {"item": f"result of step {match[1]}"}
    try:
        item = _load_item(session, target, text)
    except PanoramaError as error:
        created = _find_creation(text, earlier) if isinstance(error, NotFoundError) else None
        return unknown | ({"problem": error.message} if created is None else {"item": f"result of step {created}"})
    expected = fields.pop("expected_version", None)
    shown = {"step": number, "tool": tool, "item": item.label, "id": item.id, "fields": _list_fields(fields, item)}
    try:
        writes = sum(step.get("id") == item.id for step in earlier)
        is_later = isinstance(expected, int) and item.version < expected <= item.version + writes
        if isinstance(item, Note) and isinstance(expected, int) and not is_later:
            check_version(item, expected)
    except ConflictError as error:
        return shown | {"problem": error.message}
    return shown


def _find_creation(text: str, earlier: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the number of the step that creates an item of a title or name, None if there is none."""
    names = {
        normalize_name(field["then"]): step["step"]
        for step in earlier
        if step["tool"].startswith(_CREATING)
        for field in step["fields"]
        if field["name"] in _NAMES and isinstance(field["then"], str)
    }
    return names.get(normalize_name(text))


def _choose_target(tool: str, fields: Mapping[str, Any]) -> str:
    """Return the argument that names the item a tool changes, "" if it creates one or names none."""
    names = [name for name in _TARGETS if name in fields]
    if not names or tool.startswith(_CREATING):
        return ""
    return next((name for name in names if name in tool), names[0])


def _load_item(session: Session, target: str, text: str) -> Item:
    kind: Any = None if target == "item" else target
    id_ = references.resolve(session, Reference(kind), text, target, _NO_ZONE)
    item: Item = rows.load(session, kind_of(id_) or "", id_)
    return item


def _list_fields(arguments: Mapping[str, Any], item: Item | None) -> list[Mapping[str, Any]]:
    """Return the fields that a step sends; a null keeps a field, and is left out."""
    pairs = {
        name: excerpt_pair(getattr(item, name, None), value) for name, value in arguments.items() if value is not None
    }
    return [{"name": name, "now": now, "then": then} for name, (now, then) in pairs.items()]
