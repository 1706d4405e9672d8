"""The history of items, and undo."""

import math
from collections.abc import Sequence, Set
from contextlib import AbstractContextManager
from datetime import datetime

from panorama.domain.changes import SCRIPT_ACTOR, Change, Origin, effective_changes
from panorama.domain.items.references import TrashedRef
from panorama.domain.jobs import JOB_ID_LETTER
from panorama.domain.paging import Page, PageRequest
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.services.base import RUN_LETTER, LargeCall, Plan, Service, ServiceContext
from panorama.services.graph.task_lines import TaskLines
from panorama.services.history import undo_questions
from panorama.services.history.change_excerpts import excerpt_pair
from panorama.services.history.results import HistoryLine, RecentWrite, UndoResult
from panorama.services.history.undo_portions import PortionedUndo, UndoPlan, overtaken_error, to_result
from panorama.services.history.undo_steps import UndoOperation, measure_changes, plan_steps
from panorama.services.history.undo_targets import UndoTargets, describe_writes, find_targets
from panorama.services.jobs.portions import LARGE_UNIT, LONG_UNIT, is_large_unit
from panorama.services.jobs.progress import SHOULD_STOP, is_job
from panorama.services.jobs.worker_id import WorkerId, Workers
from panorama.store.backend import Session
from panorama.store.log import changes, jobs, runs, undo_units

MAX_RECENT = 5
MAX_UNDO_COUNT = 50


