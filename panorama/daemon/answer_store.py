"""Keeps the stored answers up to date as version, settings and promoted scripts change."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

import panorama
from panorama.app import App
from panorama.errors import PanoramaError
from panorama.transport.address import Address
from panorama.transport.stored_answers import LISTS, StoredAnswers, settings_key

if TYPE_CHECKING:
    from panorama.mcp.server import Server

_log = logging.getLogger(__name__)


class AnswerStore:
    """The stored answers of one daemon."""

    def __init__(self, app: App, address: Address) -> None:
        self._app = app
        self._address = address
        self._answers: StoredAnswers | None = None

    def digest(self) -> str:
        """Return a digest of everything that the lists depend on; it reads the promoted scripts."""
        parts = [*self._product, *self._app.settings.toolsets, *self._app.calls.promoted_tools.list_versions()]
        return sha256("\n".join(parts).encode()).hexdigest()[:32]

    async def find(self, request: Mapping[str, Any], negotiated: str) -> bytes | None:
        """Return the stored line that answers a request for a list; None if there is none, or the list has changed.

        Args:
            negotiated: The client of the handshake, as `describe_client` describes it; "" if there was none.
        """
        answers = self._answers
        line = answers.find(request, negotiated) if answers and request.get("method") in LISTS else None
        if answers is None or line is None:
            return None
        try:
            return line if await anyio.to_thread.run_sync(self.digest) == answers.digest else None
        except PanoramaError:  # the server tells what is wrong
            return None

    @cached_property
    def _product(self) -> list[str]:
        """The versions of the product and the libraries that write its answers; in a source tree, the last edit too."""
        source = Path(panorama.__file__).parent
        edited = max(path.stat().st_mtime_ns for path in source.rglob("*.py"))
        return [panorama.__version__, str(edited), version("fastmcp"), version("mcp")]

    async def run(self, server: "Server") -> None:
        """Record the answers whenever promoted scripts have changed, and at the start if they are not stored."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def on_change() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(changed.set)

        unsubscribe = self._app.calls.promoted_tools.subscribe(on_change)
        try:
            while True:
                await self._update(server)
                await changed.wait()
                changed.clear()
        finally:
            unsubscribe()

    async def _update(self, server: "Server") -> None:
        from panorama.mcp.answer_recorder import record_answers

        try:
            digest = await anyio.to_thread.run_sync(self.digest)
            stored = await anyio.to_thread.run_sync(StoredAnswers.load, self._address)
            if stored is None or stored.digest != digest:
                stored = StoredAnswers(digest, settings_key(self._address), await record_answers(server))
                await anyio.to_thread.run_sync(stored.save, self._address)
            self._answers = stored
        except Exception:  # without stored answers, clients wait for the daemon
            _log.exception("the answers for the next start cannot be stored")
