"""A call: its arguments, its client, and what is recorded about it until it is logged."""

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from panorama.calls.conversation import Conversation, Memory
from panorama.calls.rendering import MODEL, Answer, Audience
from panorama.domain.changes import SCRIPT_ACTOR, WriteBudget
from panorama.domain.scripts.allowed_calls import AllowedCalls
from panorama.errors import InvalidInputError, PanoramaError
from panorama.services.jobs.running_job import RunningJob
from panorama.store.backend import Database
from panorama.store.log.calls import CallLogEntry

LOCKED_READ_SECONDS = 0.15
"""How long the reading steps of a transaction may compute together, since other writes wait for them.

It is processor time, which is the same on a busy machine.
"""


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of an operation, from the client to the log.

    `name` and `arguments` are as they were sent. `unit` is shared with nested calls; `whole` means that all of it is
    one transaction. `agreed` is the user's agreement to the call, "" before they were asked. `position` counts the
    calls of a script from 1. A script with `reads_only` cannot write; a reviewed one can only call what is `allowed`.
    Without `may_confirm`, `confirm` is ignored. `was_asked` means that the user agreed to this call. `budget` limits
    the bytes stored by its unit. `running` is its inline job. `entries` create the log entries of its nested calls,
    which takes a while and is done after the transaction. `early_results` are those of the first steps, which read
    before the transaction began; `left_read_seconds` is how long further ones may read inside it, None without a limit.
    """

    conversation: Conversation
    id: str
    unit: str
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    whole: bool = True
    agreed: str = ""
    reader: Audience = MODEL
    position: int = 0
    reads_only: bool = False
    allowed: AllowedCalls | None = None
    may_confirm: bool = True
    was_asked: bool = False
    key: str = ""
    steps: int = 0
    wrote: int = 0
    entries: list[Callable[[], CallLogEntry]] = field(default_factory=list[Callable[[], CallLogEntry]])
    memory: Memory | None = None
    budget: WriteBudget | None = None
    running: RunningJob | None = None
    early_results: Sequence[Mapping[str, Any]] = ()
    left_read_seconds: float | None = None

    @contextmanager
    def limit_locked_reads(self, database: Database) -> Generator[None]:
        """Let a step read, and stop it when the reading steps of the transaction took too long together.

        Raises:
            InvalidInputError: The reading steps took too long together.
        """
        if self.left_read_seconds is None:
            yield
            return
        end = time.thread_time() + self.left_read_seconds
        error: PanoramaError | None = None
        try:
            with database.limit_reads(lambda: time.thread_time() > end, math.inf):
                yield
        except PanoramaError as failed:
            error = failed
        self.left_read_seconds = end - time.thread_time()
        if self.left_read_seconds < 0:
            raise InvalidInputError(
                "The reading steps after the first one that writes take too long, and other writes wait for them.",
                hint="Put them first or into a batch of their own, or use atomic=false.",
            ) from error
        if error:
            raise error

    @property
    def is_for_script(self) -> bool:
        """Whether a script reads the answer, directly or through a batch."""
        return self.reader.wants_all or self.conversation.actor == SCRIPT_ACTOR

    @property
    def is_outermost(self) -> bool:
        """Whether the call is not part of another one."""
        return self.unit == self.id

    def inner_conversation(self) -> Conversation:
        """Return the conversation of nested calls: the same, with its own record of read items."""
        self.memory = self.memory or Memory()
        return replace(self.conversation, memory=self.memory)


_current: ContextVar[Call | None] = ContextVar("call", default=None)


def find_current_call() -> Call | None:
    """Return the running call of this context, None if there is none."""
    return _current.get()


def current_call() -> Call:
    """Return the running call of this context."""
    call = _current.get()
    if call is None:
        raise RuntimeError("no call is running here")
    return call


@contextmanager
def make_current(call: Call) -> Generator[None]:
    """Make a call the running one of this context."""
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)


@dataclass(slots=True)
class TrackedCall:
    """A call that may become a job while it runs: the call once it has started, and its answer or error at the end.

    `is_task` means that the client follows it as a task, `is_asking` that its request ended with a question to the
    user; the first of them excludes the other.
    """

    call: Call | None = None
    answer: Answer | None = None
    error: Exception | None = None
    running: RunningJob | None = None
    is_task: bool = False
    is_asking: bool = False


TRACKED_CALL: ContextVar[TrackedCall | None] = ContextVar("tracked", default=None)
