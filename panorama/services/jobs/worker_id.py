"""Worker ids: how rows name the processes that run jobs."""

import os
import secrets
import socket
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from panorama.domain.jobs import Job


@dataclass(frozen=True, slots=True)
class WorkerId:
    """A process that runs jobs; it writes `name` into the rows of its jobs."""

    host: str
    process: int
    key: str

    @classmethod
    def for_this_process(cls) -> Self:
        """Return a new name for this process."""
        return cls(socket.gethostname()[:60], os.getpid(), secrets.token_hex(4))

    @property
    def name(self) -> str:
        """Its name in rows."""
        return f"{self.host} {self.process} {self.key}"

    def can_take_over(self, job: Job, now: datetime, *, standing: bool) -> bool:
        """Return whether this worker may restart a job because its worker is gone.

        Processes on this machine are checked with the system; others, and hanging ones, by their heartbeat. A
        `standing` job has no heartbeat and ends with its process.
        """
        if job.worker == self.name:
            return False
        is_dead = self.is_dead(job.worker)
        if is_dead is None:
            return job.is_stale(now)
        return is_dead or (not standing and job.is_stale(now))

    def is_dead(self, name: str) -> bool | None:
        """Return whether the process of a worker has ended; None if that cannot be determined on this machine."""
        host, process, _ = (*name.rsplit(" ", 2), "", "")[:3]
        if host != self.host or not process.isdigit():
            return None
        return int(process) == self.process or not _is_alive(int(process))  # the process id is now ours, or unused


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
