"""Worker ids: how rows name the processes that run jobs, and which of those have ended."""

import os
import secrets
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from panorama.domain.jobs import LEASE, Job
from panorama.store.backend.membership import LEASE_SECONDS, Membership


@dataclass(frozen=True, slots=True)
class WorkerId:
    """A process that runs jobs; it writes `name` into the rows of its jobs."""

    machine: str
    process: int
    key: str

    @classmethod
    def for_this_process(cls, machine: str = "") -> Self:
        """Return a new name for this process.

        Args:
            machine: By default the host's name.
        """
        return cls(machine or socket.gethostname()[:60], os.getpid(), secrets.token_hex(4))

    @property
    def name(self) -> str:
        """Its name in rows."""
        return f"{self.machine} {self.process} {self.key}"

    def is_dead(self, name: str) -> bool | None:
        """Return whether the process of a worker has ended; None if that cannot be determined on this machine."""
        machine, process, _ = _split(name)
        if machine != self.machine or not process.isdigit():
            return None
        return int(process) == self.process or not _is_alive(int(process))  # the process id is now ours, or unused


class Workers:
    """Which of the processes that rows name have ended."""

    def __init__(self, here: WorkerId, membership: Membership) -> None:
        self._here = here
        self._membership = membership

    def can_take_over(self, job: Job, now: datetime, *, standing: bool, everywhere: bool = True) -> bool:
        """Return whether this worker may restart a job because its worker is gone.

        Processes on this machine are checked with the system; others, and hanging ones, by their heartbeat. A
        `standing` job has no heartbeat and ends with its process.

        Args:
            now: By the clock that set the heartbeat.
            everywhere: Also the jobs of workers on other machines.
        """
        if job.worker == self._here.name or not (everywhere or self._is_here(job.worker)):
            return False
        if not self._membership.is_shared:
            is_dead = self._here.is_dead(job.worker)
            if is_dead is None:
                return job.is_stale(now, LEASE)
            return is_dead or (not standing and job.is_stale(now, LEASE))
        if standing:
            return not self._is_connected(job.worker)
        return job.is_stale(now, timedelta(seconds=LEASE_SECONDS)) or bool(self.has_ended(job.worker))

    def has_ended(self, name: str, *, everywhere: bool = True) -> bool | None:
        """Return whether a worker has ended; None if that cannot be known.

        A process of this machine has ended if the system does not know it; those of a shared database must also have
        lost their connection, because a copied data directory gives two machines one name.

        Args:
            everywhere: Also of workers on other machines; None for these otherwise.
        """
        is_dead = self._here.is_dead(name)
        if not self._membership.is_shared:
            return is_dead
        if not everywhere and not self._is_here(name):
            return None
        presence = self._membership.find_presence(_split(name)[2])
        return presence == "gone" or (bool(is_dead) and presence != "connected")

    def _is_connected(self, name: str) -> bool:
        return self._membership.find_presence(_split(name)[2]) == "connected"

    def _is_here(self, name: str) -> bool:
        return _split(name)[0] == self._here.machine


def _split(name: str) -> tuple[str, str, str]:
    """Return the machine, the process and the key of a worker's name."""
    machine, process, key = (*name.rsplit(" ", 2), "", "")[:3]
    return machine, process, key


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
