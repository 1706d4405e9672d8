"""The stdio proxy: connects a client's standard input and output to the daemon; standard library only.

While the daemon starts, the proxy answers the first requests of every client from a stored copy.

It outlives the daemon. If the daemon is killed, the proxy repeats the handshake, the subscriptions and reading
requests
with the next one, and answers each running call with «outcome unknown». If the daemon shuts down in order, it has
answered everything it accepted, and the rest goes to its successor: the client notices nothing.
"""

import os
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress

from panorama.cli.proxy.connector import Connector
from panorama.cli.proxy.requests import RequestTracker, parse_message, too_long_response
from panorama.transport.address import (
    NO_DAEMON_ERRORS,
    Address,
    Handshake,
    Hello,
    UnreachableError,
    data_directory,
    handshake,
    hello_message,
    settings_warning,
)
from panorama.transport.launch import reap
from panorama.transport.lines import LineDecoder, OversizedLine
from panorama.transport.stored_answers import StoredAnswers

STDIN_FD, STDOUT_FD = 0, 1
CHUNK_BYTES = 1 << 16
PIPE_BYTES = select.PIPE_BUF
"""The bytes that a writable pipe accepts without blocking (POSIX, `write`)."""

MAX_PENDING_BYTES = 4 << 20
"""With more pending output to one side, the other side is not read."""

MAX_PENDING_REQUESTS = 2000
"""With more unanswered requests, the client is not read."""

MAX_EARLY_REQUESTS = 50
"""The same without a daemon."""

UNLIMITED_BYTES = 1 << 40
SHORT_LIFE_SECONDS, MAX_SHORT_LIVES = 5.0, 3
"""After this many daemons that died at once, the next is started only for a client's request."""

FIRST_REQUEST_WAIT_MS = 1000
POLL_INTERVAL_MS = 1000
"""How often a proxy without a daemon checks for a new one, because its client may listen for changes."""

HANGUP_EVENTS = select.POLLERR | select.POLLHUP | select.POLLNVAL


class ClientClosedError(Exception):
    """The client has gone."""


def run() -> int:
    """Serve the client on standard input and output until it disconnects; return the exit code."""
    return StdioProxy(Address(data_directory()), conversation=f"v_{os.urandom(5).hex()}").run()


class WriteBuffer:
    """Pending output."""

    def __init__(self) -> None:
        self._waiting: deque[memoryview] = deque()
        self.size = 0

    def add(self, lines: Iterable[bytes]) -> None:
        """Append lines."""
        for line in lines:
            self._waiting.append(memoryview(line))
            self.size += len(line)

    def write(self, write: Callable[[memoryview], int], most: int = 1 << 20) -> None:
        """Write once, at most a number of bytes."""
        first = self._waiting.popleft()
        try:
            count = write(first[:most])
        except BlockingIOError:
            count = 0
        self.size -= count
        if count < len(first):
            self._waiting.appendleft(first[count:])


