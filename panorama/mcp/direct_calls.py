"""Short calls answered on the connection itself, without the per-request steps of the SDK and FastMCP.

Those steps (two validations, a context, two chains of middleware, the search through the providers, three copies of the
result and some twenty turns of the event loop) cost three times what the call costs, and a short call uses none of
them. They stay for all that does: calls that ask the user, report progress, become jobs, or come over HTTP.

What the SDK decides is taken from its answers. The version of a connection and the envelope of its requests are those
that the SDK has accepted, and a version is served here only after an answer of the SDK's was the same as the one
written here. If a version of the library answers in another form, it answers every call.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_types import SERVER_INFO_META_KEY, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from panorama.calls import Calls
from panorama.domain.text.json_types import is_object
from panorama.domain.text.lenient_json import strip_client_prefix
from panorama.mcp.call_threads import call_threads
from panorama.mcp.messages import encode_plain
from panorama.mcp.tools import CLIENT_NAME, GetConversation, ToolAnswer, answer_call
from panorama.operation import Operation
from panorama.services.jobs.progress import ignore_progress, report_progress_to

METHOD = "tools/call"
PARAMS = frozenset(("name", "arguments", "_meta"))
"""The parameters of a call that answers no question."""

SDK_PREFIX, PROGRESS_TOKEN = "io.modelcontextprotocol/", "progressToken"
VERSION_KEY, CLIENT_KEY = f"{SDK_PREFIX}protocolVersion", f"{SDK_PREFIX}clientInfo"
FASTMCP_KEYS = frozenset(("fastmcp", "_fastmcp"))
"""Where a client may ask FastMCP for a version of a tool."""

COMMON_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "resultType": lambda value: value == "complete",
    "_meta": lambda value: is_object(value) and set(value) == {SERVER_INFO_META_KEY},
}
"""What may stand in every result of a protocol version alike."""


@dataclass(slots=True)
class Peer:
    """What the SDK has accepted from the client of one connection: its protocol version, name, and envelope.

    Args:
        version: "" until the SDK has answered a request that tells it.
        envelope: What each request carries of the protocol since 2026-07-28.
    """

    version: str = ""
    name: str = ""
    envelope: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def accept(self, request: JSONRPCRequest, result: Mapping[str, Any]) -> None:
        """Learn from a request that the SDK has answered."""
        params = request.params or {}
        if request.method == "initialize":
            self.version, self.envelope = str(result.get("protocolVersion", "")), {}
            self.name = _client_name(params.get("clientInfo"))
        elif (envelope := _envelope(params.get("_meta"))).get(VERSION_KEY) in MODERN_PROTOCOL_VERSIONS:
            self.version, self.envelope = str(envelope[VERSION_KEY]), envelope
            self.name = _client_name(envelope.get(CLIENT_KEY))


def _client_name(info: Any) -> str:
    return str(info.get("name", "unknown"))[:80] if is_object(info) else "unknown"


def _envelope(meta: Any) -> Mapping[str, Any]:
    """Return the protocol's part of a request's metadata."""
    return {name: value for name, value in meta.items() if name.startswith(SDK_PREFIX)} if is_object(meta) else {}


@dataclass(slots=True, eq=False)
class DirectCall:
    """A call that is answered here."""

    request: JSONRPCRequest
    name: str
    arguments: Mapping[str, Any]
    version: str
    client: str
    is_read: bool
    gone: threading.Event = field(default_factory=threading.Event)
    """Set once nobody waits for the answer."""


class DirectCalls:
    """The short calls of one server."""

    def __init__(self, calls: Calls, conversing: GetConversation, operations: Mapping[str, Operation]) -> None:
        self._calls = calls
        self._conversing = conversing
        self._operations = {name: operation for name, operation in operations.items() if _is_short(operation)}
        self._common: dict[str, Mapping[str, Any]] = {}

    def find(self, request: JSONRPCRequest, peer: Peer) -> DirectCall | None:
        """Return the call that a request asks for, None if the SDK has to answer it."""
        if request.method != METHOD or peer.version not in self._common:
            return None
        return self._parse(request, peer)

    def learn(self, request: JSONRPCRequest, result: Mapping[str, Any], peer: Peer) -> None:
        """Compare an answer of the SDK's with the one that would be given here; from then on, calls are answered here.

        Args:
            result: The SDK's.
        """
        version = peer.version
        if request.method != METHOD or version in self._common or self._parse(request, peer) is None:
            return
        if version not in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS):
            return
        common = {name: result[name] for name, is_usual in COMMON_FIELDS.items() if is_usual(result.get(name))}
        content, structure = result.get("content"), result.get("structuredContent")
        if structure is None or not isinstance(content, list) or len(content) != 1:  # pyright: ignore[reportUnknownArgumentType] (JSON of any shape)
            return  # an error is no full answer, and the next call may be one
        text = str(content[0].get("text"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] (as above)
        if result == to_result(ToolAnswer(text, structure), common):
            self._common[version] = common

    async def answer(self, call: DirectCall) -> bytes:
        """Make a call in a thread and return its answer as a line.

        If this is cancelled, a read is left behind and a write is waited for; both end at their next step.
        """
        CLIENT_NAME.set(call.client)
        conversation = self._conversing()

        def run() -> bytes:
            with report_progress_to(ignore_progress, call.gone.is_set):
                answer = answer_call(self._calls, call.name, call.arguments, conversation)
            result = to_result(answer, self._common[call.version])
            return encode_plain({"jsonrpc": "2.0", "id": call.request.id, "result": result})

        try:
            return await call_threads().run(run, "short", conversation.id, abandon_on_cancel=call.is_read)
        except BaseException:
            call.gone.set()
            raise

    def _parse(self, request: JSONRPCRequest, peer: Peer) -> DirectCall | None:
        params = request.params or {}
        name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
        if not PARAMS.issuperset(params) or not isinstance(name, str):
            return None
        if name not in self._operations and (name := strip_client_prefix(name)) not in self._operations:
            return None
        if not (arguments is None or is_object(arguments)) or not _is_usual(meta, peer):
            return None
        operation, given = self._operations[name], arguments or {}
        if given.get(operation.split_by) is not None:
            return None  # it may change many items, and report its progress
        return DirectCall(request, name, given, peer.version, peer.name, is_read=not operation.writes)


def _is_short(operation: Operation) -> bool:
    """Return whether an operation needs nothing of the connection: no question, no progress, no job.

    One with `split_by` needs it only for calls with that argument.
    """
    may_ask, is_large = operation.asks or operation.composed, operation.split is not None and not operation.split_by
    return operation.workload == "short" and operation.job is None and not (may_ask or is_large)


def _is_usual(meta: Any, peer: Peer) -> bool:
    """Return whether a request's metadata is that of the connection, with a usual progress token."""
    if meta is None:
        return not peer.envelope
    if not is_object(meta) or not FASTMCP_KEYS.isdisjoint(meta) or _envelope(meta) != peer.envelope:
        return False
    token = meta.get(PROGRESS_TOKEN, "")
    return isinstance(token, str | int) and not isinstance(token, bool)


def to_result(answer: ToolAnswer, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as the result of a request, with the fields that every result has."""
    structure = {} if answer.structure is None else {"structuredContent": answer.structure}
    content = [{"text": answer.text, "type": "text"}]
    return {"content": content, "isError": answer.structure is None, **structure, **common}
