"""Calls operations of the daemon over its socket, for the command line and other programs; standard library only."""

import json
import socket
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from panorama.transport.address import Address, Handshake, UnreachableError
from panorama.transport.lines import LineDecoder, OversizedLine

ProgressCallback = Callable[[int, int, str], None]


class RpcError(Exception):
    """The daemon returned an error: code, message, perhaps hint and candidates."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data.get("message", ""))
        self.data = data


class RpcClient:
    """An open connection for sequential calls."""

    def __init__(self, address: Address, greeted: Handshake) -> None:
        self._address = address
        self._stream: socket.socket = greeted.stream
        self._lines = LineDecoder(1 << 40)
        self._last = 0
        self._waiting = list(self._lines.feed(greeted.rest))
        self.reply = greeted.reply

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection; a running call ends between two steps."""
        self._stream.close()

    def call(
        self,
        operation: str,
        arguments: Mapping[str, Any],
        progress: ProgressCallback | None = None,
        agreed: str = "",
        *,
        whole: bool = False,
    ) -> dict[str, Any]:
        """Call an operation and return data, summary and metadata.

        Args:
            progress: Called with the progress of a long operation: done, total, current step.
            agreed: The agreement of the refusal whose question the user confirmed.
            whole: Return a complete answer: rows with every field, uncut texts, pages up to 1 MB.

        Raises:
            RefusedError: The call failed.
            UnreachableError: The daemon ended meanwhile; whether a write was done is unknown.
        """
        params = {"operation": operation, "arguments": dict(arguments), "progress": progress is not None}
        more = ({"agreed": agreed} if agreed else {}) | ({"whole": True} if whole else {})
        return self.request("panorama/call", params | more, progress)

    def request(self, method: str, params: Mapping[str, Any], progress: ProgressCallback | None = None) -> Any:
        """Send a request and return its result."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        try:
            self._stream.sendall(json.dumps(message).encode() + b"\n")
            while True:
                answer = self._receive()
                if answer.get("method") == "panorama/progress":
                    if progress is not None:
                        progress(answer["params"]["done"], answer["params"]["total"], answer["params"]["at"])
                elif answer.get("id") in (self._last, None):
                    return _unwrap_result(answer)
        except ConnectionError as error:
            subject = str(params.get("operation", method))
            raise UnreachableError(
                f"Panorama's daemon ended while {subject} was running: its outcome is unknown.",
                f"Check whether it was done before you repeat it; the log is {self._address.log}.",
            ) from error

    def _receive(self) -> dict[str, Any]:
        while not self._waiting:
            chunk = self._stream.recv(1 << 16)
            if not chunk:
                raise ConnectionResetError
            self._waiting += self._lines.feed(chunk)
        line = self._waiting.pop(0)
        assert not isinstance(line, OversizedLine)
        message: dict[str, Any] = json.loads(line)
        return message


def _unwrap_result(message: Mapping[str, Any]) -> Any:
    if "error" in message:
        error = message["error"]
        raise RpcError(error.get("data") or {"code": "internal", "message": error.get("message", "")})
    return message["result"]