class History(Service):
    """History and undo."""

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self._lines = TaskLines(context)

    def list(self, page: PageRequest, item: TrashedRef | None = None) -> Page[HistoryLine | RecentWrite]:
        """Show the last writes, or an item's changes.

        By client, with before and after; also of items in the trash. Give a `unit` to undo.
        """
        with self._reading() as session:
            before = (page.get_start_key(int) or (None,))[0]
            if not item:
                lines = changes.list_last_of_units(session, before=before, limit=page.limit + 1)
                total, shown = None, describe_writes(session, lines[: page.limit])
            else:
                lines = changes.list_by_item(session, item, before=before, limit=page.limit + 1)
                total = changes.count_by_item(session, item)
                shown = [_to_history_line(line) for line in lines[: page.limit]]
            keys = tuple((line.id,) for line in lines[: page.limit])
            return Page(tuple(shown), keys, total, more=len(lines) > page.limit)

    def undo(self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False) -> UndoResult:
        """Undo a write: a change, call, batch or import.

        Without `unit` the last write; each further undo() goes one write further back. If something was changed again
        since, nothing is undone and the conflicts are listed.

        Args:
            unit: From history or an answer's `undo`.
            skip_conflicts: Undo the rest.
            count: How many last writes to undo.
            redo: Redo what the last undo reverted.

        Raises:
            NotFoundError: There is no such unit, or nothing left to take back.
            ConflictError: It was changed since, or is already undone.
            InvalidInputError: `unit` is given with `count` or `redo`, or `count` is not 1 to 50.
        """
        with self._reading() as session:
            units = self._find_targets(session, unit, count, redo).units
            for unit_id in units:
                self._check_finished(session, unit_id)
            is_large = session.origin is None and _is_large(session, units)
        if is_large:
            return self._undo_in_portions(units, skip_conflicts=skip_conflicts, redo=redo)
        with self._writing() as session:
            return self._undo_units(session, units, skip_conflicts=skip_conflicts, redo=redo)

    def split_undo(
        self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False
    ) -> LargeCall | None:
        """Return the arguments of an undo that is too large for one transaction, with explicit units; else None."""
        with self._reading() as session:
            units = self._find_targets(session, unit, count, redo).units
            if not _is_large(session, units):
                return None
            _check_not_undone(session, units)
            size = _count_changes(session, units)
        named = {"unit": " ".join(units), "skip_conflicts": skip_conflicts, "count": 1, "redo": False}
        return LargeCall(named, is_long=size > LONG_UNIT)

    def _find_targets(self, session: Session, unit: str, count: int, redo: bool) -> UndoTargets:
        if not 1 <= count <= MAX_UNDO_COUNT:
            raise InvalidInputError(f"count is {count}.", hint=f"Give 1 to {MAX_UNDO_COUNT}.")
        if not unit.strip():
            return find_targets(session, self._now(), self._writer, count=count, redo=redo)
        if count > 1 or redo:
            raise InvalidInputError(
                "unit cannot be combined with count or redo; nothing was changed.",
                hint="Give the unit alone. The unit of an undo redoes its changes.",
            )
        return UndoTargets(tuple(_resolve_unit(session, unit_id) for unit_id in unit.split()))

    def rollback(self, unit: str) -> bool:
        """Take back, in short transactions, what a unit wrote and can write no more; return whether all of it is.

        What others changed since stays. It may be stopped between two transactions, and called again.
        """
        with self._reading() as session:
            lines = changes.list_by_unit(session, unit)
            plan = UndoPlan.of(session, (unit,), lines)
        if not plan.steps:
            return True
        undoing = PortionedUndo(self._writing, self._reading, self._lines, self._now, plan, unit)
        return not undoing.run(skip_conflicts=True, redo=False).note

    def _undo_units(self, session: Session, units: tuple[str, ...], *, skip_conflicts: bool, redo: bool) -> UndoResult:
        unit_text = " and ".join(units)
        lines = [line for unit in units for line in changes.list_by_unit(session, unit)]
        if not lines:
            raise _not_found_error(session, unit_text)
        steps, undoing = plan_steps(session, lines), UndoOperation(session, self._now(), self._lines)
        undoing.apply(steps)
        undoing.reconcile_lines()
        if undoing.conflicts and not skip_conflicts:
            raise overtaken_error(units, len(steps), undoing.conflicts)
        if not undoing.done and not undoing.conflicts:
            raise _already_undone_error(unit_text, had_effect=bool(effective_changes(lines)))
        return to_result(session, units, undoing.done, len(undoing.done), undoing.conflicts, redo=redo)

    def _undo_in_portions(self, units: tuple[str, ...], *, skip_conflicts: bool, redo: bool) -> UndoResult:
        """Undo large units in several transactions, with other writes in between."""
        with self._stoppable(), self._reading() as session:
            lines = [line for unit in units for line in changes.list_by_unit(session, unit)]
            plan = UndoPlan.of(session, units, lines)
            redo = redo or undo_units.list_undo_units(session, units) == set(units)
        undoing = PortionedUndo(
            self._writing, self._reading, self._lines, self._now, plan, self._writer.unit if self._writer else ""
        )
        if not plan.steps and not undoing.was_begun:
            raise _already_undone_error(" and ".join(units), had_effect=bool(effective_changes(lines)))
        return undoing.run(skip_conflicts=skip_conflicts, redo=redo)

    def _stoppable(self) -> AbstractContextManager[None]:
        """Stop reading inside once no client waits for the call; a large unit takes seconds."""
        return self._context.database.limit_reads(SHOULD_STOP.get(), math.inf)

    @property
    def _writer(self) -> Origin | None:
        return self._context.database.writer()

    def plan_undo(self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False) -> Plan:
        """Ask before an undo of more than 20 changes or of another client's write, unless it will be refused."""
        with self._stoppable(), self._reading() as session:
            targets = self._find_targets(session, unit, count, redo)
            size = _count_changes(session, targets.units)
            if size <= undo_questions.UNDO_CONFIRM_THRESHOLD and not targets.is_foreign:
                return Plan()
            if size > LARGE_UNIT:
                _check_not_undone(session, targets.units)
            total = changes.summarize_units(session, targets.units)
            if not targets.is_foreign and total.changes == size and changes.is_untouched(session, targets.units):
                first = changes.get_first(session, targets.units[0])
                deed = self._describe_targets(session, targets, total.operations, first.at)
                return Plan(undo_questions.format_question(deed, changes=size, created=total.created))
            lines = [line for unit_id in targets.units for line in changes.list_by_unit(session, unit_id)]
            steps = plan_steps(session, lines)
            undone = [step.change for step in steps if step.left]
            if not skip_conflicts and any(step.over for step in steps):
                return Plan()
            if not targets.is_foreign and len(undone) <= undo_questions.UNDO_CONFIRM_THRESHOLD:
                return Plan()
            deed = self._describe_targets(session, targets, {line.operation for line in lines}, lines[0].at)
            created = sum(line.action == "create" for line in undone)
            return Plan(undo_questions.format_question(deed, changes=len(undone), created=created))

    def _describe_targets(self, session: Session, targets: UndoTargets, operations: Set[str], at: datetime) -> str:
        """Describe the writes for a question; those of another client with their titles."""
        if not targets.is_foreign:
            return undo_questions.describe_unit(targets.units[0], operations, at, self._context.zone)
        last = [changes.get_last(session, unit) for unit in targets.units]
        zone = self._context.zone
        return undo_questions.list_writes(
            [undo_questions.describe_write(write, zone) for write in describe_writes(session, last)]
        )

    def _check_finished(self, session: Session, unit_text: str) -> None:
        """Reject the undo of a unit that a job or script is still writing.

        A running script or job may undo itself at its end. For a script that runs as a job only the job's state counts:
        after cancellation the script writes no more, although the log may list it as running for a moment.
        """
        writer = self._writer
        if writer and unit_text == writer.unit:
            if writer.actor == SCRIPT_ACTOR:
                raise InvalidInputError(
                    "This would undo the running script.",
                    hint="Give one of its changes (a row of history), or use atomic to undo a failed run.",
                )
        elif job := jobs.find_by_unit(session, unit_text):
            raise ConflictError(
                f"The job {job.id} ({job.kind}) still writes this; nothing was undone.",
                hint="Wait for its end (get_job), or stop it with cancel_job. For an earlier write, give its unit.",
            )
        elif unit_text.startswith(f"{RUN_LETTER}_") and self._is_running(runs.find(session, unit_text)):
            raise ConflictError(
                f"The script of the run {unit_text} still writes this; nothing was undone.",
                hint="Wait for its end. For an earlier write, give its unit.",
            )

    def _is_running(self, run: runs.Run | None) -> bool:
        """Return whether a script is running; one whose process died is not."""
        if run is None or run.status != "running":
            return False
        here = WorkerId.for_this_process()
        is_here = run.worker.startswith(f"{here.machine} {here.process} ")
        return is_here or not Workers(here, self._context.database.membership).has_ended(run.worker)


