"""Workers: the processes that run jobs, as their rows name them."""

import os
import secrets
import socket
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from panorama.domain.jobs import Job


@dataclass(frozen=True, slots=True)
class WorkerId:
    """A process that runs jobs: `name` is what it writes into the rows of those that it has begun."""

    host: str
    process: int
    key: str

    @classmethod
    def for_this_process(cls) -> Self:
        """Return a new name for this process."""
        return cls(socket.gethostname()[:60], os.getpid(), secrets.token_hex(4))

    @property
    def name(self) -> str:
        """How a row names it."""
        return f"{self.host} {self.process} {self.key}"

    def can_take_over(self, job: Job, now: datetime, *, standing: bool) -> bool:
        """Return whether this one may begin a job anew, for whoever began it is gone.

        Of a process on this machine the system knows; of others, and of one that hangs, only what was heard of them. A
        `standing` job is not heard of, and goes with its process.
        """
        if job.worker == self.name:
            return False
        is_dead = self.is_dead(job.worker)
        if is_dead is None:
            return job.is_stale(now)
        return is_dead or (not standing and job.is_stale(now))

    def is_dead(self, name: str) -> bool | None:
        """Return whether the process of another name has ended; None if nothing on this machine knows."""
        host, process, _ = (*name.rsplit(" ", 2), "", "")[:3]
        if host != self.host or not process.isdigit():
            return None
        return int(process) == self.process or not _is_alive(int(process))  # the number is ours by now, or nobody's


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
