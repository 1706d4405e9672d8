"""Protocols of what services need from outside."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from panorama.domain.scripts.scripts import CallRecord, Isolation, RunOutcome, Script
from panorama.index.points import Filter, Hit, Model, Point, State, Vector

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from panorama.domain.scripts.allowed_calls import AllowedCalls
    from panorama.store.log.runs import Run


class Calls(Protocol):
    """Calls other operations inside the running call: in its transaction if any, with its unit and client."""

    def call_within(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call one operation by its tool or operation name; return {"data", "summary", "metadata"}.

        Raises:
            PanoramaError: The operation failed.
        """
        ...

    @property
    def early_results(self) -> Sequence[Mapping[str, Any]]:
        """The results of the first steps of the running call, if they were made before its transaction."""
        ...

    def is_transactional(self, name: str) -> bool:
        """Return whether an operation may be part of an atomic batch."""
        ...

    def is_writing(self, name: object) -> bool:
        """Return whether an operation may write; an unknown one may."""
        ...

    def describe_tool(self, name: str) -> Mapping[str, Any]:
        """Return a tool's name, description and parameters (a JSON schema), listed or not.

        Raises:
            NotFoundError: There is no such tool.
        """
        ...

    @property
    def batch_tools(self) -> tuple[str, ...]:
        """The tools that are not in the default list and that scripts cannot call."""
        ...

    @property
    def names(self) -> frozenset[str]:
        """The names of all operations and tools, and their prefixes: `tasks.list`, `tasks`, `list_tasks`."""
        ...

    @property
    def scriptable(self) -> frozenset[str]:
        """The names of the operations that scripts may call."""
        ...

    @property
    def conversation_id(self) -> str:
        """The id of the conversation of the running call, "" if there is none."""
        ...

    @property
    def was_asked(self) -> bool:
        """Whether the user agreed to the running call."""
        ...

    def open_session(self, *, may_confirm: bool = False, shows_confirms: bool = True) -> "ScriptSession":
        """Open a session for a script; the running call becomes its run, and one unit with all its calls."""
        ...


class JobSubmitter(Protocol):
    """Accepts background jobs."""

    def kinds(self) -> Collection[str]:
        """Return the kinds of jobs that can be submitted."""
        ...

    def check(self, kind: str, arguments: Mapping[str, Any]) -> None:
        """Check whether a schedule may run a kind with some arguments.

        Raises:
            PanoramaError: The kind may not be scheduled, or not with these arguments.
        """
        ...

    def is_cli_only(self, kind: str) -> bool:
        """Return whether a kind can only be scheduled at a terminal."""
        ...

    def needs_confirmation(self, kind: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the user must agree before a kind runs unattended."""
        ...

    @property
    def machine(self) -> str:
        """The name of this machine, which jobs that need its files must run on; "" if there is no other one."""
        ...

    def submit(self, kind: str, arguments: Mapping[str, Any], *, asked_by: str, machine: str = "") -> str:
        """Submit a job, in the open transaction if there is one, and return its id.

        Args:
            machine: The machine on which a job that needs its files runs; by default this one.

        Raises:
            InvalidInputError: The arguments do not fit the kind.
        """
        ...


class ScriptSession(Protocol):
    """The calls of one run, on behalf of the call that started it; thread-safe."""

    @property
    def run(self) -> str:
        """The run's id, which is the unit of all its calls."""
        ...

    @property
    def conversation(self) -> str:
        """The id of the requesting conversation."""
        ...

    @property
    def client(self) -> str:
        """The client's name."""
        ...

    @property
    def is_at_terminal(self) -> bool:
        """Whether the user runs the script at a terminal, and reads its errors."""
        ...

    @property
    def takes_all(self) -> bool:
        """Whether a program reads the whole answer; models get a large result as a file."""
        ...

    @property
    def calls(self) -> Sequence[CallRecord]:
        """The calls so far, in starting order."""
        ...

    def limit_writes(self, size_bytes: int) -> None:
        """Limit the bytes stored by all calls of the run together."""
        ...

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        reads_only: bool = False,
        allowed: "AllowedCalls | None" = None,
    ) -> bytes:
        """Call one operation; return msgpack of {"data", "metadata"}.

        Args:
            reads_only: Reject writing operations.
            allowed: Reject all other calls.

        Raises:
            PanoramaError: The operation failed.
        """
        ...

    def record(self, run: "Run", *, at_once: bool = False) -> None:
        """Log the state of the run; `at_once` waits until it is written."""
        ...

    def finish(self, *, stands: bool) -> None:
        """Wait until everything is logged, and set whether the changes are kept."""
        ...


