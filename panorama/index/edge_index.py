"""The embedded index: Qdrant Edge in a child process; small stores in memory.

Edge blocks every other thread while it works: for 1 s when it opens 200,000 vectors, for 2 s when it flushes them. So
it runs in a child process. A request takes 0.1 ms, as long as numpy takes for 5,000 vectors, so small stores are
searched in this process.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.child_process import BusyError, ChildProcess, ProcessDiedError, RefusedError
from panorama.index.filters import from_payload, to_conditions, to_payload, to_qdrant
from panorama.index.generations import DamagedIndexError, Generation, IndexFolder, unusable_error
from panorama.index.points import Filter, Hit, Model, ModelMismatchError, Point, State, Vector, in_batches
from panorama.index.process_supervisor import (
    ProcessSupervisor,
    damage_note,
    has_no_space,
    no_space_error,
    open_request,
    refusal,
    replacement_note,
)

if TYPE_CHECKING:
    from panorama.index.exact_index import ExactIndex

MAX_MIRRORED = 10_000
"""Up to this many chunks a copy is kept in memory (20 MB); beyond, Edge is faster even through its process."""

SEARCH_SECONDS = 1.0
WRITE_SECONDS = 60.0
STATE_SECONDS = 0.05
PAGE = 512


def open_index(folder: Path, model: Model, *, anew: bool = False, mirrored: int = MAX_MIRRORED) -> "EdgeIndex":
    """Open or create the index in a folder; its process starts in the background.

    A damaged index, or anything that is not a folder, is moved to `<folder>.damaged-<time>`, and `state()` reports it.

    Args:
        anew: Delete the existing index, of any model.

    Raises:
        OtherModelError: It belongs to another model: open it for that one and `build`, or open it with `anew`.
        UnavailableError: Another program uses it, it is not writable, or Qdrant Edge is not available for this machine.
    """
    if find_spec("qdrant_edge") is None:
        raise UnavailableError(
            "Qdrant Edge is not available for this machine.",
            hint="Set index_engine to exact, or qdrant_url to the address of a Qdrant server.",
        )
    folders = IndexFolder(folder)
    moved_to = folders.clear_path(datetime.now(UTC))
    folders.lock()
    try:
        generation, note = (None, "") if anew or moved_to else _load_live(folders, model)
        if generation is not None and generation.model != model:
            raise ModelMismatchError(generation.model, model)
        folders.remove_stale(generation)
        note = replacement_note(moved_to) if moved_to else note
        return EdgeIndex(
            folders,
            generation or folders.create_generation(model),
            is_new=generation is None,
            note=note,
            mirrored=mirrored,
        )
    except OSError as error:
        folders.unlock()
        raise unusable_error(folder, error) from error
    except UnavailableError:
        folders.unlock()
        raise


def _load_live(folders: IndexFolder, model: Model) -> tuple[Generation | None, str]:
    try:
        live = folders.find_live()
        if live and live.model != model and (live.model.id, live.model.digest) == (model.id, model.digest):
            raise DamagedIndexError(f"it says {live.model.size} dimensions, and {model.id} has {model.size}")
        return live, ""
    except DamagedIndexError as error:
        return None, damage_note(error, folders.quarantine(None, datetime.now(UTC)))


class EdgeIndex:
    """An index in a folder of this machine, for one program at a time."""

    engine = "edge"

    def __init__(self, folders: IndexFolder, generation: Generation, *, is_new: bool, note: str, mirrored: int) -> None:
        self._folders = folders
        self._mirrored = mirrored
        self._mirror: ExactIndex | None = None
        self._filling: ExactIndex | None = None
        self._writing = Lock()
        self._building = Lock()
        self._count: int | None = None
        self._serving = ProcessSupervisor(folders, generation, is_new=is_new, started=self._fill, note=note)

    @property
    def model(self) -> Model:
        """The model of its vectors."""
        return self._serving.generation.model

    def upsert(self, points: Sequence[Point], change: int = 0) -> None:  # noqa: ARG002 (no other program writes it)
        """Write points; existing chunks are replaced."""
        for batch in in_batches(points):
            request, vectors = _build_upsert(batch, self._serving.generation.model)
            with self._writing:
                self._serving.renew_if_lost()
                self._serving.request(request, vectors, seconds=WRITE_SECONDS)
                for copy in self._mirrors():
                    copy.upsert(batch)
                self._drop_large_mirrors()

    def delete(self, chunks: Sequence[str], change: int = 0) -> None:  # noqa: ARG002 (likewise)
        """Remove chunks; missing ones are ignored."""
        for batch in in_batches(chunks):
            with self._writing:
                self._serving.renew_if_lost()
                self._serving.request({"do": "delete", "chunks": batch}, seconds=WRITE_SECONDS)
                for copy in self._mirrors():
                    copy.delete(batch)

    def search(self, vector: Vector, limit: int, condition: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; ties are ordered by id.

        Waits at most 1 s for the process if it is busy or being started.
        """
        if limit < 1:
            return []
        if (mirror := self._mirror) is not None:
            return mirror.search(vector, limit, condition)
        from panorama.index.vectors import normalize_row  # numpy takes 100 ms to import

        query = normalize_row(vector, self._serving.generation.model.size).tobytes()
        request = {"do": "search", "limit": limit, "must": to_qdrant(to_conditions(condition))}
        answer = self._serving.request(request, query, seconds=SEARCH_SECONDS, reads=True)
        return [Hit(chunk=chunk, item=item, score=score) for score, chunk, item in answer.head["hits"]]

    def count(self) -> int:
        """Return the number of its chunks."""
        return self._request_count(WRITE_SECONDS)

    def iter_digests(self) -> Iterator[tuple[str, str]]:
        """Yield each chunk with the digest of its text, unordered; pages are read between other writes."""
        for payloads, _ in self._iter_pages(vectors=False):
            for entry in payloads:
                yield entry["chunk"], entry["digest"]

    def build(self, points: Iterable[Point], model: Model | None = None, change: int = 0) -> None:  # noqa: ARG002 (likewise)
        """Replace everything by these points, optionally for another model.

        A second process writes them to a new folder, which replaces the live one once everything is on disk.
        Building 50,000 takes some 3 s.
        """
        with self._building:
            copying = _MirroredBatches(points, model or self._serving.generation.model, self._mirrored)
            generation, child = self._build_generation(copying.iter_batches(), copying.model)
            before, old = self._swap(generation, child, copying.copy)
            if before is not None:
                before.kill()
            self._folders.remove(old)

    def _swap(
        self, generation: Generation, child: ChildProcess, copy: "ExactIndex | None"
    ) -> tuple[ChildProcess | None, Generation]:
        try:
            with self._writing:
                before = self._serving.swap(generation, child)
                self._mirror, self._filling = copy, None
                return before
        except (OSError, UnavailableError):
            child.kill()
            self._folders.remove(generation)
            raise

    def _build_generation(self, batches: Iterable[Sequence[Point]], model: Model) -> tuple[Generation, ChildProcess]:
        try:
            generation = self._folders.create_generation(model)
        except OSError as error:
            raise unusable_error(self._serving.generation.folder.parent, error) from error
        try:
            with _start_child(generation) as child:
                written = (_build_upsert(batch, model) for batch in batches)
                child.request_all(chain([(open_request(generation, is_new=True), b"")], written), seconds=WRITE_SECONDS)
                with _start_child(generation) as successor:  # it starts while the first one flushes
                    child.request({"do": "close"}, seconds=WRITE_SECONDS)
                    child.stop()
                    # A reopened index takes a third of the memory, and is verified.
                    successor.request(open_request(generation, is_new=False), seconds=WRITE_SECONDS)
                    return generation, successor
        except BaseException:
            self._folders.remove(generation)
            raise

    def flush(self) -> None:
        """Flush all writes to durable storage."""
        self._serving.renew_if_lost()
        self._serving.request({"do": "flush"}, seconds=WRITE_SECONDS)

    def state(self) -> State:
        """Return its state, with the memory of its process."""
        with suppress(UnavailableError):
            self._serving.renew_if_lost()
        with suppress(UnavailableError):
            self._count = self._request_count(STATE_SECONDS)
        serving, (anonymous, mapped) = self._serving, self._serving.measure_memory()
        return State(
            engine=self.engine, status=serving.status, model=serving.generation.model,
            identity=serving.generation.identity, count=self._count, disk_bytes=serving.generation.size_bytes(),
            anonymous_bytes=anonymous, mapped_bytes=mapped, note=" ".join(filter(None, (serving.error, serving.note))),
        )  # fmt: skip

    def close(self) -> None:
        """Flush to disk, and end the process."""
        self._serving.close()
        self._folders.unlock()

    def _mirrors(self) -> list["ExactIndex"]:
        return [entry for entry in (self._mirror, self._filling) if entry is not None]

    def _drop_large_mirrors(self) -> None:
        if any(entry.count() > self._mirrored for entry in self._mirrors()):
            self._mirror = self._filling = None

    def _fill(self) -> None:
        """Copy a small index into memory; writes between two pages go to both.

        An index with damaged vectors (NaN) is not copied.
        """
        with suppress(UnavailableError, InvalidInputError):
            if self._request_count(WRITE_SECONDS) > self._mirrored:
                self._mirror = None
                return
            from panorama.index.exact_index import ExactIndex  # numpy takes 100 ms to import

            with self._writing:
                copy = self._filling = ExactIndex(self._serving.generation.model)
            self._copy(copy)

    def _copy(self, copy: "ExactIndex") -> None:
        pages = self._iter_pages(vectors=True)
        while True:
            with self._writing:
                page = next(pages, None)
                if self._filling is not copy:  # it grew too large, or was rebuilt
                    return
                if page is None:
                    self._mirror, self._filling = copy, None
                    return
                copy.upsert([from_payload(payload, vector) for payload, vector in zip(*page, strict=True)])

    def _iter_pages(self, *, vectors: bool) -> Iterator[tuple[list[Mapping[str, Any]], list[Vector]]]:
        after: str | None = None
        while True:
            request = {"do": "page", "after": after, "limit": PAGE, "vectors": vectors}
            answer = self._serving.request(request, seconds=WRITE_SECONDS, reads=True)
            payloads, after = answer.head["payloads"], answer.head["after"]
            size = len(answer.tail) // max(1, len(payloads))
            yield payloads, [answer.tail[at * size : (at + 1) * size] for at in range(len(payloads))]
            if after is None:
                return

    def _request_count(self, seconds: float) -> int:
        return int(self._serving.request({"do": "count"}, seconds=seconds, reads=True).head["count"])


