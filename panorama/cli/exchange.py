"""What a door knows of the talk between its client and the daemon, and what is to be said when the daemon dies.

Without input and output, standard library only. Of the daemon's answers only the id is looked at.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

UNTIL_CLOSED = "subscriptions/listen"
"""The request that is answered only when the connection ends (MCP 2026-07-28)."""

HEAD_BYTES = 400
"""Where in an answer its id stands."""

_ENVELOPE = "io.modelcontextprotocol/protocolVersion"
"""What the `_meta` of every request carries in the stateless era."""

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
"""What the `_meta` of a notification carries in the stateless era: the id of the request that asked for it."""

_TOOLS_CHANGED, _UPDATED = "notifications/tools/list_changed", "notifications/resources/updated"
_STATEFUL = {"resources/subscribe", "logging/setLevel"}
_ANSWER = b'{"jsonrpc":"2.0","id":'
_FOR_US = b'{"panorama":'
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18}(?![\d.eE]))')
_OUTCOME_UNKNOWN, _UNAVAILABLE = "outcome_unknown", "unavailable"
_TOO_LONG = "This message is longer than 32 MB and was not read; send less at a time."
_decode = json.JSONDecoder().raw_decode

Message = dict[str, Any]


class Exchange:
    """The requests under way, and the state that the next daemon must be told of."""

    def __init__(self) -> None:
        self._under_way: dict[Any, tuple[Message, bytes]] = {}
        self._begun: set[Any] = set()
        self._handshake: list[bytes] = []
        self._state: dict[tuple[str, str], tuple[Any, bytes]] = {}
        self._unheard: set[Any] = set()
        self._repeated: set[Any] = set()
        self._questions: dict[Any, Any] = {}
        self._daemons = 0
        self.farewell: Message | None = None

    @property
    def waits(self) -> bool:
        """Whether the client waits for an answer that comes by itself."""
        return any(said["method"] != UNTIL_CLOSED for said, _ in self._under_way.values())

    @property
    def wants(self) -> bool:
        """Whether the client waits for anything."""
        return bool(self._under_way)

    @property
    def count(self) -> int:
        """How many requests are under way."""
        return len(self._under_way)

    def take(self, line: bytes) -> bytes | None:
        """Remember a client's line; return it as the daemon is to get it, None if it is for one that is gone."""
        said = parsed(line)
        method, id_ = said.get("method"), said.get("id")
        if isinstance(method, str):
            self._remember(method, said, line)
        elif id_ is not None and ("result" in said or "error" in said):
            if _key(id_) not in self._questions:
                return None
            asked = self._questions.pop(_key(id_))
            return line if asked == id_ else _line({**said, "id": asked})
        return line

    def _remember(self, method: str, said: Message, line: bytes) -> None:
        id_ = said.get("id")
        if isinstance(id_, str | int) and not isinstance(id_, bool):
            self._under_way[_key(id_)] = said, line
        if method == "initialize":
            self._handshake = [line]
        elif method == "notifications/initialized":
            self._handshake.append(line)
        elif method in _STATEFUL:
            self._state[method, _about(said)] = id_, line
        elif method == "resources/unsubscribe":
            self._state.pop(("resources/subscribe", _about(said)), None)
        elif method == "notifications/cancelled":
            self._under_way.pop(_key(_params(said).get("requestId")), None)

    def give(self, line: bytes) -> bytes | None:
        """Note what a daemon's line answers; return it as the client is to get it, None if it did not ask."""
        if line.startswith(_FOR_US):
            self._note(json.loads(line))
            return None
        if not line.startswith(_ANSWER):
            return line
        head, (id_, end) = _head(line)
        if head.startswith(',"method"', end):
            return self._asked(id_, line)
        if _key(id_) in self._unheard:
            self._unheard.discard(_key(id_))
            return None
        self._under_way.pop(_key(id_), None)
        self._begun.discard(_key(id_))
        return line

    def _note(self, told: Message) -> None:
        """Note what a daemon says to its door: that it began a call, or that it leaves in order."""
        if told["panorama"] == "began":
            self._begun.add(_key(told["id"]))
        elif told["panorama"] == "leaving":
            self.farewell = told
            self._begun = {_key(id_) for id_ in told["unfinished"]}

    def _asked(self, id_: Any, line: bytes) -> bytes:
        """Give a question of a later daemon an id of its own: an answer to an earlier one is not taken for it."""
        shown = f"{self._daemons}:{id_}" if self._daemons else id_
        self._questions[_key(shown)] = id_
        return line if shown == id_ else _line({**json.loads(line), "id": shown})

    def lose(self) -> Iterator[bytes]:
        """Give what the client is to be told when its daemon is gone.

        Of a call that was begun nobody knows whether it was done; all else is sent to the next daemon, but only once.
        """
        for id_, (said, _) in list(self._under_way.items()):
            if id_ in self._begun or (id_ in self._repeated and not self.farewell):
                del self._under_way[id_]
                yield _unknown(said)
        # A request that kills every daemon is not sent to a third one.
        if not self.farewell:
            self._repeated = {id_ for id_, (said, _) in self._under_way.items() if said["method"] != UNTIL_CLOSED}
        self._begun.clear()
        for id_ in self._questions:
            reason = "Panorama restarted; the question is void."
            yield _line(_notification("notifications/cancelled", {"requestId": id_[1], "reason": reason}))
        self._questions.clear()

    def replay(self) -> Iterator[bytes]:
        """Give what brings the next daemon to where the last one was."""
        self._daemons += 1
        self.farewell = None
        self._unheard.clear()
        for line in self._handshake:
            yield from self._again(json.loads(line).get("id"), line)
        for id_, line in self._state.values():
            yield from self._again(id_, line)
        yield from [line for _, line in self._under_way.values()]

    def _again(self, id_: Any, line: bytes) -> Iterator[bytes]:
        """Send a line again whose answer the client has; if it has not, the line is under way and comes by itself."""
        if _key(id_) not in self._under_way:
            if id_ is not None:
                self._unheard.add(_key(id_))
            yield line

    def stale(self, *, tools: bool) -> Iterator[bytes]:
        """Give notice of what may have changed while no daemon knew of the client's subscriptions.

        Args:
            tools: Whether the next daemon has other tools than the last one.
        """
        if tools and self._handshake:
            yield _line(_notification(_TOOLS_CHANGED, {}))
        for _, uri in self._state:
            if uri:
                yield _line(_notification(_UPDATED, {"uri": uri}))
        for said, _ in self._under_way.values():
            if said["method"] == UNTIL_CLOSED:
                yield from _stale_to_listener(said, tools=tools)

    def fail(self, message: str, hint: str) -> Iterator[bytes]:
        """Give the answers to all that is under way when there is no daemon and none can be started."""
        for said, _ in self._under_way.values():
            yield failed(said, message, hint)
        self._under_way.clear()


