"""Large undos: several short transactions that form one unit and can be stopped in between."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from panorama.domain.changes import Change
from panorama.errors import ConflictError
from panorama.services.graph.task_lines import TaskLines
from panorama.services.history.results import UndoResult
from panorama.services.history.undo_steps import (
    UndoOperation,
    UndoStep,
    find_trash_conflicts,
    measure_changes,
    plan_steps,
)
from panorama.services.jobs.pace import ProgressTracker
from panorama.services.jobs.portions import LARGE_UNIT, PORTION_SECONDS, BatchSize, take_batch
from panorama.services.jobs.progress import StoppedError, load_checkpoint, report_progress, save_checkpoint
from panorama.store.backend import Session
from panorama.store.items import lookup
from panorama.store.log import changes

MAX_LISTED = 50

OpenTransaction = Callable[[], AbstractContextManager[Session]]


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The plan of an undo: the numbers of all lines of the units, the steps, and the last known line.

    `conflicts` are later changes of the same fields, and obstacles.
    """

    units: tuple[str, ...]
    lines: frozenset[int]
    steps: tuple[UndoStep, ...]
    last: int
    conflicts: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, session: Session, units: tuple[str, ...], lines: Sequence[Change]) -> Self:
        """Return the plan for all lines of some units."""
        steps = plan_steps(session, lines) if lines else []
        conflicts = [conflict for step in steps for conflict in step.conflicts]
        conflicts += find_trash_conflicts(session, steps)
        ids = frozenset(line.id for line in lines)
        return cls(units, ids, tuple(steps), changes.get_last_id(session), tuple(conflicts))


class PortionedUndo:
    """Executes an undo plan in portions that are written as one unit.

    A stopped job resumes: its checkpoint counts what is already undone.
    """

    def __init__(
        self,
        open_transaction: OpenTransaction,
        open_reading: OpenTransaction,
        lines: TaskLines,
        now: Callable[[], datetime],
        plan: UndoPlan,
        own: str,
    ) -> None:
        self._open_transaction = open_transaction
        self._open_reading = open_reading
        self._lines = lines
        self._now = now
        self._plan = plan
        self._own = own
        self._before = int(load_checkpoint().get("done", 0))
        self._done: list[Change] = []
        self._conflicts: list[Mapping[str, Any]] = []
        self._size = BatchSize()
        self._last_steps: dict[str, int] = {}

    @property
    def was_begun(self) -> bool:
        """Whether it resumes a stopped undo."""
        return self._before > 0

    @property
    def _count(self) -> int:
        return self._before + len(self._done)

    def run(self, *, skip_conflicts: bool, redo: bool) -> UndoResult:
        """Undo all steps.

        Raises:
            ConflictError: Something was changed since, and conflicts are not skipped; nothing stays undone.
        """
        plan, note = self._plan, ""
        if plan.conflicts and not skip_conflicts and not self._before:
            raise overtaken_error(plan.units, len(plan.steps), plan.conflicts)
        total = self._before + len(plan.steps)
        try:
            self._apply(plan, skip_conflicts=skip_conflicts)
        except StoppedError:
            note = self._describe_rest(total)
        if self._conflicts and not skip_conflicts:
            self._bring_back()
            raise overtaken_error(plan.units, total, self._conflicts)
        with self._open_transaction() as session:
            return to_result(session, plan.units, self._done, self._count, self._conflicts, redo=redo, note=note)

    def _apply(self, plan: UndoPlan, *, skip_conflicts: bool) -> None:
        pace, position = ProgressTracker(report_progress), 0
        self._last_steps = {step.change.item: at for at, step in enumerate(plan.steps) if step.change.kind == "note"}
        pace.set_total(self._before + len(plan.steps))
        pace.advance(self._before)
        pace.start("undoing changes")
        while position < len(plan.steps) and (skip_conflicts or not self._conflicts):
            steps = plan.steps[position : position + LARGE_UNIT]
            with self._open_reading() as session:
                sizes = measure_changes(session, [step.change for step in steps])
            with self._open_transaction() as session:
                after = self._apply_portion(session, plan, position, sizes)
                save_checkpoint({"done": self._count})
            pace.advance(after - position)
            position = after

    def _apply_portion(self, session: Session, plan: UndoPlan, position: int, sizes: Mapping[int, int]) -> int:
        """Execute steps for a short time and return the next one; checks for later writes."""
        steps = deque(plan.steps[position : position + LARGE_UNIT])
        undoing = UndoOperation(session, self._now(), self._lines)
        planned: dict[int, UndoStep] | None = None
        if changes.has_newer(session, [step.change.item for step in steps], since=plan.last, but=self._own):
            again = plan_steps(session, [step.change for step in steps], plan.lines)
            planned = {step.change.id: step for step in again}
        end = time.monotonic() + PORTION_SECONDS
        while steps:
            with self._size.measure() as size:
                batch = take_batch(steps, size, lambda step: sizes[step.change.id])
                current = batch if planned is None else [planned.get(step.change.id) for step in batch]
                undoing.apply([step for step in current if step])
            position += len(batch)
            if time.monotonic() > end:
                break
        undoing.reconcile_lines(lambda note: self._last_steps.get(note, -1) >= position)
        self._done += undoing.done
        self._conflicts += undoing.conflicts
        return position

    def _bring_back(self) -> None:
        """Roll back this undo in portions of the same unit, because of a conflict."""
        with self._open_transaction() as session:
            mine = [line for line in changes.list_by_unit(session, self._own) if line.undoes in self._plan.lines]
            plan = UndoPlan.of(session, (self._own,), mine)
        conflicts, self._done, self._before = self._conflicts, [], 0
        self._apply(plan, skip_conflicts=True)
        self._conflicts = conflicts

    def _describe_rest(self, total: int) -> str:
        """Describe what a stopped undo did, and how to continue."""
        writes = " ".join(self._plan.units)
        return (
            f"{self._count:,} of {total:,} changes were undone; "
            f"undo with the unit {writes} undoes the rest, undo with the unit {self._own} redoes them."
        )


def overtaken_error(units: Sequence[str], count: int, conflicts: Sequence[Mapping[str, Any]]) -> ConflictError:
    """Return the error for an undo that conflicts with later changes; `conflicts` has a row for each field."""
    overtaken = len({conflict["change"] for conflict in conflicts})
    return ConflictError(
        f"{overtaken} of {count} changes of {' and '.join(units)} were changed again since; nothing was undone.",
        hint="Undo the later ones first, or call again with skip_conflicts=true to undo the rest.",
        candidates=conflicts[:MAX_LISTED],
    )


def to_result(
    session: Session,
    units: tuple[str, ...],
    done: Sequence[Change],
    count: int,
    conflicts: Sequence[Mapping[str, Any]],
    *,
    redo: bool,
    note: str = "",
) -> UndoResult:
    """Return the result of an undo, with the labels of the first items."""
    shown = done[:MAX_LISTED]
    labels = lookup.get_labels(session, [(line.kind, line.item) for line in shown])
    undone = tuple(
        {"id": line.item, "kind": line.kind, "label": labels[line.item][2], "was": line.action} for line in shown
    )
    listed = tuple(conflicts[:MAX_LISTED])
    return UndoResult(
        units=units, count=count, redo=redo, undone=undone, conflicts=listed, conflict_count=len(conflicts), note=note
    )  # fmt: skip
