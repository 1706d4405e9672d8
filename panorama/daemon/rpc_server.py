"""Operations called directly over the socket, by the command line and programs: `panorama/call` and related methods.

One JSON-RPC request per line, answered in order. The client is `panorama.transport.rpc_client`.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from inspect import isawaitable
from typing import Any

import anyio
import anyio.from_thread

from panorama.calls import MODEL, SCRIPT, Calls, Conversation
from panorama.calls.dispatcher import JobWait
from panorama.domain.text.json_types import is_object
from panorama.errors import ConfirmationError, InvalidInputError, PanoramaError
from panorama.mcp.call_threads import call_threads
from panorama.mcp.job_waits import wait_for_job
from panorama.mcp.stdio import CHUNK_BYTES, DISCONNECT_ERRORS, ByteStream
from panorama.services.jobs.progress import StoppedError, ignore_progress, report_progress_to
from panorama.transport.lines import LineDecoder, OversizedLine

ERROR_CODE = -32000
_log = logging.getLogger(__name__)
MethodHandler = Callable[[Mapping[str, Any]], Any]
"""Answers a request of the terminal; its result may be awaitable."""


class ClientGoneError(Exception):
    """The client is gone."""


class RpcServer:
    """Serves one client; `others` are the methods beside `panorama/call`."""

    def __init__(
        self,
        stream: ByteStream,
        rest: bytes,
        calls: Calls,
        conversation: Conversation,
        others: Mapping[str, MethodHandler],
    ) -> None:
        self._stream = stream
        self._rest = rest
        self._calls = calls
        self._conversation = conversation
        self._others = others
        self._reading = anyio.CancelScope()
        self._idle = anyio.Event()
        self._idle.set()
        self._has_left = False
        self._left = anyio.Event()

    async def serve(self) -> None:
        """Answer until the client has closed its side, or until `leave`."""
        requests_in, requests = anyio.create_memory_object_stream[bytes | OversizedLine](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, requests_in)
            async with requests:
                async for line in requests:
                    self._idle = anyio.Event()
                    try:
                        await self._stream.send(await self._answer(line))
                    except DISCONNECT_ERRORS:
                        break
                    finally:
                        self._idle.set()
            tasks.cancel_scope.cancel()

    async def drain(self, seconds: float) -> None:
        """Answer the pending request, then stop reading."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
        self._reading.cancel()

    async def _read(self, requests: Any) -> None:
        lines, chunk = LineDecoder(), self._rest
        async with requests:
            with self._reading:
                try:
                    while True:
                        for line in lines.feed(chunk):
                            await requests.send(line)
                        chunk = await self._stream.receive(CHUNK_BYTES)
                except (anyio.EndOfStream, *DISCONNECT_ERRORS):
                    self._has_left = True
                    self._left.set()

    async def _answer(self, line: bytes | OversizedLine) -> bytes:
        id_ = None
        try:
            id_, method, params = _parse_request(line)
            return _encode_line({"id": id_, "result": await self._call_method(method, params)})
        except PanoramaError as error:
            data = error.to_dict() | ({"agreement": error.agreement} if isinstance(error, ConfirmationError) else {})
            return _encode_line({"id": id_, "error": {"code": ERROR_CODE, "message": error.message, "data": data}})
        except ClientGoneError:
            return b""
        except Exception as error:  # a bug of ours: it is logged once with its trace
            _log.exception("a direct call failed")
            message = f"Internal error: {type(error).__name__}: {error}"
            data = {"code": "internal", "message": message, "hint": "See `panorama daemon logs`."}
            return _encode_line({"id": id_, "error": {"code": ERROR_CODE, "message": message, "data": data}})

    async def _call_method(self, method: str, params: Mapping[str, Any]) -> Any:
        if method == "panorama/call":
            operation, arguments = _parse_call(params)
            if wait := self._calls.find_wait(operation, arguments):
                await self._wait_for_job(wait, reports=bool(params.get("progress")))
                params = {**params, "arguments": wait.arguments}
            workload = self._calls.workload(operation, arguments)
            return await call_threads().run(partial(self._call, params), workload, self._conversation.id)
        if method not in self._others:
            raise InvalidInputError(f"There is no method {method[:80]!r}.", hint="Use panorama/call.")
        result = self._others[method](params)
        return await result if isawaitable(result) else result

    async def _wait_for_job(self, wait: JobWait, *, reports: bool) -> None:
        """Wait for a job until it ends or the client is gone."""

        async def report(done: int, total: int, at: str) -> None:
            if reports:
                await self._send_progress(_encode_progress(done, total, at))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_after, self._left.wait, tasks.cancel_scope)
            await wait_for_job(self._calls.jobs, wait, self._conversation.id, report)
            tasks.cancel_scope.cancel()
        if self._has_left:
            raise ClientGoneError

    def _call(self, params: Mapping[str, Any]) -> dict[str, Any]:
        operation, arguments = _parse_call(params)
        moved = self._report_progress if params.get("progress") else ignore_progress
        agreed = str(params.get("agreed", ""))
        reader = SCRIPT if params.get("whole") else MODEL
        try:
            with report_progress_to(moved, lambda: self._has_left):
                return self._calls.call(operation, arguments, self._conversation, agreed, reader).to_dict()
        except StoppedError as error:
            if self._has_left:
                raise ClientGoneError from error
            raise

    def _report_progress(self, done: int, total: int, at: str) -> None:
        """Report a call's progress."""
        anyio.from_thread.run(self._send_progress, _encode_progress(done, total, at))

    async def _send_progress(self, line: bytes) -> None:
        try:
            await self._stream.send(line)
        except DISCONNECT_ERRORS:
            self._has_left = True
            self._left.set()


async def _cancel_after(wait: Callable[[], Awaitable[object]], scope: anyio.CancelScope) -> None:
    await wait()
    scope.cancel()


def _encode_progress(done: int, total: int, at: str) -> bytes:
    return _encode_line({"method": "panorama/progress", "params": {"done": done, "total": total, "at": at}})


def _parse_request(line: bytes | OversizedLine) -> tuple[Any, str, Mapping[str, Any]]:
    if isinstance(line, OversizedLine):
        raise InvalidInputError("The request is longer than 32 MB.", hint="Send less at a time.")
    try:
        request = json.loads(line)
        return request.get("id"), str(request.get("method")), dict(request.get("params") or {})
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError("This line is not a request.", hint="Send JSON-RPC, one request a line.") from error


def _parse_call(params: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    arguments = params.get("arguments")
    return str(params.get("operation", "")), arguments if is_object(arguments) else {}


def _encode_line(message: Mapping[str, Any]) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"), default=str).encode(
            "utf-8", "replace"
        )
        + b"\n"
    )
