"""The one way in: finds the operation, stops loops, runs the call and logs it."""

import difflib
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from panorama.calls.agreements import call_digest
from panorama.calls.arguments import Arguments, find_unusable, printable, unusable_error
from panorama.calls.call import TRACKED_CALL, Call, current_call, find_current_call
from panorama.calls.call_log import NAME_CHARS, CallLogWriter, CallOutcome, create_entry, describe_source_call
from panorama.calls.conversation import JOB_ACTOR, Conversation
from panorama.calls.invocation import Invocation
from panorama.calls.jobs.job_types import JobWait, find_job_wait, job_type
from panorama.calls.promoted_tools import PromotedTools
from panorama.calls.rendering import MODEL, Answer, Audience
from panorama.calls.schemas import input_schema
from panorama.calls.script_session import ScriptSession
from panorama.domain.changes import PERSON_ACTORS, SCRIPT_ACTOR, digest
from panorama.domain.jobs import FINAL_STATES, Job
from panorama.domain.scripts.library import TOOL_PREFIX
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.lenient_json import strip_client_prefix
from panorama.errors import ConflictError, DeclinedError, InvalidInputError, NotFoundError, PanoramaError
from panorama.operation import APPS_TOOLSET, Operation, Workload
from panorama.sdk.core.aliases import suggest_tool
from panorama.services.base import CALL_LETTER, RUN_LETTER, ServiceContext
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.progress import StoppedError
from panorama.store.log.calls import CallLogEntry

CANCELLED = "cancelled"
ROLLED_BACK = "rolled_back"
UNGUARDED_ACTORS = (*PERSON_ACTORS, SCRIPT_ACTOR, JOB_ACTOR)
"""The actors that may repeat a call: users, scripts and jobs; the loop guard is for models."""


