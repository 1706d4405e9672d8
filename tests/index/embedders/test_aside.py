"""Many texts are embedded in a process of their own; whatever becomes of it, the vectors are the same."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psutil
import pytest

from panorama.errors import UnavailableError
from panorama.index.child_process import ChildProcess
from panorama.index.embedders import static_worker
from panorama.index.embedders.static import StaticEmbedder
from panorama.index.embedders.static_worker import MIN_TEXTS_TO_SEND, MIN_TEXTS_TO_START, StaticProcessEmbedder

pytestmark = [
    pytest.mark.slow,  # the process goes last, and waits where all processors are busy
    pytest.mark.skipif(sys.platform == "win32", reason="Windows does not start the process"),
]

TEXTS = [f"Note {number}: quince jam sets well. Ärger, 花, \ud800" for number in range(MIN_TEXTS_TO_START)]


@pytest.fixture
def embedder() -> Iterator[StaticProcessEmbedder]:
    """The small embedder with its process beside it, which is not started yet."""
    made = StaticProcessEmbedder()
    yield made
    made.close()


def processes() -> list[psutil.Process]:
    """Return the processes that embed for this one."""
    mine = psutil.Process().children()
    return [process for process in mine if "panorama.index.embedders.static_process" in " ".join(process.cmdline())]


def until(so: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + 30
    while not so():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def in_its_process(embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait until many texts are embedded in the process: nothing can be embedded here any more."""
    until(lambda: embedder.embed_documents(TEXTS) is not None and embedder._is_ready)
    monkeypatch.setattr(StaticEmbedder, "embed_documents", lambda *_: 1 / 0)


def test_its_vectors_are_those_that_are_made_here(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = StaticEmbedder().embed_documents(TEXTS)
    in_its_process(embedder, monkeypatch)

    assert np.array_equal(embedder.embed_documents(TEXTS), here)


def test_few_texts_start_no_process(embedder: StaticProcessEmbedder) -> None:
    embedder.embed_documents(TEXTS[: MIN_TEXTS_TO_START - 1])
    embedder.embed_query("quince")

    assert not processes()


def test_fewer_texts_go_to_a_process_that_runs_already(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = StaticEmbedder().embed_documents(TEXTS[:MIN_TEXTS_TO_SEND])
    in_its_process(embedder, monkeypatch)

    assert np.array_equal(embedder.embed_documents(TEXTS[:MIN_TEXTS_TO_SEND]), here)
    with pytest.raises(ZeroDivisionError):  # they are embedded here
        embedder.embed_documents(TEXTS[: MIN_TEXTS_TO_SEND - 1])


def test_while_it_starts_texts_are_embedded_here(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_worker, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))

    for _ in range(2):
        assert embedder.embed_documents(TEXTS).shape == (MIN_TEXTS_TO_START, StaticEmbedder.size)


def test_a_process_that_is_killed_is_not_missed_and_another_follows(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = StaticEmbedder().embed_documents(TEXTS)
    with monkeypatch.context() as patched:
        in_its_process(embedder, patched)
    (first,) = processes()
    os.kill(first.pid, signal.SIGKILL)

    assert np.array_equal(embedder.embed_documents(TEXTS), here)
    in_its_process(embedder, monkeypatch)
    assert processes() != [first]


def test_a_process_that_cannot_start_leaves_the_work_here(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_worker, "COMMAND", ("/nonexistent/python",))

    assert embedder.embed_documents(TEXTS).shape == (MIN_TEXTS_TO_START, StaticEmbedder.size)


def test_a_thread_that_cannot_start_leaves_the_work_here_and_no_process(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(static_worker.Thread, "start", refuse)
        assert embedder.embed_documents(TEXTS).shape == (MIN_TEXTS_TO_START, StaticEmbedder.size)
    assert not processes()

    in_its_process(embedder, monkeypatch)


def test_a_process_that_python_refuses_to_start_leaves_no_socket() -> None:
    before = len(psutil.Process().net_connections("unix"))

    with pytest.raises(ValueError, match="null") as refused:
        ChildProcess(("\0",))

    assert len(psutil.Process().net_connections("unix")) == before
    assert refused


def test_it_ends_by_itself_when_nobody_asks_any_more(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_soon = "from panorama.index.embedders import static_process as it; it.IDLE_SECONDS = 0.5; it.main()"
    monkeypatch.setattr(static_worker, "COMMAND", (sys.executable, "-c", ends_soon))
    until(lambda: embedder.embed_documents(TEXTS) is not None and embedder._is_ready)

    until(lambda: embedder._child is None)

    assert not processes()
    assert embedder.embed_documents(TEXTS).shape == (MIN_TEXTS_TO_START, StaticEmbedder.size)


def test_closing_ends_it(embedder: StaticProcessEmbedder) -> None:
    until(lambda: embedder.embed_documents(TEXTS) is not None and embedder._is_ready)

    embedder.close()

    assert not processes()


def test_what_is_closed_while_it_embeds_does_not_load_the_table_again(
    embedder: StaticProcessEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    until(lambda: embedder.embed_documents(TEXTS) is not None and embedder._is_ready)
    (process,) = processes()
    process.suspend()
    asked, ask = threading.Event(), ChildProcess.request

    def told(child: ChildProcess, *rest: Any, **more: Any) -> Any:
        asked.set()
        return ask(child, *rest, **more)

    monkeypatch.setattr(ChildProcess, "request", told)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(embedder.embed_documents, TEXTS)
        asked.wait(10)
        embedder.close()

        with pytest.raises(UnavailableError, match="closed during the call"):
            answer.result(10)

    assert embedder._table is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process inherits its priority")
def test_all_others_go_first(embedder: StaticProcessEmbedder) -> None:
    until(lambda: embedder.embed_documents(TEXTS) is not None and embedder._is_ready)

    (process,) = processes()
    assert process.nice() == max(10, os.getpriority(os.PRIO_PROCESS, 0))
