"""Tracks the requests between a client and its daemon, and what to replay or answer when the daemon dies.

No input or output, standard library only. Of the daemon's answers only the id is read.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from panorama.transport.stored_answers import describe_client

LISTEN_METHOD = "subscriptions/listen"
"""The request that stays open until the connection ends (MCP 2026-07-28)."""

HEAD_BYTES = 400
"""Finds the id in an answer."""

_ENVELOPE = "io.modelcontextprotocol/protocolVersion"
"""The key in the `_meta` of every stateless request."""

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
"""The key in the `_meta` of a stateless notification: the id of its request."""

_TOOLS_CHANGED, _UPDATED = "notifications/tools/list_changed", "notifications/resources/updated"
_STATEFUL_METHODS = {"resources/subscribe", "logging/setLevel"}
_ANSWER_PREFIX = b'{"jsonrpc":"2.0","id":'
_CONTROL_PREFIX = b'{"panorama":'
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18}(?![\d.eE]))')
_OUTCOME_UNKNOWN, _UNAVAILABLE = "outcome_unknown", "unavailable"
_TOO_LONG = "This message is longer than 32 MB and was not read; send less at a time."
_decode = json.JSONDecoder().raw_decode

Message = dict[str, Any]


class RequestTracker:
    """The pending requests, and the state to replay to the next daemon."""

    def __init__(self) -> None:
        self._under_way: dict[Any, tuple[Message, bytes]] = {}
        self._begun: set[Any] = set()
        self._handshake: list[bytes] = []
        self._state: dict[tuple[str, str], tuple[Any, bytes]] = {}
        self._discarded: set[Any] = set()
        self._repeated: set[Any] = set()
        self._early: list[bytes] = []
        self._questions: dict[Any, Any] = {}
        self._daemons = 0
        self.farewell: Message | None = None

    @property
    def is_awaiting_answer(self) -> bool:
        """Whether the client waits for an answer, except for open subscriptions."""
        return any(request["method"] != LISTEN_METHOD for request, _ in self._under_way.values())

    @property
    def has_pending(self) -> bool:
        """Whether the client waits for anything."""
        return bool(self._under_way)

    @property
    def client(self) -> str:
        """The client of the handshake, as `describe_client` describes it; "" if there was none."""
        if not self._handshake:
            return ""
        params = _params(parse_message(self._handshake[0]))
        return describe_client(params.get("protocolVersion", ""), params.get("capabilities"))

    @property
    def pending_count(self) -> int:
        """The number of pending requests."""
        return len(self._under_way)

    def on_client_line(self, line: bytes) -> bytes | None:
        """Track a client's line; return it for the daemon, None if it was for a previous one."""
        message = parse_message(line)
        method, id_ = message.get("method"), message.get("id")
        if isinstance(method, str):
            self._track(method, message, line)
        elif id_ is not None and ("result" in message or "error" in message):
            if _key(id_) not in self._questions:
                return None
            asked = self._questions.pop(_key(id_))
            return line if asked == id_ else _encode_line({**message, "id": asked})
        return line

    def on_early_line(self, line: bytes) -> None:
        """Track a client's line that arrives while the next daemon is being connected."""
        if self.on_client_line(line) is not None and not self._is_repeated(line):
            self._early.append(line)

    def _is_repeated(self, line: bytes) -> bool:
        """Return whether `replay` repeats the line."""
        known = (*self._under_way.values(), *self._state.values())
        return line in self._handshake or any(line is known_line for _, known_line in known)

    def _track(self, method: str, message: Message, line: bytes) -> None:
        id_ = message.get("id")
        if isinstance(id_, str | int) and not isinstance(id_, bool):
            self._under_way[_key(id_)] = message, line
        if method == "initialize":
            self._handshake = [line]
        elif method == "notifications/initialized":
            self._handshake.append(line)
        elif method in _STATEFUL_METHODS:
            self._state[method, _uri_of(message)] = id_, line
        elif method == "resources/unsubscribe":
            self._state.pop(("resources/subscribe", _uri_of(message)), None)
        elif method == "notifications/cancelled":
            self._under_way.pop(_key(_params(message).get("requestId")), None)

    def on_daemon_line(self, line: bytes) -> bytes | None:
        """Track a daemon's line; return it for the client, None if it answers no request."""
        if line.startswith(_CONTROL_PREFIX):
            self._handle_control(json.loads(line))
            return None
        if not line.startswith(_ANSWER_PREFIX):
            return line
        head, (id_, end) = _parse_head(line)
        if head.startswith(',"method"', end):
            return self._renumber_question(id_, line)
        if _key(id_) in self._discarded:
            self._discarded.discard(_key(id_))
            return None
        self._under_way.pop(_key(id_), None)
        self._begun.discard(_key(id_))
        return line

    def _handle_control(self, message: Message) -> None:
        """Handle a control message of the daemon: a call started, or it shuts down in order."""
        if message["panorama"] == "began":
            self._begun.add(_key(message["id"]))
        elif message["panorama"] == "leaving":
            self.farewell = message
            self._begun = {_key(id_) for id_ in message["unfinished"]}

    def _renumber_question(self, id_: Any, line: bytes) -> bytes:
        """Give a later daemon's question a new id, so that it is not confused with an earlier one."""
        shown = f"{self._daemons}:{id_}" if self._daemons else id_
        self._questions[_key(shown)] = id_
        return line if shown == id_ else _encode_line({**json.loads(line), "id": shown})

    def on_daemon_lost(self) -> Iterator[bytes]:
        """Yield the messages for the client when its daemon has died.

        Started calls have an unknown outcome; other requests are repeated with the next daemon, but only once.
        """
        for id_, (request, _) in list(self._under_way.items()):
            if id_ in self._begun or (id_ in self._repeated and not self.farewell):
                del self._under_way[id_]
                yield _outcome_unknown_response(request)
        self._daemons += 1
        # A request that kills daemons is not sent to a third one.
        if not self.farewell:
            self._repeated = {
                id_ for id_, (request, _) in self._under_way.items() if request["method"] != LISTEN_METHOD
            }
        self._begun.clear()
        for id_ in self._questions:
            reason = "Panorama restarted; the question is no longer valid."
            yield _encode_line(_notification("notifications/cancelled", {"requestId": id_[1], "reason": reason}))
        self._questions.clear()

    def replay(self) -> Iterator[bytes]:
        """Yield what brings the next daemon to where the last one was."""
        self.farewell = None
        self._discarded.clear()
        state = [*((json.loads(line).get("id"), line) for line in self._handshake), *self._state.values()]
        for id_, line in state:
            if id_ is not None and _key(id_) not in self._under_way:
                self._discarded.add(_key(id_))
            yield line
        repeated = {_key(id_) for id_, _ in state}
        yield from [line for id_, (_, line) in self._under_way.items() if id_ not in repeated]
        yield from self._early
        self._early = []

    def tools_changed_notifications(self) -> Iterator[bytes]:
        """Yield notice that the next daemon has other tools than the client knows."""
        if self._handshake:
            yield _encode_line(_notification(_TOOLS_CHANGED, {}))
        for request, _ in self._under_way.values():
            if request["method"] == LISTEN_METHOD and _listener_filter(request).get("toolsListChanged"):
                yield _encode_line(_notification(_TOOLS_CHANGED, {"_meta": {_SUBSCRIPTION: request["id"]}}))

    def pages_changed_notifications(self) -> Iterator[bytes]:
        """Yield notice of the pages that may have changed while no daemon knew of the client's subscriptions."""
        for _, uri in self._state:
            if uri:
                yield _encode_line(_notification(_UPDATED, {"uri": uri}))
        for request, _ in self._under_way.values():
            if request["method"] == LISTEN_METHOD:
                yield from _pages_changed_for_listener(request)

    def fail_pending(self, message: str, hint: str) -> Iterator[bytes]:
        """Yield the answers to all that is under way when there is no daemon and none can be started."""
        for request, _ in self._under_way.values():
            yield unavailable_response(request, message, hint)
        self._under_way.clear()


