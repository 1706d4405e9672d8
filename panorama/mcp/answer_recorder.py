"""Records the answers that are the same for every client: the handshake and the lists, in each protocol version."""

import json
from typing import Any

import anyio
from fastmcp import FastMCP
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from panorama.mcp.connection import Connection
from panorama.mcp.stdio import CHUNK_BYTES
from panorama.transport.stored_answers import LISTS

_CLIENT = {"name": "panorama", "version": "1"}
_META = "io.modelcontextprotocol"


async def record_answers(mcp: FastMCP[Any]) -> dict[str, bytes]:
    """Return the server's results as JSON by "METHOD VERSION"."""
    results: dict[str, bytes] = {}
    for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS):
        is_modern = version in MODERN_PROTOCOL_VERSIONS
        recorder = _Recorder(_modern_requests(version) if is_modern else _handshake_requests(version))
        await Connection(recorder).serve(mcp)
        greeting = "server/discover" if is_modern else "initialize"
        results |= {f"{method} {version}": recorder.results[id_] for id_, method in enumerate((greeting, *LISTS))}
    return results


class _Recorder:
    """A client that sends all its requests at once and stores the results."""

    def __init__(self, requests: list[dict[str, Any]]) -> None:
        self._unsent = [b"".join(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n" for request in requests)]
        self.results: dict[int, bytes] = {}

    async def receive(self, max_bytes: int = CHUNK_BYTES) -> bytes:
        del max_bytes
        if not self._unsent:
            raise anyio.EndOfStream
        return self._unsent.pop()

    async def send(self, item: bytes) -> None:
        head, _, result = item.partition(b',"result":')
        if result:
            self.results[json.loads(head + b"}")["id"]] = result.rstrip()[:-1]


def _handshake_requests(version: str) -> list[dict[str, Any]]:
    greeting = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}
    return [
        {"id": 0, "method": "initialize", "params": greeting},
        {"method": "notifications/initialized"},
        *({"id": id_, "method": method} for id_, method in enumerate(LISTS, 1)),
    ]


def _modern_requests(version: str) -> list[dict[str, Any]]:
    meta = {f"{_META}/protocolVersion": version, f"{_META}/clientInfo": _CLIENT, f"{_META}/clientCapabilities": {}}
    params = {"_meta": meta}
    return [{"id": id_, "method": method, "params": params} for id_, method in enumerate(("server/discover", *LISTS))]