class _MirroredBatches:
    """Points to be written; `copy` also holds them in memory while they are few."""

    def __init__(self, points: Iterable[Point], model: Model, limit: int) -> None:
        from panorama.index.exact_index import ExactIndex  # numpy takes 100 ms to import

        self.model = model
        self.copy: ExactIndex | None = ExactIndex(model)
        self._points, self._most = points, limit

    def iter_batches(self) -> Iterator[Sequence[Point]]:
        """Yield the points in batches."""
        for batch in in_batches(self._points):
            if self.copy:
                self.copy.upsert(batch)
                self.copy = self.copy if self.copy.count() <= self._most else None
            yield batch


def _build_upsert(points: Sequence[Point], model: Model) -> tuple[dict[str, Any], bytes]:
    from panorama.index.vectors import normalize_rows  # numpy takes 100 ms to import

    vectors = normalize_rows([entry.vector for entry in points], model.size)
    return {"do": "upsert", "payloads": [to_payload(entry) for entry in points]}, vectors.tobytes()


@contextmanager
def _start_child(generation: Generation) -> Generator[ChildProcess]:
    """Yield a process for a new generation that is killed on failure; errors from reading the points are passed on."""
    child = ChildProcess()
    try:
        yield child
    except RefusedError as error:
        child.kill()
        raise (no_space_error() if has_no_space(generation) else refusal(error)) from error
    except (ProcessDiedError, BusyError) as error:
        child.kill()
        if has_no_space(generation):
            raise no_space_error() from error
        raise UnavailableError(
            "The index could not be built: its process stopped.", hint="Rebuild it with reindex."
        ) from error
    except BaseException:
        child.kill()
        raise
