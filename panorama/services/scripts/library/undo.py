"""Undo of all writes: items through their history, script files through their versions."""

from collections.abc import Iterator

from panorama.domain.changes import SCRIPT_ACTOR, Origin
from panorama.domain.paging import Result
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.services.base import RUN_LETTER, LargeCall, Plan, Service, ServiceContext
from panorama.services.history.history import History
from panorama.services.history.results import UndoResult
from panorama.services.history.undo_targets import OWN_WRITE_SPAN, find_targets
from panorama.services.scripts.library import script_versions
from panorama.services.scripts.library.library import Library
from panorama.store.backend import Session
from panorama.store.log import changes, runs, script_writes
from panorama.store.log.runs import OUTSIDE_CALLS
from panorama.store.log.script_writes import ScriptWrite

MAX_WRITES = 200
"""The number of newest script writes that are searched."""


class ScriptUndo(Service):
    """Undoes writes; undoing a script write restores the previous text of its file."""

    def __init__(self, context: ServiceContext, history: History, library: Library) -> None:
        super().__init__(context)
        self._history = history
        self._library = library

    def undo(
        self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False
    ) -> Result[UndoResult]:
        """Take back a write: as `History.undo`, whose words the tool has."""
        with self._reading() as view:
            entry = self._find_write(view, unit.strip(), count, redo)
        if entry is None:
            result = self._history.undo(unit, skip_conflicts, count, redo)
            return Result(result, hint="" if redo else self._describe_outside_calls(result.units))
        with self._writing() as session:
            self._put_back(session, entry)
        was = "update" if entry.before else "create"
        undone = {"id": entry.name, "kind": "script", "label": entry.name, "was": was}
        result = UndoResult(units=(entry.unit,), count=1, redo=redo, undone=(undone,), conflicts=(), conflict_count=0)
        return Result(result)

    def _describe_outside_calls(self, units: tuple[str, ...]) -> str:
        """Return the source calls of some runs that cannot be undone, "" if none."""
        with self._reading() as session:
            found = [run for unit in units if unit.startswith(f"{RUN_LETTER}_") and (run := runs.find(session, unit))]
        calls = sorted({name for run in found for name in run.options.get(OUTSIDE_CALLS, ())})
        return f"Undo does not revert these calls of sources: {', '.join(calls)}." if calls else ""

    undo.__doc__ = History.undo.__doc__

    def split_undo(
        self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False
    ) -> LargeCall | None:
        """Return the arguments of an undo that is too large for one transaction, with explicit units; else None."""
        with self._reading() as session:
            if self._find_write(session, unit.strip(), count, redo):
                return None
        return self._history.split_undo(unit, skip_conflicts, count, redo)

    def plan_undo(self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False) -> Plan:
        """Ask before an undo that must not happen by mistake, unless it will be refused."""
        with self._reading() as session:
            write = self._find_write(session, unit.strip(), count, redo)
        if write is None:
            return self._history.plan_undo(unit, skip_conflicts, count, redo)
        is_refused = self._library.versions.find_own_digest(write.name) != write.after
        return Plan("" if is_refused else self._library.get_overwrite_question(write.name))

    @property
    def _writer(self) -> Origin | None:
        return self._context.database.writer()

    def _find_write(self, session: Session, unit: str, count: int, redo: bool) -> ScriptWrite | None:
        """Return the script write to undo, None if the undo concerns items."""
        writer = self._writer
        if writer and writer.actor == SCRIPT_ACTOR:
            return None  # it changes items, so a dry run is possible
        if unit:
            return script_writes.find_by_unit(session, unit)
        if writer and writer.is_shared:
            return None  # it may be another client's
        conversation = writer.conversation if writer else ""
        write = next(self._iter_own_writes(session, conversation, redo), None)
        if write is None or not self._is_last(session, write, count, redo):
            return None
        if count > 1:
            raise InvalidInputError(
                f"One of the last {count} writes is that of the script {write.name}, which must be undone alone; "
                "nothing was changed.",
                hint="Call undo without count, once for each write.",
            )
        return write

    def _iter_own_writes(self, session: Session, conversation: str, redo: bool) -> Iterator[ScriptWrite]:
        """Yield the undoable writes of a conversation, the newest first."""
        writes = script_writes.list_writes(session, MAX_WRITES)
        by_number, undone = {write.number: write for write in writes}, {write.undoes for write in writes}
        for write in writes:
            steps, at = 0, write
            while at.undoes in by_number:
                steps, at = steps + 1, by_number[at.undoes]
            is_own = write.conversation == conversation and write.number not in undone
            if is_own and steps % 2 == int(redo) and self._library.versions.find_own_digest(write.name) == write.after:
                yield write

    def _is_last(self, session: Session, write: ScriptWrite, count: int, redo: bool) -> bool:
        """Return whether a write is the last one, or takes precedence over those of other conversations."""
        try:
            targets = find_targets(session, self._now(), self._writer, count=count, redo=redo)
        except NotFoundError:
            return True
        if targets.is_foreign:
            return write.at >= self._now() - OWN_WRITE_SPAN
        return any(changes.get_last(session, unit).id <= write.change for unit in targets.units)

    def _put_back(self, session: Session, write: ScriptWrite) -> None:
        if script_writes.is_undone(session, write):
            raise ConflictError(
                f"{write.unit} is already undone.", hint="To bring it back, use redo=true, or undo that undo."
            )
        if self._library.versions.find_own_digest(write.name) != write.after:
            raise ConflictError(
                f"The script {write.name} was changed again since; nothing was undone.",
                hint=f"`panorama scripts history {write.name}` lists its texts, `scripts rollback` restores one.",
            )
        text = script_versions.get_text(session, write.name, write.before) if write.before else None
        self._library.versions.write(session, write.name, text, undoes=write.number)
        session.later.append(self._library.notify_changed)
