"""The protocol that all kinds of sources implement."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from panorama.domain.sources.functions import SourceFunction, SourceResult
from panorama.sources.config import SourceConfig
from panorama.sources.kinds import KINDS
from panorama.sources.secrets import SecretLookup
from panorama.transport.fastmcp_import import FASTMCP_IMPORT


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call has to end: at a `time.monotonic()`, or earlier once `is_stopped` returns True."""

    at: float
    is_stopped: Callable[[], bool] = _never

    @classmethod
    def after(cls, seconds: float, is_stopped: Callable[[], bool] = _never) -> "Deadline":
        """Return the deadline in some seconds from now."""
        return cls(time.monotonic() + seconds, is_stopped)

    @property
    def seconds_left(self) -> float:
        """The seconds left, 0 if it has passed or the caller stopped."""
        return 0.0 if self.is_stopped() else max(0.0, self.at - time.monotonic())


class Source(Protocol):
    """One configured source. Thread-safe."""

    def list_functions(self, deadline: Deadline) -> Sequence[SourceFunction]:
        """Return its functions; may connect.

        Raises:
            UnavailableError: It cannot be reached.
        """
        ...

    def call(self, function: SourceFunction, arguments: Mapping[str, Any], deadline: Deadline) -> SourceResult:
        """Call a function and return its result.

        Raises:
            SourceError: The source refuses the call.
            UnavailableError: It cannot be reached, or asks to wait past the deadline; nothing was done.
            OutcomeUnknownError: The call ended without an answer and may have been carried out.
        """
        ...

    def close(self) -> None:
        """End connections and processes; a later call starts them again."""
        ...


class Kind(Protocol):
    """A module of `KINDS`."""

    def open_source(self, config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> Source:
        """Return the source of an entry without connecting.

        `secrets` replaces references to secrets in a value; call it when the source connects, not before.
        """
        ...


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> Source:
    """Return the source of a configuration entry, whose kind was checked when it was read."""
    with FASTMCP_IMPORT:
        kind = cast("Kind", import_module(KINDS[config.kind]))
    return kind.open_source(config, secrets, log_folder)
