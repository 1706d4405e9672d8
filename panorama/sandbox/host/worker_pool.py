"""Keeps one template process and one spare worker ready."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock

from panorama.domain.scripts.scripts import ISOLATIONS, Isolation, Limits
from panorama.errors import UnavailableError
from panorama.sandbox.host.template_process import ForkRequest, TemplateProcess
from panorama.sandbox.host.worker_handle import WorkerGoneError, WorkerHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class SpareWorker:
    """A worker that is ready, or soon will be, for scripts with these system limits."""

    request: ForkRequest
    cpu: timedelta
    memory_bytes: int

    def can_run(self, limits: Limits) -> bool:
        """Return whether a script with these limits can run in this worker."""
        return (self.cpu, self.memory_bytes) == (limits.cpu, limits.memory_bytes)


class WorkerPool:
    """One template, started on demand, and one worker ahead. Thread-safe."""

    def __init__(self, *, least: Isolation, timezone: str, layers: Mapping[str, bool]) -> None:
        self._least = least
        self._timezone = timezone
        self._layers = layers
        self._lock = Lock()
        self._template: TemplateProcess | None = None
        self._spare: SpareWorker | None = None
        self._closed = False
        self.known_isolation: Isolation | None = None

    def isolation(self) -> Isolation:
        """Return the isolation of workers; starts the template if there is none.

        Raises:
            UnavailableError: The template does not start.
        """
        with self._lock:
            self.known_isolation = self._ensure_started().isolation
            return self.known_isolation

    def acquire(self, limits: Limits) -> tuple[TemplateProcess, WorkerHandle]:
        """Return an unused worker and the template that it was forked from.

        Raises:
            UnavailableError: No process can be started, or too little would stand around the script.
        """
        for _ in range(2):  # the template may have been killed since it was last used
            with self._lock:
                template = self._ensure_started()
                self._check_isolation(template.isolation)
                spare, self._spare = self._spare, None
            try:
                return template, self._prepare_worker(template, spare, limits)
            except WorkerGoneError:
                self._forget(template)
        raise _no_process_error()

    def _prepare_worker(self, template: TemplateProcess, spare: SpareWorker | None, limits: Limits) -> WorkerHandle:
        if spare is not None:
            worker = template.get_worker(spare.request)
            if spare.can_run(limits) and worker.is_alive:
                return worker
            template.release(worker)
        worker = template.get_worker(template.fork(limits, prepare=False))
        try:
            worker.resolve()
        except WorkerGoneError:
            worker.stream.close()
            raise
        return worker

    def refill(self, limits: Limits) -> None:
        """Order the next worker, for a script with these limits, in the background."""
        with self._lock, suppress(WorkerGoneError):
            if self._template is not None and self._spare is None:
                request = self._template.fork(limits, prepare=True)
                self._spare = SpareWorker(request=request, cpu=limits.cpu, memory_bytes=limits.memory_bytes)

    def preload(self) -> None:
        """Start the template and a spare worker if they are missing.

        Raises:
            UnavailableError: No process can be started.
        """
        with self._lock:
            self._ensure_started()
        self.refill(Limits())

    @property
    def is_ready(self) -> bool:
        """Whether nothing is missing."""
        return self._spare is not None and self._template is not None and self._template.is_alive

    def stop_processes(self) -> None:
        """End all processes until they are needed again."""
        with self._lock:
            template, self._template = self._template, None
            spare, self._spare = self._spare, None
        if template is not None:
            if spare is not None:
                template.release(template.get_worker(spare.request))
            template.close()

    def close(self) -> None:
        """End all processes, and start no more."""
        self._closed = True
        self.stop_processes()

    def _ensure_started(self) -> TemplateProcess:
        if self._closed:
            raise UnavailableError("Panorama is closing and runs no more scripts.", hint="Start it again.")
        if self._template is not None and not self._template.is_alive:
            self._drop(self._template)
        if self._template is None:
            self._template = TemplateProcess(self._timezone, self._layers)
        return self._template

    def _forget(self, template: TemplateProcess) -> None:
        with self._lock:
            if self._template is template:
                self._drop(template)
            else:
                template.close()

    def _drop(self, template: TemplateProcess) -> None:
        """Release a template that is gone, and its spare worker with it."""
        spare, self._spare = self._spare, None
        if spare is not None and spare.request.stream:
            spare.request.stream.close()
        self._template = None
        template.close()

    def _check_isolation(self, isolation: Isolation) -> None:
        if ISOLATIONS.index(isolation) < ISOLATIONS.index(self._least):
            raise UnavailableError(
                f"Scripts need the isolation {self._least}; this machine offers only {isolation}.",
                hint="Use a kernel with the missing layer, or lower the setting script_isolation.",
            )


def _no_process_error() -> UnavailableError:
    return UnavailableError(
        "No process could be started for the script.",
        hint="The machine may be short of memory or of processes; try again in a moment.",
    )
