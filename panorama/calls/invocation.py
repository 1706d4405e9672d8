"""How one call runs, from its arguments to its answer."""

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from panorama.calls.agreements import call_digest, create_agreement, create_confirmation_error, use_agreement
from panorama.calls.answer_builder import AnswerBuilder
from panorama.calls.arguments import Arguments, Parameter, drop_nulls
from panorama.calls.call import LOCKED_READ_SECONDS, Call, find_current_call, make_current
from panorama.calls.conversation import ANY_KIND, JOB_ACTOR
from panorama.calls.jobs.inline_job import InlineJob
from panorama.calls.rendering import Answer
from panorama.domain import changes
from panorama.domain.changes import CLI_ACTOR, SCRIPT_ACTOR, Origin, WriteBudget
from panorama.domain.items.item import kind_of
from panorama.domain.jobs import CALL_ARGUMENTS, JobKind
from panorama.domain.paging import is_result
from panorama.domain.scripts.allowed_calls import get_target
from panorama.errors import ConflictError, InvalidInputError, PanoramaError
from panorama.kinds import with_article
from panorama.services import summaries as say
from panorama.services.base import LargeCall, LargeCallError, ServiceContext
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.progress import SHOULD_STOP, is_job
from panorama.services.references import resolve
from panorama.store.backend import READ_SECONDS, Session, WriteScope
from panorama.store.items import lookup, rows
from panorama.store.items.rows import IdTakenError
from panorama.store.log import idempotency
from panorama.store.log.changes import get_last_id

ID_ATTEMPTS = 2
"""How often a write is retried because a random id was taken."""

LAST_READ = "@last"
"""A reference to the item last read in this conversation."""

UNCHANGED_HINT = 'Nothing to change: "" or [] clears a field; omitted or null fields keep their value.'


