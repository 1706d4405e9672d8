"""Records the answers that depend only on the kind of client: the handshake and the lists, in each protocol version."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from fastmcp import FastMCP
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from panorama.mcp.connection import Connection
from panorama.mcp.stdio import CHUNK_BYTES
from panorama.transport.stored_answers import APPS_EXTENSION, APPS_LIST, LISTS, describe_client

_CLIENT = {"name": "panorama", "version": "1"}
_META = "io.modelcontextprotocol"
_WITH_APPS = {"extensions": {APPS_EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]}}}


async def record_answers(mcp: FastMCP[Any]) -> dict[str, bytes]:
    """Return the server's results as JSON by "METHOD CLIENT", with the list of clients with MCP Apps."""
    results: dict[str, bytes] = {}
    for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS):
        results |= await _record_client(mcp, version, {}, LISTS)
        results |= await _record_client(mcp, version, _WITH_APPS, (APPS_LIST,))
    return results


async def _record_client(
    mcp: FastMCP[Any], version: str, capabilities: Mapping[str, Any], lists: Sequence[str]
) -> dict[str, bytes]:
    is_modern = version in MODERN_PROTOCOL_VERSIONS
    make_requests = _modern_requests if is_modern else _handshake_requests
    recorder = _Recorder(make_requests(version, capabilities, lists))
    await Connection(recorder).serve(mcp)
    client, greeting = describe_client(version, capabilities), "server/discover" if is_modern else "initialize"
    return {f"{method} {client}": recorder.results[id_] for id_, method in enumerate((greeting, *lists))}


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


def _handshake_requests(version: str, capabilities: Mapping[str, Any], lists: Sequence[str]) -> list[dict[str, Any]]:
    greeting = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": _CLIENT}
    return [
        {"id": 0, "method": "initialize", "params": greeting},
        {"method": "notifications/initialized"},
        *({"id": id_, "method": method} for id_, method in enumerate(lists, 1)),
    ]


def _modern_requests(version: str, capabilities: Mapping[str, Any], lists: Sequence[str]) -> list[dict[str, Any]]:
    params = {
        "_meta": {
            f"{_META}/protocolVersion": version,
            f"{_META}/clientInfo": _CLIENT,
            f"{_META}/clientCapabilities": capabilities,
        }
    }
    return [{"id": id_, "method": method, "params": params} for id_, method in enumerate(("server/discover", *lists))]
