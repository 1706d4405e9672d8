"""What became of an item, and how a write is taken back."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panorama.domain.changes import Change, overtaken, standing, untaken
from panorama.domain.files import is_result
from panorama.domain.items import Item
from panorama.domain.jobs import LETTER
from panorama.domain.plain import is_object
from panorama.domain.references import TrashedRef
from panorama.domain.results import Page, Slice
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.services import questions
from panorama.services.base import RUN_LETTER, Service
from panorama.services.items import taken
from panorama.services.sides import sides
from panorama.services.views import HistoryLine, Undone
from panorama.services.workers import Worker
from panorama.store import changes, jobs, names, projects, rows, runs, tasks
from panorama.store.engine import Session

LISTED, RECENT = 50, 5


class History(Service):
    """What was written, by whom, and how to take it back."""

    def list(self, item: TrashedRef, page: Slice) -> Page[HistoryLine]:
        """Show the changes of an item, the newest first.

        When, by which client, what was before and after; also of items in the trash. Give a line's `unit` to undo.
        """
        with self._reading() as session:
            before = (page.begins(int) or (None,))[0]
            lines = changes.of_item(session, item, before=before, limit=page.limit + 1)
            shown = tuple(_line(each) for each in lines[: page.limit])
            keys = tuple((each.change,) for each in shown)
            return Page(shown, keys, changes.count_of(session, item), more=len(lines) > page.limit)

    def undo(self, unit: str = "", skip_conflicts: bool = False) -> Undone:
        """Take back a write: a change, a call, a batch or an import.

        Without `unit` the last write of this client. If something was changed again since, nothing is undone and the
        conflicts are listed. An undo can be undone.

        Args:
            unit: From history or an answer's `undo`.
            skip_conflicts: Undo the rest.

        Raises:
            NotFoundError: There is no such unit.
            ConflictError: It was changed since, or is taken back already.
        """
        with self._writing() as session:
            wanted = _wanted(session, unit)
            _check_is_over(session, wanted)
            return self._taken_back(session, wanted, skip_conflicts=skip_conflicts)

    def roll_back(self, unit: str) -> None:
        """Take back what a unit wrote and can write no more, but for what others changed since."""
        with self._writing() as session:
            if lines := changes.of_unit(session, unit):
                _Undoing(session, self._now()).take_back(_steps(session, lines))

    def _taken_back(self, session: Session, wanted: str, *, skip_conflicts: bool) -> Undone:
        lines = changes.of_unit(session, wanted) if wanted else []
        if not lines:
            raise self._unknown(session, wanted)
        steps, undoing = _steps(session, lines), _Undoing(session, self._now())
        undoing.take_back(steps)
        if undoing.conflicts and not skip_conflicts:
            raise ConflictError(
                f"{len(undoing.conflicts)} of {len(steps)} changes of {wanted} were overtaken; nothing was undone.",
                hint="Undo the later ones first, or call again with skip_conflicts=true to undo the rest.",
                candidates=undoing.conflicts[:LISTED],
            )
        if not undoing.done and not undoing.conflicts:
            raise _nothing_left(wanted, lines)
        shown = undoing.done[:LISTED]
        labels = names.labels(session, [(line.kind, line.item) for line in shown])
        undone = [
            {"id": line.item, "kind": line.kind, "label": labels[line.item][2], "was": line.action} for line in shown
        ]
        conflicts = tuple(undoing.conflicts[:LISTED])
        return Undone(unit=wanted, count=len(undoing.done), undone=tuple(undone), conflicts=conflicts)

    def undo_question(self, unit: str = "", skip_conflicts: bool = False) -> str:
        """Return what to ask before more than 20 changes are taken back; "" if they are fewer, or conflict."""
        with self._reading() as session:
            wanted = _wanted(session, unit)
            if changes.size_of_unit(session, wanted) <= questions.UNASKED:
                return ""
            lines = changes.of_unit(session, wanted)
            steps = _steps(session, lines)
            undone = [step.change for step in steps if step.left]
            refused = not skip_conflicts and any(step.over for step in steps)
            if refused or len(undone) <= questions.UNASKED:
                return ""
            deed = questions.deed(wanted, {line.operation for line in lines}, lines[0].at, self._desk.zone)
            created = sum(line.action == "create" for line in undone)
            return questions.of_undo(deed, changes=len(undone), created=created)

    def _unknown(self, session: Session, unit: str) -> NotFoundError:
        recent = [
            {"id": id_, "operation": operation, "at": at.isoformat(timespec="seconds")}
            for id_, operation, at in changes.recent_units(session, 2 * RECENT)
            if not changes.is_void(session, id_)
        ][:RECENT]
        return NotFoundError(
            _nothing_of(session, unit),
            hint="Take a unit from history(item), or one of the last writes.",
            candidates=recent,
        )


def _nothing_of(session: Session, unit: str) -> str:
    """Say of what has no changes what it is, if that is known."""
    if not unit:
        return "This client has written nothing that stands."
    if unit[:1] == RUN_LETTER and (run := runs.found(session, unit)):
        how = "was a dry run and" if run.options.get("dry_run") else "ran, but"
        return f"The script {unit} {how} changed nothing."
    return f"There is no change, call or batch {unit[:40]!r}."


@dataclass(frozen=True, slots=True)
class _Step:
    """A change to take back: the fields that are `left` to do so, and those that a later change stands `over`."""

    change: Change
    left: tuple[str, ...]
    over: Mapping[str, Change]

    @classmethod
    def of(cls, line: Change, fields: frozenset[str], newer: Sequence[Change]) -> "_Step":
        """Return the step for the fields of a change that no undo took back yet; a creation goes whole or not."""
        whole = line.action == "create"
        over = {name: other for name, other in overtaken(line, newer).items() if whole or name in fields}
        left = tuple(name for name in line.after if name in fields and name not in over)
        return cls(line, () if whole and over else left, over)


def _check_is_over(session: Session, wanted: str) -> None:
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
    elif job := jobs.writing(session, wanted):
        raise ConflictError(
            f"The job {job.id} ({job.kind}) still writes this; nothing was undone.",
            hint="Wait for its end (get_job), or stop it with cancel_job. For an earlier write name its unit.",
        )
    elif wanted.startswith(f"{RUN_LETTER}_") and _is_under_way(runs.found(session, wanted)):
        raise ConflictError(
            f"The script of the run {wanted} still writes this; nothing was undone.",
            hint="Wait for its end. For an earlier write name its unit.",
        )


def _is_under_way(run: runs.Run | None) -> bool:
    """Tell whether a script still runs; of one that was left by its process nobody waits for the end."""
    if run is None or run.status != "running":
        return False
    here = Worker.here()
    return run.worker.startswith(f"{here.host} {here.process} ") or not here.is_gone(run.worker)


def _nothing_left(unit: str, lines: Sequence[Change]) -> ConflictError:
    if standing(lines):
        return ConflictError(f"{unit} is taken back already.", hint="To bring it back, undo that undo: see history.")
    return ConflictError(
        f"Nothing stands of {unit}: what it wrote was taken back when it ended; nothing was changed.",
        hint="For an earlier write name its unit: see history.",
    )


def _wanted(session: Session, unit: str) -> str:
    """Return the unit that is meant, "" if there is none: without one it is the conversation's last write."""
    wanted = unit.strip() or _last(session)
    job = jobs.found(session, wanted) if wanted.startswith(f"{LETTER}_") else None
    return job.unit if job else wanted


