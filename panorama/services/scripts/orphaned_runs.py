"""Ends the runs of killed processes; atomic ones are undone."""

import logging
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from panorama.domain.changes import Origin
from panorama.domain.paging import PageRequest
from panorama.errors import PanoramaError, UnavailableError
from panorama.services.base import CALL_LETTER, Service, ServiceContext
from panorama.services.history.history import History
from panorama.services.jobs.worker_id import WorkerId, Workers
from panorama.services.scripts import run_changes
from panorama.store.backend import Session
from panorama.store.backend.membership import RECOVERY
from panorama.store.log import calls as call_log
from panorama.store.log import changes, runs
from panorama.store.log.runs import Run

GRACE_PERIOD = timedelta(hours=1)
"""No run takes longer than this over its limit; after that, its process id belongs to another process."""

_STALE_AGE = timedelta(hours=1)
"""After this time a dry run's copy without a logged run is abandoned."""

_log = logging.getLogger(__name__)


class OrphanedRuns(Service):
    """Finds runs of dead processes. Safe across threads and processes."""

    def __init__(self, context: ServiceContext, worker: WorkerId) -> None:
        super().__init__(context)
        self.worker = worker
        self._membership = context.database.membership
        self._workers = Workers(worker, self._membership)
        self._history = History(context)
        self._asides = context.home / "dry-runs"
        self._has_looked = False
        self._claimed: set[str] = set()

    def recover(self) -> None:
        """End the runs of dead processes, and delete the copies of their dry runs.

        Raises:
            UnavailableError: The store cannot be read.
        """
        self._has_looked = True
        with self._reading() as session:
            left = [run for run in runs.list_running(session) if self._is_orphaned(run)]
        for run in left:
            self._finish_or_log(run)
        self._delete_scratch_copies()

    def recover_once(self) -> None:
        """Do so once before the first script, if no daemon does it regularly."""
        if not self._has_looked:
            with suppress(PanoramaError):
                self.recover()

    def _is_orphaned(self, run: Run) -> bool:
        if run.status == "running" and run.id in self._claimed:
            return True
        if run.status != "running" or run.worker == self.worker.name:
            return False
        has_ended = self._workers.has_ended(run.worker, everywhere=self._membership.holds(RECOVERY))
        if has_ended or self._membership.is_shared:
            return bool(has_ended)
        limit = timedelta(seconds=float(run.options.get("seconds", 0)))
        return self._now() - run.at > limit + GRACE_PERIOD

    def _finish_or_log(self, run: Run) -> None:
        try:
            self._finish(run)
        except UnavailableError as error:
            _log.warning("the run %s waits to be ended: %s", run.id, error.message)
        except Exception:  # a bug of ours: the run is ended anyway, with its remaining changes
            _log.exception("the run %s could not be undone", run.id)
            with suppress(UnavailableError):
                self._finish(run, takes_back=False)

    def _finish(self, run: Run, *, takes_back: bool = True) -> None:
        """End a run. An atomic one is undone first, in short transactions between which it can be stopped."""
        origin = Origin(  # with the run's own unit, so that this rollback is not itself undoable
            actor="panorama", client=run.client, conversation=run.conversation, operation="history.undo",
            call=self._context.new_id(CALL_LETTER), unit=run.id,
        )  # fmt: skip
        if not self._claim(origin, run.id):
            return
        is_undone = takes_back and bool(run.options.get("atomic")) and not run.options.get("dry_run")
        with self._context.database.write_scope(origin):
            if is_undone and not self._history.rollback(run.id):
                return  # this process stops; the next one continues
        with self._reading() as session:
            counts = run_changes.count_changes(session, run.id)
            outcome = _describe_outcome(session, run, sum(counts.values()), is_undone=is_undone)
            called = call_log.list_by_run(session, run.id, PageRequest(1)).total or 0
        error = {"kind": "interrupted", "message": f"Panorama ended while it ran. {outcome}"}
        with self._context.database.transaction(origin) as session:
            runs.save(session, [replace(run, status="failed", error=error, changes=counts, calls=called)])
        self._claimed.discard(run.id)
        _log.warning("the process of run %s died; the run is ended", run.id)

    def _claim(self, origin: Origin, run_id: str) -> bool:
        """Make this process the worker of a run, so that no other one ends it; return False if another was faster."""
        with self._context.database.transaction(origin) as session:
            run = runs.find(session, run_id)
            if run is None or not self._is_orphaned(run):
                return False
            runs.save(session, [replace(run, worker=self.worker.name)])
        self._claimed.add(run_id)
        return True

    def _delete_scratch_copies(self) -> None:
        """Delete the copies of killed dry runs."""
        if not self._asides.is_dir():
            return
        for folder in self._asides.iterdir():
            with suppress(FileNotFoundError):  # a dry run that is just ending deletes its own
                if self._is_orphaned_copy(folder):
                    shutil.rmtree(folder, ignore_errors=True)

    def _is_orphaned_copy(self, folder: Path) -> bool:
        with self._reading() as session:
            run = runs.find(session, folder.name)
        if run is None:
            return time.time() - folder.stat().st_mtime > _STALE_AGE.total_seconds()
        return run.status != "running"


def _describe_outcome(session: Session, run: Run, count: int, *, is_undone: bool) -> str:
    if run.options.get("dry_run") or not changes.count_by_unit(session, run.id):
        return "Nothing was changed."
    return (
        run_changes.describe_rollback(session, run.id) if is_undone else run_changes.describe_remaining(run.id, count)
    )
