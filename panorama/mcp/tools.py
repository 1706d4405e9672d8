"""Operations as MCP tools; answers as text for the model and as structure for programs."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio.to_thread
from fastmcp.exceptions import NotFoundError as UnknownToolError
from fastmcp.server.dependencies import get_context, get_http_headers
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from mcp.types import CallToolRequestParams, TextContent, ToolAnnotations
from mcp.types import Tool as ProtocolTool
from pydantic import PrivateAttr

from panorama.calls import Answer, Calls, Conversation
from panorama.calls.arguments import Arguments
from panorama.calls.schemas import input_schema, output_schema
from panorama.domain.text.lenient_json import strip_client_prefix
from panorama.errors import DeclinedError, PanoramaError
from panorama.mcp.cancellation import ProgressReporter, run_abandonable, run_cancellable
from panorama.mcp.images.charts import AnswerCharts
from panorama.mcp.images.script_images import ScriptImages
from panorama.mcp.job_waits import wait_for_job
from panorama.mcp.questions.elicitation import call_with_confirmation, call_with_questions
from panorama.operation import Operation
from panorama.services.jobs.progress import StoppedError

_log = logging.getLogger(__name__)
GetConversation = Callable[[], Conversation]


class InternalError(PanoramaError):
    """The message of an internal error for a client."""

    code = "internal"


class CallCancelledError(PanoramaError):
    """The message of a call that had become a job and was stopped: cancelled, or the process ends."""

    code = "cancelled"


def _is_closed_world() -> bool:
    """Return that a tool reaches nothing but the user's own data."""
    return False


class OperationTool(Tool):
    """A tool that is an operation."""

    _calls: Calls = PrivateAttr()
    _conversing: GetConversation = PrivateAttr()
    _asks: bool = PrivateAttr()
    _reads: bool = PrivateAttr()
    _is_open_world: Callable[[], bool] = PrivateAttr()
    _charts: AnswerCharts | ScriptImages | None = PrivateAttr(default=None)

    @classmethod
    def from_arguments(
        cls, arguments: Arguments, calls: Calls, conversing: GetConversation, has_sources: Callable[[], bool]
    ) -> "OperationTool":
        """Wrap one operation; scripts can reach the open world while there are sources."""
        operation = arguments.operation
        tool = cls(
            name=operation.tool,
            title=title_from_name(operation.tool),
            description=arguments.description,
            parameters=input_schema(arguments),
            output_schema=output_schema(arguments),
            annotations=tool_annotations(operation),
        )
        tool._calls = calls
        tool._conversing = conversing
        tool._asks = operation.asks
        tool._reads = not operation.writes
        tool._is_open_world = has_sources if operation.workload == "script" else _is_closed_world
        return tool

    def to_mcp_tool(self, **overrides: Any) -> ProtocolTool:
        """Return the tool as it is listed now."""
        tool = super().to_mcp_tool(**overrides)
        if tool.annotations is None or not self._is_open_world():
            return tool
        return tool.model_copy(update={"annotations": tool.annotations.model_copy(update={"open_world_hint": True})})

    def draw(self, charts: AnswerCharts | ScriptImages) -> None:
        """Add charts or images to the answers from now on."""
        self._charts = charts

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Call the operation in a thread, and return its answer or its error."""
        conversation = self._conversing()
        result = await call_tool(self._calls, self.name, arguments, conversation, asks=self._asks, reads=self._reads)
        return await self._charts.add(self.name, result) if self._charts else result


def title_from_name(name: str) -> str:
    """Return a tool's title."""
    return name.replace("_", " ").capitalize()


def tool_annotations(operation: Operation) -> ToolAnnotations:
    """Return the annotations of a tool."""
    return ToolAnnotations(
        read_only_hint=not operation.writes,
        destructive_hint=operation.policy == "delete",
        idempotent_hint=operation.idempotent or not operation.writes,
        open_world_hint=False,
    )