def _find_ended_jobs(data: Any) -> set[str]:
    """Return the ids of the ended jobs in an answer."""
    rows = data if is_list(data) else [data]
    return {str(row["id"]) for row in rows if is_object(row) and "id" in row and row.get("state") in FINAL_STATES}


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

    @property
    def early_results(self) -> Sequence[Mapping[str, Any]]:
        """The results of the first steps of the running call, if they were made before its transaction."""
        return current_call().early_results

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
        """Return the condition that a call waits for; None if it does not wait, or will be refused."""
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
        id_ = self._context.new_id(CALL_LETTER)
        known = name if name in self._by_name else strip_client_prefix(name)
        call = Call(
            name=known, arguments=arguments, conversation=conversation, id=id_, unit=id_, agreed=agreed, reader=reader
        )
        answer = self._call_tracked(call)
        return answer if reader.wants_all or reader.is_page else self._with_notifications(answer, conversation)

    def _call_tracked(self, call: Call) -> Answer:
        """Run a call that may become a job while it runs."""
        tracked = TRACKED_CALL.get()
        if tracked is None:
            return self._call_and_log(call)
        tracked.call = call
        try:
            tracked.answer = answer = self._call_and_log(call)
        except Exception as error:  # a call that became a job stores its error for the job
            tracked.error = error
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
        return self._call_and_log(
            Call(name=name, arguments=arguments, conversation=conversation, id=job.unit, unit=job.unit)
        )

    def log_unlisted(
        self, name: str, arguments: Mapping[str, Any], conversation: Conversation, listed: Container[str]
    ) -> PanoramaError:
        """Log a call of an unlisted tool, and return the error to answer with."""
        error: PanoramaError
        try:
            operation = self._get_arguments(name, listed).operation
            by_batch = f'Call it through batch: {{"tool": "{name}", "args": {{…}}}}'
            instead = "Ask the user to do it at a terminal" if operation.person else by_batch
            hint = f"{instead}, or list it with PANORAMA_TOOLSETS={operation.toolset}."
            error = NotFoundError(f"The tool {name!r} is not listed here.", hint=hint)
        except NotFoundError as unknown:
            error = unknown
        self._log_refusal(self._new_refused(name, arguments, conversation), error)
        return error

    def log_declined(
        self, name: str, arguments: Mapping[str, Any], conversation: Conversation, error: DeclinedError
    ) -> None:
        """Log that the user declined a call."""
        self._log_refusal(self._new_refused(name, arguments, conversation), error)

    def _new_refused(self, name: str, arguments: Mapping[str, Any], conversation: Conversation) -> Call:
        """Return a call that does not run, for the log."""
        id_ = self._context.new_id(CALL_LETTER)
        return Call(name=name, arguments=arguments, conversation=conversation, id=id_, unit="")

    def _log_refusal(self, call: Call, error: PanoramaError) -> None:
        outcome = CallOutcome.of(error.text(), error.code)
        self._record(call, create_entry(call, self._context.now(), 0.0, outcome))

    def call_within(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call an operation inside the running call, as part of its unit."""
        outer = current_call()
        outer.steps += 1
        step_arguments = dict(arguments)
        known = self._by_name.get(name)
        if outer.conversation.actor == SCRIPT_ACTOR and not self._get_arguments(name).operation.sdk:
            raise NotFoundError(f"Scripts cannot call {name!r}, not even in a batch.", hint="See search_sdk.")
        if outer.allowed:
            outer.allowed.check("batch", name)
        if known and known.operation.person:
            raise InvalidInputError(
                f"{name} asks the user, so it cannot be a step of a batch.", hint="Call it separately."
            )
        if known and find_job_wait(known, arguments):
            hint = "Call it outside the batch, or leave out `wait`."
            raise InvalidInputError(f"{name} does not wait as a step of a batch.", hint=hint)
        if known and known.operation.writes and outer.key and not outer.whole:
            step_arguments.setdefault("idempotency_key", f"{outer.key}/{outer.steps}")
        call = Call(
            name=name, arguments=step_arguments, conversation=outer.inner_conversation(),
            id=self._context.new_id(CALL_LETTER), unit=outer.unit, may_confirm=outer.may_confirm, budget=outer.budget,
        )  # fmt: skip
        return self._call_and_log(call, outer).to_dict()

    def describe_tool(self, name: str) -> Mapping[str, Any]:
        """Return a tool's name, description and parameters (a JSON schema), listed or not.

        Raises:
            NotFoundError: There is no such tool.
        """
        tool = self._get_tool(strip_client_prefix(name))
        return {"name": tool.operation.tool, "description": tool.description, "parameters": input_schema(tool)}

    @property
    def batch_tools(self) -> tuple[str, ...]:
        """The tools that are not in the default list, that scripts cannot call and that can be steps of a batch."""
        every = (entry.operation for entry in self.operation_arguments)
        return tuple(
            operation.tool
            for operation in every
            if operation.tool
            and operation.toolset not in ("default", APPS_TOOLSET)
            and not (operation.sdk or operation.person)
        )

    @property
    def names(self) -> frozenset[str]:
        """The names of all operations and tools, and their prefixes."""
        return self._names

    @property
    def scriptable(self) -> frozenset[str]:
        """The names of the operations that scripts may call."""
        return frozenset(entry.operation.name for entry in self.operation_arguments if entry.operation.sdk)

    @property
    def conversation_id(self) -> str:
        """The id of the conversation of the running call, "" if there is none."""
        call = find_current_call()
        return call.conversation.id if call else ""

    @property
    def was_asked(self) -> bool:
        """Whether the user agreed to the running call."""
        return current_call().was_asked

    def open_session(self, *, may_confirm: bool = False, shows_confirms: bool = True) -> ScriptSession:
        """Open a session for a script; the running call becomes its run, and one unit with all its calls.

        Args:
            may_confirm: The script may confirm for the user, even if they were not asked before.
            shows_confirms: The user who was asked was shown that the script confirms.
        """
        call = current_call()
        if call.conversation.actor != JOB_ACTOR:  # a job's run has its id, so that one undo takes the job back
            call.id = call.unit = self._context.new_id(RUN_LETTER)
        may_confirm = may_confirm or (call.was_asked and shows_confirms)
        return ScriptSession(self._call_from_script, self._recorder, call, may_confirm=may_confirm)

    def _call_from_script(self, call: Call) -> Answer:
        call.id = self._context.new_id(CALL_LETTER)
        if refusal := self._find_script_refusal(call):
            self._log_refusal(call, refusal)
            raise refusal
        known = self._by_name.get(call.name)
        if known and known.operation.writes and call.key:
            call.arguments = {"idempotency_key": f"{call.key}/{call.position}", **call.arguments}
        return self._call_and_log(call)

    def _find_script_refusal(self, call: Call) -> PanoramaError | None:
        name, known = call.name, self._by_name.get(call.name)
        if known is None or not known.operation.sdk:
            return NotFoundError(f"Scripts cannot call {printable(name, NAME_CHARS)!r}.", hint="See search_sdk.")
        if known.operation.writes and call.reads_only:
            reason = f"{name} writes, but this script was promoted as read-only; nothing was changed."
            return InvalidInputError(reason, hint="The user can promote it with write access.")
        try:
            if call.allowed:
                call.allowed.check(known.operation.name)
        except ConflictError as error:
            return error
        return None

    def _call_and_log(self, call: Call, outer: Call | None = None) -> Answer:
        """Run a call, the step of another one with `outer`, and log it."""
        started, at = time.perf_counter(), self._context.now()
        outcome: Answer | CallOutcome = CallOutcome()
        try:
            if problem := find_unusable(call.arguments):
                raise unusable_error(describe_source_call(call.name, call.arguments)[0], problem)
            if outer is None:
                outcome = self._call_guarded_from_loops(self._get_arguments(call.name), call)
            else:
                outcome = self._invoke(self._get_tool(call.name), call)
            return outcome
        except PanoramaError as error:
            outcome = CallOutcome.of(error.text(), error.code)
            raise
        except StoppedError:
            outcome = CallOutcome(code=CANCELLED)
            raise
        finally:
            ms = (time.perf_counter() - started) * 1000
            if outer is not None and isinstance(outcome, Answer):
                outer.wrote += call.wrote
            if self.is_writing(call.name) or not call.reader.is_page:
                create = partial(create_entry, call, at, ms, outcome)
                if outer is None:
                    self._record(call, create())
                else:
                    outer.entries += [*call.entries, create]

    def _invoke(self, arguments: Arguments, call: Call) -> Answer:
        return Invocation(self._context, self._jobs, arguments, call).answer()

    def _call_guarded_from_loops(self, arguments: Arguments, call: Call) -> Answer:
        """Run a call unless it repeatedly returned the same answer."""
        operation, guard, now = arguments.operation, call.conversation.guard, self._context.now()
        if operation.exempt or call.conversation.actor in UNGUARDED_ACTORS:
            return self._invoke(arguments, call)
        agreed = {"agreed": call.agreed} if call.agreed else {}
        question = call_digest(operation.name, {**call.arguments, **agreed})
        guard.check(operation.tool or operation.name, question, now)
        try:
            answer = self._invoke(arguments, call)
        except PanoramaError as error:
            guard.record_answer(question, error.message, now)
            raise
        if call.wrote:
            guard.forget_answers(but=question)
        if not _is_provisional(answer):
            guard.record_answer(question, digest(answer.text), now)
        return answer

    def _record(self, call: Call, entry: CallLogEntry) -> None:
        """Log a call after its nested calls; rolled-back ones count as failed."""
        inner = [create() for create in call.entries]
        if not entry.success and call.whole:
            inner = [replace(entry, success=False, code=entry.code or ROLLED_BACK, changes=0) for entry in inner]
        self._recorder.record(*inner, entry)

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
