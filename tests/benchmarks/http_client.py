"""An HTTP client of the daemon that sends many requests at once."""

from itertools import count
from typing import Any

import httpx2

from .raw import CLIENT, LEGACY, META, MODERN


class HttpClient:
    """A client over HTTP in raw requests; each thread has a connection of its own.

    Args:
        era: The protocol version; the older ones begin with a handshake.
    """

    def __init__(self, url: str, token: str, era: str) -> None:
        self._url, self._era, self._numbers = url, era, count(1)
        self._headers = {
            "Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": era,
        }  # fmt: skip
        self._client = httpx2.Client(timeout=120)

    def __enter__(self) -> "HttpClient":
        if self._era == LEGACY:
            self.ask("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo=CLIENT)
            self._client.post(
                self._url, headers=self._headers, json={"jsonrpc": "2.0", "method": "notifications/initialized"}
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, method: str, **params: Any) -> None:
        """Send a request that must succeed."""
        named = {"Mcp-Name": params["name"]} if "name" in params and self._era == MODERN else {}
        more = {"Mcp-Method": method, **named} if self._era == MODERN else {}
        sent = {**params, "_meta": META} if self._era == MODERN else params
        request = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": sent}
        answer = self._client.post(self._url, headers=self._headers | more, json=request)
        assert '"result"' in answer.text, answer.text[:400]
        if session := answer.headers.get("mcp-session-id"):
            self._headers["Mcp-Session-Id"] = session