def _parse_head(line: bytes) -> tuple[str, tuple[Any, int]]:
    """Return the beginning of a daemon's line, its id and where that ends."""
    try:
        head = line[:HEAD_BYTES].decode("utf-8", "replace")
        return head, _decode(head, len(_ANSWER_PREFIX))
    except ValueError:  # an id that is longer than that
        head = line.decode("utf-8", "replace")
        return head, _decode(head, len(_ANSWER_PREFIX))


def _listener_filter(request: Message) -> Message:
    return _as_mapping(_params(request).get("notifications"))


def _pages_changed_for_listener(request: Message) -> Iterator[bytes]:
    uris: Any = _listener_filter(request).get("resourceSubscriptions")
    for uri in uris if isinstance(uris, list) else ():  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)
        yield _encode_line(_notification(_UPDATED, {"_meta": {_SUBSCRIPTION: request["id"]}, "uri": uri}))


def unavailable_response(request: Message, message: str, hint: str) -> bytes:
    """Return the answer to a request that no daemon received."""
    if request.get("method") == "tools/call":
        return _tool_error(request, _UNAVAILABLE, f"{message} Nothing was changed.", hint)
    return _jsonrpc_error(request.get("id"), -32000, f"{message} {hint}".strip())


def too_long_response(edges: bytes) -> bytes:
    """Return the answer to a message whose middle was dropped."""
    match = _ID.search(edges)
    return _jsonrpc_error(json.loads(match[1]) if match else None, -32600, _TOO_LONG)


def _outcome_unknown_response(request: Message) -> bytes:
    """Return the answer to a request with an unknown outcome."""
    name = str(_params(request).get("name", request["method"]))[:80]
    message = f"Panorama stopped while {name} was running: its outcome is unknown."
    hint = (
        "Check whether it was done (history, get_item or list_…) before you repeat it. "
        "A write that is repeated with the same idempotency_key is done only once."
    )
    if request["method"] == "tools/call":
        return _tool_error(request, _OUTCOME_UNKNOWN, message, hint)
    return _jsonrpc_error(request["id"], -32000, f"{message} {hint}")


def _tool_error(request: Message, code: str, message: str, hint: str) -> bytes:
    """Return a tool's error, which a model reads, in the shape of all our errors."""
    result: Message = {
        "content": [{"type": "text", "text": f"[{code}] {message}\nhint: {hint}"}],
        "isError": True,
    }
    if _ENVELOPE in _as_mapping(_params(request).get("_meta")):
        result["resultType"] = "complete"
    return _encode_line({"jsonrpc": "2.0", "id": request["id"], "result": result})


def _jsonrpc_error(id_: Any, code: int, message: str) -> bytes:
    return _encode_line({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})


def _notification(method: str, params: Message) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def parse_message(line: bytes) -> Message:
    """Return a client's message, empty if it is none: the daemon will tell the client."""
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)


def _params(message: Message) -> Message:
    return _as_mapping(message.get("params"))


def _as_mapping(value: Any) -> Message:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)


def _uri_of(message: Message) -> str:
    return str(_params(message).get("uri", ""))


def _key(id_: Any) -> Any:
    """Return an id as a key that tells 1, "1", 1.0 and true apart, whatever a client sends."""
    return (type(id_).__name__, id_ if isinstance(id_, str | int) else str(id_))


def _encode_line(message: Message) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