def _head(line: bytes) -> tuple[str, tuple[Any, int]]:
    """Return the beginning of a daemon's line, its id and where that ends."""
    try:
        head = line[:HEAD_BYTES].decode("utf-8", "replace")
        return head, _decode(head, len(_ANSWER))
    except ValueError:  # an id that is longer than that
        head = line.decode("utf-8", "replace")
        return head, _decode(head, len(_ANSWER))


def _stale_to_listener(said: Message, *, tools: bool) -> Iterator[bytes]:
    wanted, meta = _mapping(_params(said).get("notifications")), {"_meta": {_SUBSCRIPTION: said["id"]}}
    if tools and wanted.get("toolsListChanged"):
        yield _line(_notification(_TOOLS_CHANGED, meta))
    uris: Any = wanted.get("resourceSubscriptions")
    for uri in uris if isinstance(uris, list) else ():  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)
        yield _line(_notification(_UPDATED, {**meta, "uri": uri}))


def failed(said: Message, message: str, hint: str) -> bytes:
    """Return the answer to a request that reached nobody."""
    if said.get("method") == "tools/call":
        return _refusal(said, _UNAVAILABLE, f"{message} Nothing was changed.", hint)
    return _error(said.get("id"), -32000, f"{message} {hint}".strip())


def too_long(edges: bytes) -> bytes:
    """Return the answer to a message of which only the beginning and the end were kept."""
    found = _ID.search(edges)
    return _error(json.loads(found[1]) if found else None, -32600, _TOO_LONG)


def _unknown(said: Message) -> bytes:
    """Return the answer to a request of which nobody knows whether it was done."""
    name = str(_params(said).get("name", said["method"]))[:80]
    message = f"Panorama stopped while {name} was running: its outcome is unknown."
    hint = (
        "Look whether it was done (history, get_item or list_…) before you repeat it. "
        "A write that is repeated with the same idempotency_key is done only once."
    )
    if said["method"] == "tools/call":
        return _refusal(said, _OUTCOME_UNKNOWN, message, hint)
    return _error(said["id"], -32000, f"{message} {hint}")


def _refusal(said: Message, code: str, message: str, hint: str) -> bytes:
    """Return a tool's error, which a model reads, in the shape of all our errors."""
    result: Message = {
        "content": [{"type": "text", "text": f"[{code}] {message}\nhint: {hint}"}],
        "structuredContent": {"error": {"code": code, "message": message, "hint": hint}},
        "isError": True,
    }
    if _ENVELOPE in _mapping(_params(said).get("_meta")):
        result["resultType"] = "complete"
    return _line({"jsonrpc": "2.0", "id": said["id"], "result": result})


def _error(id_: Any, code: int, message: str) -> bytes:
    return _line({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})


def _notification(method: str, params: Message) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def parsed(line: bytes) -> Message:
    """Return a client's message, empty if it is none: the daemon will tell the client."""
    try:
        said: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)


def _params(said: Message) -> Message:
    return _mapping(said.get("params"))


def _mapping(value: Any) -> Message:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)


def _about(said: Message) -> str:
    return str(_params(said).get("uri", ""))


def _key(id_: Any) -> Any:
    """Return an id as a key that tells 1, "1", 1.0 and true apart, whatever a client sends."""
    return (type(id_).__name__, id_ if isinstance(id_, str | int) else str(id_))


def _line(said: Message) -> bytes:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
