"""The runner: runs each script in its own process and returns the outcome."""

import logging
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Condition, Thread

from panorama.domain.scripts.scripts import Isolation, Limits, RunOutcome, Script
from panorama.errors import UnavailableError
from panorama.sandbox.host import exit_reasons
from panorama.sandbox.host.call_server import AnswerCall, CallServer
from panorama.sandbox.host.deadline import RunDeadline
from panorama.sandbox.host.progress import ProgressRelay, ReportProgress
from panorama.sandbox.host.run import WorkerRun, WorkerSilentError, open_channel, try_send
from panorama.sandbox.host.template_process import TemplateProcess
from panorama.sandbox.host.worker_handle import WorkerHandle
from panorama.sandbox.host.worker_pool import WorkerPool
from panorama.sandbox.protocol.script_message import pack_script
from panorama.sandbox.worker.watchdog import Watchdog

IDLE_SECONDS = 600.0
"""After so long without a script all processes are ended; the next script waits a tenth of a second for new ones."""

CLOSE_SECONDS = 10.0

_log = logging.getLogger(__name__)


def noop(_: object) -> None:
    """Drop a value."""


class ForkServer:
    """Runs scripts in forked single-use processes; implements `Runner`. Thread-safe.

    A template that has imported everything is forked for each script, and one worker waits ahead. They are started by
    the first need, or by `warm`.
    """

    def __init__(
        self,
        *,
        least: Isolation = "language-only",
        timezone: str = "",
        idle_seconds: float = IDLE_SECONDS,
        language: bool = True,
        seccomp: bool = True,
        landlock: bool = True,
    ) -> None:
        """Make a runner.

        Args:
            least: The least isolation; with less, no script runs.
            timezone: The local time of scripts, such as Europe/Berlin; "" is the machine's.
            idle_seconds: After how long without a script the processes are ended.
            language: False lets scripts be all of Python, with a function `main`. For tests, as the next two.
            seccomp: False leaves the filter of system calls out.
            landlock: False leaves Landlock out.
        """
        layers = {"language": language, "seccomp": seccomp, "landlock": landlock}
        self._pool = WorkerPool(least=least, timezone=timezone, layers=layers)
        self._watchdog = Watchdog()
        self._changed = Condition()
        self._runs = 0
        self._finished: deque[tuple[TemplateProcess, WorkerHandle, Limits]] = deque()
        self._deadlines: set[RunDeadline] = set()
        self._preload_thread: Thread | None = None
        self._idle_seconds = idle_seconds
        self._used_at = 0.0
        self._is_watching_idle = False
        self._closed = False

    @property
    def isolation(self) -> Isolation:
        """The isolation of scripts on this machine, as measured; starts the template.

        Raises:
            UnavailableError: No process can be started.
        """
        isolation = self._pool.isolation()
        self._mark_used()
        return isolation

    @property
    def known_isolation(self) -> Isolation | None:
        """The isolation when it was last measured; None before."""
        return self._pool.known_isolation

    def run(
        self,
        script: Script,
        answered: AnswerCall,
        progressed: ReportProgress,
        stopped: Callable[[], bool],
        begun: Callable[[RunDeadline], None] = noop,
    ) -> RunOutcome:
        """Run a script and return its outcome; `begun` gets its time limit.

        Raises:
            UnavailableError: No process can be started, or too little would stand around the script.
        """
        message = pack_script(script)
        with self._count_run():
            self._clean_up()  # the watchdog may not have run it yet
            template, worker = self._pool.acquire(script.limits)
            try:
                frames = open_channel(worker.stream, script.limits)
                unsent = b"" if try_send(frames, message) else message
                with self._register_deadline(RunDeadline(worker, script.limits, stopped, self._watchdog)) as deadline:
                    begun(deadline)
                    server = CallServer(script, answered, frames, lambda: deadline.is_ended)
                    run = WorkerRun(script, frames, server, ProgressRelay(progressed), deadline, unsent)
                    try:
                        return run.wait_for_outcome()
                    except WorkerSilentError:
                        return run.complete_outcome(
                            exit_reasons.build_exit_outcome(template.reap(worker), script.limits)
                        )
                    finally:
                        server.close()
            finally:
                self._finished.append((template, worker, script.limits))
                self._watchdog.call_at(0.0, self._clean_up)  # the caller need not wait for this

    def _clean_up(self) -> None:
        """Kill the workers whose runs have ended, and order the next one."""
        with suppress(IndexError):  # other threads do it too
            while self._finished:
                template, worker, limits = self._finished.popleft()
                self._pool.refill(limits)
                template.release(worker)

    @contextmanager
    def _count_run(self) -> Generator[None, None, None]:
        """Keep the processes alive during a run."""
        with self._changed:
            self._runs += 1
        try:
            yield
        finally:
            with self._changed:
                self._runs -= 1
                self._changed.notify_all()
            self._mark_used()

    @contextmanager
    def _register_deadline(self, deadline: RunDeadline) -> Generator[RunDeadline, None, None]:
        """End the run if the runner closes meanwhile."""
        with self._changed:
            self._deadlines.add(deadline)
            if self._closed:
                deadline.kill("cancelled")
        try:
            yield deadline
        finally:
            deadline.close()
            with self._changed:
                self._deadlines.remove(deadline)

    def preload(self) -> None:
        """Make ready for the next run, in the background; costs nothing if all is ready."""
        if self._pool.is_ready:
            return
        with self._changed:
            if not self._closed and (self._preload_thread is None or not self._preload_thread.is_alive()):
                self._preload_thread = Thread(target=self._preload, name="panorama-warm", daemon=True)
                self._preload_thread.start()

    def _preload(self) -> None:
        try:
            self._pool.preload()
            self._mark_used()
        except UnavailableError as error:  # the next run reports it
            _log.warning("no process for scripts: %s", error)

    def _mark_used(self) -> None:
        """Remember that the processes were needed, and look later whether they still are."""
        self._used_at = time.monotonic()
        if not self._is_watching_idle:
            self._is_watching_idle = True
            self._watchdog.call_at(self._used_at + self._idle_seconds, self._check_idle)

    def _check_idle(self) -> None:
        with self._changed:  # a run that starts now waits for this and starts new processes
            idle_at = self._used_at + self._idle_seconds
            if self._runs or idle_at > time.monotonic():
                self._watchdog.call_at(max(idle_at, time.monotonic() + self._idle_seconds / 10), self._check_idle)
                return
            self._is_watching_idle = False
            self._pool.stop_processes()

    def close(self) -> None:
        """End every process; running scripts end as cancelled."""
        with self._changed:
            self._closed = True
            for deadline in self._deadlines:
                deadline.kill("cancelled")
            self._changed.wait_for(lambda: not self._runs, CLOSE_SECONDS)
        if self._preload_thread:
            self._preload_thread.join()
        self._clean_up()
        self._pool.close()
        self._watchdog.close()
