"""What services ask of the outside."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from panorama.domain.scripts.scripts import CallRecord, Isolation, RunOutcome, Script
from panorama.index.points import Filter, Hit, Model, Point, State, Vector

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from panorama.domain.scripts.allowed_calls import AllowedCalls
    from panorama.store.log.runs import Run


class Calls(Protocol):
    """Calls other operations, inside the call that runs: in its transaction if it has one, with its unit and client."""

    def call_within(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call one operation by its tool or operation name; return {"data", "summary", "metadata"}.

        Raises:
            PanoramaError: The operation refused.
        """
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
        """The names of all operations and tools, and what these begin with: `tasks.list`, `tasks`, `list_tasks`."""
        ...

    @property
    def scriptable(self) -> frozenset[str]:
        """The names of the operations that scripts may call."""
        ...

    def open_session(self, *, may_confirm: bool = False) -> "ScriptSession":
        """Let a script call operations; the call that runs becomes the script's run, and one unit with all it does."""
        ...


class JobSubmitter(Protocol):
    """Takes jobs that are to run in the background."""

    def kinds(self) -> Collection[str]:
        """Return the kinds of jobs that can be submitted."""
        ...

    def check(self, kind: str, arguments: Mapping[str, Any]) -> None:
        """Look whether a schedule may ask for a kind with some arguments.

        Raises:
            PanoramaError: It may not.
        """
        ...

    def is_cli_only(self, kind: str) -> bool:
        """Return whether only a person at a terminal may schedule a kind."""
        ...

    def needs_confirmation(self, kind: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the person has to agree to a kind's being run when nobody can be asked."""
        ...

    def submit(self, kind: str, arguments: Mapping[str, Any], *, asked_by: str) -> str:
        """Put a job into the queue, in the transaction that is open if there is one, and return its id.

        Raises:
            InvalidInputError: The arguments do not fit the kind.
        """
        ...


class ScriptSession(Protocol):
    """The calls of one run, in the name of the call that started it; safe to use from several threads."""

    @property
    def run(self) -> str:
        """The run's id, which is the unit of all it does."""
        ...

    @property
    def conversation(self) -> str:
        """The id of the conversation that asked for it."""
        ...

    @property
    def client(self) -> str:
        """The name of the client's program."""
        ...

    @property
    def takes_all(self) -> bool:
        """Whether a program reads the answer, whole; a model gets a large result as a file."""
        ...

    @property
    def calls(self) -> Sequence[CallRecord]:
        """What was called so far, in the order in which it began."""
        ...

    def limit_writes(self, size_bytes: int) -> None:
        """Bound what all calls of the run together store."""
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
            reads_only: Refuse what writes.
            allowed: Refuse all but this.

        Raises:
            PanoramaError: The operation refused.
        """
        ...

    def record(self, run: "Run", *, at_once: bool = False) -> None:
        """Log how the run does; `at_once` waits until that is written."""
        ...

    def finish(self, *, stands: bool) -> None:
        """Wait until all that happened is in the log, and say whether what was written stands."""
        ...


Answered = Callable[[str, Mapping[str, Any]], bytes]
"""Answers one call of a script: operation and arguments in, msgpack of {"data", "metadata"} out, or a PanoramaError."""

Progressed = Callable[[float, float, str], None]
"""Is told how far a script says it is: current, total (0 if unknown), message."""


Begun = Callable[[Callable[[], bool]], None]
"""Is given, before the first call of a script, what tells whether its run was told to end."""


class Runner(Protocol):
    """Runs scripts, each in a process of its own that is used once; may be called in threads."""

    @property
    def isolation(self) -> Isolation:
        """What stands around a running script on this machine; starts what is needed to know.

        Raises:
            UnavailableError: No process can be started.
        """
        ...

    @property
    def known_isolation(self) -> Isolation | None:
        """What stood around scripts when it was looked the last time; None before the first."""
        ...

    def run(
        self,
        script: Script,
        answered: Answered,
        progressed: Progressed,
        stopped: Callable[[], bool],
        begun: Begun = ...,
    ) -> RunOutcome:
        """Run a script to its end and return how it ended; it never raises for what the script did.

        `answered` may be called in several threads at once, and the run ends once all these calls have; one that takes
        long can ask what `begun` was given. `stopped` is asked at least every 100 ms whether somebody still waits.

        Raises:
            UnavailableError: No process can be started.
        """
        ...

    def preload(self) -> None:
        """Make ready for the next run, in the background; costs nothing if all is ready."""
        ...

    def close(self) -> None:
        """End every process; a run that is under way ends as cancelled."""
        ...


class Index(Protocol):
    """Vectors of one model, to be searched: a copy of what the database holds, which may lag and be thrown away.

    Calls may come from several threads. All but `state` and `model` raise UnavailableError while it is out of order.
    """

    @property
    def model(self) -> Model:
        """The model whose vectors it holds now."""
        ...

    def upsert(self, points: Sequence[Point]) -> None:
        """Write at most 256 points; one whose chunk is there already is replaced.

        Raises:
            InvalidInputError: A vector has another size than the model's, or holds something that is no number.
        """
        ...

    def delete(self, chunks: Sequence[str]) -> None:
        """Remove chunks; those that are not there are passed over."""
        ...

    def search(self, vector: Vector, limit: int, condition: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; those alike in the order of their ids.

        Raises:
            InvalidInputError: The vector has another size than the model's, or holds something that is no number.
        """
        ...

    def count(self) -> int:
        """Return how many chunks it holds."""
        ...

    def iter_digests(self) -> Iterator[tuple[str, str]]:
        """Give each chunk with the digest of its text, in no order; read page by page, writes may come between."""
        ...

    def build(self, points: Iterable[Point], model: Model | None = None) -> None:
        """Replace everything by these points, for another model if one is given.

        What was there is searched until all is written, and stays if `points` or the writing fails. Other writes that
        come meanwhile may be lost: write again what changed since the points were read.
        """
        ...

    def flush(self) -> None:
        """Return once everything that was written would survive a power cut."""
        ...

    def state(self) -> State:
        """Return how it does, at once and whatever happens."""
        ...

    def close(self) -> None:
        """Write what is left to the disk, and end; closing twice is harmless."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors whose product tells how near two texts are in meaning; may be called in threads.

    What it needs is loaded at the first need, or by `load`. If another program serves it, `size` and `digest` are known
    only then, and raise UnavailableError before.
    """

    @property
    def id(self) -> str:
        """The name by which a person chooses it, such as `minilm` or `ollama:nomic-embed-text`."""
        ...

    @property
    def digest(self) -> str:
        """Stands for the weights: vectors of two digests must not be compared."""
        ...

    @property
    def size(self) -> int:
        """The number of dimensions."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many word pieces of a text are read; what follows is passed over."""
        ...

    @property
    def batch(self) -> int:
        """How many texts it is given at once, where there are more: between two batches others have their turn."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order.

        Shape (len(texts), self.size), each of length 1, for an empty text too. A text gives the same vector whatever
        stands beside it, as far as the model is ours.

        Raises:
            UnavailableError: The model cannot be loaded, or does not answer as it should.
        """
        ...

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of what is searched for: shape (self.size,), of length 1.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        ...

    def load(self) -> None:
        """Make it ready; costs nothing if it is.

        Raises:
            UnavailableError: As of `embed_documents`.
        """
        ...

    def close(self) -> None:
        """Give back its memory and its connections; what runs meanwhile ends in peace, and the next need loads anew."""
        ...
