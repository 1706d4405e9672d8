"""The one way in: finds the operation, stops loops, runs the call and logs it, however it ends."""

import difflib
import time
from collections.abc import Container, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from panorama.calls.answers import MODEL, Answer, Reader
from panorama.calls.arguments import Arguments, readable, unusable
from panorama.calls.conversation import SCRIPT_ACTOR, Conversation
from panorama.calls.guests import Guest
from panorama.calls.offers import offered
from panorama.calls.promoted import Promoted
from panorama.calls.recorder import Recorder, redacted
from panorama.calls.running import Frame, Run, asked, current
from panorama.catalogue import Operation
from panorama.domain.changes import PERSON, digest
from panorama.domain.jobs import ENDED, Job
from panorama.domain.library import TOOL_PREFIX
from panorama.domain.plain import is_list, is_object
from panorama.errors import DeclinedError, InvalidInputError, NotFoundError, PanoramaError
from panorama.sdk._meant import of_tools
from panorama.services.base import CALL_LETTER, RUN_LETTER, Desk
from panorama.services.jobs import Jobs
from panorama.services.progress import StoppedError
from panorama.services.running import Running
from panorama.store.calls import Call

INTERNAL = "internal"
CANCELLED = "cancelled"
ROLLED_BACK = "rolled_back"
CHARS_PER_TOKEN = 4
NAME_CHARS = 80
JOB_ACTOR = "job"
UNGUARDED = (PERSON, SCRIPT_ACTOR, JOB_ACTOR)
"""The actors that may ask the same again: a person, a script and a job; the guard is for models."""


@dataclass(slots=True)
class Followed:
    """A call that may become a job while it runs: its frame once it has begun, and its answer or error at its end."""

    frame: Frame | None = None
    answer: Answer | None = None
    error: Exception | None = None
    running: Running | None = None


FOLLOWED: ContextVar[Followed | None] = ContextVar("followed", default=None)


def _ended_jobs(data: Any) -> set[str]:
    """Return the ids of the jobs whose end an answer shows."""
    rows = data if is_list(data) else [data]
    return {str(row["id"]) for row in rows if is_object(row) and "id" in row and row.get("state") in ENDED}


@dataclass(slots=True)
class _Ending:
    """How a call ended: the size of its answer in characters, those of them that a model reads, the error's code."""

    chars: int = 0
    read: int = 0
    code: str = INTERNAL

    @classmethod
    def of(cls, text: str, code: str = "") -> Self:
        """Return the ending of a call that was answered with a text."""
        return cls(len(text), len(text), code)


