"""Jobs that do what a test wants: they count, wait, fail, raise, or answer much."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from panorama.app import App
from panorama.daemon.job_scheduler import JobRunner, run_jobs
from panorama.domain.jobs import JobKind
from panorama.errors import UnavailableError
from panorama.operation import Operation
from panorama.services.jobs import progress

PATIENCE = 20.0


def until(so: Callable[[], object], what: str = "it") -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, f"{what} did not come about within {PATIENCE:g} s"
        threading.Event().wait(0.005)


@dataclass
class JobActivity:
    """What the jobs of a test do, and how they did it: `begun` in their order, `most` of them at once."""

    go: threading.Event = field(default_factory=threading.Event)
    begun: list[str] = field(default_factory=list[str])
    found: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    most: int = 0
    now: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def nothing(self) -> dict[str, str]:
        """Do nothing.

        It is quick.
        """
        return {"did": "nothing"}

    def steps(self, name: str = "", steps: int = 1_000_000) -> dict[str, int]:
        """Take steps until `go` is set, and keep how many."""
        with self.lock:
            self.begun.append(name)
            self.now += 1
            self.most = max(self.most, self.now)
        self.found.append(dict(progress.load_checkpoint()))
        done = int(progress.load_checkpoint().get("done", 0))
        try:
            while done < steps and not self.go.is_set():
                done += 1
                progress.save_checkpoint({"done": done})
                progress.report_progress(done, steps, f"step {done}")
                time.sleep(0.005)
        finally:
            with self.lock:
                self.now -= 1
        return {"done": done}

    def raises(self, what: str) -> dict[str, str]:
        """Fail."""
        progress.report_progress(3, 10, "the fourth")
        if what == "ours":
            raise UnavailableError("The disk is full; nothing was changed.", hint="Free some space.")
        raise ZeroDivisionError(what)

    def much(self, size: int = 100_000) -> dict[str, str]:
        """Answer much."""
        return {"text": "x" * size}


def offered(app: App) -> JobActivity:
    """Let an app do such work as jobs: `nothing`, `steps` (resumable), `lonely` (one at a time), `once`, …"""
    works = JobActivity()
    calls = {
        "nothing": (works.nothing, JobKind(name="nothing")),
        "steps": (works.steps, JobKind(name="steps", resumable=True)),
        "lonely": (works.steps, JobKind(name="lonely", resumable=True, alone=True)),
        "once": (works.steps, JobKind(name="once")),
        "raises": (works.raises, JobKind(name="raises")),
        "much": (works.much, JobKind(name="much")),
    }
    app.calls.register(
        Operation(name=f"test.{name}", call=call, summary=str, policy="write", transactional=False, long=True, job=kind)
        for name, (call, kind) in calls.items()
    )
    return works


@contextmanager
def at_work(app: App) -> Iterator[JobRunner]:
    """Run the jobs of an app."""
    with run_jobs(app) as queue:
        yield queue
