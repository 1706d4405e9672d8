"""The static embedder, which embeds many texts in a child process.

The process is started for the first large batch, and ends when idle. Until it is ready, and whenever it fails, texts
are embedded in this process.
"""

import sys
from collections.abc import Sequence
from threading import Lock, Thread
from typing import TYPE_CHECKING

from panorama.errors import UnavailableError
from panorama.index.child_process import BusyError, ChildProcess, ProcessDiedError, RefusedError
from panorama.index.embedders.static import StaticEmbedder

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

MIN_TEXTS_TO_START = 256
"""The batch size that starts the process, about 30 ms of work; the start takes 140 ms on another core."""

MIN_TEXTS_TO_SEND = 32
"""The batch size sent to a running process: 4 ms of work, with 0.5 ms overhead."""

TIMEOUT_SECONDS = 30.0
"""How long the process may take to start, and for one request."""

COMMAND = (sys.executable, "-m", "panorama.index.embedders.static_process")


class StaticProcessEmbedder(StaticEmbedder):
    """The small embedder: in this process for queries and few texts, else in a child process. Thread-safe."""

    batch = MIN_TEXTS_TO_START

    def __init__(self) -> None:
        super().__init__()
        self._changing = Lock()
        self._thread: Thread | None = None
        self._child: ChildProcess | None = None
        self._is_ready = self._is_closed = False
        self._closings = 0

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order; a text's vector does not depend on its batch.

        Raises:
            UnavailableError: The table cannot be loaded, or the embedder was closed meanwhile.
        """
        if len(texts) >= (MIN_TEXTS_TO_SEND if self._is_ready else MIN_TEXTS_TO_START) and sys.platform != "win32":
            child, closings = self._child, self._closings
            if child is None:
                self._start()
            elif self._is_ready:
                try:
                    return self._to_vectors(
                        child.request({"do": "embed", "texts": list(texts)}, seconds=TIMEOUT_SECONDS).tail
                    )
                except (BusyError, ProcessDiedError, RefusedError):
                    child.kill()
                if self._closings != closings:  # this process would load the table again, and nothing would close it
                    raise UnavailableError("The embedder was closed during the call.", hint="Try again.")
        return super().embed_documents(texts)

    def load(self) -> None:
        """Load the table (20 ms)."""
        self._is_closed = False
        super().load()

    def close(self) -> None:
        """Release the table's memory, and end the process."""
        with self._changing:
            self._is_closed = True
            self._closings += 1
            thread, child = self._thread, self._child
        if child:
            child.kill()
        if thread:
            thread.join()
        super().close()

    def _to_vectors(self, data: bytes) -> "NDArray[float32]":
        import numpy as np  # takes 100 ms

        return np.frombuffer(data, np.float32).reshape(-1, self.size)

    def _start(self) -> None:
        with self._changing:
            if self._is_closed or (self._thread and self._thread.is_alive()):
                return
            try:
                child = ChildProcess(COMMAND)
            except (OSError, RuntimeError):  # no memory for another process
                return
            thread = Thread(target=self._supervise, args=(child,), name="static-process", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no memory for another thread
                child.kill()
                return
            self._child, self._thread = child, thread

    def _supervise(self, child: ChildProcess) -> None:
        """Wait until the process has loaded the table, and then until it ends."""
        try:
            child.request({"do": "load"}, seconds=TIMEOUT_SECONDS)
            self._is_ready = True
            child.wait()
        except (BusyError, ProcessDiedError, RefusedError):
            pass
        self._is_ready = False
        child.kill()
        with self._changing:  # otherwise it could be cleared before it is stored
            self._child = None
