"""Undo steps of a unit: planned from the log, then applied field by field."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panorama.domain.changes import Change, EffectiveChange, effective_changes, fields_not_undone, overridden_by
from panorama.domain.items.item import Item
from panorama.domain.items.session_lines import parse_range
from panorama.domain.text.json_types import is_object
from panorama.domain.text.wording import pluralize
from panorama.services.graph.task_lines import TaskLines
from panorama.services.items.any_item import field_conflict
from panorama.services.jobs.portions import MAX_BATCH
from panorama.store.backend import Session
from panorama.store.column_types import decode_value
from panorama.store.items import listing, projects, rows, tasks
from panorama.store.items.rows import ItemUpdate
from panorama.store.log import changes
from panorama.store.sessions import set_ranges


@dataclass(frozen=True, slots=True)
class UndoStep:
    """A change to undo: the fields that are `left`, and those that a later change is `over`."""

    change: Change
    left: tuple[str, ...]
    over: Mapping[str, Change]

    @classmethod
    def of(cls, line: Change, fields: frozenset[str], newer: Mapping[str, Change]) -> "UndoStep":
        """Return the step for the fields of a change that are not undone yet; a creation is undone as a whole or not.

        Args:
            newer: The fields that a later change set again, with the first such change.
        """
        whole = line.action == "create"
        over = {name: other for name, other in newer.items() if whole or name in fields}
        left = tuple(name for name in line.after if name in fields and name not in over)
        return cls(line, () if whole and over else left, over)

    @property
    def conflicts(self) -> list[Mapping[str, Any]]:
        """The conflict as it is reported."""
        return [
            _describe_conflict(self.change, name, f"{name} was changed by {other.operation} ({other.unit})")
            for name, other in self.over.items()
        ]


def plan_steps(session: Session, lines: Sequence[Change], unit: Set[int] = frozenset()) -> list[UndoStep]:
    """Return the steps that undo lines of a unit, the last first.

    Changes that a unit undid itself, as a failed run does, are skipped. The undo of another change of the same unit is
    no conflict, so that a cancelled undo can resume.

    Args:
        unit: The numbers of all lines of the unit; those of `lines` if left out.
    """
    unit = unit or {line.id for line in lines}
    known = changes.list_by_items(session, sorted({line.item for line in lines}), since=min(unit))
    open_fields, to_and_fro = fields_not_undone(known), _find_self_reversals(unit, known)
    unit_lines = unit | to_and_fro
    later: dict[str, list[EffectiveChange]] = {}
    for line, fields in effective_changes(known):
        if line.id not in unit_lines:
            later.setdefault(line.item, []).append((line, fields))
    return [
        UndoStep.of(line, open_fields[line.id], overridden_by(line, later.get(line.item, ())))
        for line in sorted(lines, key=lambda line: line.id, reverse=True)
        if open_fields[line.id] and line.id not in to_and_fro
    ]


def _find_self_reversals(unit: Set[int], known: Sequence[Change]) -> set[int]:
    """Return the lines by which a unit undid its own changes, and those that undid these, and so on."""
    reversals: set[int] = set()
    for line in sorted(known, key=lambda line: line.id):
        if line.undoes in reversals or (line.id in unit and line.undoes in unit):
            reversals.add(line.id)
    return reversals


def measure_changes(session: Session, lines: Sequence[Change]) -> dict[int, int]:
    """Return, by line, how many characters its item has now and the change put into it or took out."""
    sizes = listing.measure_texts(session, list({line.item for line in lines}))
    return {line.id: sizes.get(line.item, 0) + _count_chars(line) for line in lines}


def _count_chars(line: Change) -> int:
    sides = (*line.before.values(), *line.after.values())
    return sum(int(side.get("chars", 0)) for side in sides if is_object(side) and side.get(changes.PART))


def find_trash_conflicts(session: Session, steps: Sequence[UndoStep]) -> list[Mapping[str, Any]]:
    """Return the created items that cannot be trashed, because other items would remain in or under them."""
    leaving = {name: {step.change.item for step in steps if _leaves(step, name)} for name in ("project", "parent")}
    conflicts: list[Mapping[str, Any]] = []
    for step in steps:
        line = step.change
        if step.left and line.action == "create" and line.kind in _TRASH_PHRASES:
            name = _TRASH_PHRASES[line.kind][0]
            if count := len(set(_list_inside(session, line)) - leaving[name]):
                conflicts.append(_describe_conflict(line, "deleted_at", _describe_inside(line.kind, count)))
    return conflicts


_TRASH_PHRASES = {
    "project": ("project", "item belongs to it", "items belong to it"),
    "task": ("parent", "subtask is under it", "subtasks are under it"),
}
"""The field by which items are in or under one of a kind, and the words for one and for several."""


def _describe_inside(kind: str, count: int) -> str:
    return f"{pluralize(count, *_TRASH_PHRASES[kind][1:])} now"


def _leaves(step: UndoStep, name: str) -> bool:
    return bool(step.left) and (step.change.action == "create" or name in step.left)


def _list_inside(session: Session, line: Change) -> list[str]:
    if line.kind == "project":
        return [item for _, item in projects.list_items(session, line.item)]
    return tasks.list_children(session, line.item)


_TIES = {"project": "project", "parent": "task", "manager": "person"}
"""The fields that name another item, and its kind."""

_WITH_UNIQUE_NAMES = frozenset({"project", "team"})


class UndoOperation:
    """Undoes changes field by field inside the open transaction.

    Conflicting changes are collected in `conflicts` and skipped; the caller may roll back. Changes of different items
    wait until they are written together.
    """

    def __init__(self, session: Session, now: datetime, lines: TaskLines) -> None:
        self._session = session
        self._now = now
        self._items: dict[str, Any] = {}
        self._waiting: dict[str, ItemUpdate] = {}
        self._lines = lines
        self.done: list[Change] = []
        self.conflicts: list[Mapping[str, Any]] = []

    def apply(self, steps: Sequence[UndoStep]) -> None:
        """Execute the steps in order."""
        for start in range(0, len(steps), MAX_BATCH):
            batch = steps[start : start + MAX_BATCH]
            self._items = rows.load_all(self._session, [step.change.item for step in batch if step.left])
            for step in batch:
                self._apply_step(step)
            self._write_waiting()

    def _load(self, line: Change) -> Any:
        """Return an item as the steps before left it."""
        return self._items.get(line.item) or rows.load(self._session, line.kind, line.item, trash=True)

    def _save(self, update: ItemUpdate, line: Change) -> None:
        if line.item in self._waiting:
            self._write_waiting()
        self._waiting[line.item] = update
        self._items[line.item] = update.new
        self.done.append(line)

    def _write_waiting(self) -> None:
        rows.save_all(self._session, list(self._waiting.values()))
        self._waiting.clear()

    def reconcile_lines(self, is_later: Callable[[str], bool] = lambda _: False) -> None:
        """Make tasks and their checkbox lines equal again where only one of both was undone.

        Args:
            is_later: Whether a note is left to a later call, because a later step restores its text.
        """
        from_tasks = {line.item for line in self.done if (line.action == "update") == (line.kind == "task")}
        self._lines.reconcile(self._session, [line.item for line in self.done], from_tasks, is_later)

    def _apply_step(self, step: UndoStep) -> None:
        self.conflicts += step.conflicts
        if step.left and step.change.action == "create":
            self._trash(step.change)
        elif step.left:
            self._restore_fields(step.change, step.left)

    def _trash(self, line: Change) -> None:
        old: Item = self._load(line)
        if old.deleted_at is not None:
            return
        if conflict := self._trash_conflict(line):
            self._add_conflict(line, "deleted_at", conflict)
            return
        self._save(ItemUpdate(old, old.with_changes(self._now, deleted_at=self._now), undoes=line.id), line)

    def _trash_conflict(self, line: Change) -> str:
        if line.kind not in _TRASH_PHRASES:
            return ""
        if any(update.new.deleted_at is None for update in self._waiting.values()):
            self._write_waiting()
        count = len(set(_list_inside(self._session, line)) - self._waiting.keys())
        return _describe_inside(line.kind, count) if count else ""

    def _restore_fields(self, line: Change, fields: Sequence[str]) -> None:
        old = self._load(line)
        ranges = [name for name in fields if parse_range(name)]
        values = {name: self._previous_value(line, old, name) for name in fields if name not in ranges}
        new = old.with_changes(self._now, **values)
        comes_back = old.deleted_at is not None and new.deleted_at is None
        if ranges or self._is_tied_to_waiting(new):
            self._write_waiting()
        problem = field_conflict(self._session, new) if comes_back else field_conflict(self._session, new, fields)
        if new.deleted_at is None and problem:
            self._add_conflict(line, ", ".join(fields), problem)
            return
        counted = rows.NO_ROWS
        if ranges:
            present = {name: line.before[name] > 0 for name in ranges}
            counted = set_ranges(self._session, old, present, self._now)
            total = old.line_count + sum(after - before for before, after in counted.values())
            new = old.with_changes(self._now, **values, line_count=total)
        self._save(ItemUpdate(old, new, undoes=line.id, counted=counted), line)

    def _is_tied_to_waiting(self, item: Item) -> bool:
        """Return whether an item that waits to be written may decide whether this one can be restored."""
        kinds = {kind for name, kind in _TIES.items() if getattr(item, name, None)}
        kinds |= {item.KIND} if item.KIND in _WITH_UNIQUE_NAMES or item.external_ref else set()
        return any(update.new.KIND in kinds for update in self._waiting.values())

    def _previous_value(self, line: Change, old: Item, name: str) -> Any:
        stored, after = line.before.get(name), line.after[name]
        if is_object(stored) and stored.get(changes.PART):
            return changes.text_before(self._session, getattr(old, name), stored, after)
        return decode_value(rows.NOUNS[line.kind].table.c[name], stored)

    def _add_conflict(self, line: Change, field: str, why: str) -> None:
        self.conflicts.append(_describe_conflict(line, field, why))


def _describe_conflict(line: Change, field: str, why: str) -> Mapping[str, Any]:
    return {"change": line.id, "id": line.item, "kind": line.kind, "field": field, "why": why}
