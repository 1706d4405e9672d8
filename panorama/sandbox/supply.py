"""The supply of workers: the only place that knows whether a template runs, and which worker is ready."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock

from panorama.domain.scripts import ISOLATIONS, Isolation, Limits
from panorama.errors import UnavailableError
from panorama.sandbox.templates import Template, Ticket
from panorama.sandbox.workers import GoneError, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Standby:
    """A worker that is ready, or will be soon, for scripts with these limits of the system."""

    ticket: Ticket
    cpu: timedelta
    memory_bytes: int

    def suits(self, limits: Limits) -> bool:
        """Tell whether a script with some limits may run in it."""
        return (self.cpu, self.memory_bytes) == (limits.cpu, limits.memory_bytes)


class Supply:
    """One template, started when it is needed, and one worker ahead; may be used in threads."""

    def __init__(self, *, least: Isolation, timezone: str, left_out: Mapping[str, bool]) -> None:
        self._least = least
        self._timezone = timezone
        self._left_out = left_out
        self._turn = Lock()
        self._template: Template | None = None
        self._standby: Standby | None = None
        self._closed = False
        self.known: Isolation | None = None

    def isolation(self) -> Isolation:
        """Return what stands around a worker; starts the template if there is none.

        Raises:
            UnavailableError: It does not start.
        """
        with self._turn:
            self.known = self._started().isolation
            return self.known

    def take(self, limits: Limits) -> tuple[Template, Worker]:
        """Return a worker that has not run anything yet, and the template that it was forked from.

        Raises:
            UnavailableError: No process can be started, or too little would stand around the script.
        """
        for _ in range(2):  # the template may have been killed since it was last used
            with self._turn:
                template = self._started()
                self._check(template.isolation)
                standby, self._standby = self._standby, None
            try:
                return template, self._worker(template, standby, limits)
            except GoneError:
                self._forget(template)
        raise _no_process()

    def _worker(self, template: Template, standby: Standby | None, limits: Limits) -> Worker:
        if standby is not None:
            worker = template.worker(standby.ticket)
            if standby.suits(limits) and worker.lives:
                return worker
            template.let_go(worker)
        worker = template.worker(template.fork(limits, prepare=False))
        try:
            worker.meet()
        except GoneError:
            worker.stream.close()
            raise
        return worker

    def refill(self, limits: Limits) -> None:
        """Order the next worker, for a script with limits like these; it gets ready by itself."""
        with self._turn, suppress(GoneError):
            if self._template is not None and self._standby is None:
                ticket = self._template.fork(limits, prepare=True)
                self._standby = Standby(ticket=ticket, cpu=limits.cpu, memory_bytes=limits.memory_bytes)

    def warm(self) -> None:
        """Start what is missing.

        Raises:
            UnavailableError: No process can be started.
        """
        with self._turn:
            self._started()
        self.refill(Limits())

    @property
    def is_warm(self) -> bool:
        """Whether nothing is missing."""
        return self._standby is not None and self._template is not None and self._template.lives

    def rest(self) -> None:
        """End all processes until they are needed again."""
        with self._turn:
            template, self._template = self._template, None
            standby, self._standby = self._standby, None
        if template is not None:
            if standby is not None:
                template.let_go(template.worker(standby.ticket))
            template.close()

    def close(self) -> None:
        """End all processes, and start no more."""
        self._closed = True
        self.rest()

    def _started(self) -> Template:
        if self._closed:
            raise UnavailableError("Panorama is closing and runs no more scripts.", hint="Start it again.")
        if self._template is not None and not self._template.lives:
            self._drop(self._template)
        if self._template is None:
            self._template = Template(self._timezone, self._left_out)
        return self._template

    def _forget(self, template: Template) -> None:
        with self._turn:
            if self._template is template:
                self._drop(template)
            else:
                template.close()

    def _drop(self, template: Template) -> None:
        """Let go of a template that is gone; the worker that waited is gone with it."""
        standby, self._standby = self._standby, None
        if standby is not None and standby.ticket.stream:
            standby.ticket.stream.close()
        self._template = None
        template.close()

    def _check(self, isolation: Isolation) -> None:
        if ISOLATIONS.index(isolation) < ISOLATIONS.index(self._least):
            raise UnavailableError(
                f"Scripts are not run here: only {isolation} stands around them, {self._least} is asked for.",
                hint="Use a kernel that has the missing layer, or ask for less in the settings (least isolation).",
            )


def _no_process() -> UnavailableError:
    return UnavailableError(
        "No process could be started for the script.",
        hint="The machine may be short of memory or of processes; try again in a moment.",
    )