Answered = Callable[[str, Mapping[str, Any]], bytes]
"""Answers one call of a script: operation and arguments in, msgpack of {"data", "metadata"} out, or a PanoramaError."""

Progressed = Callable[[float, float, str], None]
"""Called with a script's progress: current, total (0 if unknown), message."""


class RunTimer(Protocol):
    """The time limit of one run; thread-safe."""

    @property
    def is_ended(self) -> bool:
        """Whether the run was stopped."""
        ...

    def pause(self) -> AbstractContextManager[None]:
        """Stop the clock of the run inside the block; the run can still be cancelled."""
        ...


Begun = Callable[[RunTimer], None]
"""Called before a script's first call."""


class Runner(Protocol):
    """Runs scripts, each in its own process that is used once; thread-safe."""

    @property
    def isolation(self) -> Isolation:
        """The isolation of scripts on this machine; starts a process to detect it.

        Raises:
            UnavailableError: No process can be started.
        """
        ...

    @property
    def known_isolation(self) -> Isolation | None:
        """The last detected isolation; None before the first detection."""
        ...

    def run(
        self,
        script: Script,
        answered: Answered,
        progressed: Progressed,
        stopped: Callable[[], bool],
        begun: Begun = ...,
    ) -> RunOutcome:
        """Run a script and return its outcome; errors of the script are not raised.

        `answered` may be called in several threads, and the run ends after all these calls; a long one can check the
        timer passed to `begun`. `stopped` is called at least every 100 ms.

        Raises:
            UnavailableError: No process can be started.
        """
        ...

    def preload(self) -> None:
        """Prepare the next run in the background; free if it is ready."""
        ...

    def close(self) -> None:
        """End every process; running scripts end as cancelled."""
        ...


class Index(Protocol):
    """A vector index of one model: a copy of data in the database, which may lag and be deleted.

    Thread-safe. All methods except `state` and `model` raise UnavailableError while it fails.
    """

    @property
    def model(self) -> Model:
        """The model of its vectors."""
        ...

    def upsert(self, points: Sequence[Point], change: int = 0) -> None:
        """Write at most 256 points; existing chunks are replaced.

        Args:
            change: The last change that they include. An index that several programs write keeps newer points.

        Raises:
            InvalidInputError: A vector has the wrong size, or contains NaN or infinity.
        """
        ...

    def delete(self, chunks: Sequence[str], change: int = 0) -> None:
        """Remove chunks; missing ones are ignored, and newer ones are kept as by `upsert`."""
        ...

    def search(self, vector: Vector, limit: int, condition: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; ties are ordered by id.

        Raises:
            InvalidInputError: The vector has the wrong size, or contains NaN or infinity.
        """
        ...

    def count(self) -> int:
        """Return the number of its chunks."""
        ...

    def iter_digests(self) -> Iterator[tuple[str, str]]:
        """Yield each chunk with the digest of its text, unordered; pages are read between other writes."""
        ...

    def build(self, points: Iterable[Point], model: Model | None = None, change: int = 0) -> None:
        """Replace everything by these points, optionally for another model; `change` as in `upsert`.

        The old points are searched until all is written, and are kept if that fails. Concurrent writes may be lost:
        repeat the changes since the points were read.
        """
        ...

    def flush(self) -> None:
        """Flush all writes to durable storage."""
        ...

    def state(self) -> State:
        """Return its state immediately; never raises."""
        ...

    def close(self) -> None:
        """Flush and close; closing twice is harmless."""
        ...


class Embedder(Protocol):
    """Converts texts to vectors whose dot product measures similarity of meaning; thread-safe.

    It is loaded at first use, or by `load`. For a model behind a service, `size` and `digest` raise UnavailableError
    until then.
    """

    @property
    def id(self) -> str:
        """Its name in the settings, such as `duo` or `ollama:nomic-embed-text`."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the weights: vectors with different digests must not be compared."""
        ...

    @property
    def size(self) -> int:
        """The number of dimensions."""
        ...

    @property
    def max_tokens(self) -> int:
        """The maximum number of word pieces read of a text; the rest is ignored."""
        ...

    @property
    def batch(self) -> int:
        """The preferred batch size; other callers can run between two batches."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order.

        Shape (len(texts), self.size), each of length 1, also for an empty text. For our own models the vector of a
        text does not depend on its batch.

        Raises:
            UnavailableError: The model cannot be loaded, or gives an invalid answer.
        """
        ...

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of a query: shape (self.size,), of length 1.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        ...

    def load(self) -> None:
        """Load it; free if it is loaded.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        ...

    def close(self) -> None:
        """Release memory and connections; running calls finish, and the next use loads it again."""
        ...
