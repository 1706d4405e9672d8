"""The door: joins a client's standard input and output to the daemon, line by line; standard library only.

It outlives the daemon. If that is killed, the handshake and the subscriptions are sent to the next one, reading
requests are sent again, and each call that was under way is answered with «outcome unknown». If the daemon leaves in
order, it has answered what it took, and what it did not take goes to its successor: the client notices nothing.
"""

import os
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress

from panorama.address import (
    NOBODY,
    Address,
    Greeted,
    Hello,
    UnreachableError,
    data_directory,
    difference,
    greeted,
    hello,
)
from panorama.cli.exchange import Exchange, failed, parsed, too_long
from panorama.framing import Lines, TooLong
from panorama.starting import connected, reap

IN, OUT = 0, 1
CHUNK_BYTES = 1 << 16
PIPE_BYTES = select.PIPE_BUF
"""What a pipe takes without blocking once `poll` says that it takes something (POSIX, `write`)."""

MOST_WAITING_BYTES = 4 << 20
"""While so much waits to be written to one side, the other side is not read."""

MOST_UNDER_WAY = 2000
"""While so many requests are not answered, the client is not read."""

ANY_LENGTH = 1 << 40
SHORT_LIFE_SECONDS, SHORT_LIVES = 5.0, 3
"""After so many daemons in a row that died at once, the next is started only when the client asks for something."""

EXCUSE_MS = 1000
LOOK_MS = 1000
"""How often a door without a daemon looks whether somebody has started one: its client may listen for changes."""

GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


class ClosedError(Exception):
    """The client is gone."""


def run() -> int:
    """Serve the client on standard input and output until it leaves; return the exit code."""
    return Door(Address(data_directory()), conversation=f"v_{os.urandom(5).hex()}").run()


class Outbox:
    """Bytes that wait to be written."""

    def __init__(self) -> None:
        self._waiting: deque[memoryview] = deque()
        self.size = 0

    def add(self, lines: Iterable[bytes]) -> None:
        """Put lines at the end."""
        for line in lines:
            self._waiting.append(memoryview(line))
            self.size += len(line)

    def write(self, write: Callable[[memoryview], int], most: int = 1 << 20) -> None:
        """Write once, at most so many bytes."""
        first = self._waiting.popleft()
        try:
            count = write(first[:most])
        except BlockingIOError:
            count = 0
        self.size -= count
        if count < len(first):
            self._waiting.appendleft(first[count:])


