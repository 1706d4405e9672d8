"""The daemon: it listens, serves, lingers without clients, and ends without losing a call."""

import asyncio
import logging
import os
import resource
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import SocketListener, TaskGroup

from panorama import __version__
from panorama.app import App
from panorama.daemon.alarm_scheduler import DueWorkRunner
from panorama.daemon.connections import ConnectionManager
from panorama.daemon.conversations import Conversations
from panorama.daemon.desktop_notifications import DesktopNotifier
from panorama.daemon.http_socket import HOST, bind_port
from panorama.daemon.mcp_service import McpService
from panorama.daemon.socket import ListeningSocket
from panorama.domain.items.reminders import ReminderEvent
from panorama.errors import PanoramaError, UnavailableError
from panorama.mcp.call_threads import call_threads
from panorama.transport.address import Address

if TYPE_CHECKING:
    from panorama.daemon.page import PageServer

FIRST_CLIENT_SECONDS = 20.0
"""How long a daemon waits for the proxy that started it, which may be delayed by fifty others."""

DRAIN_SECONDS = 30.0
"""How long calls that run may take to finish when the daemon leaves."""

CHECK_SECONDS = 1.0
"""How often it looks whether its files are still where others look for them."""

BUSY_POLL_SECONDS = 0.5
OPEN_FILES = 8192
_log = logging.getLogger("panorama.daemon")


