"""What became of an item, and how a write is taken back."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panorama.domain.changes import Change, effective_changes, fields_not_undone, overridden_by
from panorama.domain.items.item import Item
from panorama.domain.items.references import TrashedRef
from panorama.domain.jobs import JOB_ID_LETTER
from panorama.domain.paging import Page, PageRequest
from panorama.domain.text.json_types import is_object
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.services.base import RUN_LETTER, Service
from panorama.services.history.change_excerpts import excerpt_pair
from panorama.services.history.undo_targets import UndoTargets, describe_write, find_targets
from panorama.services.items import confirmations
from panorama.services.items.any_item import field_conflict
from panorama.services.items.results import HistoryLine, RecentWrite, UndoResult
from panorama.services.jobs.worker_id import WorkerId
from panorama.store.backend import Session
from panorama.store.items import lookup, projects, rows, tasks
from panorama.store.log import changes, jobs, runs

MAX_LISTED, MAX_RECENT = 50, 5
MAX_UNDO_COUNT = 50


class History(Service):
    """What was written, by whom, and how to take it back."""

    def list(self, page: PageRequest, item: TrashedRef | None = None) -> Page[HistoryLine | RecentWrite]:
        """Show the last writes, or an item's changes.

        By which client, before and after; also of items in the trash. Give a `unit` to undo.
        """
        with self._reading() as session:
            before = (page.get_start_key(int) or (None,))[0]
            if not item:
                lines = changes.list_last_of_units(session, before=before, limit=page.limit + 1)
                total, shown = None, [describe_write(session, line) for line in lines[: page.limit]]
            else:
                lines = changes.list_by_item(session, item, before=before, limit=page.limit + 1)
                total = changes.count_by_item(session, item)
                shown = [_to_history_line(line) for line in lines[: page.limit]]
            keys = tuple((line.id,) for line in lines[: page.limit])
            return Page(tuple(shown), keys, total, more=len(lines) > page.limit)

    def undo(self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False) -> UndoResult:
        """Take back a write: a change, call, batch or import.

        Without `unit` the last write; each further undo() goes one write further back. If something was changed again
        since, nothing is undone and the conflicts are listed.

        Args:
            unit: From history or an answer's `undo`.
            skip_conflicts: Undo the rest.
            count: Take back so many last writes.
            redo: Bring back what the last undo took.

        Raises:
            NotFoundError: There is no such unit, or nothing left to take back.
            ConflictError: It was changed since, or is taken back already.
            InvalidInputError: `unit` is given with `count` or `redo`, or `count` is not 1 to 50.
        """
        with self._writing() as session:
            units = self._find_targets(session, unit, count, redo).units
            for each in units:
                _check_finished(session, each)
            return self._undo_units(session, units, skip_conflicts=skip_conflicts, redo=redo)

    def _find_targets(self, session: Session, unit: str, count: int, redo: bool) -> UndoTargets:
        if not 1 <= count <= MAX_UNDO_COUNT:
            raise InvalidInputError(f"count is {count}.", hint=f"Give 1 to {MAX_UNDO_COUNT}.")
        if not unit.strip():
            return find_targets(session, self._now(), count=count, redo=redo)
        if count > 1 or redo:
            raise InvalidInputError(
                "unit does not go with count or redo; nothing was changed.",
                hint="Give the unit alone. The unit of an undo brings back what it took.",
            )
        return UndoTargets((_resolve_unit(session, unit.strip()),))

    def rollback(self, unit: str) -> None:
        """Take back what a unit wrote and can write no more, but for what others changed since."""
        with self._writing() as session:
            if lines := changes.list_by_unit(session, unit):
                _UndoOperation(session, self._now()).apply(_plan_steps(session, lines))

    def _undo_units(self, session: Session, units: tuple[str, ...], *, skip_conflicts: bool, redo: bool) -> UndoResult:
        wanted = " and ".join(units)
        lines = [line for unit in units for line in changes.list_by_unit(session, unit)]
        if not lines:
            raise _not_found_error(session, wanted)
        steps, undoing = _plan_steps(session, lines), _UndoOperation(session, self._now())
        undoing.apply(steps)
        if undoing.conflicts and not skip_conflicts:
            raise ConflictError(
                f"{len(undoing.conflicts)} of {len(steps)} changes of {wanted} were overtaken; nothing was undone.",
                hint="Undo the later ones first, or call again with skip_conflicts=true to undo the rest.",
                candidates=undoing.conflicts[:MAX_LISTED],
            )
        if not undoing.done and not undoing.conflicts:
            raise _already_undone_error(wanted, lines)
        shown = undoing.done[:MAX_LISTED]
        labels = lookup.get_labels(session, [(line.kind, line.item) for line in shown])
        undone = [
            {"id": line.item, "kind": line.kind, "label": labels[line.item][2], "was": line.action} for line in shown
        ]
        conflicts = tuple(undoing.conflicts[:MAX_LISTED])
        return UndoResult(
            units=units, count=len(undoing.done), redo=redo, undone=tuple(undone), conflicts=conflicts,
            conflict_count=len(undoing.conflicts),
        )  # fmt: skip

    def undo_question(self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False) -> str:
        """Return what to ask before more than 20 changes, or a write of another client, are taken back.

        "" if neither is the case, or it will be refused.
        """
        with self._reading() as session:
            targets = self._find_targets(session, unit, count, redo)
            size = sum(changes.count_by_unit(session, each) for each in targets.units)
            if size <= confirmations.UNDO_CONFIRM_THRESHOLD and not targets.is_foreign:
                return ""
            lines = [line for each in targets.units for line in changes.list_by_unit(session, each)]
            steps = _plan_steps(session, lines)
            undone = [step.change for step in steps if step.left]
            if not skip_conflicts and any(step.over for step in steps):
                return ""
            if not targets.is_foreign and len(undone) <= confirmations.UNDO_CONFIRM_THRESHOLD:
                return ""
            deed = self._describe_targets(session, targets, lines)
            created = sum(line.action == "create" for line in undone)
            return confirmations.format_undo_question(deed, changes=len(undone), created=created)

    def _describe_targets(self, session: Session, targets: UndoTargets, lines: Sequence[Change]) -> str:
        """Return what the writes are called in a question; those that another client wrote with their titles."""
        if not targets.is_foreign:
            operations = {line.operation for line in lines}
            return confirmations.describe_unit(targets.units[0], operations, lines[0].at, self._context.zone)
        last = [changes.list_by_unit(session, unit)[-1] for unit in targets.units]
        zone = self._context.zone
        return confirmations.list_writes(
            [confirmations.describe_write(describe_write(session, line), zone) for line in last]
        )


def _not_found_error(session: Session, unit: str) -> NotFoundError:
    recent = [describe_write(session, line) for line in changes.list_last_of_units(session, limit=2 * MAX_RECENT)]
    return NotFoundError(
        _describe_missing_unit(session, unit),
        hint="Take a unit from history(), or one of the last writes.",
        candidates=[
            {"id": write.unit, "title": write.title, "operation": write.operation, "client": write.client}
            for write in recent
            if not write.undone
        ][:MAX_RECENT],
    )


def _describe_missing_unit(session: Session, unit: str) -> str:
    """Say of what has no changes what it is, if that is known."""
    if unit[:1] == RUN_LETTER and (run := runs.find(session, unit)):
        how = "was a dry run and" if run.options.get("dry_run") else "ran, but"
        return f"The script {unit} {how} changed nothing."
    return f"There is no change, call or batch {unit[:40]!r}."


@dataclass(frozen=True, slots=True)
class _UndoStep:
    """A change to take back: the fields that are `left` to do so, and those that a later change stands `over`."""

    change: Change
    left: tuple[str, ...]
    over: Mapping[str, Change]

    @classmethod
    def of(cls, line: Change, fields: frozenset[str], newer: Sequence[Change]) -> "_UndoStep":
        """Return the step for the fields of a change that no undo took back yet; a creation goes whole or not."""
        whole = line.action == "create"
        over = {name: other for name, other in overridden_by(line, newer).items() if whole or name in fields}
        left = tuple(name for name in line.after if name in fields and name not in over)
        return cls(line, () if whole and over else left, over)


def _check_finished(session: Session, wanted: str) -> None:
    """Refuse to take back what is still being written, by a job or by a script.

    What runs may take itself back at its end, also as a job. Of a job that is a script the job alone is asked: once it
    was cancelled, the script writes no more, though it may be in the log for a moment as one that runs.
    """
    if session.origin and wanted == session.origin.unit:
        if session.origin.actor == "script":
            raise InvalidInputError(
                "This would take back the script that is running.",
                hint="Give one of its changes (a row of history), or run it with atomic and let it fail.",
            )
    elif job := jobs.find_by_unit(session, wanted):
        raise ConflictError(
            f"The job {job.id} ({job.kind}) still writes this; nothing was undone.",
            hint="Wait for its end (get_job), or stop it with cancel_job. For an earlier write name its unit.",
        )
    elif wanted.startswith(f"{RUN_LETTER}_") and _is_running(runs.find(session, wanted)):
        raise ConflictError(
            f"The script of the run {wanted} still writes this; nothing was undone.",
            hint="Wait for its end. For an earlier write name its unit.",
        )


def _is_running(run: runs.Run | None) -> bool:
    """Tell whether a script still runs; of one that was left by its process nobody waits for the end."""
    if run is None or run.status != "running":
        return False
    here = WorkerId.for_this_process()
    return run.worker.startswith(f"{here.host} {here.process} ") or not here.is_dead(run.worker)


def _already_undone_error(unit: str, lines: Sequence[Change]) -> ConflictError:
    if effective_changes(lines):
        return ConflictError(
            f"{unit} is taken back already.", hint="To bring it back, use redo=true, or undo that undo: see history."
        )
    return ConflictError(
        f"Nothing stands of {unit}: what it wrote was taken back when it ended; nothing was changed.",
        hint="For an earlier write name its unit: see history.",
    )


def _resolve_unit(session: Session, unit: str) -> str:
    """Return the unit that is meant: of a job, that of its changes."""
    job = jobs.find(session, unit) if unit.startswith(f"{JOB_ID_LETTER}_") else None
    return job.unit if job else unit


def _plan_steps(session: Session, lines: Sequence[Change]) -> list[_UndoStep]:
    """Return what is to do to take back the lines of a unit, the last first.

    What a unit took back itself, as a run does that fails, is over: that is no change of it to be taken back.
    """
    unit = {line.id for line in lines}
    known = changes.list_by_items(session, sorted({line.item for line in lines}), since=min(unit))
    open_fields, to_and_fro = fields_not_undone(known), _find_self_reversals(unit, known)
    own = unit | to_and_fro
    later: dict[str, list[Change]] = {}
    for line in known:
        if line.id not in own:
            later.setdefault(line.item, []).append(line)
    return [
        _UndoStep.of(line, open_fields[line.id], [each for each in later.get(line.item, []) if each.id > line.id])
        for line in sorted(lines, key=lambda line: line.id, reverse=True)
        if open_fields[line.id] and line.id not in to_and_fro
    ]


def _find_self_reversals(unit: Set[int], known: Sequence[Change]) -> set[int]:
    """Return the lines by which a unit took back its own changes, and those that undid these, and so on."""
    found: set[int] = set()
    for line in sorted(known, key=lambda line: line.id):
        if line.undoes in found or (line.id in unit and line.undoes in unit):
            found.add(line.id)
    return found


class _UndoOperation:
    """Takes changes back, field by field, inside the transaction that is open.

    What is overtaken is collected in `conflicts` and left; the caller rolls back if it does not want the rest.
    """

    def __init__(self, session: Session, now: datetime) -> None:
        self._session = session
        self._now = now
        self.done: list[Change] = []
        self.conflicts: list[Mapping[str, Any]] = []

    def apply(self, steps: Sequence[_UndoStep]) -> None:
        """Take back one step after another."""
        for step in steps:
            self._apply_step(step)

    def _apply_step(self, step: _UndoStep) -> None:
        for name, other in step.over.items():
            self._add_conflict(step.change, name, f"{name} was changed by {other.operation} ({other.unit})")
        if step.left and step.change.action == "create":
            self._trash(step.change)
        elif step.left:
            self._restore_fields(step.change, step.left)

    def _trash(self, line: Change) -> None:
        old: Item = rows.load(self._session, line.kind, line.item, trash=True)
        if old.deleted_at is not None:
            return
        if held := self._trash_conflict(line):
            self._add_conflict(line, "deleted_at", held)
            return
        rows.save(self._session, old, old.with_changes(self._now, deleted_at=self._now), undoes=line.id)
        self.done.append(line)

    def _trash_conflict(self, line: Change) -> str:
        if line.kind == "project" and (count := len(projects.list_items(self._session, line.item))):
            return f"{count} items belong to it by now"
        if line.kind == "task" and (count := len(tasks.list_children(self._session, line.item))):
            return f"{count} subtasks stand under it by now"
        return ""

    def _restore_fields(self, line: Change, fields: Sequence[str]) -> None:
        old: Item = rows.load(self._session, line.kind, line.item, trash=True)
        values = {name: self._previous_value(line, old, name) for name in fields}
        new = old.with_changes(self._now, **values)
        comes_back = old.deleted_at is not None and new.deleted_at is None
        problem = field_conflict(self._session, new) if comes_back else field_conflict(self._session, new, fields)
        if new.deleted_at is None and problem:
            self._add_conflict(line, ", ".join(fields), problem)
            return
        rows.save(self._session, old, new, undoes=line.id)
        self.done.append(line)

    def _previous_value(self, line: Change, old: Item, name: str) -> Any:
        stored, after = line.before.get(name), line.after[name]
        if is_object(stored) and stored.get(changes.PART):
            return changes.text_before(self._session, getattr(old, name), stored, after)
        return rows.decode_value(line.kind, name, stored)

    def _add_conflict(self, line: Change, field: str, why: str) -> None:
        self.conflicts.append({"change": line.id, "id": line.item, "kind": line.kind, "field": field, "why": why})


def _to_history_line(change: Change) -> HistoryLine:
    both = ((name, change.before.get(name), change.after[name]) for name in sorted(change.after))
    fields = {name: excerpt_pair(before, after) for name, before, after in both if before != after}
    return HistoryLine(
        change=change.id, at=change.at, action=change.action, operation=change.operation, client=change.client,
        unit=change.unit, version=change.version, undoes=change.undoes, fields=fields,
    )  # fmt: skip
