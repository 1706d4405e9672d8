"""Operations called directly over the socket, by the command line and by programs: `panorama/call` and its kin.

One JSON-RPC request a line, answered in turn. The other end is `panorama.direct`.
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread

from panorama.calls import MODEL, SCRIPT, Calls, Conversation
from panorama.domain.plain import is_object
from panorama.errors import ConfirmationError, InvalidInputError, PanoramaError
from panorama.framing import Lines, TooLong
from panorama.mcp.connection import GONE
from panorama.mcp.wire import CHUNK_BYTES, Carrier
from panorama.services.progress import progressing, silent

CODE = -32000
_log = logging.getLogger(__name__)
Answering = Callable[[Mapping[str, Any]], Any]


class LeftError(Exception):
    """The program that asked is gone."""


class Direct:
    """Serves one program; `others` are the methods beside `panorama/call`."""

    def __init__(
        self, carrier: Carrier, rest: bytes, calls: Calls, conversation: Conversation, others: Mapping[str, Answering]
    ) -> None:
        self._carrier = carrier
        self._rest = rest
        self._calls = calls
        self._conversation = conversation
        self._others = others
        self._reading = anyio.CancelScope()
        self._idle = anyio.Event()
        self._idle.set()
        self._has_left = False

    async def serve(self) -> None:
        """Answer until the program has closed its side, or until `leave`."""
        requests_in, requests = anyio.create_memory_object_stream[bytes | TooLong](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, requests_in)
            async with requests:
                async for line in requests:
                    self._idle = anyio.Event()
                    try:
                        await self._carrier.send(await self._answer(line))
                    except GONE:
                        break
                    finally:
                        self._idle.set()
            tasks.cancel_scope.cancel()

    async def leave(self, seconds: float) -> None:
        """Answer what is asked, then read no more."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
        self._reading.cancel()

    async def _read(self, requests: Any) -> None:
        lines, chunk = Lines(), self._rest
        async with requests:
            with self._reading:
                try:
                    while True:
                        for line in lines.feed(chunk):
                            await requests.send(line)
                        chunk = await self._carrier.receive(CHUNK_BYTES)
                except (anyio.EndOfStream, *GONE):
                    self._has_left = True

    async def _answer(self, line: bytes | TooLong) -> bytes:
        id_ = None
        try:
            id_, method, params = _understood(line)
            return _line({"id": id_, "result": await self._result(method, params)})
        except PanoramaError as error:
            data = error.told() | ({"agreement": error.agreement} if isinstance(error, ConfirmationError) else {})
            return _line({"id": id_, "error": {"code": CODE, "message": error.message, "data": data}})
        except LeftError:
            return b""
        except Exception as error:  # a bug of ours: it is logged once with its trace
            _log.exception("a direct call failed")
            told = f"Panorama itself failed: {type(error).__name__}: {error}"
            data = {"code": "internal", "message": told, "hint": "`panorama daemon logs` tells more."}
            return _line({"id": id_, "error": {"code": CODE, "message": told, "data": data}})

    async def _result(self, method: str, params: Mapping[str, Any]) -> Any:
        if method == "panorama/call":
            return await anyio.to_thread.run_sync(self._call, params)
        if method not in self._others:
            raise InvalidInputError(f"There is no method {method[:80]!r}.", hint="There is panorama/call.")
        return self._others[method](params)

    def _call(self, params: Mapping[str, Any]) -> dict[str, Any]:
        operation, sent = str(params.get("operation", "")), params.get("arguments")
        arguments: Mapping[str, Any] = sent if is_object(sent) else {}
        moved = self._moved if params.get("progress") else silent
        with progressing(moved, lambda: self._has_left):
            agreed = str(params.get("agreed", ""))
            reader = SCRIPT if params.get("whole") else MODEL
            return self._calls.call(operation, arguments, self._conversation, agreed, reader).structured()

    def _moved(self, done: int, total: int, at: str) -> None:
        """Tell how far a call is; it ends, between two steps, when nobody waits for it any more."""
        if self._has_left:
            raise LeftError
        told = {"method": "panorama/progress", "params": {"done": done, "total": total, "at": at}}
        anyio.from_thread.run(self._tell, _line(told))

    async def _tell(self, line: bytes) -> None:
        try:
            await self._carrier.send(line)
        except GONE:
            self._has_left = True


def _understood(line: bytes | TooLong) -> tuple[Any, str, Mapping[str, Any]]:
    if isinstance(line, TooLong):
        raise InvalidInputError("The request is longer than 32 MB.", hint="Send less at a time.")
    try:
        said = json.loads(line)
        return said.get("id"), str(said.get("method")), dict(said.get("params") or {})
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError("This line is not a request.", hint="Send JSON-RPC, one request a line.") from error


def _line(said: Mapping[str, Any]) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", **said}, ensure_ascii=False, separators=(",", ":"), default=str).encode(
            "utf-8", "replace"
        )
        + b"\n"
    )
