"""Tasks: the extension by which a client follows a long call as a job (`io.modelcontextprotocol/tasks`, 2026-07-28).

A call that may be a job and takes longer than a moment becomes one while it runs, and the client gets its id instead of
an answer. Its state is read from the table of jobs, so it survives a restart.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal

import anyio
import anyio.to_thread
import mcp_types.methods as methods
from fastmcp import Context
from fastmcp.server.extensions import MethodBinding, ServerExtension, ToolCallContinuation, ToolCallOutcome
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolRequestParams, CallToolResult, RequestParams, Result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict, Field

from panorama.calls import Answer, Calls
from panorama.calls.call import TRACKED_CALL, TrackedCall
from panorama.calls.jobs.job_ends import failed_job, finished_job
from panorama.calls.jobs.job_worker import write_result_file
from panorama.domain.jobs import Job
from panorama.errors import NotFoundError, PanoramaError, UnavailableError, from_dict
from panorama.mcp.tools import GetConversation, tool_error, tool_result
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.running_job import RunningJob

EXTENSION = "io.modelcontextprotocol/tasks"
MISSING_CAPABILITY = -32021
GRACE_SECONDS = 2.0
"""A call that takes no longer is answered as ever."""

POLL_MS = 500
RETRY_SECONDS = 1.0
_ACTIVE_STATES = ("queued", "running")
_log = logging.getLogger(__name__)


class _CreateTaskResult(BaseModel):
    """The answer to a call that has become a task."""

    model_config = ConfigDict(extra="allow")
    resultType: Literal["task"] = "task"  # noqa: N815 (as the protocol has it)


class _TaskParams(RequestParams):
    """The task of a request."""

    model_config = ConfigDict(populate_by_name=True, extra="allow")
    task_id: str = Field(alias="taskId")


class _EmptyResult(Result):
    """An answer without content."""

    result_type: Literal["complete"] = Field(default="complete", serialization_alias="resultType")


class TasksExtension(ServerExtension):
    """Long calls as tasks, for clients that ask for it."""

    identifier = EXTENSION

    def __init__(self, calls: Calls, jobs: Jobs, conversing: GetConversation, kept: timedelta) -> None:
        self._calls = calls
        self._jobs = jobs
        self._conversing = conversing
        self._ttl_ms = int(kept / timedelta(milliseconds=1))
        operations = (arguments.operation for arguments in calls.operation_arguments)
        self._kinds = {operation.tool: operation for operation in operations if operation.takes_background}
        self._going_on: set[asyncio.Task[None]] = set()
        _patch_serializer()

    def methods(self) -> Sequence[MethodBinding]:
        """Return the requests about tasks."""
        eras = frozenset(MODERN_PROTOCOL_VERSIONS)
        handlers = {"tasks/get": self._get, "tasks/update": self._update, "tasks/cancel": self._cancel}
        return [MethodBinding(name, _TaskParams, handler, eras) for name, handler in handlers.items()]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, context: Context, call_next: ToolCallContinuation
    ) -> ToolCallOutcome:
        """Make a call; if it takes long, make it a job that the client can follow."""
        if not self._can_become_task(params, context) or await self._asks_first(params):
            return await call_next()
        tracked = TrackedCall()
        call = asyncio.create_task(_call_tracked(tracked, call_next))
        try:
            while not call.done():
                await asyncio.wait({call}, timeout=GRACE_SECONDS)
                if tracked.call is not None:  # it no longer waits for a worker thread
                    break
        except asyncio.CancelledError:
            call.cancel()
            await asyncio.wait({call})
            raise
        if call.done() or tracked.is_asking:
            return await call
        tracked.is_task = True
        if (running := await self._adopt_as_job(params, tracked)) is None:
            return await call
        tracked.running = running
        going_on = asyncio.create_task(self._await_end(call, tracked, running))
        self._going_on.add(going_on)
        going_on.add_done_callback(self._going_on.discard)
        return _CreateTaskResult(**self._to_task(running.job))

    def _can_become_task(self, params: CallToolRequestParams, context: Context) -> bool:
        """Return whether the client follows tasks and this call may become one."""
        operation, request = self._kinds.get(params.name), context.request_context
        arguments = params.arguments or {}
        if operation is None or request is None or arguments.get("background"):
            return False
        follows = context.client_extension_settings(EXTENSION) is not None
        return follows and request.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def _asks_first(self, params: CallToolRequestParams) -> bool:
        """Return whether the user is asked before the call runs; such a call is waited for."""
        operation, arguments = self._kinds[params.name], params.arguments or {}
        if operation.plan is None or not operation.asks or arguments.get("confirm"):
            return False
        try:
            plan = await anyio.to_thread.run_sync(partial(operation.plan, **arguments))
            return bool(plan.question)
        except (TypeError, PanoramaError):  # the call itself reports what is wrong
            return True

    async def _adopt_as_job(self, params: CallToolRequestParams, tracked: TrackedCall) -> RunningJob | None:
        """Make a job of a running call; None if it cannot be stored, and the client has to wait."""
        kind, call = self._kinds[params.name].job, tracked.call
        if kind is None or call is None:
            return None
        if call.running is not None:
            call.running.detach()
            return call.running
        who = self._conversing().requester
        try:
            return await anyio.to_thread.run_sync(self._jobs.adopt, kind.name, params.arguments or {}, who, call.unit)
        except PanoramaError as error:
            _log.warning("a long call cannot become a job: %s", error.message)
            return None

    async def _await_end(
        self, call: "asyncio.Task[ToolCallOutcome]", tracked: TrackedCall, running: RunningJob
    ) -> None:
        """Wait for the end of a call, and store it."""
        await asyncio.wait({call})
        if call.cancelled():
            return None
        if error := call.exception():
            _log.info("the call of the job %s ended with %r", running.job.id, error)
        if tracked.call is not None and tracked.call.running is running:
            return None  # the call itself wrote the job's end
        while True:
            try:
                return await anyio.to_thread.run_sync(self._record_end, tracked, running)
            except PanoramaError as error:
                _log.warning("a job's end waits to be written: %s", error.message)
            if self._jobs.is_leaving:
                return None
            await anyio.sleep(RETRY_SECONDS)

    def _record_end(self, tracked: TrackedCall, running: RunningJob) -> None:
        if tracked.answer is not None:
            ended = finished_job(self._jobs, running, tracked.answer, partial(write_result_file, self._calls))
        else:
            cause = tracked.error
            missing = UnavailableError("The call ended without an answer.")
            ended = failed_job(self._jobs, running, cause if isinstance(cause, Exception) else missing)
        self._jobs.finish_and_claim_next((running, ended), goes_on=False)
        self._jobs.wake()

    # Requests of clients about tasks.

    async def _get(self, context: Any, params: _TaskParams) -> dict[str, Any]:
        job = await self._get_job(context, params)
        result = {"resultType": "complete", **self._to_task(job)}
        if job.state in _ACTIVE_STATES:
            return result
        if self._conversing().id == job.asker.conversation and not job.is_told:
            await anyio.to_thread.run_sync(self._jobs.remarks.discard, job)
        if result["status"] == "completed":
            result["result"] = _task_result(job)
        elif result["status"] == "failed":
            result["error"] = {"code": INTERNAL_ERROR, "message": str(job.error.get("message", "")), "data": job.error}
        return result

    async def _update(self, context: Any, params: _TaskParams) -> _EmptyResult:
        """Accept answers to a task's questions; ours have none, since questions are asked before a task begins."""
        await self._get_job(context, params)
        return _EmptyResult()

    async def _cancel(self, context: Any, params: _TaskParams) -> _EmptyResult:
        """Cancel a task; one that has ended stays as it is."""
        job = await self._get_job(context, params)
        if not job.has_ended:
            arguments = {"job": job.id}
            cancelling = partial(self._calls.call, "jobs.cancel", arguments, self._conversing())
            try:
                await anyio.to_thread.run_sync(cancelling)
            except PanoramaError as error:
                _log.info("the task %s was not cancelled: %s", job.id, error.message)
        return _EmptyResult()

    async def _get_job(self, context: Any, params: _TaskParams) -> Job:
        if self.client_settings(context) is None:
            needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            raise MCPError(MISSING_CAPABILITY, "The client did not declare the tasks extension.", needed)
        try:
            return await anyio.to_thread.run_sync(self._jobs.get_job, params.task_id)
        except NotFoundError as error:
            raise MCPError(INVALID_PARAMS, f"There is no task {params.task_id[:40]!r}.") from error

    def _to_task(self, job: Job) -> dict[str, Any]:
        """Return a job in the protocol's form of a task."""
        task: dict[str, Any] = {
            "taskId": job.id, "status": _status(job), "createdAt": _format_time(job.created_at),
            "lastUpdatedAt": _format_time(job.ended_at or job.heartbeat or job.created_at), "ttlMs": self._ttl_ms,
            "pollIntervalMs": POLL_MS,
        }  # fmt: skip
        if message := job.summary or str(job.error.get("message", "")) or _progress_text(job):
            task["statusMessage"] = message
        return task


