"""The state that the source calls of one run share."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from panorama.errors import InvalidInputError, ScriptError
from panorama.services.sources.questions import AskUser
from panorama.services.sources.run_time import RunTime
from panorama.sources.source import Deadline

MAX_CALLS = 1_000
MAX_RECEIVED_BYTES = 64 << 20


@dataclass(slots=True)
class SourceLedger:
    """Counts the source calls of a run. Thread-safe."""

    calls: int = 0
    received_bytes: int = 0
    effects: Counter[str] = field(default_factory=Counter[str])
    """The calls that did more than read, by name; they cannot be undone."""

    granted: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """The functions, with the digests of their definitions, that the user agreed to for this run."""

    declined: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """The functions to which the user did not agree while the script waited."""

    questions: int = 0
    """How often the user was asked while the script waited."""

    asking: Lock = field(default_factory=Lock)
    """Held while the user is asked: one question at a time."""

    private: set[str] = field(default_factory=set[str])
    """Where the run read private data: "items", and sources."""

    called: set[str] = field(default_factory=set[str])
    """The sources that were called."""

    stopped_at: str = ""
    """The call before which a dry run stopped."""

    _lock: Lock = field(default_factory=Lock)

    def count_call(self, name: str, *, reads_only: bool) -> None:
        """Count a call before it is made.

        Raises:
            InvalidInputError: The run has used its calls, or received its bytes.
        """
        with self._lock:
            if self.calls >= MAX_CALLS:
                raise InvalidInputError(f"A run makes at most {MAX_CALLS:,} source calls.", hint=_SPLIT_HINT)
            if self.received_bytes > MAX_RECEIVED_BYTES:
                raise InvalidInputError(
                    f"A run receives at most {MAX_RECEIVED_BYTES >> 20} MB from sources.", hint=_SPLIT_HINT
                )
            self.calls += 1
            self.called.add(name.partition(".")[0])
            if not reads_only:
                self.effects[name] += 1

    def add_bytes(self, size_bytes: int) -> None:
        """Count what a call returned.

        Raises:
            InvalidInputError: It is more than the run may receive.
        """
        with self._lock:
            self.received_bytes += size_bytes
            if self.received_bytes > MAX_RECEIVED_BYTES:
                raise InvalidInputError(
                    f"A run receives at most {MAX_RECEIVED_BYTES >> 20} MB from sources.", hint=_SPLIT_HINT
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The sources that were called, in order of their names."""
        return tuple(sorted(self.called))

    def require_running(self) -> None:
        """Refuse every call after a dry run stopped.

        Raises:
            ScriptError: The dry run was stopped.
        """
        if self.stopped_at:
            raise ScriptError(self.describe())

    def describe(self) -> str:
        """Return a remark for the user about the calls, "" if there is none."""
        if self.stopped_at:
            return (
                f"The dry run stopped before {self.stopped_at}, which may change something outside of Panorama; "
                "what follows in the script is not shown."
            )
        if not self.effects:
            return ""
        calls = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in self.effects.items())
        return f"Undo does not revert calls of sources: {calls}."


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceScope:
    """The script whose source call is being answered.

    `ask` is None if no user can be asked. `conversation` is "" in a job; `digest` is that of a library text, "" for
    others.
    """

    ledger: SourceLedger
    time: RunTime
    ask: AskUser | None
    conversation: str
    digest: str
    reads_only: bool
    dry_run: bool
    is_at_terminal: bool

    @property
    def deadline(self) -> Deadline:
        """When a call that starts now has to end; the time that the user takes for an answer does not count."""
        return self.time.deadline


_SPLIT_HINT = "Ask for less, with filters and limits, or split the work into several runs."

ITEMS = "items"

SOURCE_SCOPE: ContextVar[SourceScope | None] = ContextVar("source_scope", default=None)
"""The script of the running call; None outside of scripts."""


@contextmanager
def use_source_scope(scope: SourceScope) -> Generator[None]:
    """Answer a source call of a script inside the block."""
    token = SOURCE_SCOPE.set(scope)
    try:
        yield
    finally:
        SOURCE_SCOPE.reset(token)