async def call_tool(
    calls: Calls,
    name: str,
    arguments: dict[str, Any],
    conversation: Conversation,
    *,
    asks: bool = False,
    reads: bool = False,
) -> ToolResult:
    """Call an operation in a thread and return its answer or its error.

    Args:
        asks: It may have a question, which the user is asked.
        reads: It only reads, so it ends as soon as the client cancels it.
    """
    if wait := calls.find_wait(name, arguments):
        await wait_for_job(calls.jobs, wait, conversation.id, ProgressReporter())
        arguments = wait.arguments
    workload = calls.workload(name, arguments)
    reporter = ProgressReporter()
    run = run_abandonable if reads and workload == "short" else partial(run_cancellable, report_to_client=reporter)

    async def call(agreed: str = "") -> ToolResult:
        answer = await run(partial(calls.call, name, arguments, conversation, agreed), workload, conversation.id)
        return tool_result(answer, conversation.client_name)

    try:
        if workload == "script":
            return await call_with_questions(call, reporter)
        return await (call_with_confirmation(call) if asks else call())
    except DeclinedError as error:
        calls.log_declined(name, arguments, conversation, error)
        return tool_error(error)
    except Exception as error:  # an internal error is logged, and the client gets its error code
        return tool_error(to_reported_error(error, name))


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """An answer as text and as structure; an error has no structure."""

    text: str
    structure: Mapping[str, Any] | None = None


def answer_call(calls: Calls, name: str, arguments: Mapping[str, Any], conversation: Conversation) -> ToolAnswer:
    """Call an operation that has no question, and return its answer or its error."""
    try:
        answer = calls.call(name, arguments, conversation)
        return ToolAnswer(answer_text(answer, conversation.client_name), answer.structure)
    except Exception as error:  # as in `call_tool`
        return ToolAnswer(to_reported_error(error, name).text())


def to_reported_error(error: Exception, name: str) -> PanoramaError:
    """Return the error for a client; an internal error is logged once with its traceback."""
    if isinstance(error, PanoramaError):
        return error
    if isinstance(error, StoppedError):  # a client that follows a job reads its end there
        message = "The call was ended before its next step; what it finished stays."
        return CallCancelledError(message, hint="get_job() shows its job; undo with the job's id takes that back.")
    _log.error("the call %s failed", name, exc_info=error)
    return InternalError(
        "Internal error; this call changed nothing.",
        hint="Try again; if it persists, check the server's log (stderr) and report it.",
    )


STRUCTURE_READERS = ("claude-code", "codex", "fast-agent", "mistral-vibe", "pydantic-ai", "mastra")
"""How programs introduce themselves that give a model the structure of an answer, whatever else they add."""


def tool_result(answer: Answer, client: str) -> ToolResult:
    """Return an answer as text and as structure."""
    content = TextContent(type="text", text=answer_text(answer, client))
    return ToolResult(content=[content], structured_content=answer.structure)


def answer_text(answer: Answer, client: str) -> str:
    """Return an answer as text: the summary alone for clients that give a model the structure."""
    return answer.summary if client.lower().startswith(STRUCTURE_READERS) else answer.text


def tool_error(error: PanoramaError) -> ToolResult:
    """Return an error as text alone: some clients give a model both forms, some validate the structure's schema."""
    return ToolResult(content=[TextContent(type="text", text=error.text())], is_error=True)


class ToolNameMiddleware(Middleware):
    """Removes a client's prefix from a tool's name; answers calls of unlisted tools, and logs them."""

    def __init__(self, calls: Calls, conversing: GetConversation, listed: Sequence[str]) -> None:
        self._calls = calls
        self._conversing = conversing
        self._listed = frozenset(listed)

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[CallToolRequestParams, ToolResult]
    ) -> ToolResult:
        """Pass calls of listed tools on."""
        name = strip_client_prefix(context.message.name)
        message = context.message.model_copy(update={"name": name})
        try:
            return await call_next(context.copy(message=message))
        except UnknownToolError:
            error = await anyio.to_thread.run_sync(
                self._calls.log_unlisted, name, context.message.arguments or {}, self._conversing(), self._listed
            )
            return tool_error(error)


CLIENT_NAME: ContextVar[str] = ContextVar("client_name", default="")
"""The name of the client whose call is answered without a context of FastMCP; the log asks for it where it writes."""


def client_name() -> str:
    """Return the name of the client program, as it introduced itself in either protocol era."""
    if name := CLIENT_NAME.get():
        return name
    try:
        params = get_context().session.client_params
    except RuntimeError:
        return "unknown"
    return params.client_info.name[:80] if params else "unknown"


def http_session_id() -> str:
    """Return the HTTP session of the request, "" if it has none."""
    return get_http_headers(include={"mcp-session-id"}).get("mcp-session-id", "")