async def _call_tracked(tracked: TrackedCall, call_next: ToolCallContinuation) -> ToolCallOutcome:
    TRACKED_CALL.set(tracked)
    return await call_next()


def _status(job: Job) -> str:
    if job.state in _ACTIVE_STATES:
        return "working"
    if job.state == "cancelled":
        return "cancelled"
    is_broken = job.state == "interrupted" or job.error.get("code") == "internal"
    return "failed" if is_broken else "completed"


def _progress_text(job: Job) -> str:
    of = f" of {job.total:,}" if job.total else ""
    return ": ".join(filter(None, (f"{job.current:,}{of}" if job.current or job.total else "", job.message)))


def _task_result(job: Job) -> Mapping[str, Any]:
    """Return the tool's answer."""
    result: ToolResult
    if job.state == "failed" and job.result is None and not job.result_file:
        result = tool_error(from_dict(job.error))
    else:
        data = job.result if job.result_file is None else {"job": job.id, "result_file": job.result_file}
        answer = Answer(data=data, summary=job.summary, metadata={"undo": job.unit}, exact=("result",))
        result = tool_result(answer, job.asker.client)
    call_result = CallToolResult(
        content=list(result.content), structured_content=result.structured_content, is_error=bool(result.is_error)
    )
    return call_result.model_dump(by_alias=True, mode="json", exclude_none=True)


def _format_time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _patch_serializer() -> None:
    """Let the SDK send the answer to a call that became a task; it cannot do so itself yet (2.3)."""
    serialize = methods.serialize_server_result
    if getattr(serialize, "lets_tasks_pass", False):
        return

    def serialize_result(method: str, version: str, data: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        if method == "tools/call" and version in MODERN_PROTOCOL_VERSIONS and data.get("resultType") == "task":
            return dict(data)
        return serialize(method, version, data, **more)

    serialize_result.lets_tasks_pass = True  # type: ignore[attr-defined] (the mark that it is done)
    methods.serialize_server_result = serialize_result