def _last(session: Session) -> str:
    """Return the unit of the conversation's last write.

    Passed over are runs that took back themselves all they wrote, and those that wrote nothing but their own result.
    """
    conversation, own = (session.origin.conversation, session.origin.unit) if session.origin else ("", "")
    void: list[str] = []
    while unit := changes.last_unit(session, conversation, void):
        stands = unit == own or not changes.is_void(session, unit) or _is_brought_back(session, unit)
        if stands and not _is_a_result(session, unit):
            return unit
        void.append(unit)
    return ""


def _is_a_result(session: Session, unit: str) -> bool:
    """Tell whether a unit is a run whose result was too large to be told, and that wrote nothing else."""
    if changes.size_of_unit(session, unit) != 1:
        return False
    name = str(changes.of_unit(session, unit)[0].after.get("name", ""))
    return is_result(name) and name.startswith(unit)


def _is_brought_back(session: Session, unit: str) -> bool:
    """Tell whether anything stands of a unit that took itself back, for that was undone since."""
    return bool(_steps(session, changes.of_unit(session, unit)))


def _steps(session: Session, lines: Sequence[Change]) -> list[_Step]:
    """Return what is to do to take back the lines of a unit, the last first.

    What a unit took back itself, as a run does that fails, is over: that is no change of it to be taken back.
    """
    unit = {line.id for line in lines}
    known = changes.of_items(session, sorted({line.item for line in lines}), since=min(unit))
    open_fields, to_and_fro = untaken(known), _to_and_fro(unit, known)
    own = unit | to_and_fro
    later: dict[str, list[Change]] = {}
    for line in known:
        if line.id not in own:
            later.setdefault(line.item, []).append(line)
    return [
        _Step.of(line, open_fields[line.id], [each for each in later.get(line.item, []) if each.id > line.id])
        for line in sorted(lines, key=lambda line: line.id, reverse=True)
        if open_fields[line.id] and line.id not in to_and_fro
    ]