class Door:
    """One client, and the daemon that serves it at the moment, if any."""

    def __init__(self, address: Address, conversation: str) -> None:
        self._address = address
        self._conversation = conversation
        self._exchange = Exchange()
        self._poll = select.poll()
        self._client_lines, self._to_client = Lines(), Outbox()
        self._daemon: socket.socket | None = None
        self._daemon_lines, self._to_daemon = Lines(ANY_LENGTH), Outbox()
        self._finished = False
        self._tools: object = None
        self._warned = False
        self._connected_at = 0.0
        self._short_lives = 0

    def run(self) -> int:
        """Serve until the client leaves, and has been given all that it waits for."""
        try:
            self._connect()
        except ClosedError:
            return 0
        except UnreachableError as error:
            return self._excuse(error)
        with suppress(ClosedError, BrokenPipeError, ConnectionResetError):
            while not self._finished or self._exchange.waits or self._to_client.size:
                self._turn()
        return 0

    def _turn(self) -> None:
        """Wait until something can be read or written, and do that."""
        self._watch()
        happened = self._poll.poll(None if self._daemon else LOOK_MS)
        if self._daemon is None and os.path.exists(self._address.socket):
            self._join()
        for file, events in happened:
            if file == OUT:
                self._write_client(events)
            elif file == IN:
                self._read_client()
            elif self._daemon is not None and file == self._daemon.fileno():
                self._meet_daemon(events)

    def _watch(self) -> None:
        """Say what to wait for: each side is read only while the other takes what comes."""
        self._poll.register(OUT, select.POLLOUT if self._to_client.size else 0)
        is_full = self._to_daemon.size >= MOST_WAITING_BYTES or self._exchange.count >= MOST_UNDER_WAY
        if not self._finished and not is_full:
            self._poll.register(IN, select.POLLIN)
        else:
            self._forget(IN)
        if self._daemon is not None:
            reads = select.POLLIN if self._to_client.size < MOST_WAITING_BYTES else 0
            self._poll.register(self._daemon, reads | (select.POLLOUT if self._to_daemon.size else 0))

    def _forget(self, file: int | socket.socket) -> None:
        with suppress(KeyError):
            self._poll.unregister(file)

    # The client's side.

    def _write_client(self, events: int) -> None:
        if events & GONE:
            raise ClosedError
        try:
            self._to_client.write(lambda some: os.write(OUT, some), PIPE_BYTES)
        except OSError as error:  # such as a file on a full disk
            raise ClosedError from error

    def _read_client(self) -> None:
        chunk = os.read(IN, CHUNK_BYTES)
        if not chunk:
            self._finished = True
            self._end_requests()
        for line in self._client_lines.feed(chunk):
            if isinstance(line, TooLong):
                self._to_client.add([too_long(line.edges)])
            elif line.strip():
                self._take(line + b"\n")

    def _take(self, line: bytes) -> None:
        onward = self._exchange.take(line)
        if self._daemon is not None:
            self._to_daemon.add([onward] if onward else [])
        elif b'"id"' in line and self._exchange.wants:
            self._reconnect()

    def _is_wanted(self) -> bool:
        """Tell that the client still wants a daemon, while one is waited for."""
        watched = select.poll()
        watched.register(OUT, 0)
        if any(events & GONE for _, events in watched.poll(0)):
            raise ClosedError
        return True

    # The daemon's side.

    def _meet_daemon(self, events: int) -> None:
        assert self._daemon is not None
        try:
            if events & select.POLLOUT:
                self._to_daemon.write(self._daemon.send)
                self._end_requests()
            if events & (select.POLLIN | GONE):
                self._read_daemon(self._daemon.recv(CHUNK_BYTES))
        except ConnectionError:
            self._lose()

    def _read_daemon(self, chunk: bytes) -> None:
        if not chunk:
            raise ConnectionResetError
        for line in self._daemon_lines.feed(chunk):
            assert isinstance(line, bytes)
            if onward := self._exchange.give(line):
                self._to_client.add([onward if onward.endswith(b"\n") else onward + b"\n"])

    def _end_requests(self) -> None:
        """Tell the daemon, once it has all, that no more requests will come."""
        if self._finished and self._daemon is not None and not self._to_daemon.size:
            with suppress(OSError):
                self._daemon.shutdown(socket.SHUT_WR)

    def _lose(self) -> None:
        """Answer what nobody will, and turn to the next daemon, unless a person stopped this one and nobody asks."""
        assert self._daemon is not None
        self._forget(self._daemon)
        self._daemon.close()
        self._daemon, self._daemon_lines, self._to_daemon = None, Lines(ANY_LENGTH), Outbox()
        reap()
        self._to_client.add(self._exchange.lose())
        stopped = self._exchange.farewell is not None and self._exchange.farewell["stopped"]
        lasted = time.monotonic() - self._connected_at > SHORT_LIFE_SECONDS
        self._short_lives = 0 if lasted else self._short_lives + 1
        if self._exchange.waits or not (stopped or self._finished or self._short_lives >= SHORT_LIVES):
            self._reconnect()

    def _reconnect(self) -> None:
        """Turn to the next daemon, and start it if need be; if there is none, say so to those who wait."""
        before = self._tools
        try:
            self._connect()
        except UnreachableError as error:
            self._to_client.add(self._exchange.fail(error.message, error.hint))
        else:
            self._resume(before)

    def _join(self) -> None:
        """Turn to a daemon that somebody else has started."""
        before = self._tools
        with suppress(UnreachableError, *NOBODY):
            self._greet(greeted(self._address, self._hello()))
            self._resume(before)

    def _resume(self, before: object) -> None:
        """Bring a daemon to where the last one was."""
        self._to_daemon.add(self._exchange.replay())
        self._to_client.add(self._exchange.stale(tools=self._tools != before))
        self._end_requests()

    def _connect(self) -> None:
        self._greet(connected(self._address, self._hello(), wanted=self._is_wanted))

    def _hello(self) -> Hello:
        return hello(self._address, "mcp", self._conversation)

    def _greet(self, met: Greeted) -> None:
        met.stream.setblocking(False)
        self._daemon = met.stream
        self._connected_at = time.monotonic()
        self._tools = met.reply.get("tools")
        self._warn(met)
        if met.rest:
            self._read_daemon(met.rest)

    # What a person hears.

    def _warn(self, met: Greeted) -> None:
        """Tell once of settings that this client's environment has and the daemon has not."""
        if not self._warned and (told := difference(self._address, met.reply)):
            self._warned = True
            sys.stderr.write(told)

    def _excuse(self, error: UnreachableError) -> int:
        """Say why there is no daemon: to the person on standard error, and to the client in answer to its request."""
        sys.stderr.write(f"panorama: {error.message}\n{error.hint}\n")
        waiting = select.poll()
        waiting.register(IN, select.POLLIN)
        with suppress(OSError):
            first = os.read(IN, CHUNK_BYTES) if waiting.poll(EXCUSE_MS) else b""
            requests = (parsed(line) for line in self._client_lines.feed(first) if isinstance(line, bytes))
            for said in requests:
                if "id" in said and "method" in said:
                    os.write(OUT, failed(said, error.message, error.hint))
        return 1