class StdioProxy:
    """One client, and its current daemon, if any."""

    def __init__(self, address: Address, conversation: str) -> None:
        self._address = address
        self._conversation = conversation
        self._exchange = RequestTracker()
        self._poll = select.poll()
        self._client_lines, self._to_client = LineDecoder(), WriteBuffer()
        self._daemon: socket.socket | None = None
        self._daemon_lines, self._to_daemon = LineDecoder(UNLIMITED_BYTES), WriteBuffer()
        self._connector: Connector | None = None
        self._answers: StoredAnswers | None = None
        self._finished = False
        self._tools: object = None
        """The digest of the client's list of tools."""
        self._warned = False
        self._connected_at = 0.0
        self._short_lives = 0

    def run(self) -> int:
        """Serve until the client has disconnected and received all its answers."""
        self._start_connecting()
        try:
            with suppress(ClientClosedError, BrokenPipeError, ConnectionResetError):
                while not self._is_done:
                    self._poll_once()
        except UnreachableError as error:
            return self._report_unreachable(error)
        return 0

    @property
    def _is_done(self) -> bool:
        """Whether the client has disconnected and received everything; without requests it waits for the start."""
        is_waiting = self._exchange.is_awaiting_answer or self._to_client.size
        return self._finished and not is_waiting and not (self._is_starting and self._tools is None)

    @property
    def _is_starting(self) -> bool:
        """Whether it has not been connected yet."""
        return not self._connected_at

    def _poll_once(self) -> None:
        """Wait until something can be read or written, and process it."""
        self._register_events()
        happened = self._poll.poll(None if self._daemon or self._connector else POLL_INTERVAL_MS)
        if self._daemon is None and self._connector is None and os.path.exists(self._address.socket):
            self._attach()
        for file, events in happened:
            if file == STDOUT_FD:
                self._write_client(events)
            elif file == STDIN_FD:
                self._read_client()
            elif self._daemon is not None and file == self._daemon.fileno():
                self._handle_daemon_events(events)
            elif self._connector is not None and file == self._connector.fileno():
                self._finish_connecting(self._connector)

    def _register_events(self) -> None:
        """Register events: each side is read only while the other accepts data."""
        self._poll.register(STDOUT_FD, select.POLLOUT if self._to_client.size else 0)
        limit = MAX_PENDING_REQUESTS if self._daemon is not None else MAX_EARLY_REQUESTS
        is_full = self._to_daemon.size >= MAX_PENDING_BYTES or self._exchange.pending_count >= limit
        if not self._finished and not is_full:
            self._poll.register(STDIN_FD, select.POLLIN)
        else:
            self._unregister(STDIN_FD)
        if self._daemon is not None:
            reads = select.POLLIN if self._to_client.size < MAX_PENDING_BYTES else 0
            self._poll.register(self._daemon, reads | (select.POLLOUT if self._to_daemon.size else 0))

    def _unregister(self, file: int | socket.socket | Connector) -> None:
        with suppress(KeyError):
            self._poll.unregister(file)

    # The client's side.

    def _write_client(self, events: int) -> None:
        if events & HANGUP_EVENTS:
            raise ClientClosedError
        try:
            self._to_client.write(lambda chunk: os.write(STDOUT_FD, chunk), PIPE_BYTES)
        except OSError as error:  # such as a file on a full disk
            raise ClientClosedError from error

    def _read_client(self) -> None:
        chunk = os.read(STDIN_FD, CHUNK_BYTES)
        if not chunk:
            self._finished = True
            self._shutdown_writes()
        for line in self._client_lines.feed(chunk):
            if isinstance(line, OversizedLine):
                self._to_client.add([too_long_response(line.edges)])
            elif line.strip():
                self._forward_to_daemon(line + b"\n")

    def _forward_to_daemon(self, line: bytes) -> None:
        if self._daemon is not None:
            onward = self._exchange.on_client_line(line)
            self._to_daemon.add([onward] if onward else [])
            return
        self._exchange.on_early_line(line)
        if self._answers and (answer := self._answers.find(parse_message(line), self._exchange.client)):
            self._tools = self._answers.digest
            self._read_answer(answer)
        elif b'"id"' in line and self._exchange.has_pending and self._connector is None:
            self._start_connecting()

    # The daemon's side.

    def _handle_daemon_events(self, events: int) -> None:
        assert self._daemon is not None
        try:
            if events & select.POLLOUT:
                self._to_daemon.write(self._daemon.send)
                self._shutdown_writes()
            if events & (select.POLLIN | HANGUP_EVENTS):
                self._read_daemon(self._daemon.recv(CHUNK_BYTES))
        except ConnectionError:
            self._handle_disconnect()

    def _read_daemon(self, chunk: bytes) -> None:
        if not chunk:
            raise ConnectionResetError
        for line in self._daemon_lines.feed(chunk):
            assert isinstance(line, bytes)
            self._read_answer(line)

    def _read_answer(self, line: bytes) -> None:
        if onward := self._exchange.on_daemon_line(line):
            self._to_client.add([onward if onward.endswith(b"\n") else onward + b"\n"])

    def _shutdown_writes(self) -> None:
        """Signal the end of requests to the daemon after everything was sent."""
        if self._finished and self._daemon is not None and not self._to_daemon.size:
            with suppress(OSError):
                self._daemon.shutdown(socket.SHUT_WR)

    def _handle_disconnect(self) -> None:
        """Answer lost requests, and connect to the next daemon unless this one was stopped and nothing is pending."""
        assert self._daemon is not None
        self._unregister(self._daemon)
        self._daemon.close()
        self._daemon, self._daemon_lines, self._to_daemon = None, LineDecoder(UNLIMITED_BYTES), WriteBuffer()
        reap()
        self._to_client.add(self._exchange.on_daemon_lost())
        stopped = self._exchange.farewell is not None and self._exchange.farewell["stopped"]
        lasted = time.monotonic() - self._connected_at > SHORT_LIFE_SECONDS
        self._short_lives = 0 if lasted else self._short_lives + 1
        if self._exchange.is_awaiting_answer or not (stopped or self._finished or self._short_lives >= MAX_SHORT_LIVES):
            self._start_connecting()

    def _start_connecting(self) -> None:
        """Connect to the next daemon, started if needed; stored answers serve the client meanwhile."""
        self._answers = StoredAnswers.load(self._address)
        self._connector = Connector(self._address, self._hello_message())
        self._poll.register(self._connector, select.POLLIN)

    def _finish_connecting(self, connector: Connector) -> None:
        """Continue with the daemon, or report to waiting requests that there is none."""
        self._unregister(connector)
        self._connector = None
        try:
            self._accept_handshake(connector.take_result())
        except UnreachableError as error:
            if self._is_starting:
                raise
            self._to_client.add(self._exchange.fail_pending(error.message, error.hint))

    def _attach(self) -> None:
        """Connect to a daemon that another process has started."""
        with suppress(UnreachableError, *NO_DAEMON_ERRORS):
            self._accept_handshake(handshake(self._address, self._hello_message()))

    def _hello_message(self) -> Hello:
        return hello_message(self._address, "mcp", self._conversation)

    def _accept_handshake(self, greeting: Handshake) -> None:
        """Replay the client's state to a daemon, and notify the client of possible changes."""
        greeting.stream.setblocking(False)
        self._daemon = greeting.stream
        self._to_daemon.add(self._exchange.replay())
        tools = greeting.reply.get("tools")
        if self._tools not in (None, tools):
            self._to_client.add(self._exchange.tools_changed_notifications())
        if not self._is_starting:
            self._to_client.add(self._exchange.pages_changed_notifications())
        self._connected_at, self._tools = time.monotonic(), tools
        self._warn(greeting)
        if greeting.rest:
            self._read_daemon(greeting.rest)
        self._shutdown_writes()

    # Messages for users.

    def _warn(self, greeting: Handshake) -> None:
        """Warn once about settings that differ from the daemon's."""
        if not self._warned and (warning := settings_warning(self._address, greeting.reply)):
            self._warned = True
            sys.stderr.write(warning)

    def _report_unreachable(self, error: UnreachableError) -> int:
        """Report why there is no daemon: to the user on standard error, and to the client's requests."""
        text = f"panorama: {error.message}\n{error.hint}\n"
        sys.stderr.write("".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text))
        with suppress(OSError):
            if not self._exchange.has_pending and not self._finished:
                self._read_first_requests()
            self._to_client.add(self._exchange.fail_pending(error.message, error.hint))
            while self._to_client.size:
                self._to_client.write(lambda chunk: os.write(STDOUT_FD, chunk), PIPE_BYTES)
        return 1

    def _read_first_requests(self) -> None:
        waiting = select.poll()
        waiting.register(STDIN_FD, select.POLLIN)
        chunk = os.read(STDIN_FD, CHUNK_BYTES) if waiting.poll(FIRST_REQUEST_WAIT_MS) else b""
        for line in self._client_lines.feed(chunk):
            if isinstance(line, bytes):
                self._exchange.on_client_line(line)