def _to_and_fro(unit: Set[int], known: Sequence[Change]) -> set[int]:
    """Return the lines by which a unit took back its own changes, and those that undid these, and so on."""
    found: set[int] = set()
    for line in sorted(known, key=lambda line: line.id):
        if line.undoes in found or (line.id in unit and line.undoes in unit):
            found.add(line.id)
    return found


class _Undoing:
    """Takes changes back, field by field, inside the transaction that is open.

    What is overtaken is collected in `conflicts` and left; the caller rolls back if it does not want the rest.
    """

    def __init__(self, session: Session, now: datetime) -> None:
        self._session = session
        self._now = now
        self.done: list[Change] = []
        self.conflicts: list[Mapping[str, Any]] = []

    def take_back(self, steps: Sequence[_Step]) -> None:
        """Take back one step after another."""
        for step in steps:
            self._take_back(step)

    def _take_back(self, step: _Step) -> None:
        for name, other in step.over.items():
            self._conflict(step.change, name, f"{name} was changed by {other.operation} ({other.unit})")
        if step.left and step.change.action == "create":
            self._trash(step.change)
        elif step.left:
            self._put_back(step.change, step.left)

    def _trash(self, line: Change) -> None:
        old: Item = rows.load(self._session, line.kind, line.item, trash=True)
        if old.deleted_at is not None:
            return
        if held := self._held(line):
            self._conflict(line, "deleted_at", held)
            return
        rows.save(self._session, old, old.changed(self._now, deleted_at=self._now), undoes=line.id)
        self.done.append(line)

    def _held(self, line: Change) -> str:
        if line.kind == "project" and (count := len(projects.belonging(self._session, line.item))):
            return f"{count} items belong to it by now"
        if line.kind == "task" and (count := len(tasks.children(self._session, line.item))):
            return f"{count} subtasks stand under it by now"
        return ""

    def _put_back(self, line: Change, fields: Sequence[str]) -> None:
        old: Item = rows.load(self._session, line.kind, line.item, trash=True)
        values = {name: self._before(line, old, name) for name in fields}
        new = old.changed(self._now, **values)
        comes_back = old.deleted_at is not None and new.deleted_at is None
        problem = taken(self._session, new) if comes_back else taken(self._session, new, fields)
        if new.deleted_at is None and problem:
            self._conflict(line, ", ".join(fields), problem)
            return
        rows.save(self._session, old, new, undoes=line.id)
        self.done.append(line)

    def _before(self, line: Change, old: Item, name: str) -> Any:
        stored, after = line.before.get(name), line.after[name]
        if is_object(stored) and stored.get(changes.PART):
            return changes.text_before(self._session, getattr(old, name), stored, after)
        return rows.restored(line.kind, name, stored)

    def _conflict(self, line: Change, field: str, why: str) -> None:
        self.conflicts.append({"change": line.id, "id": line.item, "kind": line.kind, "field": field, "why": why})


def _line(change: Change) -> HistoryLine:
    both = ((name, change.before.get(name), change.after[name]) for name in sorted(change.after))
    fields = {name: sides(before, after) for name, before, after in both if before != after}
    return HistoryLine(
        change=change.id, at=change.at, action=change.action, operation=change.operation, client=change.client,
        unit=change.unit, version=change.version, undoes=change.undoes, fields=fields,
    )  # fmt: skip
