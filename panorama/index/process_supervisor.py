"""Keeps the index process running and rebuilds a damaged index."""

import shutil
import signal
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from panorama.errors import UnavailableError
from panorama.index.child_process import BusyError, ChildProcess, ProcessDiedError, RefusedError
from panorama.index.frames import Frame
from panorama.index.generations import DamagedIndexError, Generation, IndexFolder, unusable_error
from panorama.index.points import Model, Status

OPEN_SECONDS = 60.0
LOCK_SECONDS = 10.0
"""How long the index process of a killed program may take to release its files."""

RETRY_SECONDS = 2.0
"""The pause after a failed start."""

MAX_FAILURES = 3
"""How often a generation may fail to open, or to execute the same request, before it counts as damaged."""

MIN_FREE_BYTES = 128 << 20
"""With less free disk space, an index that cannot be opened does not count as damaged: its log alone takes 96 MB."""


class ProcessSupervisor:
    """The process behind the index; calls wait for it within their time limits."""

    def __init__(
        self, folders: IndexFolder, generation: Generation, *, is_new: bool, started: Callable[[], None], note: str = ""
    ) -> None:
        self.generation = generation
        self.note = note
        self._folders = folders
        self._is_new = is_new
        self._started = started
        self._lock = Lock()
        self._ready = Event()
        self._child: ChildProcess | None = None
        self._coming: ChildProcess | None = None
        self._threads: list[Thread] = []
        self._is_starting = False
        self._error: UnavailableError | None = None
        self._tried = 0.0
        self._doubts: dict[str, int] = {}
        self._damage = ""
        self._closed = False
        self._ensure_started()

    @property
    def status(self) -> Status:
        """Whether it accepts requests."""
        if not self._ready.is_set():
            return "starting"
        return "ready" if self._child is not None and self._child.is_alive else "down"

    @property
    def error(self) -> str:
        """Why it could not be started, or ""."""
        return self._error.message if self._error and self._child is None else ""

    def measure_memory(self) -> tuple[int, int]:
        """Return the process's anonymous and file-mapped memory in bytes."""
        return self._child.measure_memory() if self._child else (0, 0)

    def request(self, request: Mapping[str, Any], tail: bytes = b"", *, seconds: float, reads: bool = False) -> Frame:
        """Send a request and return the answer; a reading one is retried if the process dies.

        Raises:
            UnavailableError: The process is not ready, busy or dead, or returned an error.
        """
        end = time.monotonic() + seconds
        for is_last in (False, True):
            child = self._wait_for_child(end)
            try:
                return self._request_once(child, request, tail, end)
            except ProcessDiedError as error:
                was_live = self._handle_failure(child, request, error)
                if is_last or (was_live and not reads):
                    raise self._stopped_error() from error
            except RefusedError as error:  # the outcome of a write is unknown; after reopening, the log decides
                self._handle_failure(child, request, error)
                raise self._refusal(f"{error}") from error
            except BusyError as error:
                if reads:
                    raise UnavailableError("The index is busy.", hint=_MEANWHILE) from error
                self._restart(child)
                raise self._stopped_error() from error
        raise self._stopped_error()

    def _request_once(self, child: ChildProcess, request: Mapping[str, Any], tail: bytes, end: float) -> Frame:
        answer = child.request(request, tail, seconds=max(0.0, end - time.monotonic()))
        if self._doubts:
            self._doubts.pop(str(request["do"]), None)
        return answer

    def _handle_failure(
        self, child: ChildProcess, request: Mapping[str, Any], error: ProcessDiedError | RefusedError
    ) -> bool:
        """Reopen the index after its process failed; return whether it was the live one.

        A request that fails repeatedly without a problem of the machine counts as damage.
        """
        killed = isinstance(error, ProcessDiedError) and error.signal in _OUTSIDE_SIGNALS
        if not killed and not self._is_machine_fault(f"{error}"):
            did = str(request["do"])
            self._doubts[did] = self._doubts.get(did, 0) + 1
            self._damage = f"{error}" if self._doubts[did] >= MAX_FAILURES else ""
        return self._restart(child)

    def _wait_for_child(self, end: float) -> ChildProcess:
        self._ensure_started()
        if not self._ready.wait(max(0.0, end - time.monotonic())):
            raise UnavailableError("The index is being opened.", hint=_MEANWHILE)
        if (child := self._child) is None:
            raise self._error or self._stopped_error()
        return child

    def _ensure_started(self) -> None:
        """Start the process in the background, unless it runs, is starting, or just failed to start."""
        with self._lock:
            waits = self._error is not None and time.monotonic() < self._tried + RETRY_SECONDS
            if self._closed or self._child is not None or self._is_starting or waits:
                return
            self._ready.clear()
            self._is_starting = True
            self._threads = [entry for entry in self._threads if entry.is_alive()]
            self._threads.append(Thread(target=self._start, name="index-start"))
            self._threads[-1].start()

    def _restart(self, child: ChildProcess) -> bool:
        """Replace a dead process; return whether it was the live one."""
        child.kill()
        with self._lock:
            if self._child is not child:
                return False
            self._child = None
            self._ready.clear()
        self._ensure_started()
        return True

    def _start(self) -> None:
        try:
            self._open()
        except UnavailableError as error:
            self._error = error
        except OSError as error:
            self._error = unusable_error(self.generation.folder.parent, error)
        finally:
            with self._lock:
                if self._is_new and self._child is None:  # it failed: the disk may be full, and the data need it
                    self._folders.clear(self.generation)
                self._tried = time.monotonic()
                self._is_starting = False
                self._ready.set()
        if self._child is not None and not self._closed:
            self._started()

    def _open(self) -> None:
        generation = self.generation
        try:
            if self._damage:
                raise DamagedIndexError(self._damage)
            child = self._open_child(generation)
        except DamagedIndexError as error:
            generation = self._replace_damaged(generation.model, error)
            child = self._open_child(generation)
        with self._lock:
            if self.generation is generation and not self._closed:
                if self._is_new:
                    self._set_live(generation, child)
                self._child, self._error, self._is_new = child, None, False
                return
        child.close()  # a build finished first

    def _set_live(self, generation: Generation, child: ChildProcess) -> None:
        """Let the next start open this generation; on a full disk its process must not keep the files that go."""
        try:
            self._folders.set_live(generation)
        except OSError:
            child.kill()
            raise

    def _open_child(self, generation: Generation) -> ChildProcess:
        """Start a process for a generation; waits while the process of a killed program holds the files.

        Raises:
            DamagedError: It cannot be opened.
            UnavailableError: There is another problem.
        """
        end, falls = time.monotonic() + LOCK_SECONDS, 0
        while not self._closed:
            child = self._coming = ChildProcess()
            try:
                child.request(open_request(generation, is_new=self._is_new), seconds=OPEN_SECONDS)
                return child
            except ProcessDiedError as error:
                falls += 1
                if falls >= MAX_FAILURES:
                    raise self._open_error(f"{error}", killed=error.signal in _OUTSIDE_SIGNALS) from error
            except BusyError as error:
                child.kill()
                raise UnavailableError("The index did not open in time.", hint=_MEANWHILE) from error
            except RefusedError as error:
                child.kill()
                if "WouldBlock" not in f"{error}" or time.monotonic() > end:
                    raise self._open_error(f"{error}") from error
                time.sleep(0.05)
        raise UnavailableError("The index is closed.", hint=_MEANWHILE)

    def _open_error(self, why: str, *, killed: bool = False) -> Exception:
        """Return why a generation did not open: a problem of the machine, or damage."""
        if killed or self._is_new or self._is_machine_fault(why):
            return self._refusal(why)
        return DamagedIndexError(why)

    def _is_machine_fault(self, why: str) -> bool:
        """Return whether a failure is caused by the machine, not the files' contents."""
        return any(sign in why for sign in (*_FULL, *_MACHINE)) or self._has_no_space()

    def _has_no_space(self) -> bool:
        return has_no_space(self.generation)

    def _refusal(self, why: str) -> UnavailableError:
        """Translate an error of Qdrant Edge."""
        if self._has_no_space():
            return no_space_error()
        return refusal(RefusedError(why))

    def _stopped_error(self) -> UnavailableError:
        if self._closed:
            return UnavailableError("The index is closed.", hint=_MEANWHILE)
        if self._has_no_space():
            return no_space_error()
        return UnavailableError(
            "The index process stopped and is being restarted; the last write may be missing.",
            hint=f"Repeat the write. {_MEANWHILE}",
        )

    def _replace_damaged(self, model: Model, error: DamagedIndexError) -> Generation:
        is_lost = not self.generation.folder.is_dir()
        aside = None if is_lost else self._folders.quarantine(self.generation, datetime.now(UTC))
        with self._lock:
            note = self._recreate_folder() if is_lost else damage_note(error, aside)
            self.generation, self._is_new = self._folders.create_generation(model), True
            self._damage, self._doubts = "", {}
            self.note = note
            return self.generation

    def _recreate_folder(self) -> str:
        """Recreate a removed or replaced folder; return the note about it."""
        moved_to = self._folders.clear_path(datetime.now(UTC))
        self._folders.lock()
        return replacement_note(moved_to) if moved_to else "The index folder was removed; the index is rebuilt."

    def renew_if_lost(self) -> None:
        """Start again if the folder was removed or replaced.

        Raises:
            UnavailableError: It was; everything must be written again.
        """
        generation = self.generation
        if generation.folder.is_dir() or not self._renew(generation):
            return
        self._ensure_started()
        raise UnavailableError(self.note, hint=_MEANWHILE)

    def _renew(self, lost: Generation) -> bool:
        with self._lock:
            if self.generation is not lost:  # another thread did it first
                return True
            if self._is_starting or self._closed:
                return False
            child, self._child = self._child, None
            if child is not None:
                child.kill()
            note = self._recreate_folder()
            try:
                self.generation, self._is_new = self._folders.create_generation(lost.model), True
            except OSError as error:  # it was lost again
                raise unusable_error(lost.folder.parent, error) from error
            self.note, self._error = note, None
            return True

    def swap(self, generation: Generation, child: ChildProcess) -> tuple[ChildProcess | None, Generation]:
        """Make a generation the live one with its process; return the previous ones.

        Raises:
            UnavailableError: The index was closed.
        """
        with self._lock:
            if self._closed:
                raise UnavailableError("The index is closed.", hint=_MEANWHILE)
            before = self._child, self.generation
            self._folders.set_live(generation)
            self.generation, self._child, self._error, self._is_new = generation, child, None, False
            self._ready.set()
        return before

    def close(self) -> None:
        """Let the process flush, and end it; a starting one is killed."""
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
            if self._is_starting and self._coming is not None:
                self._coming.kill()
        if child is not None:
            child.close()
        for thread in self._threads:
            thread.join()