class Invocation:
    """One call of one operation."""

    def __init__(
        self,
        context: ServiceContext,
        jobs: Jobs,
        arguments: Arguments,
        call: Call,
    ) -> None:
        self._context = context
        self._jobs = jobs
        self._arguments = arguments
        self._operation = arguments.operation
        self._call = call
        self._sent = self._identity = drop_nulls(call.arguments)
        self._reader = call.reader
        self._values = arguments.parse(self._sent, self._reader)
        self._builder = AnswerBuilder(context, arguments, call, self._sent, self._values)
        self._is_long = False
        self._resolved_in: Session | None = None
        self._outer = find_current_call()
        self._confirmed: bool = self._arguments.has_confirm and self._values.pop("confirm")
        self._put_off: bool = self._operation.takes_background and self._values.pop("background")
        call.key = self._values.pop("idempotency_key", "")
        call.budget = call.budget or (WriteBudget() if self._operation.composed else None)
        decides = self._operation.whole_if
        call.whole = bool(self._values[decides]) if decides else self._operation.transactional

    def answer(self) -> Answer:
        """Run the operation in the transaction it needs, or submit it as a job."""
        if self._put_off:
            return self._answer_as_job()
        if not self._operation.writes:
            return self._execute(None) if self._operation.long else self._read()
        if self._call.whole and self._operation.only_reads and self._operation.only_reads(**self._values):
            return self._read()
        if not self._call.whole:
            return self._run_in_steps()
        if large := self._find_large_call():
            return self._run_large(large)
        for _ in range(ID_ATTEMPTS):
            with suppress(IdTakenError):
                return self._run_in_transaction(dict(self._values))
        return self._run_in_transaction(dict(self._values))

    def _read(self) -> Answer:
        """Run a reading operation with a time limit, while the caller waits."""
        database = self._context.database
        locked = self._outer.limit_locked_reads(database) if self._outer else nullcontext()
        with locked, database.limit_reads(SHOULD_STOP.get()):
            if not self._call.whole:
                return self._execute(None)
            with database.reading() as session:
                return self._execute(session)

    def _run_in_steps(self) -> Answer:
        """Run an operation that opens its own transactions, or whose steps do."""
        if self._operation.composed:
            return self._execute(None)
        with self._context.database.write_scope(self._origin()) as acting:
            return self._execute(None, acting=acting)

    def _find_large_call(self) -> LargeCall | None:
        """Return a split call if it is too large for one transaction and its key has no answer yet.

        Raises:
            InvalidInputError: It is part of a larger transaction.
        """
        if self._operation.split is None or self._operation.split_by:
            return None
        database = self._context.database
        with database.write_scope(self._origin()), make_current(self._call), database.reading() as session:
            if self._find_first_answer(session):
                return None
            self._resolve_references(session)
            self._resolved_in = session  # a step of a transaction runs in the same one
            return self._split()

    def _split(self) -> LargeCall | None:
        """Return a split call if it is too large for one transaction.

        Raises:
            InvalidInputError: It is part of a larger transaction.
        """
        large = self._operation.split(**self._values) if self._operation.split else None
        if large and self._outer and self._outer.whole:
            if large.fits_others:
                return None
            name = self._arguments.name_for(self._reader)
            raise InvalidInputError(
                f"This {name} is too large for a transaction with other steps.",
                hint="Call it outside the batch, or use atomic=false.",
            )
        return large

    def _run_large(self, large: LargeCall) -> Answer:
        """Run a call in several transactions, as a job if an assistant would not wait for it."""
        self._values, self._sent = dict(large.arguments), dict(large.arguments)
        is_awaited = self._call.conversation.actor not in (CLI_ACTOR, SCRIPT_ACTOR, JOB_ACTOR)
        is_alone = self._call.is_outermost
        if large.is_long and is_awaited and is_alone and self._jobs.has_worker:
            with self._context.database.write_scope(self._origin()), make_current(self._call):
                self._check_confirmation(None)
            self._confirmed = True
            return self._answer_as_job()
        self._call.whole = False
        self._is_long = large.is_long
        answer = self._run_in_steps()
        with self._context.database.transaction(self._origin()) as session:
            self._save_answer(session, answer)
        return answer

    def _run_in_transaction(self, values: dict[str, Any]) -> Answer:
        """Run a write while the caller waits; a batch also has a time limit."""
        self._values = values
        seconds = READ_SECONDS if self._operation.composed else math.inf
        database = self._context.database
        last_change = self._read_early()
        try:
            with database.limit_reads(SHOULD_STOP.get(), seconds), database.transaction(self._origin()) as session:
                if self._operation.composed:
                    self._limit_batch(session, last_change)
                before = session.change_count
                return self._run_once(session, lambda: self._execute(session, before))
        except LargeCallError as found:
            return self._run_large(found.large)

    def _read_early(self) -> int:
        """Run the first steps of a batch, if they only read, before its transaction; return the last change then."""
        if self._operation.read_early is None:
            return 0
        database = self._context.database
        with database.limit_reads(SHOULD_STOP.get()), database.reading() as session, make_current(self._call):
            self._call.early_results = self._operation.read_early(**self._values)
            return get_last_id(session) if self._call.early_results else 0

    def _limit_batch(self, session: Session, last_change: int) -> None:
        """Limit what a batch reads and writes in its transaction; steps that read older data are run again."""
        session.left_bytes = changes.MAX_ATOMIC_BYTES
        self._call.left_read_seconds = LOCKED_READ_SECONDS
        if self._call.early_results and get_last_id(session) != last_change:
            self._call.early_results = ()

    def _answer_as_job(self) -> Answer:
        """Submit the operation as a job in its own transaction; a repeated key submits once."""
        self._call.whole = True
        if self._may_need_approval and self._operation.plan:
            with make_current(self._call):
                self._operation.plan(**self._values)  # it may start a source, for which no other write should wait
        with self._context.database.transaction(self._origin()) as session:
            answer = self._run_once(session, lambda: self._submit_job(session))
        self._jobs.wake()
        return answer

    def _submit_job(self, session: Session) -> Answer:
        with make_current(self._call):
            self._resolve_references(session)
            if self._operation.plan:
                self._operation.plan(**self._values)
            self._check_confirmation(session)
            job = self._jobs.submit(self._kind, self._job_arguments(), self._call.conversation.requester)
            view = self._jobs.get(job)
        summary = say.summarize_job_start(view, at_terminal=self._call.conversation.actor == CLI_ACTOR)
        return Answer(data=self._builder.to_plain(view), summary=summary, metadata=self._builder.metadata)

    @property
    def _kind(self) -> str:
        return self._operation.job.name if self._operation.job else ""

    def _job_arguments(self) -> dict[str, Any]:
        """Return the job's arguments, with ids in place of names; the user was asked before.

        A script may confirm for the user only if they were really asked.
        """
        named = {parameter.name for parameter in self._arguments.parameters if parameter.reference}
        values = {
            name: self._values[name] if name in named else value
            for name, value in self._sent.items()
            if name not in CALL_ARGUMENTS
        }
        is_agreed = self._call.was_asked if self._operation.composed else self._operation.asks
        return values | ({"confirm": True} if is_agreed else {})

    def _origin(self) -> Origin:
        conversation = self._call.conversation
        return Origin(
            actor=conversation.actor, client=conversation.client_name, conversation=conversation.id,
            operation=self._operation.name, call=self._call.id, unit=self._call.unit, budget=self._call.budget,
        )  # fmt: skip

    def _run_once(self, session: Session, create: Callable[[], Answer]) -> Answer:
        """Return the stored answer to a key, or create and store it."""
        if first := self._find_first_answer(session):
            return first
        answer = create()
        self._save_answer(session, answer)
        return answer

    def _find_first_answer(self, session: Session) -> Answer | None:
        """Return the first answer to a key.

        Raises:
            ConflictError: The key was used for another call.
        """
        if not self._call.key:
            return None
        first = idempotency.find_answer(session, self._call.key, self._context.now())
        if first is None:
            return None
        if first[0] != self._digest:
            used = f"The idempotency key {self._call.key[:60]!r} was used for another call."
            raise ConflictError(used, hint="Use a new key for a new write.")
        known = first[1]
        return Answer(data=known["data"], summary=known["summary"], metadata={**known["metadata"], "repeated": True})

    def _save_answer(self, session: Session, answer: Answer) -> None:
        if self._call.key:
            now = self._context.now()
            idempotency.save_answer(session, self._call.key, self._digest, answer.to_dict(), now)

    @property
    def _digest(self) -> str:
        return call_digest(self._operation.name, self._identifying_arguments())

    def _identifying_arguments(self) -> dict[str, Any]:
        """Return the arguments without those that do not affect the result: the key and the confirmation."""
        return {
            name: value for name, value in self._identity.items() if name != "confirm" or not self._operation.asks
        } | {"idempotency_key": ""}

    def _execute(self, session: Session | None, before: int = 0, acting: WriteScope | None = None) -> Answer:
        with make_current(self._call):
            if session is not None:
                self._resolve_references(session)
                if (by := self._operation.split_by) and self._values[by] is not None and (large := self._split()):
                    raise LargeCallError(large)
            elif any(parameter.reference for parameter in self._arguments.parameters):
                with self._context.database.reading() as view:  # what opens its own transactions gets ids only, too
                    self._resolve_references(view)
            if self._call.allowed:
                self._call.allowed.check(self._operation.name, get_target(self._operation.name, self._values))
            self._builder.request_page(self._values)
            self._check_confirmation(session)
            with self._show_as_job() as inline:
                answer = self._run_operation(session, before, acting)
                if inline is not None:
                    inline.answer = answer
            return answer

    @contextmanager
    def _show_as_job(self) -> Generator[InlineJob | None]:
        """Run a long operation that a client waits for as a job, unless it is one already or changes nothing."""
        kind, call = self._operation.job, self._call
        inline = None
        is_shown = kind is not None and (kind.alone or self._is_long)
        if kind and is_shown and call.is_outermost and not (is_job() or self._values.get("dry_run")):
            inline = self._adopt(kind)
        with inline.run() if inline else nullcontext():
            yield inline

    def _adopt(self, kind: JobKind) -> InlineJob | None:
        call = self._call
        if not self._jobs.has_worker:
            return None
        with suppress(PanoramaError):  # it runs all the same where its row cannot be written
            call.running = self._jobs.adopt(
                kind.name, self._job_arguments(), call.conversation.requester, call.unit, is_waited_for=True
            )
            return InlineJob(self._jobs, call.running)
        return None

    def _run_operation(self, session: Session | None, before: int, acting: WriteScope | None) -> Answer:
        value: Any = self._operation.call(**self._values)
        is_unchanged = False
        if is_result(value):
            self._builder.set_hint(value.hint or ("" if value.wrote else UNCHANGED_HINT))
            is_unchanged, value = not value.wrote, value.value
        if (recalls := self._operation.recalls) and kind_of(read := self._values[recalls]):
            self._call.conversation.memory.remember(read, self._context.now())
        if session is not None:
            self._call.wrote = session.change_count - before
        elif acting is not None:
            self._call.wrote = acting.wrote
        if self._call.wrote and self._call.is_outermost:
            self._builder.metadata["undo"] = self._call.unit
        return self._builder.build(value, session, is_unchanged=is_unchanged)

    def _resolve_references(self, session: Session) -> None:
        """Put ids in the place of names, and of the item that was read last; once for each session."""
        if session is self._resolved_in:
            return
        session.prefetched.clear()
        session.labels.clear()
        for parameter in self._arguments.parameters:
            if parameter.reference is None:
                continue
            name = self._values[parameter.name]
            is_missing = name is None and not self._arguments.is_optional(parameter.name)
            if is_missing or (isinstance(name, str) and name.strip() == LAST_READ):
                self._values[parameter.name] = self._recall(session, parameter)
            elif isinstance(name, str):
                if name.strip() == "" and not self._arguments.is_optional(parameter.name):
                    raise InvalidInputError(f"{parameter.name} is empty.", hint="Give an id or a name.")
                self._values[parameter.name] = resolve(
                    session, parameter.reference, name.strip(), parameter.name, self._context.zone,
                    is_read_next=not self._arguments.is_optional(parameter.name),
                )  # fmt: skip

    def _recall(self, session: Session, parameter: Parameter) -> str:
        """Return the id of the item that was read last, for a parameter of a reading operation."""
        name, kind = parameter.name, (parameter.reference and parameter.reference.kind) or ANY_KIND
        if self._operation.writes:
            raise InvalidInputError(f"{name}: {LAST_READ} works only for reads.", hint="Give its id or name.")
        last = self._call.conversation.memory.recall(kind, self._context.now()) if self._reader.recalls else None
        if last is None or not rows.exists(session, kind_of(last) or "", last):
            onward = ", or read one first" if self._reader.recalls else ""
            missing = f"{name} is missing" if self._values[name] is None else f"{name}: no {kind} was read recently"
            problem = f"{self._arguments.name_for(self._reader)} was not called: {missing}."
            raise InvalidInputError(problem, hint=f"Give the id or name of {with_article(kind)}{onward}.")
        self._builder.add_recalled(name, last, lookup.get_labels(session, [(kind_of(last) or "", last)])[last])
        return last

    def _check_confirmation(self, session: Session | None) -> None:
        """Stop where the user has to agree first, unless they agreed to just what would happen now.

        This is asked in the transaction of the write, so that nothing can come in between. An agreement counts once.
        """
        if self._operation.plan is None or not self._operation.asks:
            return
        is_confirmed = self._confirmed and self._call.may_confirm
        if is_confirmed and not self._may_need_approval:
            self._call.was_asked = True
            return
        plan = self._operation.plan(**self._values)
        if is_confirmed and not plan.approval:
            self._call.was_asked = True
        elif question := plan.question:
            expected = call_digest(self._operation.name, {**self._values, "question": question + plan.facts})
            self._call.was_asked = self._is_agreed(session, expected)
            if not self._call.was_asked:
                agreement = create_agreement(expected, self._context.now())
                raise create_confirmation_error(
                    self._call, self._operation, self._values, question, agreement, plan.approval
                )

    @property
    def _may_need_approval(self) -> bool:
        """Whether a confirmation may not count: scripts call sources, and jobs and terminals pass on the user's own."""
        is_passed_on = self._call.conversation.actor in (CLI_ACTOR, JOB_ACTOR)
        return self._operation.workload == "script" and not is_passed_on

    def _is_agreed(self, session: Session | None, expected: str) -> bool:
        if session is not None:
            return use_agreement(session, self._call.agreed, expected, self._context.now())
        with self._context.database.transaction(self._origin()) as transaction:
            return use_agreement(transaction, self._call.agreed, expected, self._context.now())
