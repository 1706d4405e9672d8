"""Visitors: who comes to the socket is checked, greeted, and served as what it says it wants."""

import json
import logging
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream
from fastmcp import FastMCP

from panorama import __version__
from panorama.address import PROTOCOL, Address, newer, settings_in
from panorama.app import App
from panorama.daemon.conversations import Conversations, current
from panorama.daemon.direct import Answering, Direct
from panorama.daemon.listening import is_ours
from panorama.domain.changes import PERSON
from panorama.mcp.connection import GONE, Connection
from panorama.mcp.tools import client_name

HELLO_SECONDS = 10.0
HELLO_BYTES = 1 << 16
FAREWELL_SECONDS = 2.0
"""How long a door may take to be told that the daemon leaves; one that does not read is left behind."""

PURPOSES = ("mcp", "calls")
MOST = 1000
"""Visitors at a time; beyond, they are refused rather than all of them slowed down."""

_log = logging.getLogger(__name__)


class Visitor:
    """One connection, from its greeting to its end."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self.since = datetime.now(UTC)
        self.hello: Mapping[str, Any] = {}
        self.name = ""
        self.serving: Connection | Direct | None = None

    def introduced(self) -> str:
        """Return the name of the client whose request is served now, and remember it."""
        self.name = client_name()
        return self.name


class Reception:
    """All visitors of one daemon."""

    def __init__(
        self,
        app: App,
        mcp: FastMCP[Any],
        address: Address,
        others: Mapping[str, Answering],
        outdated: Callable[[], None],
    ) -> None:
        self.visitors: set[Visitor] = set()
        self.conversations = Conversations()
        self.changed = anyio.Event()
        self.is_leaving = False
        self._stopped = False
        self._tools = " ".join((__version__, *app.settings.toolsets))  # what makes a list of tools differ from another
        self._app = app
        self._mcp = mcp
        self._address = address
        self._others = others
        self._outdated = outdated

    async def receive(self, stream: SocketStream) -> None:
        """Serve one visitor to its end, whatever it does."""
        visitor = Visitor(stream)
        self.visitors.add(visitor)
        self._tell()
        try:
            async with stream:
                await self._serve(visitor)
        except (*GONE, anyio.EndOfStream, TimeoutError):
            pass
        except Exception:
            _log.exception("a connection broke")
        finally:
            self.visitors.discard(visitor)
            self._tell()

    async def farewell(self, seconds: float, *, stopped: bool) -> None:
        """Let every visitor finish what it began, and tell its door what became of it."""
        self.is_leaving, self._stopped = True, stopped
        async with anyio.create_task_group() as tasks:
            for visitor in self.visitors:
                if visitor.serving is not None:
                    tasks.start_soon(visitor.serving.leave, seconds)
        with anyio.move_on_after(FAREWELL_SECONDS):
            while any(visitor.serving is not None for visitor in self.visitors):
                await self.changed.wait()

    async def _serve(self, visitor: Visitor) -> None:
        if not is_ours(visitor.stream.extra(SocketAttribute.raw_socket)):
            _log.warning("a program of another user came to the socket and was sent away")
            return
        with anyio.fail_after(HELLO_SECONDS):
            line, rest = await _first_line(visitor.stream)
        reply = self._reply(line, visitor)
        await visitor.stream.send(_line(reply))
        if "refused" in reply or "leaving" in reply:
            return
        if visitor.hello.get("for") == "calls":
            await self._serve_calls(visitor, rest)
        else:
            await self._serve_mcp(visitor, rest)

    def _reply(self, line: bytes, visitor: Visitor) -> dict[str, Any]:
        """Return what a greeting is answered with: who we are, or why not."""
        us = {"panorama": PROTOCOL, "version": __version__, "pid": os.getpid()}
        hello: Any = {}
        try:
            hello = json.loads(line)
            protocol, version, home, purpose = (hello[name] for name in ("panorama", "version", "home", "for"))
            is_one = isinstance(version, str) and purpose in PURPOSES
        except (ValueError, TypeError, KeyError, RecursionError):
            is_one, protocol, version, home = False, 0, "", ""
        if not is_one:
            return us | {"refused": "This is no greeting of Panorama's.", "hint": "Connect with `panorama`."}
        if protocol != PROTOCOL:
            return us | {"refused": f"Panorama {__version__} runs here and {version} came.", "hint": _RESTART}
        if home != self._address.home:
            return us | {"refused": f"The daemon here keeps {self._address.home}, not {home}.", "hint": _RESTART}
        if len(self.visitors) > MOST:
            return us | {"refused": f"{MOST} programs are connected to Panorama.", "hint": "Close some of them."}
        if newer(version, __version__) and not self.is_leaving:
            _log.info("version %s came; %s leaves when all that runs is finished", version, __version__)
            self._outdated()
        if self.is_leaving:
            return us | {"leaving": True}
        visitor.hello = hello
        ours, theirs = settings_in(os.environ), dict(hello.get("settings") or {})
        differs = sorted(name for name, value in theirs.items() if ours.get(name) != value)
        return us | {"timezone": self._app.settings.timezone, "tools": self._tools, "differs": differs}

    async def _serve_mcp(self, visitor: Visitor, rest: bytes) -> None:
        id_ = str(visitor.hello.get("conversation") or "v_unknown")[:40]
        conversation = self.conversations.of(id_, "tool", visitor.introduced)
        current.set(conversation)
        visitor.serving = connection = Connection(visitor.stream, rest, tells=True)
        try:
            await connection.serve(self._mcp)
        finally:
            if conversation.client == visitor.introduced:  # else it is here again already
                conversation.client = visitor.name or "unknown"
        if connection.unfinished is not None:
            told = {"panorama": "leaving", "stopped": self._stopped, "unfinished": connection.unfinished}
            await connection.put(told)

    async def _serve_calls(self, visitor: Visitor, rest: bytes) -> None:
        name = str(visitor.hello.get("conversation") or "cli")[:40]
        conversation = self.conversations.of(name, PERSON, "panorama")
        visitor.name = "command line"
        visitor.serving = Direct(visitor.stream, rest, self._app.calls, conversation, self._others)
        await visitor.serving.serve()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


_RESTART = "Restart this client and run `panorama daemon restart`."


async def _first_line(stream: SocketStream) -> tuple[bytes, bytes]:
    got = b""
    while b"\n" not in got:
        if len(got) > HELLO_BYTES:
            raise anyio.EndOfStream
        got += await stream.receive()
    line, _, rest = got.partition(b"\n")
    return line, rest


def _line(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said, separators=(",", ":")).encode() + b"\n"