def open_request(generation: Generation, *, is_new: bool) -> dict[str, Any]:
    """Return the request that opens a generation."""
    return {"do": "open", "folder": str(generation.shard), "size": generation.model.size, "new": is_new}


def damage_note(error: DamagedIndexError, aside: Path | None) -> str:
    """Return the note about a damaged index."""
    moved = f"it was moved to {aside}, and" if aside else "it"
    return f"The index was damaged ({error}); {moved} is rebuilt."


def replacement_note(aside: Path) -> str:
    """Return the note about something else at the path of the index's folder."""
    return f"Something else was at the path of the index folder; it was moved to {aside}, and the index is rebuilt."


def refusal(error: RefusedError) -> UnavailableError:
    """Translate an error of Qdrant Edge."""
    if any(sign in f"{error}" for sign in _FULL):
        return no_space_error()
    return UnavailableError(f"The index failed: {error}.", hint=f"Rebuild it with reindex. {_MEANWHILE}")


def has_no_space(generation: Generation) -> bool:
    """Return whether the disk of a generation has so little free space that this explains a failure."""
    try:
        return shutil.disk_usage(generation.folder.parent).free < MIN_FREE_BYTES
    except OSError:
        return False


def no_space_error() -> UnavailableError:
    """Return the error for a full disk."""
    return UnavailableError("There is too little disk space for the index.", hint=f"Free some space. {_MEANWHILE}")


_FULL = ("os error 28", "No space left", "StorageFull", "os error 27")
_MACHINE = ("WouldBlock", "Permission denied", "Read-only file system", "Too many open files", "Cannot allocate memory")
_OUTSIDE_SIGNALS = (signal.SIGKILL, signal.SIGTERM, 0)
_MEANWHILE = "Keyword search works meanwhile."
