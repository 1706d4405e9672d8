"""The daemon's life: it listens, serves, lingers when nobody is there, and leaves without losing a call."""

import asyncio
import logging
import os
import resource
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import SocketListener, TaskGroup

from panorama import __version__
from panorama.address import Address
from panorama.app import App
from panorama.calls import Conversation
from panorama.daemon.conversations import current
from panorama.daemon.desktop import Desktop
from panorama.daemon.http import Http
from panorama.daemon.listening import Listening
from panorama.daemon.ticker import Ticker
from panorama.daemon.visitors import Reception
from panorama.domain.reminders import Ring
from panorama.errors import UnavailableError
from panorama.mcp.connection import Connection
from panorama.mcp.server import build, told

FIRST_SECONDS = 20.0
"""How long a daemon waits for the door that started it, which may be held up by fifty others that start."""

DRAIN_SECONDS = 30.0
"""How long calls that run may take to finish when the daemon leaves."""

LOOK_SECONDS = 1.0
"""How often it looks whether its files are still where others look for them."""

BUSY_SECONDS = 0.5
OPEN_FILES = 8192
_log = logging.getLogger("panorama.daemon")


class Daemon:
    """One data directory's owner; one that `lingers` leaves when nobody has been there for some time."""

    def __init__(self, app: App, address: Address, *, lingers: bool) -> None:
        self._app = app
        self._address = address
        self._detached = lingers
        self.server = build(app, self._conversing)
        self._began = datetime.now(UTC)
        self._reason = ""
        self._stopped = False
        self._no_http = "off"
        self._desktop = Desktop() if app.settings.desktop_notifications else None

    def _conversing(self) -> Conversation:
        """Tell whose request is served: a visitor's of the socket, else one over HTTP."""
        return current.get(None) or self._reception.conversations.over_http()

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until there is a reason to leave; `ready` is called once clients can connect."""
        _allow_many_files()
        asyncio.get_running_loop().set_exception_handler(_unless_harmless)
        self._leaving = anyio.Event()
        others = {"panorama/daemon": self._told, "panorama/stop": self._asked_to_stop}
        self._reception = Reception(self._app, self.server, self._address, others, self._outdated)
        self._listening = Listening(self._address)
        self._http = self._http_door()
        # The lifespan comes first: what serves visitors inherits its context.
        async with self.server._lifespan_manager(), anyio.create_task_group() as tasks:  # pyright: ignore[reportPrivateUsage] (FastMCP offers no other way)
            self._let_in(tasks)
            if self._http:
                tasks.start_soon(self._http.serve)
            for each in (self._heed_signals, self._linger, self._warm_up):
                tasks.start_soon(each)
            tasks.start_soon(self._look_after_files, tasks)
            self._ticker = Ticker(self._app.timing, self._app.desk.database.tell, self._ring)
            ready()
            _log.info("%s serves %s as process %d", __version__, self._address.home, os.getpid())
            await self._leaving.wait()
            _log.info("leaves: %s", self._reason)
            await anyio.to_thread.run_sync(self._ticker.close)
            await self._leave()
            tasks.cancel_scope.cancel()

    def _http_door(self) -> Http | None:
        """Open the port that is wanted; a daemon that a door started serves without it if another program has it."""
        port = self._app.settings.http_port
        if not port:
            return None
        try:
            return Http(self.server, self._app.settings.home, port)
        except UnavailableError as error:
            if not self._detached:
                self._listening.close()
                raise
            _log.error("%s There is no HTTP now. %s", error.message, error.hint)
            self._no_http = f"off: {error.message}"
            return None

    async def _leave(self) -> None:
        self._listen_no_more()
        if self._http:
            await self._http.close()
        await self._reception.farewell(DRAIN_SECONDS, stopped=self._stopped)
        with anyio.move_on_after(DRAIN_SECONDS):
            while self._is_busy:
                await anyio.sleep(0.01)

    def _part(self, reason: str, *, stopped: bool) -> None:
        """Begin to leave; doors look for a successor at once unless a person stopped us."""
        if not self._reason:
            self._reason, self._stopped = reason, stopped
            self._reception.is_leaving = True
            self._app.meaning.leave()
            self._app.jobs.leave()
            self._leaving.set()

    def _outdated(self) -> None:
        self._part("a newer version came", stopped=False)

    @property
    def _stays_for_a_while(self) -> bool:
        """Whether it leaves when nobody is there; HTTP's clients could not start it again."""
        return self._detached and not self._http

    @property
    def _is_busy(self) -> bool:
        """Whether a call or a job runs, also one whose client is gone."""
        return anyio.to_thread.current_default_thread_limiter().borrowed_tokens > 0 or self._app.jobs.is_busy

    @property
    def _has_work(self) -> bool:
        """Whether something runs, or a job waits to be begun."""
        return self._is_busy or self._app.jobs.waits()

    # What runs beside the visitors.

    def _let_in(self, tasks: TaskGroup) -> None:
        self._accepting = anyio.CancelScope()
        tasks.start_soon(self._accept, self._listening, self._accepting, tasks)

    def _listen_no_more(self) -> None:
        self._accepting.cancel()
        self._listening.close()

    async def _accept(self, listening: Listening, accepting: anyio.CancelScope, tasks: TaskGroup) -> None:
        with accepting:
            listener = await SocketListener.from_socket(listening.socket)
            while True:
                try:
                    tasks.start_soon(self._reception.receive, await listener.accept())
                except anyio.BrokenResourceError as error:  # such as too many open files
                    _log.warning("nobody can be let in for a second: %s", error.__cause__)
                    await anyio.sleep(1)

    async def _look_after_files(self, tasks: TaskGroup) -> None:
        """Put a socket back that was taken away; give way if the data or the lock are not the same any more."""
        lock = _inode(self._address.lock)
        while not self._reason:
            await anyio.sleep(LOOK_SECONDS)
            if self._reason:
                return
            if not self._app.desk.database.is_there() or _inode(self._address.lock) != lock:
                self._part("its data directory was removed or replaced", stopped=False)
            elif not self._listening.is_there():
                _log.warning("the socket %s was taken away; it is made anew", self._address.socket)
                self._listen_no_more()
                self._listening = Listening(self._address)
                self._let_in(tasks)

    async def _linger(self) -> None:
        """Leave when nobody has been there, nothing has run for some time, and nothing is due in as long a time."""
        patience = max(FIRST_SECONDS, self._app.settings.linger_seconds)
        while self._stays_for_a_while:
            with anyio.move_on_after(patience) as waiting:
                await self._reception.changed.wait()
            if waiting.cancelled_caught and not self._has_work and not self._is_due_soon():
                self._part("nobody has been here", stopped=False)
                return
            while self._reception.visitors:
                await self._reception.changed.wait()
            while self._has_work:
                await anyio.sleep(BUSY_SECONDS)
            patience = self._app.settings.linger_seconds

    async def _heed_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for number in signals:
                if self._reason:
                    _log.warning("leaves at once")
                    os._exit(1)
                self._part(f"it was sent {signal.Signals(number).name}", stopped=True)

    async def _warm_up(self) -> None:
        """Import what the first list of tools would wait 250 ms for."""
        with suppress(Exception):
            await anyio.to_thread.run_sync(lambda: self.server._state_store)  # pyright: ignore[reportPrivateUsage] (FastMCP offers no other way)

    # What is due.

    def _ring(self, ring: Ring) -> None:
        """Tell the clients and the desktop of a reminder; called by the ticker, which must not wait."""
        zone = self._app.desk.zone
        self.server.hub.rang(told(ring, zone))
        if self._desktop:
            self._desktop.show(ring.reminder.title, ring.circumstances(zone))

    def _is_due_soon(self) -> bool:
        """Tell whether something is due before a daemon that left now would have been missed."""
        return self._ticker.due_within(timedelta(seconds=self._app.settings.linger_seconds))

    # What the command line asks.

    def _told(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Tell about this daemon."""
        doors = [each for each in self._reception.visitors if isinstance(each.serving, Connection)]
        visitors = sorted(doors, key=lambda each: each.since)
        return {
            "pid": os.getpid(), "version": __version__, "home": self._address.home, "socket": self._address.socket,
            "log": self._address.log, "since": self._began.isoformat(),
            "http": self._http.address if self._http else self._no_http,
            "http_port": self._app.settings.http_port if self._http else 0,
            "linger_seconds": self._app.settings.linger_seconds if self._stays_for_a_while else None,
            "clients": [{"name": each.name or "?", "since": each.since.isoformat()} for each in visitors],
            "search": self._app.meaning.told(),
        }  # fmt: skip

    def _asked_to_stop(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Begin to leave once this is answered."""
        self._part("it was asked to", stopped=not params.get("again"))
        return {"pid": os.getpid()}


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _unless_harmless(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Pass over what anyio's sockets do when a wait is cancelled in the moment in which it ends.

    `UNIXSocketStream` has the loop call `Future.set_result`, also on a future that was cancelled meanwhile (4.16).
    """
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)


def _allow_many_files() -> None:
    """Allow as many connections as there may be: macOS begins with 256 files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
