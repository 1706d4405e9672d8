"""Runs that a process left behind when it was killed: each is ended with what is known, an atomic one taken back."""

import logging
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from panorama.domain.changes import Origin
from panorama.domain.results import Slice
from panorama.errors import PanoramaError, UnavailableError
from panorama.services import run_standing
from panorama.services.base import CALL_LETTER, Desk, Service
from panorama.services.history import History
from panorama.services.workers import Worker
from panorama.store import calls as call_log
from panorama.store import changes, runs
from panorama.store.engine import Session
from panorama.store.runs import Run

GRACE = timedelta(hours=1)
"""Longer than this over its time no run takes: the number of its process is somebody else's by then."""

_STALE = timedelta(hours=1)
"""After so long the copy of a dry run that no log knows of is nobody's."""

_log = logging.getLogger(__name__)


class LeftRuns(Service):
    """Looks for runs whose process is gone. Safe to use from several threads and processes."""

    def __init__(self, desk: Desk, worker: Worker) -> None:
        super().__init__(desk)
        self.worker = worker
        self._history = History(desk)
        self._asides = desk.database.path.parent / "dry-runs"
        self._has_looked = False

    def pick_up(self) -> None:
        """End the runs of processes that are gone, and remove the copies of their dry runs.

        Raises:
            UnavailableError: The store cannot be read.
        """
        self._has_looked = True
        with self._reading() as session:
            left = [run for run in runs.running(session) if self._is_left(run)]
        for run in left:
            self._end(run)
        self._forget_asides()

    def pick_up_once(self) -> None:
        """Do so where nobody does it now and then: before the first script."""
        if not self._has_looked:
            with suppress(PanoramaError):
                self.pick_up()

    def _is_left(self, run: Run) -> bool:
        if run.status != "running" or run.worker == self.worker.name:
            return False
        if self.worker.is_gone(run.worker):
            return True
        most = timedelta(seconds=float(run.options.get("seconds", 0)))
        return self._now() - run.at > most + GRACE

    def _end(self, run: Run) -> None:
        try:
            self._end_as_wished(run)
        except UnavailableError as error:
            _log.warning("the run %s waits to be ended: %s", run.id, error.message)
        except Exception:  # a bug of ours: it is ended all the same, and says what stands
            _log.exception("the run %s could not be taken back", run.id)
            with suppress(UnavailableError):
                self._end_as_wished(run, takes_back=False)

    def _end_as_wished(self, left: Run, *, takes_back: bool = True) -> None:
        origin = Origin(  # with the run's own unit, so that taking it back is no write that an undo would take back
            actor="panorama", client=left.client, conversation=left.conversation, operation="history.undo",
            call=self._desk.new_id(CALL_LETTER), unit=left.id,
        )  # fmt: skip
        with self._desk.database.transaction(origin) as session:
            run = runs.found(session, left.id)
            if run is None or not self._is_left(run):  # another process was faster
                return
            is_undone = takes_back and bool(run.options.get("atomic")) and not run.options.get("dry_run")
            if is_undone:
                self._history.roll_back(run.id)
            counts = run_standing.counts(session, run.id)
            stands = _what_stands(session, run, sum(counts.values()), is_undone=is_undone)
            error = {"kind": "interrupted", "message": f"Panorama ended while it ran. {stands}"}
            called = call_log.of_run(session, run.id, Slice(1)).total or 0
            runs.put(session, [replace(run, status="failed", error=error, changes=counts, calls=called)])
        _log.warning("the run %s was left by its process; it is ended", left.id)

    def _forget_asides(self) -> None:
        """Remove the copies of dry runs that have ended without doing so: they were killed."""
        if not self._asides.is_dir():
            return
        for folder in self._asides.iterdir():
            with suppress(FileNotFoundError):  # a dry run that ends just now removes its own
                if self._is_orphan(folder):
                    shutil.rmtree(folder, ignore_errors=True)

    def _is_orphan(self, folder: Path) -> bool:
        with self._reading() as session:
            run = runs.found(session, folder.name)
        if run is None:
            return time.time() - folder.stat().st_mtime > _STALE.total_seconds()
        return run.status != "running"


def _what_stands(session: Session, run: Run, count: int, *, is_undone: bool) -> str:
    if run.options.get("dry_run") or not changes.size_of_unit(session, run.id):
        return "Nothing was changed."
    return run_standing.after_taking_back(session, run.id) if is_undone else run_standing.left(run.id, count)
