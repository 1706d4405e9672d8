"""The only daemon of a database: a lock in the data directory says which process it is."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime

from panorama.store.backend.membership import Daemon, Presence, RunningDaemon


class SoleMembership:
    """Holds every duty that it was asked for, at no cost."""

    is_shared = False
    newer_revision = ""

    def __init__(self) -> None:
        self._self: Daemon | None = None
        self._began = datetime.now(UTC)
        self._duties: dict[str, None] = {}

    @contextmanager
    def serve(self) -> Generator[None]:
        """Serve the database inside the block."""
        try:
            yield
        finally:
            self._self = None

    def register(self, daemon: Daemon) -> None:
        """List this process until the end of `serve`."""
        self._self, self._began = daemon, datetime.now(UTC)

    def holds(self, duty: str) -> bool:
        """Return true."""
        self._duties[duty] = None
        return True

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Do nothing: no duty is ever handed over."""
        del listener
        return lambda: None

    def find_presence(self, daemon: str) -> Presence:
        """Return whether it is this process."""
        return "connected" if self._self and self._self.id == daemon else "gone"

    def list_daemons(self) -> Sequence[RunningDaemon]:
        """Return this process, if it is registered."""
        if self._self is None:
            return ()
        now = datetime.now(UTC)
        duties = tuple(self._duties)
        return (RunningDaemon(**asdict(self._self), started_at=self._began, seen_at=now, duties=duties),)
