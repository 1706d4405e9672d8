"""The one way in: finds the operation, stops loops, runs the call and logs it."""

import difflib
import time
from collections.abc import Container, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from panorama.calls.agreements import call_digest
from panorama.calls.arguments import Arguments, find_unusable, printable, unusable_error
from panorama.calls.call_log import CallLogWriter, redact
from panorama.calls.conversation import JOB_ACTOR, Conversation
from panorama.calls.invocation import CallContext, Invocation, current_call
from panorama.calls.jobs.job_types import JobWait, find_job_wait, job_type
from panorama.calls.promoted_tools import PromotedTools
from panorama.calls.rendering import MODEL, Answer, Audience
from panorama.calls.schemas import input_schema
from panorama.calls.script_session import ScriptSession
from panorama.domain.changes import CLI_ACTOR, SCRIPT_ACTOR, digest
from panorama.domain.jobs import FINAL_STATES, Job
from panorama.domain.scripts.library import TOOL_PREFIX
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.lenient_json import strip_client_prefix
from panorama.errors import ConflictError, DeclinedError, InvalidInputError, NotFoundError, PanoramaError
from panorama.operation import Operation, Workload
from panorama.sdk.core.aliases import suggest_tool
from panorama.services.base import CALL_LETTER, RUN_LETTER, ServiceContext
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.progress import StoppedError
from panorama.services.jobs.running_job import RunningJob
from panorama.store.log.calls import CallLogEntry

INTERNAL = "internal"
CANCELLED = "cancelled"
ROLLED_BACK = "rolled_back"
CHARS_PER_TOKEN = 4
NAME_CHARS = 80
UNGUARDED_ACTORS = (CLI_ACTOR, SCRIPT_ACTOR, JOB_ACTOR)
"""The actors that may repeat a call: users, scripts and jobs; the loop guard is for models."""


@dataclass(slots=True)
class TrackedCall:
    """A call that may become a job while it runs: its frame once started, and its answer or error at the end."""

    frame: CallContext | None = None
    answer: Answer | None = None
    error: Exception | None = None
    running: RunningJob | None = None


TRACKED_CALL: ContextVar[TrackedCall | None] = ContextVar("followed", default=None)


def _find_ended_jobs(data: Any) -> set[str]:
    """Return the ids of the ended jobs in an answer."""
    rows = data if is_list(data) else [data]
    return {str(row["id"]) for row in rows if is_object(row) and "id" in row and row.get("state") in FINAL_STATES}


@dataclass(slots=True)
class _CallOutcome:
    """The outcome of a call: the size of its answer in characters, those sent to a model, and the error code."""

    chars: int = 0
    read: int = 0
    code: str = INTERNAL

    @classmethod
    def of(cls, text: str, code: str = "") -> Self:
        """Return the outcome of a call with a text as its answer."""
        return cls(len(text), len(text), code)