class Daemon:
    """The owner of one data directory; one that `lingers` ends after some time without clients."""

    def __init__(
        self, app: App, address: Address, is_catching_up: Callable[[], bool] = lambda: False, *, lingers: bool
    ) -> None:
        self._app = app
        self._address = address
        self._is_catching_up = is_catching_up
        self._detached = lingers
        self._conversations = Conversations()
        self.mcp = McpService(app, address, self._conversations)
        self._began = datetime.now(UTC)
        self._reason = ""
        self._stopped = False
        self._no_http = "off"
        self._page: PageServer | None = None
        self._opening_page = anyio.Lock()
        self._desktop = DesktopNotifier() if app.settings.desktop_notifications else None

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until there is a reason to end; `ready` is called once clients can connect."""
        _raise_file_limit()
        asyncio.get_running_loop().set_exception_handler(_handle_loop_error)
        self._leaving = anyio.Event()
        others = {
            "panorama/daemon": self._handle_status,
            "panorama/stop": self._handle_stop,
            "panorama/page": self._handle_page,
        }
        self._connections = ConnectionManager(
            self._app, self.mcp, self._address, self._conversations, others, self._on_newer_version
        )
        self._listening = ListeningSocket(self._address)
        self._port = self._open_port()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            self._start_accepting(tasks)
            tasks.start_soon(self.mcp.run, self._port)
            for task in (self._handle_signals, self._exit_when_idle):
                tasks.start_soon(task)
            tasks.start_soon(self._watch_files, tasks)
            if self._app.settings.web:
                tasks.start_soon(self._serve_page)
            self._ticker = DueWorkRunner(
                self._app.timing,
                self._app.context.database.subscribe,
                self._notify_reminder,
                stays=not self._has_idle_exit,
            )
            ready()
            _log.info("%s serves %s as process %d", __version__, self._address.home, os.getpid())
            await self._leaving.wait()
            _log.info("leaves: %s", self._reason)
            await anyio.to_thread.run_sync(self._ticker.close)
            await self._drain()
            tasks.cancel_scope.cancel()

    def _open_port(self) -> socket.socket | None:
        """Open the port of the settings; a daemon that a client started serves without it if it is taken."""
        port = self._app.settings.http_port
        if not port:
            return None
        try:
            return bind_port(port)
        except UnavailableError as error:
            if not self._detached:
                self._listening.close()
                raise
            _log.error("%s There is no HTTP now. %s", error.message, error.hint)
            self._no_http = f"off: {error.message}"
            return None

    async def _drain(self) -> None:
        self._stop_listening()
        if self._page:
            await self._page.close()
        await self.mcp.close_http()
        await self._connections.drain(DRAIN_SECONDS, stopped=self._stopped)
        with anyio.move_on_after(DRAIN_SECONDS):
            while self._is_busy:
                await anyio.sleep(0.01)

    def _begin_shutdown(self, reason: str, *, stopped: bool) -> None:
        """Begin to end; proxies start a successor at once unless the user stopped this daemon."""
        if not self._reason:
            self._reason, self._stopped = reason, stopped
            self._connections.is_leaving = True
            self._app.meaning.begin_shutdown()
            self._app.jobs.begin_shutdown()
            self._leaving.set()

    def _on_newer_version(self) -> None:
        self._begin_shutdown("a newer version connected", stopped=False)

    @property
    def _has_idle_exit(self) -> bool:
        """Whether it ends without clients; those of HTTP and of the page could not start it again."""
        return self._detached and not self._port and not self._app.settings.web

    @property
    def _is_busy(self) -> bool:
        """Whether a call or a job is running, including those whose client is gone."""
        others = anyio.to_thread.current_default_thread_limiter()
        return call_threads().is_busy or others.borrowed_tokens > 0 or self._app.jobs.is_busy

    @property
    def _has_work(self) -> bool:
        """Whether a page is open, or a call, a job or the catch-up of the semantic index is unfinished."""
        if self._page and self._page.is_open:
            return True
        try:
            return self._is_busy or self._is_catching_up() or self._app.jobs.has_unfinished()
        except PanoramaError:  # the database is locked: nobody knows
            return True

    # The web page.

    async def _open_page(self) -> "PageServer":
        """Return the server of the page; the first request for it starts one.

        Raises:
            UnavailableError: The port of the settings is taken.
        """
        async with self._opening_page:
            if self._page is None:
                self._page = await anyio.to_thread.run_sync(self._create_page)
                self._tasks.start_soon(self._page.serve)
            return self._page

    def _create_page(self) -> "PageServer":
        from panorama.daemon.page import PageServer  # 200 ms, and for those who look at it

        return PageServer(self._app, self._app.settings.home, self._app.settings.web_port)

    async def _serve_page(self) -> None:
        """Serve the page from the start, as the settings say; the daemon goes on without one if its port is taken."""
        try:
            await self._open_page()
        except UnavailableError as error:
            _log.error("%s There is no page now. %s", error.message, error.hint)

    async def _handle_page(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return addresses that sign a browser in."""
        page = await self._open_page()
        return page.create_sign_in(str(params.get("view") or ""), read_only=bool(params.get("read_only")))

    # Work beside the connections.

    def _start_accepting(self, tasks: TaskGroup) -> None:
        self._accepting = anyio.CancelScope()
        tasks.start_soon(self._accept, self._listening, self._accepting, tasks)

    def _stop_listening(self) -> None:
        self._accepting.cancel()
        self._listening.close()

    async def _accept(self, listening: ListeningSocket, accepting: anyio.CancelScope, tasks: TaskGroup) -> None:
        with accepting:
            listener = await SocketListener.from_socket(listening.socket)
            while True:
                try:
                    tasks.start_soon(self._connections.serve, await listener.accept())
                except anyio.BrokenResourceError as error:  # such as too many open files
                    _log.warning("no connection can be accepted for a second: %s", error.__cause__)
                    await anyio.sleep(1)

    async def _watch_files(self, tasks: TaskGroup) -> None:
        """Restore a deleted socket; end if the data directory or the lock was replaced."""
        lock = _inode(self._address.lock)
        while not self._reason:
            await anyio.sleep(CHECK_SECONDS)
            if self._reason:
                return
            if not self._app.context.database.is_current() or _inode(self._address.lock) != lock:
                self._begin_shutdown("its data directory was removed or replaced", stopped=False)
            elif revision := self._app.context.database.membership.newer_revision:
                self._begin_shutdown(f"a newer version upgraded the data to revision {revision}", stopped=False)
            elif not self._listening.is_reachable():
                _log.warning("the socket %s was removed and is created again", self._address.socket)
                self._stop_listening()
                self._listening = ListeningSocket(self._address)
                self._start_accepting(tasks)

    async def _exit_when_idle(self) -> None:
        """End after some time without clients and work, if nothing is due within the same time."""
        patience = max(FIRST_CLIENT_SECONDS, self._app.settings.linger_seconds)
        while self._has_idle_exit:
            with anyio.move_on_after(patience) as waiting:
                await self._connections.changed.wait()
            if waiting.cancelled_caught and not self._has_work and not self._is_due_soon():
                self._begin_shutdown("no client was connected", stopped=False)
                return
            while self._connections.clients:
                await self._connections.changed.wait()
            while self._has_work:
                await anyio.sleep(BUSY_POLL_SECONDS)
            patience = self._app.settings.linger_seconds

    async def _handle_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for number in signals:
                if self._reason:
                    _log.warning("it stops at once")
                    os._exit(1)
                self._begin_shutdown(f"it received {signal.Signals(number).name}", stopped=True)

    # What is due.

    def _notify_reminder(self, event: ReminderEvent) -> None:
        """Send a reminder to the clients and the desktop; the scheduler calls this, so it must not block."""
        self.mcp.notify_reminder(event)
        if self._desktop:
            self._desktop.show(event.reminder.title, event.describe_timing(self._app.context.zone))

    def _is_due_soon(self) -> bool:
        """Return whether something is due before a daemon that ended now would be started again."""
        return self._ticker.is_due_within(timedelta(seconds=self._app.settings.linger_seconds))

    # What the command line asks.

    def _handle_status(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of this daemon."""
        clients = [client for client in self._connections.clients if client.hello.get("for") == "mcp"]
        return {
            "pid": os.getpid(), "version": __version__, "home": self._address.home, "socket": self._address.socket,
            "log": self._address.log, "since": self._began.isoformat(),
            "http": f"http://{HOST}:{self._app.settings.http_port}/mcp" if self._port else self._no_http,
            "http_port": self._app.settings.http_port if self._port else 0,
            "linger_seconds": self._app.settings.linger_seconds if self._has_idle_exit else None,
            "clients": [
                {"name": client.name or "?", "since": client.since.isoformat()}
                for client in sorted(clients, key=lambda client: client.since)
            ],
            "search": self._app.meaning.get_status(),
        }  # fmt: skip

    def _handle_stop(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Begin to end once this is answered."""
        self._begin_shutdown("a client asked it to stop", stopped=not params.get("again"))
        return {"pid": os.getpid()}


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore an error of anyio's sockets when a wait is cancelled in the moment in which it ends.

    `UNIXSocketStream` has the loop call `Future.set_result`, also on a future that was cancelled meanwhile (4.16).
    """
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)


def _raise_file_limit() -> None:
    """Raise the limit of open files to what the connections need: macOS starts with 256."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft < limit:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
