"""The first second of a daemon: a call may need a source while the daemon still imports its server.

Two threads that import FastMCP from two ends fail, or end the daemon; when depends on the timing of a millisecond, so
the lock between them is what is tried here.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from panorama.app import App
from panorama.daemon.conversations import Conversations
from panorama.daemon.mcp_service import McpService
from panorama.sources.source import open_source
from panorama.transport.address import Address
from panorama.transport.fastmcp_import import FASTMCP_IMPORT
from tests.sources.servers import raw_config


def _open(app: App, home: Path) -> object:
    del app
    return open_source(raw_config(), lambda text: text, home)


def _build(app: App, home: Path) -> object:
    return McpService(app, Address(str(home)), Conversations()).build()


@pytest.mark.parametrize("work", [_open, _build])
def test_fastmcp_is_imported_by_one_thread_at_a_time(app: App, home: Path, work: Callable[[App, Path], object]) -> None:
    done: list[object] = []
    thread = Thread(target=lambda: done.append(work(app, home)))

    with FASTMCP_IMPORT:
        thread.start()
        thread.join(0.2)
        waits = thread.is_alive()
    thread.join()

    assert (waits, len(done)) == (True, 1)
