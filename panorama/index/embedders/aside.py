"""The small embedder with a process beside it: many texts are embedded there, where nobody waits for our interpreter.

The process is started by the first texts that are many, and ends by itself when there were none for a while. As long as
it is not ready, and whenever it fails, the texts are embedded here.
"""

import sys
from collections.abc import Sequence
from threading import Lock, Thread
from typing import TYPE_CHECKING

from panorama.errors import UnavailableError
from panorama.index.child import BusyError, Child, FallenError, RefusedError
from panorama.index.embedders.static import Static

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

MANY = 256
"""From so many texts at once on, some 30 ms of work; to start the process takes 140 ms, of another processor."""

FEW = 32
"""From so many on they go to a process that runs already: 4 ms of work, and 0.5 ms to get there and back."""

SECONDS = 30.0
"""How long the process may take to start, and for one request."""

COMMAND = (sys.executable, "-m", "panorama.index.embedders.static_process")


class StaticAside(Static):
    """The small embedder: in this process for queries and few texts, else in one of its own. Safe in threads."""

    batch = MANY

    def __init__(self) -> None:
        super().__init__()
        self._changing = Lock()
        self._thread: Thread | None = None
        self._child: Child | None = None
        self._is_ready = self._is_closed = False
        self._closings = 0

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order; a text gives the same vector whatever stands beside it.

        Raises:
            UnavailableError: The table cannot be loaded, or the embedder was closed meanwhile.
        """
        if len(texts) >= (FEW if self._is_ready else MANY) and sys.platform != "win32":
            child, closings = self._child, self._closings
            if child is None:
                self._start()
            elif self._is_ready:
                try:
                    return self._vectors(child.ask({"do": "embed", "texts": list(texts)}, seconds=SECONDS).tail)
                except (BusyError, FallenError, RefusedError):
                    child.fallen()
                if self._closings != closings:  # here the table would be loaded again, and nobody would close it
                    raise UnavailableError("The embedder was closed while it worked.", hint="Try again.")
        return super().embed_documents(texts)

    def load(self) -> None:
        """Load the table (20 ms)."""
        self._is_closed = False
        super().load()

    def close(self) -> None:
        """Forget the table, give its memory back, and end the process."""
        with self._changing:
            self._is_closed = True
            self._closings += 1
            thread, child = self._thread, self._child
        if child:
            child.fallen()
        if thread:
            thread.join()
        super().close()

    def _vectors(self, found: bytes) -> "NDArray[float32]":
        import numpy as np  # takes 100 ms

        return np.frombuffer(found, np.float32).reshape(-1, self.size)

    def _start(self) -> None:
        with self._changing:
            if self._is_closed or (self._thread and self._thread.is_alive()):
                return
            try:
                child = Child(COMMAND)
            except (OSError, RuntimeError):  # no room for another process
                return
            thread = Thread(target=self._tend, args=(child,), name="static-process", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no room for another thread
                child.fallen()
                return
            self._child, self._thread = child, thread

    def _tend(self, child: Child) -> None:
        """Wait until the process has loaded the table, and then until it ends."""
        try:
            child.ask({"do": "load"}, seconds=SECONDS)
            self._is_ready = True
            child.wait()
        except (BusyError, FallenError, RefusedError):
            pass
        self._is_ready = False
        child.fallen()
        with self._changing:  # else it could be forgotten before it is kept
            self._child = None