def _not_found_error(session: Session, unit: str) -> NotFoundError:
    recent = describe_writes(session, changes.list_last_of_units(session, limit=2 * MAX_RECENT))
    return NotFoundError(
        _describe_missing_unit(session, unit),
        hint="Use a unit from history().",
        candidates=[
            {"id": write.unit, "title": write.title, "operation": write.operation, "client": write.client}
            for write in recent
            if not write.undone
        ][:MAX_RECENT],
    )


def _describe_missing_unit(session: Session, unit: str) -> str:
    """Explain why a unit has no changes, if known."""
    if unit[:1] == RUN_LETTER and (run := runs.find(session, unit)):
        how = "was a dry run and" if run.options.get("dry_run") else "ran, but"
        return f"The script {unit} {how} changed nothing."
    return f"There is no change, call or batch {unit[:40]!r}."


def _count_changes(session: Session, units: Sequence[str]) -> int:
    return sum(changes.count_by_unit(session, unit) for unit in units)


def _is_large(session: Session, units: Sequence[str]) -> bool:
    """Return whether some units are too large to be undone in one transaction."""
    count = _count_changes(session, units)
    if count > LARGE_UNIT:
        return True
    lines = [line for unit in units for line in changes.list_by_unit(session, unit)]
    return is_large_unit(count, sum(measure_changes(session, lines).values()))


def _check_not_undone(session: Session, units: Sequence[str]) -> None:
    """Refuse units of which nothing has an effect, without reading their changes: that takes seconds for large ones.

    A job is not refused: it may resume after it has undone everything, to report its end.
    """
    if not is_job() and changes.list_undone_units(session, units) == set(units):
        raise _already_undone_error(
            " and ".join(units), had_effect=any(changes.count_written(session, unit) for unit in units)
        )


def _already_undone_error(unit: str, *, had_effect: bool) -> ConflictError:
    """Return the error for a unit of which nothing is left; it had an effect unless its run undid itself."""
    if had_effect:
        return ConflictError(
            f"{unit} is already undone.", hint="To bring it back, use redo=true, or undo that undo: see history."
        )
    return ConflictError(
        f"Nothing remains of {unit}: its changes were undone when it ended; nothing was changed.",
        hint="For an earlier write, give its unit: see history.",
    )


def _resolve_unit(session: Session, unit: str) -> str:
    """Resolve a unit; a job's id becomes the unit of its changes."""
    job = jobs.find(session, unit) if unit.startswith(f"{JOB_ID_LETTER}_") else None
    return job.unit if job else unit


def _to_history_line(change: Change) -> HistoryLine:
    both = ((name, change.before.get(name), change.after[name]) for name in sorted(change.after))
    fields = {name: excerpt_pair(before, after) for name, before, after in both if before != after}
    return HistoryLine(
        change=change.id, at=change.at, action=change.action, operation=change.operation, client=change.client,
        unit=change.unit, version=change.version, undoes=change.undoes, fields=fields,
    )  # fmt: skip
