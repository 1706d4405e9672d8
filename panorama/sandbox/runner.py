"""The runner: gives each script a process of its own, and returns how it ended."""

import logging
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Condition, Thread

from panorama.domain.scripts import Ending, Isolation, Limits, Script
from panorama.errors import UnavailableError
from panorama.sandbox import deaths
from panorama.sandbox.answering import Answered, Answering
from panorama.sandbox.jobs import packed
from panorama.sandbox.reports import Progressed, Reports
from panorama.sandbox.run import Run, SilentError, channel, sent
from panorama.sandbox.stopping import Stopping
from panorama.sandbox.supply import Supply
from panorama.sandbox.templates import Template
from panorama.sandbox.watchdog import Watchdog
from panorama.sandbox.workers import Worker

IDLE_SECONDS = 600.0
"""After so long without a script all processes are ended; the next script waits a tenth of a second for new ones."""

CLOSE_SECONDS = 10.0

_log = logging.getLogger(__name__)


def void(_: object) -> None:
    """Drop a value."""


class ForkServer:
    """Runs scripts in forked processes that are used once; fulfils the port `Runner`, and may be used in threads.

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
            least: Run nothing if less than this stands around a script.
            timezone: The local time of scripts, such as Europe/Berlin; "" is the machine's.
            idle_seconds: After how long without a script the processes are ended.
            language: False lets scripts be all of Python, with a function `main`. For tests, as the next two.
            seccomp: False leaves the filter of system calls out.
            landlock: False leaves Landlock out.
        """
        left_out = {"language": language, "seccomp": seccomp, "landlock": landlock}
        self._supply = Supply(least=least, timezone=timezone, left_out=left_out)
        self._watchdog = Watchdog()
        self._changed = Condition()
        self._runs = 0
        self._used: deque[tuple[Template, Worker, Limits]] = deque()
        self._under_way: set[Stopping] = set()
        self._warming: Thread | None = None
        self._idle_seconds = idle_seconds
        self._used_at = 0.0
        self._watches = False
        self._closed = False

    @property
    def isolation(self) -> Isolation:
        """What stands around a running script on this machine, as it was tried out; starts the template.

        Raises:
            UnavailableError: No process can be started.
        """
        isolation = self._supply.isolation()
        self._touch()
        return isolation

    @property
    def known(self) -> Isolation | None:
        """What stood around scripts when it was looked the last time; None before the first."""
        return self._supply.known

    def run(
        self,
        script: Script,
        answered: Answered,
        progressed: Progressed,
        stopped: Callable[[], bool],
        begun: Callable[[Callable[[], bool]], None] = void,
    ) -> Ending:
        """Run a script to its end and return how it ended; `begun` is given what tells whether it was told to end.

        Raises:
            UnavailableError: No process can be started, or too little would stand around the script.
        """
        job = packed(script)
        with self._counted():
            self._tidy()  # if the watchdog was not there yet, the next worker is not even ordered
            template, worker = self._supply.take(script.limits)
            try:
                frames = channel(worker.stream, script.limits)
                left = b"" if sent(frames, job) else job
                with self._stoppable(Stopping(worker, script.limits, stopped, self._watchdog)) as stopping:
                    begun(lambda: stopping.cause is not None)
                    answering = Answering(script, answered, frames, lambda: stopping.cause is not None)
                    run = Run(script, frames, answering, Reports(progressed), stopping, left)
                    try:
                        return run.ending()
                    except SilentError:
                        return run.completed(deaths.ending(template.ended(worker), script.limits))
                    finally:
                        answering.end()
            finally:
                self._used.append((template, worker, script.limits))
                self._watchdog.at(0.0, self._tidy)  # nobody need wait for what comes after the answer

    def _tidy(self) -> None:
        """Kill the workers whose runs have ended, and order the next one."""
        with suppress(IndexError):  # others do it too
            while self._used:
                template, worker, limits = self._used.popleft()
                self._supply.refill(limits)
                template.let_go(worker)

    @contextmanager
    def _counted(self) -> Generator[None, None, None]:
        """Let nobody take the processes away meanwhile."""
        with self._changed:
            self._runs += 1
        try:
            yield
        finally:
            with self._changed:
                self._runs -= 1
                self._changed.notify_all()
            self._touch()

    @contextmanager
    def _stoppable(self, stopping: Stopping) -> Generator[Stopping, None, None]:
        """End the run if the runner closes meanwhile."""
        with self._changed:
            self._under_way.add(stopping)
            if self._closed:
                stopping.kill("cancelled")
        try:
            yield stopping
        finally:
            stopping.end()
            with self._changed:
                self._under_way.remove(stopping)

    def warm(self) -> None:
        """Make ready for the next run, in the background; costs nothing if all is ready."""
        if self._supply.is_warm:
            return
        with self._changed:
            if not self._closed and (self._warming is None or not self._warming.is_alive()):
                self._warming = Thread(target=self._warm, name="panorama-warm", daemon=True)
                self._warming.start()

    def _warm(self) -> None:
        try:
            self._supply.warm()
            self._touch()
        except UnavailableError as error:  # who runs a script hears it
            _log.warning("no process for scripts: %s", error)

    def _touch(self) -> None:
        """Remember that the processes were needed, and look later whether they still are."""
        self._used_at = time.monotonic()
        if not self._watches:
            self._watches = True
            self._watchdog.at(self._used_at + self._idle_seconds, self._look)

    def _look(self) -> None:
        with self._changed:  # a run that begins now waits until all is ended, and starts anew
            due = self._used_at + self._idle_seconds
            if self._runs or due > time.monotonic():
                self._watchdog.at(max(due, time.monotonic() + self._idle_seconds / 10), self._look)
                return
            self._watches = False
            self._supply.rest()

    def close(self) -> None:
        """End every process; a run that is under way ends as cancelled."""
        with self._changed:
            self._closed = True
            for stopping in self._under_way:
                stopping.kill("cancelled")
            self._changed.wait_for(lambda: not self._runs, CLOSE_SECONDS)
        if self._warming:
            self._warming.join()
        self._tidy()
        self._supply.close()
        self._watchdog.close()