class Calls:
    """Calls operations by name. Thread-safe."""

    def __init__(self, context: ServiceContext, recorder: CallLogWriter, jobs: Jobs) -> None:
        self._context = context
        self._jobs = jobs
        self._recorder = recorder
        self._by_name: dict[str, Arguments] = {}
        self._names: frozenset[str] = frozenset()
        self._promoted: PromotedTools | None = None

    def register(self, operations: Iterable[Operation]) -> None:
        """Register the operations; called once, by the composition root."""
        for operation in operations:
            arguments = Arguments(operation)
            for name in filter(None, (operation.name, operation.tool)):
                self._by_name[name] = arguments
            if operation.job:
                self._jobs.offers.add(job_type(operation.job, arguments, self._context))
        self._names = frozenset(part for name in self._by_name for part in (name, name.partition(".")[0]))

    def register_promoted(self, promoted: PromotedTools) -> None:
        """Register the promoted scripts; called once, by the composition root."""
        self._promoted = promoted

    @property
    def promoted_tools(self) -> PromotedTools:
        """The promoted scripts."""
        if self._promoted is None:
            raise RuntimeError("no scripts are offered")
        return self._promoted

    @property
    def operation_arguments(self) -> tuple[Arguments, ...]:
        """The arguments of every operation, in catalogue order."""
        return tuple(dict.fromkeys(self._by_name.values()))

    def is_transactional(self, name: str) -> bool:
        """Return whether an operation may be part of an atomic batch."""
        return self._get_tool(name).operation.transactional

    def is_writing(self, name: object) -> bool:
        """Return whether an operation may write; an unknown one may."""
        known = self._by_name.get(name) if isinstance(name, str) else None
        return known is None or known.operation.writes

    def workload(self, name: str, arguments: Mapping[str, Any]) -> Workload:
        """Return the expected workload of a call; one that becomes a job is short."""
        if arguments.get("background"):
            return "short"
        if known := self._by_name.get(name):
            return known.operation.workload
        return "script" if name.startswith(TOOL_PREFIX) else "short"

    @property
    def jobs(self) -> Jobs:
        """The jobs that calls ask for and wait for."""
        return self._jobs

    def find_wait(self, name: str, arguments: Mapping[str, Any]) -> JobWait | None:
        """Return what a call waits for; None if it does not wait, or will be refused."""
        known = self._by_name.get(name) or self._by_name.get(strip_client_prefix(name))
        return find_job_wait(known, arguments) if known else None

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        conversation: Conversation,
        agreed: str = "",
        reader: Audience = MODEL,
    ) -> Answer:
        """Call an operation by its tool or operation name.

        Args:
            agreed: The `agreement` of the ConfirmationError whose question the user confirmed.
            reader: The audience of the answer.

        Raises:
            ConfirmationError: The user has to agree first.
            PanoramaError: The call failed; nothing was changed, except by the steps of a non-atomic batch.
        """
        call = self._context.new_id(CALL_LETTER)
        frame = CallContext(conversation, call, unit=call, agreed=agreed, reader=reader)
        answer = self._call_tracked(name if name in self._by_name else strip_client_prefix(name), arguments, frame)
        return answer if reader.wants_all else self._with_notifications(answer, conversation)

    def _call_tracked(self, name: str, arguments: Mapping[str, Any], frame: CallContext) -> Answer:
        """Run a call that may become a job while it runs."""
        following = TRACKED_CALL.get()
        if following is None:
            return self._call_and_log(name, arguments, frame, None)
        following.frame = frame
        try:
            following.answer = answer = self._call_and_log(name, arguments, frame, None)
        except Exception as error:
            following.error = error
            raise
        return answer

    def _with_notifications(self, answer: Answer, conversation: Conversation) -> Answer:
        """Return an answer with notifications of the conversation's ended jobs."""
        notices = self._jobs.remarks.pop(conversation.id, conversation.client_name, _find_ended_jobs(answer.data))
        if not notices:
            return answer
        hint = " ".join(filter(None, (str(answer.metadata.get("hint", "")), notices)))
        return replace(answer, metadata={**answer.metadata, "hint": hint})

    def call_as_job(self, name: str, arguments: Mapping[str, Any], job: Job) -> Answer:
        """Call an operation as a job: its writes have the job's unit.

        Raises:
            PanoramaError: The call failed.
        """
        who = job.asker
        conversation = Conversation(id=who.conversation or job.id, actor=JOB_ACTOR, client=who.client)
        return self._call_and_log(name, arguments, CallContext(conversation, job.unit, unit=job.unit), None)

    def log_unlisted(
        self, name: str, arguments: Mapping[str, Any], conversation: Conversation, listed: Container[str]
    ) -> PanoramaError:
        """Log a call of an unlisted tool, and return the error to answer with."""
        frame = CallContext(conversation, self._context.new_id(CALL_LETTER), unit="")
        error: PanoramaError
        try:
            operation = self._get_arguments(name, listed).operation
            by_batch = f'Call it through batch: {{"tool": "{name}", "args": {{…}}}}'
            hint = f"{by_batch}, or list it with PANORAMA_TOOLSETS={operation.toolset}."
            error = NotFoundError(f"The tool {name!r} is not listed here.", hint=hint)
        except NotFoundError as unknown:
            error = unknown
        self._log_refusal(name, arguments, frame, error)
        return error

    def log_declined(
        self, name: str, arguments: Mapping[str, Any], conversation: Conversation, error: DeclinedError
    ) -> None:
        """Log that the user declined a call."""
        self._log_refusal(name, arguments, CallContext(conversation, self._context.new_id(CALL_LETTER), unit=""), error)

    def _log_refusal(self, name: str, arguments: Mapping[str, Any], frame: CallContext, error: PanoramaError) -> None:
        ending = _CallOutcome.of(error.text(), error.code)
        self._record(self._log_entry(name, arguments, frame, self._context.now(), 0.0, ending), frame, None)

    def call_within(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call an operation inside the running call, as part of its unit."""
        outer = current_call()
        outer.steps += 1
        sent_arguments = dict(arguments)
        known = self._by_name.get(name)
        if outer.conversation.actor == SCRIPT_ACTOR and not self._get_arguments(name).operation.sdk:
            raise NotFoundError(f"Scripts cannot call {name!r}, nor as a step of a batch.", hint="See search_sdk.")
        if outer.allowed:
            outer.allowed.check("batch", name)
        if known and known.operation.person:
            raise InvalidInputError(
                f"{name} asks the user, so it cannot be a step of a batch.", hint="Call it separately."
            )
        if known and find_job_wait(known, arguments):
            hint = "Call it by itself, or leave the wait out."
            raise InvalidInputError(f"{name} does not wait as a step of a batch.", hint=hint)
        if known and known.operation.writes and outer.key and not outer.whole:
            sent_arguments.setdefault("idempotency_key", f"{outer.key}/{outer.steps}")
        call = self._context.new_id(CALL_LETTER)
        frame = CallContext(
            outer.inner_conversation(), call, unit=outer.unit, may_confirm=outer.may_confirm, budget=outer.budget
        )
        return self._call_and_log(name, sent_arguments, frame, outer).to_dict()

    def describe_tool(self, name: str) -> Mapping[str, Any]:
        """Return a tool's name, description and parameters (a JSON schema), listed or not.

        Raises:
            NotFoundError: There is no such tool.
        """
        tool = self._get_tool(strip_client_prefix(name))
        return {"name": tool.operation.tool, "description": tool.description, "parameters": input_schema(tool)}

    @property
    def batch_tools(self) -> tuple[str, ...]:
        """The tools that are not in the default list and that scripts cannot call."""
        every = (entry.operation for entry in self.operation_arguments)
        return tuple(
            operation.tool
            for operation in every
            if operation.tool and operation.toolset != "default" and not operation.sdk
        )

    @property
    def names(self) -> frozenset[str]:
        """The names of all operations and tools, and their prefixes."""
        return self._names

    @property
    def scriptable(self) -> frozenset[str]:
        """The names of the operations that scripts may call."""
        return frozenset(entry.operation.name for entry in self.operation_arguments if entry.operation.sdk)

    def open_session(self, *, may_confirm: bool = False) -> ScriptSession:
        """Open a session for a script; the running call becomes its run, and one unit with all its calls.

        Args:
            may_confirm: The script may confirm for the user, even if they were not asked before.
        """
        frame = current_call()
        if frame.conversation.actor != JOB_ACTOR:  # a job's run has its id, so that one undo takes the job back
            frame.call = frame.unit = self._context.new_id(RUN_LETTER)
        may_confirm = may_confirm or frame.was_asked
        return ScriptSession(self._call_from_script, self._recorder, frame, may_confirm=may_confirm)

    def _call_from_script(
        self, name: str, arguments: Mapping[str, Any], guest: CallContext, position: int
    ) -> tuple[Answer, CallContext]:
        known = self._by_name.get(name)
        frame = CallContext(
            guest.conversation, self._context.new_id(CALL_LETTER), guest.unit, reader=guest.reader, position=position,
            allowed=guest.allowed, may_confirm=guest.may_confirm, budget=guest.budget,
        )  # fmt: skip
        if refusal := self._script_refusal(name, guest):
            self._log_refusal(name, arguments, frame, refusal)
            raise refusal
        if known and known.operation.writes and guest.key:
            arguments = {"idempotency_key": f"{guest.key}/{position}", **arguments}
        return self._call_and_log(name, arguments, frame, None), frame

    def _script_refusal(self, name: str, guest: CallContext) -> PanoramaError | None:
        known = self._by_name.get(name)
        if known is None or not known.operation.sdk:
            return NotFoundError(f"Scripts cannot call {printable(name, NAME_CHARS)!r}.", hint="See search_sdk.")
        if known.operation.writes and guest.reads_only:
            reason = f"{name} writes, and this script was promoted as one that only reads; nothing was changed."
            return InvalidInputError(reason, hint="The user can promote it as one that writes.")
        try:
            if guest.allowed:
                guest.allowed.check(known.operation.name)
        except ConflictError as error:
            return error
        return None

    def _call_and_log(
        self, name: str, arguments: Mapping[str, Any], frame: CallContext, outer: CallContext | None
    ) -> Answer:
        started, at, ending = time.perf_counter(), self._context.now(), _CallOutcome()
        try:
            if problem := find_unusable(arguments):
                raise unusable_error(name, problem)
            answer = (
                self._call_guarded_from_loops(self._get_arguments(name), arguments, frame)
                if outer is None
                else self._invoke(name, arguments, frame)
            )
            size = len(answer.msgpack_bytes) if frame.position else 0
            ending = _CallOutcome(size, 0, "") if frame.position else _CallOutcome.of(answer.text)
            return answer
        except PanoramaError as error:
            ending = _CallOutcome.of(error.text(), error.code)
            raise
        except StoppedError:
            ending = _CallOutcome(code=CANCELLED)
            raise
        finally:
            entry = self._log_entry(name, arguments, frame, at, (time.perf_counter() - started) * 1000, ending)
            self._record(entry, frame, outer)

    def _log_entry(
        self, name: str, arguments: Mapping[str, Any], frame: CallContext, at: datetime, ms: float, ending: _CallOutcome
    ) -> CallLogEntry:
        conversation = frame.conversation
        return CallLogEntry(
            id=frame.call, unit=frame.unit, at=at, actor=conversation.actor, client=conversation.client_name,
            conversation=conversation.id, name=printable(name, NAME_CHARS), arguments=redact(arguments),
            ms=round(ms, 3),
            success=not ending.code, code=ending.code, chars=ending.chars, tokens=-(-ending.read // CHARS_PER_TOKEN),
            changes=0 if ending.code else frame.wrote, position=frame.position,
        )  # fmt: skip

    def _invoke(self, name: str, arguments: Mapping[str, Any], frame: CallContext) -> Answer:
        return Invocation(self._context, self._jobs, self._get_tool(name), frame, arguments).answer()

    def _call_guarded_from_loops(self, arguments: Arguments, sent: Mapping[str, Any], frame: CallContext) -> Answer:
        """Run a call unless it repeatedly returned the same answer."""
        operation, guard, now = arguments.operation, frame.conversation.guard, self._context.now()
        if operation.exempt or frame.conversation.actor in UNGUARDED_ACTORS:
            return Invocation(self._context, self._jobs, arguments, frame, sent).answer()
        question = call_digest(operation.name, {**sent, "agreed": frame.agreed} if frame.agreed else sent)
        guard.check(operation.tool or operation.name, question, now)
        try:
            answer = Invocation(self._context, self._jobs, arguments, frame, sent).answer()
        except PanoramaError as error:
            guard.record_answer(question, error.message, now)
            raise
        if frame.wrote:
            guard.forget_answers(but=question)
        if not _is_provisional(answer):
            guard.record_answer(question, digest(answer.text), now)
        return answer

    def _record(self, entry: CallLogEntry, frame: CallContext, outer: CallContext | None) -> None:
        """Log a call after its nested calls; rolled-back ones count as failed."""
        inner = frame.entries
        if not entry.success and frame.whole:
            inner = [replace(entry, success=False, code=entry.code or ROLLED_BACK, changes=0) for entry in inner]
        if outer is None:
            self._recorder.record(*inner, entry)
        else:
            outer.entries += [*inner, entry]
            outer.wrote += entry.changes

    def _get_tool(self, name: str) -> Arguments:
        """Find a tool that steps may call, not operations of the command line such as reading a folder."""
        arguments = self._get_arguments(name)
        if arguments.operation.tool:
            return arguments
        raise NotFoundError(f"There is no tool {name!r}.", hint="Look at the list of tools.")

    def _get_arguments(self, name: str, listed: Container[str] | None = None) -> Arguments:
        if name in self._by_name:
            return self._by_name[name]
        if self._promoted and (tool := self._promoted.find(name)):
            return tool
        if name.startswith(TOOL_PREFIX):
            message = f"There is no tool {printable(name, NAME_CHARS)!r}: it was removed, or its script was changed."
            raise NotFoundError(message, hint="list_scripts shows the state of each; promote_script asks the user.")
        # Operations such as notes.get are not tools: they are suggested only for names with a dot.
        known = [
            tool for tool in self._by_name if (listed is None or tool in listed) and ("." in name or "." not in tool)
        ]
        near = difflib.get_close_matches(name, known, 3, 0.5)
        hint = suggest_tool(name) or (f"Did you mean {' or '.join(near)}?" if near else "Look at the list of tools.")
        raise NotFoundError(f"There is no tool {printable(name, NAME_CHARS)!r}.", hint=hint)


def _is_provisional(answer: Answer) -> bool:
    """Return whether an answer is provisional: semantic search did not run, or its index lags."""
    index = answer.metadata.get("index")
    return is_object(index) and bool({"missing", "pending"} & index.keys())