class Calls:
    """Calls operations by their names. Safe to use from several threads."""

    def __init__(self, desk: Desk, recorder: Recorder, jobs: Jobs) -> None:
        self._desk = desk
        self._jobs = jobs
        self._recorder = recorder
        self._by_name: dict[str, Arguments] = {}
        self._names: frozenset[str] = frozenset()
        self._promoted: Promoted | None = None

    def offer(self, operations: Iterable[Operation]) -> None:
        """Make operations callable; called once, by the composition root."""
        for operation in operations:
            arguments = Arguments(operation)
            for name in filter(None, (operation.name, operation.tool)):
                self._by_name[name] = arguments
            if operation.job:
                self._jobs.offers.add(offered(operation.job, arguments, self._desk))
        self._names = frozenset(part for name in self._by_name for part in (name, name.partition(".")[0]))

    def offer_promoted(self, promoted: Promoted) -> None:
        """Make scripts callable that are tools; called once, by the composition root."""
        self._promoted = promoted

    @property
    def promoted(self) -> Promoted:
        """The scripts that are tools."""
        if self._promoted is None:
            raise RuntimeError("no scripts are offered")
        return self._promoted

    @property
    def offered(self) -> tuple[Arguments, ...]:
        """What every operation takes, in the catalogue's order."""
        return tuple(dict.fromkeys(self._by_name.values()))

    def is_transactional(self, name: str) -> bool:
        """Tell whether an operation may be part of an atomic batch."""
        return self._within(name).operation.transactional

    def call(
        self,
        name: str,
        sent: Mapping[str, Any],
        conversation: Conversation,
        agreed: str = "",
        reader: Reader = MODEL,
    ) -> Answer:
        """Call an operation by its tool or operation name.

        Args:
            agreed: The `agreement` of the ConfirmationError whose question the person said yes to.
            reader: Who reads the answer.

        Raises:
            ConfirmationError: The person has to agree first.
            PanoramaError: It refused; nothing was changed, except by the steps of a batch that is not atomic.
        """
        call = self._desk.new_id(CALL_LETTER)
        frame = Frame(conversation, call, unit=call, agreed=agreed, reader=reader)
        answer = self._followed(name, sent, frame)
        return answer if reader.wants_all else self._with_remark(answer, conversation)

    def _followed(self, name: str, sent: Mapping[str, Any], frame: Frame) -> Answer:
        """Run a call that may become a job while it runs."""
        following = FOLLOWED.get()
        if following is None:
            return self._logged(name, sent, frame, None)
        following.frame = frame
        try:
            following.answer = answer = self._logged(name, sent, frame, None)
        except Exception as error:
            following.error = error
            raise
        return answer

    def _with_remark(self, answer: Answer, conversation: Conversation) -> Answer:
        """Return an answer that also tells, once, of the conversation's jobs that have ended."""
        told = self._jobs.remarks.take(conversation.id, conversation.client_name, _ended_jobs(answer.data))
        if not told:
            return answer
        hint = " ".join(filter(None, (str(answer.metadata.get("hint", "")), told)))
        return replace(answer, metadata={**answer.metadata, "hint": hint})

    def work(self, name: str, sent: Mapping[str, Any], job: Job) -> Answer:
        """Call an operation as a job: what it writes has the job's unit.

        Raises:
            PanoramaError: It refused.
        """
        who = job.asker
        conversation = Conversation(id=who.conversation or job.id, actor=JOB_ACTOR, client=who.client)
        return self._logged(name, sent, Frame(conversation, job.unit, unit=job.unit), None)

    def refuse(
        self, name: str, sent: Mapping[str, Any], conversation: Conversation, listed: Container[str]
    ) -> PanoramaError:
        """Log a call of a tool that the door does not list, and return the error to answer with."""
        frame = Frame(conversation, self._desk.new_id(CALL_LETTER), unit="")
        error: PanoramaError
        try:
            operation = self._find(name, listed).operation
            by_batch = f'Call it through batch: {{"tool": "{name}", "args": {{…}}}}'
            hint = f"{by_batch}, or list it with PANORAMA_TOOLSETS={operation.toolset}."
            error = NotFoundError(f"The tool {name!r} is not listed here.", hint=hint)
        except NotFoundError as unknown:
            error = unknown
        self._log_refusal(name, sent, frame, error)
        return error

    def decline(self, name: str, sent: Mapping[str, Any], conversation: Conversation, error: DeclinedError) -> None:
        """Log that the person did not agree to a call."""
        self._log_refusal(name, sent, Frame(conversation, self._desk.new_id(CALL_LETTER), unit=""), error)

    def _log_refusal(self, name: str, sent: Mapping[str, Any], frame: Frame, error: PanoramaError) -> None:
        ending = _Ending.of(error.text(), error.code)
        self._record(self._entry(name, sent, frame, self._desk.now(), 0.0, ending), frame, None)

    def call_within(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call an operation inside the call that runs, as part of its unit."""
        outer = current()
        outer.steps += 1
        sent = dict(arguments)
        known = self._by_name.get(name)
        if outer.conversation.actor == SCRIPT_ACTOR and not self._find(name).operation.sdk:
            raise NotFoundError(f"Scripts cannot call {name!r}, nor as a step of a batch.", hint="See search_sdk.")
        if known and known.operation.person:
            raise InvalidInputError(f"{name} asks the person, so it is no step of a batch.", hint="Call it by itself.")
        if known and known.operation.writes and outer.key and not outer.whole:
            sent.setdefault("idempotency_key", f"{outer.key}/{outer.steps}")
        frame = Frame(outer.inside(), self._desk.new_id(CALL_LETTER), unit=outer.unit)
        return self._logged(name, sent, frame, outer).structured()

    @property
    def names(self) -> frozenset[str]:
        """The names of all operations and tools, and what these begin with."""
        return self._names

    @property
    def scriptable(self) -> frozenset[str]:
        """The names of the operations that scripts may call."""
        return frozenset(each.operation.name for each in self.offered if each.operation.sdk)

    def guest(self) -> Guest:
        """Let a script call operations; the call that runs becomes the script's run, and one unit with all it does."""
        frame = current()
        if frame.conversation.actor != JOB_ACTOR:  # a job's run has its id, so that one undo takes the job back
            frame.call = frame.unit = self._desk.new_id(RUN_LETTER)
        return Guest(self._called_by_script, self._recorder, frame)

    def _called_by_script(
        self, name: str, sent: Mapping[str, Any], guest: Frame, position: int
    ) -> tuple[Answer, Frame]:
        known = self._by_name.get(name)
        frame = Frame(
            guest.conversation, self._desk.new_id(CALL_LETTER), guest.unit, reader=guest.reader, position=position
        )
        if refusal := self._refused_to_script(name, guest):
            self._log_refusal(name, sent, frame, refusal)
            raise refusal
        if known and known.operation.writes and guest.key:
            sent = {"idempotency_key": f"{guest.key}/{position}", **sent}
        return self._logged(name, sent, frame, None), frame

    def _refused_to_script(self, name: str, guest: Frame) -> PanoramaError | None:
        known = self._by_name.get(name)
        if known is None or not known.operation.sdk:
            return NotFoundError(f"Scripts cannot call {readable(name, NAME_CHARS)!r}.", hint="See search_sdk.")
        if known.operation.writes and guest.reads_only:
            told = f"{name} writes, and this script was promoted as one that only reads; nothing was changed."
            return InvalidInputError(told, hint="The person can promote it as one that writes.")
        return None

    def _logged(self, name: str, sent: Mapping[str, Any], frame: Frame, outer: Frame | None) -> Answer:
        started, at, ending = time.perf_counter(), self._desk.now(), _Ending()
        try:
            if problem := unusable(sent):
                raise InvalidInputError(f"{readable(name)} was not called: {problem}.", hint="Send it in another form.")
            answer = self._guarded(self._find(name), sent, frame) if outer is None else self._run(name, sent, frame)
            size = len(answer.packed) if frame.position else 0
            ending = _Ending(size, 0, "") if frame.position else _Ending.of(answer.text)
            return answer
        except PanoramaError as error:
            ending = _Ending.of(error.text(), error.code)
            raise
        except StoppedError:
            ending = _Ending(code=CANCELLED)
            raise
        finally:
            entry = self._entry(name, sent, frame, at, (time.perf_counter() - started) * 1000, ending)
            self._record(entry, frame, outer)

    def _entry(
        self, name: str, sent: Mapping[str, Any], frame: Frame, at: datetime, ms: float, ending: _Ending
    ) -> Call:
        conversation = frame.conversation
        return Call(
            id=frame.call, unit=frame.unit, at=at, actor=conversation.actor, client=conversation.client_name,
            conversation=conversation.id, name=readable(name, NAME_CHARS), arguments=redacted(sent), ms=round(ms, 3),
            success=not ending.code, code=ending.code, chars=ending.chars, tokens=-(-ending.read // CHARS_PER_TOKEN),
            changes=0 if ending.code else frame.wrote, position=frame.position,
        )  # fmt: skip

    def _run(self, name: str, sent: Mapping[str, Any], frame: Frame) -> Answer:
        return Run(self._desk, self._jobs, self._within(name), frame, sent).answer()

    def _guarded(self, arguments: Arguments, sent: Mapping[str, Any], frame: Frame) -> Answer:
        """Run a call unless it came back with the same answer again and again."""
        operation, guard, now = arguments.operation, frame.conversation.guard, self._desk.now()
        if operation.exempt or frame.conversation.actor in UNGUARDED:
            return Run(self._desk, self._jobs, arguments, frame, sent).answer()
        question = asked(operation.name, {**sent, "agreed": frame.agreed} if frame.agreed else sent)
        guard.check(operation.tool or operation.name, question, now)
        try:
            answer = Run(self._desk, self._jobs, arguments, frame, sent).answer()
        except PanoramaError as error:
            guard.note(question, error.message, now)
            raise
        if frame.wrote:
            guard.forget(but=question)
        if not _may_change(answer):
            guard.note(question, digest(answer.text), now)
        return answer

    def _record(self, entry: Call, frame: Frame, outer: Frame | None) -> None:
        """Log a call behind the calls it made; what was rolled back with it was no success."""
        inner = frame.entries
        if not entry.success and frame.whole:
            inner = [replace(each, success=False, code=each.code or ROLLED_BACK, changes=0) for each in inner]
        if outer is None:
            self._recorder.record(*inner, entry)
        else:
            outer.entries += [*inner, entry]
            outer.wrote += entry.changes

    def _within(self, name: str) -> Arguments:
        """Find what a call may call: tools, not what only the command line does, such as reading a folder."""
        found = self._find(name)
        if found.operation.tool:
            return found
        raise NotFoundError(f"There is no tool {name!r}.", hint="Look at the list of tools.")

    def _find(self, name: str, listed: Container[str] | None = None) -> Arguments:
        if name in self._by_name:
            return self._by_name[name]
        if self._promoted and (tool := self._promoted.found(name)):
            return tool
        if name.startswith(TOOL_PREFIX):
            gone = f"There is no tool {readable(name, NAME_CHARS)!r}: it was taken away, or its script was changed."
            raise NotFoundError(gone, hint="list_scripts shows the state of each; promote_script asks the person.")
        known = [each for each in self._by_name if listed is None or each in listed]
        near = difflib.get_close_matches(name, known, 3, 0.5)
        hint = of_tools(name) or (f"Did you mean {' or '.join(near)}?" if near else "Look at the list of tools.")
        raise NotFoundError(f"There is no tool {readable(name, NAME_CHARS)!r}.", hint=hint)


def _may_change(answer: Answer) -> bool:
    """Tell whether an answer says itself that it will be another: meaning did not run, or has not heard of all."""
    index = answer.metadata.get("index")
    return is_object(index) and bool({"missing", "pending"} & index.keys())
