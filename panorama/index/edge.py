"""The embedded index: Qdrant Edge in a process of its own, and for small stores a copy in our memory.

Edge stops every other thread while it works: for 1 s when it opens 200,000 vectors, for 2 s when it flushes them. So
it lives in a child process. Asking that takes 0.1 ms, as long as numpy takes for 5,000; so few are answered here.
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
from panorama.index.child import BusyError, Child, FallenError, RefusedError
from panorama.index.filters import conditions, payload, qdrant, unpacked
from panorama.index.folders import DamagedError, Folders, Generation, unusable
from panorama.index.points import Filter, Hit, Model, OtherModelError, Point, State, Vector, in_batches
from panorama.index.serving import Serving, damaged, opening, refusal, replaced

if TYPE_CHECKING:
    from panorama.index.exact import Exact

MIRRORED = 10_000
"""Up to how many chunks a copy is kept in our memory (15 MB): beyond, Edge is faster also through its process."""

SEARCH_SECONDS = 1.0
WRITE_SECONDS = 60.0
STATE_SECONDS = 0.05
PAGE = 512


def made_for(folder: Path) -> Model | None:
    """Return the model that the index in a folder was made for; None if there is none that can be read."""
    try:
        live = Folders(folder).live()
    except DamagedError:
        return None
    return live.model if live else None


def opened(folder: Path, model: Model, *, anew: bool = False, mirrored: int = MIRRORED) -> "Edge":
    """Open the index in a folder, or make one; its process starts in the background.

    What cannot be read, or is no folder, is moved aside as `<folder>.damaged-<time>`, and `state()` says so.

    Args:
        anew: Drop what is there, whatever it was made for.

    Raises:
        OtherModelError: It was made for another model: open it for that one and `build`, or open it anew.
        UnavailableError: Another program has it, it cannot be written, or Qdrant Edge is not made for this machine.
    """
    if find_spec("qdrant_edge") is None:
        raise UnavailableError(
            "Qdrant Edge is not made for this machine.", hint="Use the exact index, or a server by PANORAMA_QDRANT_URL."
        )
    folders = Folders(folder)
    stood = folders.make_way(datetime.now(UTC))
    folders.lock()
    try:
        generation, note = (None, "") if anew or stood else _live(folders, model)
        if generation is not None and generation.model != model:
            raise OtherModelError(generation.model, model)
        folders.tidy(generation)
        note = replaced(stood) if stood else note
        return Edge(
            folders, generation or folders.begun(model), is_new=generation is None, note=note, mirrored=mirrored
        )
    except OSError as error:
        folders.unlock()
        raise unusable(folder, error) from error
    except UnavailableError:
        folders.unlock()
        raise


def _live(folders: Folders, wanted: Model) -> tuple[Generation | None, str]:
    try:
        found = folders.live()
        if found and found.model != wanted and (found.model.id, found.model.digest) == (wanted.id, wanted.digest):
            raise DamagedError(f"it says {found.model.size} dimensions, and {wanted.id} has {wanted.size}")
        return found, ""
    except DamagedError as error:
        return None, damaged(error, folders.set_aside(None, datetime.now(UTC)))


class Edge:
    """An index in a folder of this machine, for one program at a time."""

    engine = "edge"

    def __init__(self, folders: Folders, generation: Generation, *, is_new: bool, note: str, mirrored: int) -> None:
        self._folders = folders
        self._mirrored = mirrored
        self._mirror: Exact | None = None
        self._filling: Exact | None = None
        self._writing = Lock()
        self._building = Lock()
        self._count: int | None = None
        self._serving = Serving(folders, generation, is_new=is_new, started=self._fill, note=note)

    @property
    def model(self) -> Model:
        """The model whose vectors it holds now."""
        return self._serving.generation.model

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; one whose chunk is there already is replaced."""
        for batch in in_batches(points):
            request, vectors = _written(batch, self._serving.generation.model)
            with self._writing:
                self._serving.renew_if_lost()
                self._serving.ask(request, vectors, seconds=WRITE_SECONDS)
                for copy in self._copies():
                    copy.upsert(batch)
                self._forget_if_large()

    def delete(self, chunks: Sequence[str]) -> None:
        """Remove chunks; those that are not there are passed over."""
        for batch in in_batches(chunks):
            with self._writing:
                self._serving.renew_if_lost()
                self._serving.ask({"do": "delete", "chunks": batch}, seconds=WRITE_SECONDS)
                for copy in self._copies():
                    copy.delete(batch)

    def search(self, vector: Vector, limit: int, wanted: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; those alike in the order of their ids.

        Waits at most 1 s for the process if it is busy or being started.
        """
        if limit < 1:
            return []
        if (mirror := self._mirror) is not None:
            return mirror.search(vector, limit, wanted)
        from panorama.index.vectors import row  # numpy takes 100 ms to import

        query = row(vector, self._serving.generation.model.size).tobytes()
        request = {"do": "search", "limit": limit, "must": qdrant(conditions(wanted))}
        answer = self._serving.ask(request, query, seconds=SEARCH_SECONDS, reads=True)
        return [Hit(chunk=chunk, item=item, score=score) for score, chunk, item in answer.head["hits"]]

    def count(self) -> int:
        """Return how many chunks it holds."""
        return self._counted(WRITE_SECONDS)

    def held(self) -> Iterator[tuple[str, str]]:
        """Give each chunk with the digest of its text, in no order; read page by page, writes may come between."""
        for payloads, _ in self._pages(vectors=False):
            for each in payloads:
                yield each["chunk"], each["digest"]

    def build(self, points: Iterable[Point], model: Model | None = None) -> None:
        """Replace everything by these points, for another model if one is given.

        A second process writes them into a folder beside the live one, and takes its place when all is on the disk.
        Building 50,000 takes some 3 s.
        """
        with self._building:
            copying = _Copying(points, model or self._serving.generation.model, self._mirrored)
            generation, child = self._built(copying.batches(), copying.model)
            before, old = self._swapped(generation, child, copying.copy)
            if before is not None:
                before.fallen()
            self._folders.remove(old)

    def _swapped(self, generation: Generation, child: Child, copy: "Exact | None") -> tuple[Child | None, Generation]:
        try:
            with self._writing:
                before = self._serving.swap(generation, child)
                self._mirror, self._filling = copy, None
                return before
        except (OSError, UnavailableError):
            child.fallen()
            self._folders.remove(generation)
            raise

    def _built(self, batches: Iterable[Sequence[Point]], model: Model) -> tuple[Generation, Child]:
        try:
            generation = self._folders.begun(model)
        except OSError as error:
            raise unusable(self._serving.generation.folder.parent, error) from error
        try:
            with _child() as child:
                written = (_written(batch, model) for batch in batches)
                child.ask_each(chain([(opening(generation, is_new=True), b"")], written), seconds=WRITE_SECONDS)
                with _child() as successor:  # it starts while the first writes what is left
                    child.ask({"do": "close"}, seconds=WRITE_SECONDS)
                    child.leave()
                    # Opened afresh the index takes a third of the memory, and is known to be whole.
                    successor.ask(opening(generation, is_new=False), seconds=WRITE_SECONDS)
                    return generation, successor
        except BaseException:
            self._folders.remove(generation)
            raise

    def flush(self) -> None:
        """Return once everything that was written would survive a power cut."""
        self._serving.renew_if_lost()
        self._serving.ask({"do": "flush"}, seconds=WRITE_SECONDS)

    def state(self) -> State:
        """Return how it does, with the memory of its process."""
        with suppress(UnavailableError):
            self._serving.renew_if_lost()
        with suppress(UnavailableError):
            self._count = self._counted(STATE_SECONDS)
        serving, (anonymous, mapped) = self._serving, self._serving.memory()
        return State(
            engine=self.engine, status=serving.status, model=serving.generation.model,
            identity=serving.generation.identity, count=self._count, disk_bytes=serving.generation.size_bytes(),
            anonymous_bytes=anonymous, mapped_bytes=mapped, note=" ".join(filter(None, (serving.error, serving.note))),
        )  # fmt: skip

    def close(self) -> None:
        """Write what is left to the disk, and end the process."""
        self._serving.close()
        self._folders.unlock()

    def _copies(self) -> list["Exact"]:
        return [each for each in (self._mirror, self._filling) if each is not None]

    def _forget_if_large(self) -> None:
        if any(each.count() > self._mirrored for each in self._copies()):
            self._mirror = self._filling = None

    def _fill(self) -> None:
        """Copy a small index into our memory; writes come between two pages, and go to both.

        One whose vectors are damaged, so that they are no numbers, is not copied.
        """
        with suppress(UnavailableError, InvalidInputError):
            if self._counted(WRITE_SECONDS) > self._mirrored:
                self._mirror = None
                return
            from panorama.index.exact import Exact  # numpy takes 100 ms to import

            with self._writing:
                copy = self._filling = Exact(self._serving.generation.model)
            self._copy(copy)

    def _copy(self, copy: "Exact") -> None:
        pages = self._pages(vectors=True)
        while True:
            with self._writing:
                page = next(pages, None)
                if self._filling is not copy:  # it grew too large, or was built anew
                    return
                if page is None:
                    self._mirror, self._filling = copy, None
                    return
                copy.upsert([unpacked(kept, vector) for kept, vector in zip(*page, strict=True)])

    def _pages(self, *, vectors: bool) -> Iterator[tuple[list[Mapping[str, Any]], list[Vector]]]:
        after: str | None = None
        while True:
            request = {"do": "page", "after": after, "limit": PAGE, "vectors": vectors}
            answer = self._serving.ask(request, seconds=WRITE_SECONDS, reads=True)
            payloads, after = answer.head["payloads"], answer.head["after"]
            size = len(answer.tail) // max(1, len(payloads))
            yield payloads, [answer.tail[at * size : (at + 1) * size] for at in range(len(payloads))]
            if after is None:
                return

    def _counted(self, seconds: float) -> int:
        return int(self._serving.ask({"do": "count"}, seconds=seconds, reads=True).head["count"])


class _Copying:
    """Points on their way into an index; `copy` holds them in our memory too, as long as they are few."""

    def __init__(self, points: Iterable[Point], model: Model, most: int) -> None:
        from panorama.index.exact import Exact  # numpy takes 100 ms to import

        self.model = model
        self.copy: Exact | None = Exact(model)
        self._points, self._most = points, most

    def batches(self) -> Iterator[Sequence[Point]]:
        """Give the points in batches."""
        for batch in in_batches(self._points):
            if self.copy:
                self.copy.upsert(batch)
                self.copy = self.copy if self.copy.count() <= self._most else None
            yield batch


def _written(points: Sequence[Point], model: Model) -> tuple[dict[str, Any], bytes]:
    from panorama.index.vectors import rows  # numpy takes 100 ms to import

    vectors = rows([each.vector for each in points], model.size)
    return {"do": "upsert", "payloads": [payload(each) for each in points]}, vectors.tobytes()


@contextmanager
def _child() -> Generator[Child]:
    """Give a process that a failure ends; what fails in reading the points is the caller's own."""
    child = Child()
    try:
        yield child
    except RefusedError as error:
        child.fallen()
        raise refusal(error) from error
    except (FallenError, BusyError) as error:
        child.fallen()
        raise UnavailableError("The index could not be built: its process stopped.", hint="Build it again.") from error
    except BaseException:
        child.fallen()
        raise
