"""Operations as MCP tools: each wrapped once, its answer as text for the model and as structure for programs."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio.to_thread
from fastmcp.exceptions import NotFoundError as UnknownToolError
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from mcp.types import CallToolRequestParams, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from panorama.calls import Answer, Calls, Conversation
from panorama.calls.arguments import Arguments
from panorama.catalogue import Operation
from panorama.errors import DeclinedError, PanoramaError
from panorama.mcp.confirming import confirmed
from panorama.mcp.schemas import input_schema, output_schema
from panorama.mcp.watching import watched
from panorama.services.progress import StoppedError

_log = logging.getLogger(__name__)
Conversing = Callable[[], Conversation]


class InternalError(PanoramaError):
    """A bug of ours, as far as a client hears of it."""

    code = "internal"


class EndedError(PanoramaError):
    """A call that had become a job was ended between two steps: it was cancelled, or this process leaves."""

    code = "cancelled"


class OperationTool(Tool):
    """A tool that is an operation."""

    _calls: Calls = PrivateAttr()
    _conversing: Conversing = PrivateAttr()
    _asks: bool = PrivateAttr()
    _is_long: bool = PrivateAttr()

    @classmethod
    def of(cls, arguments: Arguments, calls: Calls, conversing: Conversing) -> "OperationTool":
        """Wrap one operation."""
        operation = arguments.operation
        tool = cls(
            name=operation.tool,
            title=titled(operation.tool),
            description=arguments.description,
            parameters=input_schema(arguments),
            output_schema=output_schema(arguments),
            annotations=annotations(operation),
        )
        tool._calls = calls
        tool._conversing = conversing
        tool._asks = operation.question is not None
        tool._is_long = operation.long
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Call the operation in a thread, and give its answer or its error."""
        conversation = self._conversing()
        return await answered(self._calls, self.name, arguments, conversation, asks=self._asks, is_long=self._is_long)


def titled(name: str) -> str:
    """Return a tool's name as a person reads it."""
    return name.replace("_", " ").capitalize()


def annotations(operation: Operation) -> ToolAnnotations:
    """Return what a client may know of a tool before it calls it."""
    return ToolAnnotations(
        read_only_hint=not operation.writes,
        destructive_hint=operation.policy == "delete",
        idempotent_hint=operation.idempotent or not operation.writes,
        open_world_hint=False,
    )


async def answered(
    calls: Calls,
    name: str,
    arguments: dict[str, Any],
    conversation: Conversation,
    *,
    asks: bool = False,
    is_long: bool = False,
) -> ToolResult:
    """Call an operation in a thread and return its answer, or its error in our voice.

    Args:
        asks: It may have a question, which is put to the person.
        is_long: It tells its progress, and may be cancelled.
    """
    run = watched if is_long else anyio.to_thread.run_sync

    async def call(agreed: str = "") -> ToolResult:
        return given(await run(partial(calls.call, name, arguments, conversation, agreed)))

    try:
        return await (confirmed(call) if asks else call())
    except DeclinedError as error:
        calls.decline(name, arguments, conversation, error)
        return refused(error)
    except PanoramaError as error:
        return refused(error)
    except StoppedError:  # the client follows the job, which tells how it ended; this is for a program that looks
        told = "The call was ended before its next step; what it finished stays."
        return refused(EndedError(told, hint="list_jobs shows its job; undo with the job's id takes that back."))
    except Exception:  # a bug of ours: it is logged once with its trace, and the client hears that it happened
        _log.exception("the call %s failed", name)
        return refused(
            InternalError(
                "Something went wrong inside Panorama; this call changed nothing.",
                hint="Try again; if it stays so, look at the server's log (stderr) and report it.",
            )
        )


def given(answer: Answer) -> ToolResult:
    """Return an answer as text for the model and as structure for programs."""
    return ToolResult(content=[TextContent(type="text", text=answer.text)], structured_content=answer.structured())


def refused(error: PanoramaError) -> ToolResult:
    """Return an error as text for the model and as structure for programs."""
    text = TextContent(type="text", text=error.text())
    return ToolResult(content=[text], structured_content={"error": error.told()}, is_error=True)


class Strangers(Middleware):
    """Answers calls of tools that are not listed in our voice, and logs them like any other."""

    def __init__(self, calls: Calls, conversing: Conversing, listed: Sequence[str]) -> None:
        self._calls = calls
        self._conversing = conversing
        self._listed = frozenset(listed)

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[CallToolRequestParams, ToolResult]
    ) -> ToolResult:
        """Let listed tools pass."""
        try:
            return await call_next(context)
        except UnknownToolError:
            name = context.message.name
            error = await anyio.to_thread.run_sync(
                self._calls.refuse, name, context.message.arguments or {}, self._conversing(), self._listed
            )
            return refused(error)


def client_name() -> str:
    """Return the name of the program that sent the request, as it introduced itself in either protocol era."""
    try:
        params = get_context().session.client_params
    except RuntimeError:
        return "unknown"
    return params.client_info.name[:80] if params else "unknown"
