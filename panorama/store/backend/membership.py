"""The daemons that serve one database, and the duties that only one of them has at a time."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

DUE_WORK = "due work"
"""The duty to fire reminders and to submit the jobs of schedules."""

RECOVERY = "recovery"
"""The duty to recover runs and jobs of daemons that died on other machines, and to finish interrupted writes."""

CLEANUP = "cleanup"
"""The duty to delete old entries of the call log, old runs and old jobs."""

Presence = Literal["connected", "recent", "gone"]
"""Whether a daemon holds its connection, lost it within `LEASE_SECONDS`, or before that."""

LEASE_SECONDS = 30.0
"""A daemon on another machine that was not seen for this long is gone."""


def embedding_duty(model: str) -> str:
    """Return the duty to embed changed items with a model; the other daemons index the stored vectors."""
    return f"embedding with {model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A process that serves the database. Two machines may have one host name, but not one `machine`.

    `id` is a random number. `serves` names the ways in which clients reach it.
    """

    id: str
    machine: str
    host: str
    process: int
    version: str
    serves: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningDaemon(Daemon):
    """A daemon that is connected: since when, and the duties it holds; the times are those of the database."""

    started_at: datetime
    seen_at: datetime
    duties: Sequence[str]


class Membership(Protocol):
    """This process as one of the daemons of a database. Thread-safe."""

    @property
    def is_shared(self) -> bool:
        """Whether processes of other machines may serve the same database."""
        ...

    @property
    def newer_revision(self) -> str:
        """The revision to which a newer version migrated the open database; "" if none did."""
        ...

    def serve(self) -> AbstractContextManager[None]:
        """Serve the database inside the block.

        Raises:
            UnavailableError: Another process has locked it, or is the only one that may serve it.
        """
        ...

    def register(self, daemon: Daemon) -> None:
        """List this process as a daemon until the end of `serve`; the tables must exist."""
        ...

    def holds(self, duty: str) -> bool:
        """Return whether this process has a duty now; the first call asks for it.

        Call it before each step of the duty, because the duty ends with the connection to the database. A process
        that is not registered has every duty.
        """
        ...

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener whenever this process gets a duty; return how to unsubscribe. It must be quick."""
        ...

    def find_presence(self, daemon: str) -> Presence:
        """Return whether the daemon with an id is there."""
        ...

    def list_daemons(self) -> Sequence[RunningDaemon]:
        """Return the daemons that are connected, the oldest first."""
        ...
