"""Previews the changes of a batch from its arguments, without running it."""

from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.item import KINDS, Item, Kind, kind_of
from panorama.domain.items.notes import Note
from panorama.domain.items.references import TOOL_REFERENCE, Reference
from panorama.domain.text.json_types import is_object
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError
from panorama.services import references
from panorama.services.history.change_excerpts import excerpt_pair
from panorama.services.items.batch import Batch, normalize_step
from panorama.services.items.notes import check_version
from panorama.services.views.batch_names import REFERENCE, StepNames, find_names, find_naming_step
from panorama.store.backend import Session
from panorama.store.items import rows

UNCHECKED = "This step depends on earlier ones and can only be checked when they run."

_TARGETS = (*KINDS, "item")
"""The arguments that name the item a step changes."""

_CREATING = ("create_", "add_", "log_")
_RESTORING = "restore_item"


def preview_steps(
    session: Session, operations: Sequence[Mapping[str, Any]], batch: Batch, zone: ZoneInfo
) -> tuple[Mapping[str, Any], ...]:
    """Return for each step its tool, the item that it changes, and each field's value now and then.

    A step that must fail has a `problem`: its tool cannot be called, no item has its id or name, or the note was
    changed meanwhile. Titles and names that earlier steps give to items of the kind are found, too. Where earlier steps
    may decide, but their arguments do not show how, the step has a `warning` instead. That an earlier step deletes an
    item or takes its name away is not seen.

    Args:
        zone: The user's time zone.

    Raises:
        InvalidInputError: A step has no tool.
    """
    preview = _Preview(session, batch, zone)
    return tuple(preview.add(normalize_step(step)) for step in operations)


class _Preview:
    """The steps so far, and the names that they give to items."""

    def __init__(self, session: Session, batch: Batch, zone: ZoneInfo) -> None:
        self._session = session
        self._batch = batch
        self._zone = zone
        self._plan: list[dict[str, Any]] = []
        self._names: list[StepNames] = []

    def add(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a step would do, given those before.

        Raises:
            InvalidInputError: The step has no tool.
        """
        number, arguments = len(self._plan), step["args"]
        if not isinstance(tool := step.get("tool"), str) or not is_object(arguments):
            raise InvalidInputError(
                f"Step {number} has no tool.", hint='Example: {"tool": "create_task", "args": {"title": "…"}}.'
            )
        shown: dict[str, Any] = {"step": number, "tool": tool} | self._describe(tool, dict(arguments))
        self._plan.append(shown)
        if problem := self._batch.find_problem(tool):
            shown["problem"] = problem
        if "problem" not in shown and not self._batch.only_reads((step,)):
            self._names.append(find_names(number, tool, arguments, shown.get("id", "")))
        return shown

    def _describe(self, tool: str, fields: dict[str, Any]) -> dict[str, Any]:
        target = _choose_target(tool, fields)
        if not target:
            return {"fields": _list_fields(fields, None)}
        text = str(fields.pop(target))
        unknown: dict[str, Any] = {"item": text, "fields": _list_fields(fields, None)}
        if match := REFERENCE.match(text):
            return unknown | {"item": f"result of step {match[1]}"}
        if text.startswith(TOOL_REFERENCE):
            return unknown
        reference = Reference(_get_kind(target), trash=tool == _RESTORING)
        try:
            item = self._load_item(reference, text, target)
        except NotFoundError as error:
            naming = find_naming_step(text, reference.kind, self._names)
            if naming is None:
                is_open = any(names.may_name(reference.kind) for names in self._names)
                return unknown | ({"warning": UNCHECKED} if is_open else {"problem": error.message})
            if not naming.item:
                return unknown | {"item": f"result of step {naming.step}"}
            item = rows.load(self._session, kind_of(naming.item) or "", naming.item)
        except ConflictError as error:  # several items have the name
            is_open = any(names.may_take_name(reference.kind) for names in self._names)
            return unknown | ({"warning": UNCHECKED} if is_open else {"problem": error.message})
        except PanoramaError as error:
            return unknown | {"problem": error.message}
        expected = fields.pop("expected_version", None)
        shown = {"item": item.label, "id": item.id, "fields": _list_fields(fields, item)}
        return shown | self._check_version(item, expected)

    def _load_item(self, reference: Reference, text: str, target: str) -> Item:
        id_ = references.resolve(self._session, reference, text, target, self._zone)
        item: Item = rows.load(self._session, kind_of(id_) or "", id_, trash=reference.trash)
        return item

    def _check_version(self, item: Item, expected: object) -> dict[str, Any]:
        """Return a problem or a warning if a step expects another version of a note than it has by then."""
        if not isinstance(item, Note) or not isinstance(expected, int):
            return {}
        writes = sum(step.get("id") == item.id for step in self._plan)
        if item.version < expected <= item.version + writes:
            return {}
        try:
            check_version(item, expected)
        except ConflictError as error:
            is_open = expected > item.version and any(names.may_change_notes() for names in self._names)
            return {"warning": UNCHECKED} if is_open else {"problem": error.message}
        return {}


def _choose_target(tool: str, fields: Mapping[str, Any]) -> str:
    """Return the argument that names the item a tool changes, "" if it creates one or names none."""
    names = [name for name in _TARGETS if fields.get(name) not in (None, "")]
    if not names or tool.startswith(_CREATING):
        return ""
    return next((name for name in names if name in tool), names[0])


def _get_kind(target: str) -> Kind | None:
    return next((kind for kind in KINDS if kind == target), None)


def _list_fields(arguments: Mapping[str, Any], item: Item | None) -> list[Mapping[str, Any]]:
    """Return the fields that a step sends; a null keeps a field, and is left out."""
    pairs = {
        name: excerpt_pair(getattr(item, name, None), value) for name, value in arguments.items() if value is not None
    }
    return [{"name": name, "now": now, "then": then} for name, (now, then) in pairs.items()]
