"""How one call runs, from its arguments to its answer."""

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from panorama.calls import model_text, msgpack_rows, rendering
from panorama.calls.agreements import (
    SCRIPT_CONFIRM_HINT,
    call_digest,
    create_agreement,
    format_confirm_hint,
    use_agreement,
)
from panorama.calls.arguments import Arguments, Parameter, drop_nulls
from panorama.calls.conversation import ANY_KIND, JOB_ACTOR, Conversation, Memory
from panorama.calls.jobs.inline_job import InlineJob
from panorama.calls.rendering import MODEL, Answer, Audience, to_plain
from panorama.calls.terminal_commands import format_terminal_command
from panorama.domain.changes import CLI_ACTOR, SCRIPT_ACTOR, Origin, WriteBudget
from panorama.domain.items.item import Item, kind_of
from panorama.domain.jobs import CALL_ARGUMENTS, JobKind, Requester
from panorama.domain.paging import Page, PageRequest, is_page, is_result
from panorama.domain.scripts.allowed_calls import AllowedCalls, get_target
from panorama.domain.text.json_types import is_list, is_object
from panorama.errors import ConfirmationError, ConflictError, InvalidInputError, PanoramaError
from panorama.services import summaries as say
from panorama.services.base import LargeCall, ServiceContext
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.progress import SHOULD_STOP, is_job
from panorama.services.jobs.running_job import RunningJob
from panorama.services.references import resolve
from panorama.store.backend import READ_SECONDS, Session, WriteScope
from panorama.store.items import lookup, rows
from panorama.store.items.lookup import NamedItem
from panorama.store.items.rows import IdTakenError
from panorama.store.log import idempotency
from panorama.store.log.calls import CallLogEntry

ID_ATTEMPTS = 2
"""How often a write is retried because a random id was taken."""

LAST_READ = "@last"
"""A reference to the item last read in this conversation."""

UNCHANGED_HINT = 'Nothing to change: "" or [] clears a field; omitted or null fields keep their value.'


@dataclass(slots=True)
class CallContext:
    """A running call: `unit` is shared with nested calls; `whole` means that all of it is one transaction.

    `agreed` is the user's agreement to the call, "" before they were asked. `position` counts the calls of a script
    from 1. A script with `reads_only` cannot write; a reviewed one can only call what is `allowed`. Without
    `may_confirm`, `confirm` is ignored. `was_asked` means that the user agreed to this call. `budget` limits the bytes
    stored by its unit. `running` is its inline job.
    """

    conversation: Conversation
    call: str
    unit: str
    whole: bool = True
    agreed: str = ""
    reader: Audience = MODEL
    position: int = 0
    reads_only: bool = False
    allowed: AllowedCalls | None = None
    may_confirm: bool = True
    was_asked: bool = False
    key: str = ""
    steps: int = 0
    wrote: int = 0
    entries: list[CallLogEntry] = field(default_factory=list[CallLogEntry])
    memory: Memory | None = None
    budget: WriteBudget | None = None
    running: RunningJob | None = None

    @property
    def is_for_script(self) -> bool:
        """Whether a script reads the answer, directly or through a batch."""
        return self.reader.wants_all or self.conversation.actor == SCRIPT_ACTOR

    def inner_conversation(self) -> Conversation:
        """Return the conversation of nested calls: the same, with its own record of read items."""
        self.memory = self.memory or Memory()
        return replace(self.conversation, memory=self.memory)


_current: ContextVar[CallContext | None] = ContextVar("frame", default=None)


def current_call() -> CallContext:
    """Return the running call of this context."""
    frame = _current.get()
    if frame is None:
        raise RuntimeError("no call is running here")
    return frame


@contextmanager
def _set_current(frame: CallContext) -> Generator[None]:
    token = _current.set(frame)
    try:
        yield
    finally:
        _current.reset(token)


def requester(conversation: Conversation) -> Requester:
    """Return the requester of a job in a conversation."""
    return Requester(actor=conversation.actor, client=conversation.client_name, conversation=conversation.id)


class Invocation:
    """One call of one operation."""

    def __init__(
        self,
        context: ServiceContext,
        jobs: Jobs,
        arguments: Arguments,
        frame: CallContext,
        arguments_sent: Mapping[str, Any],
    ) -> None:
        self._context = context
        self._jobs = jobs
        self._arguments = arguments
        self._operation = arguments.operation
        self._frame = frame
        self._sent = self._identity = drop_nulls(arguments_sent)
        self._reader = frame.reader
        self._values = arguments.parse(self._sent, self._reader)
        self._limit: int | None = self._values.pop("limit", None)
        self._cursor: str = self._values.pop("cursor", "")
        plainly = "brief" if self._operation.writes else "full"
        detail = self._values.pop("detail") if arguments.has_detail else plainly
        self._brief = detail == "brief" and not self._reader.wants_all
        self._question = ""
        self._is_unchanged = self._is_long = False
        self._recalled: list[NamedItem] = []
        self._metadata: dict[str, Any] = {}
        self._confirmed: bool = self._arguments.has_confirm and self._values.pop("confirm")
        self._put_off: bool = self._operation.takes_background and self._values.pop("background")
        frame.key = self._values.pop("idempotency_key", "")
        frame.budget = frame.budget or (WriteBudget() if self._operation.composed else None)
        decides = self._operation.whole_if
        frame.whole = bool(self._values[decides]) if decides else self._operation.transactional

    def answer(self) -> Answer:
        """Run the operation in the transaction it needs, or submit it as a job."""
        if self._put_off:
            return self._answer_as_job()
        if not self._operation.writes:
            return self._execute(None) if self._operation.long else self._read()
        if self._frame.whole and self._operation.only_reads and self._operation.only_reads(**self._values):
            return self._read()
        if not self._frame.whole:
            return self._run_in_steps()
        if large := self._find_large_call():
            return self._run_large(large)
        for _ in range(ID_ATTEMPTS):
            with suppress(IdTakenError):
                return self._run_in_transaction(dict(self._values))
        return self._run_in_transaction(dict(self._values))

    def _read(self) -> Answer:
        """Run a reading operation with a time limit, while the caller waits."""
        with self._context.database.limit_reads(SHOULD_STOP.get()):
            if not self._frame.whole:
                return self._execute(None)
            with self._context.database.reading() as session:
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
        if self._operation.split is None:
            return None
        database = self._context.database
        with database.write_scope(self._origin()), _set_current(self._frame), database.reading() as session:
            if self._find_first_answer(session):
                return None
            self._resolve_references(session)
            large = self._operation.split(**self._values)
        outer = _current.get()
        if large and outer and outer.whole:
            if large.fits_others:
                return None
            name = self._arguments.name_for(self._reader)
            raise InvalidInputError(
                f"This {name} is too large for a transaction with other steps.",
                hint="Call it by itself, or use atomic=false.",
            )
        return large

    def _run_large(self, large: LargeCall) -> Answer:
        """Run a call in several transactions, as a job if an assistant would not wait for it."""
        self._values, self._sent = dict(large.arguments), dict(large.arguments)
        is_awaited = self._frame.conversation.actor not in (CLI_ACTOR, SCRIPT_ACTOR, JOB_ACTOR)
        is_alone = self._frame.unit == self._frame.call
        if large.is_long and is_awaited and is_alone and self._jobs.has_worker:
            with self._context.database.write_scope(self._origin()), _set_current(self._frame):
                self._check_confirmation(None)
            self._confirmed = True
            return self._answer_as_job()
        self._frame.whole = False
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
        with database.limit_reads(SHOULD_STOP.get(), seconds), database.transaction(self._origin()) as session:
            before = session.change_count
            return self._run_once(session, lambda: self._execute(session, before))

    def _answer_as_job(self) -> Answer:
        """Submit the operation as a job in its own transaction; a repeated key submits once."""
        self._frame.whole = True
        with self._context.database.transaction(self._origin()) as session:
            answer = self._run_once(session, lambda: self._submit_job(session))
        self._jobs.wake()
        return answer

    def _submit_job(self, session: Session) -> Answer:
        with _set_current(self._frame):
            self._resolve_references(session)
            if self._operation.plan:
                self._operation.plan(**self._values)
            self._check_confirmation(session)
            job = self._jobs.submit(self._kind, self._job_arguments(), requester(self._frame.conversation))
            view = self._jobs.get(job)
        summary = say.summarize_job_start(view, at_terminal=self._frame.conversation.actor == CLI_ACTOR)
        return Answer(data=self._to_plain(view, self._reader.alone), summary=summary, metadata=self._metadata)

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
        is_agreed = self._frame.was_asked if self._operation.composed else self._operation.asks
        return values | ({"confirm": True} if is_agreed else {})

    def _origin(self) -> Origin:
        conversation = self._frame.conversation
        return Origin(
            actor=conversation.actor, client=conversation.client_name, conversation=conversation.id,
            operation=self._operation.name, call=self._frame.call, unit=self._frame.unit, budget=self._frame.budget,
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
        if not self._frame.key:
            return None
        first = idempotency.find_answer(session, self._frame.key, self._context.now())
        if first is None:
            return None
        if first[0] != self._digest:
            used = f"The idempotency key {self._frame.key[:60]!r} was used for another call."
            raise ConflictError(used, hint="Use a new key for a new write.")
        known = first[1]
        return Answer(data=known["data"], summary=known["summary"], metadata={**known["metadata"], "repeated": True})

    def _save_answer(self, session: Session, answer: Answer) -> None:
        if self._frame.key:
            now = self._context.now()
            idempotency.save_answer(session, self._frame.key, self._digest, answer.to_dict(), now)

    @property
    def _digest(self) -> str:
        return call_digest(self._operation.name, self._identifying_arguments())

    def _identifying_arguments(self) -> dict[str, Any]:
        """Return the arguments without those that do not affect the result: the key and the confirmation."""
        return {
            name: value for name, value in self._identity.items() if name != "confirm" or not self._operation.asks
        } | {"idempotency_key": ""}

    def _execute(self, session: Session | None, before: int = 0, acting: WriteScope | None = None) -> Answer:
        with _set_current(self._frame):
            if session is not None:
                self._resolve_references(session)
            elif any(parameter.reference for parameter in self._arguments.parameters):
                with (
                    self._context.database.reading() as view
                ):  # what opens its own transactions hears of ids alone, too
                    self._resolve_references(view)
            if self._frame.allowed:
                self._frame.allowed.check(self._operation.name, get_target(self._operation.name, self._values))
            self._set_page()
            self._check_confirmation(session)
            with self._show_as_job() as inline:
                answer = self._run_operation(session, before, acting)
                if inline is not None:
                    inline.answer = answer
            return answer

    @contextmanager
    def _show_as_job(self) -> Generator[InlineJob | None]:
        """Make a job of a long operation that somebody waits for, unless it is one already or changes nothing."""
        kind, frame = self._operation.job, self._frame
        inline = None
        is_shown = kind is not None and (kind.alone or self._is_long)
        if kind and is_shown and frame.unit == frame.call and not (is_job() or self._values.get("dry_run")):
            inline = self._adopt(kind)
        with inline.run() if inline else nullcontext():
            yield inline

    def _adopt(self, kind: JobKind) -> InlineJob | None:
        frame = self._frame
        if not self._jobs.has_worker:
            return None
        with suppress(PanoramaError):  # it runs all the same where its row cannot be written
            frame.running = self._jobs.adopt(
                kind.name, self._job_arguments(), requester(frame.conversation), frame.unit, is_waited_for=True
            )
            return InlineJob(self._jobs, frame.running)
        return None

    def _run_operation(self, session: Session | None, before: int, acting: WriteScope | None) -> Answer:
        value: Any = self._operation.call(**self._values)
        if is_result(value):
            self._set_hint(value.hint or ("" if value.wrote else UNCHANGED_HINT))
            self._is_unchanged = not value.wrote
            value = value.value
        if (recalls := self._operation.recalls) and kind_of(read := self._values[recalls]):
            self._frame.conversation.memory.remember(read, self._context.now())
        if session is not None:
            self._frame.wrote = session.change_count - before
        elif acting is not None:
            self._frame.wrote = acting.wrote
        if self._frame.wrote and self._frame.unit == self._frame.call:
            self._metadata["undo"] = self._frame.unit
        return self._render(value, session)

    def _resolve_references(self, session: Session) -> None:
        """Put ids in the place of names, and of the item that was read last."""
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
                self._values[parameter.name] = resolve(session, parameter.reference, name.strip(), parameter.name)

    def _recall(self, session: Session, parameter: Parameter) -> str:
        """Return the id of the item that was read last, for a parameter of a reading operation."""
        name, kind = parameter.name, (parameter.reference and parameter.reference.kind) or ANY_KIND
        if self._operation.writes:
            raise InvalidInputError(f"{name}: {LAST_READ} is not for writes.", hint="Give its id or name.")
        last = self._frame.conversation.memory.recall(kind, self._context.now()) if self._reader.recalls else None
        if last is None or not rows.exists(session, kind_of(last) or "", last):
            onward = ", or read one first" if self._reader.recalls else ""
            missing = f"{name} is missing" if self._values[name] is None else f"{name}: no {kind} was read lately"
            problem = f"{self._arguments.name_for(self._reader)} was not called: {missing}."
            raise InvalidInputError(problem, hint=f"Give the id or name of {_with_article(kind)}{onward}.")
        self._metadata.setdefault("bound", {})[name] = last
        self._recalled += lookup.get_labels(session, [(kind_of(last) or "", last)]).values()
        return last

    def _check_confirmation(self, session: Session | None) -> None:
        """Stop where the user has to agree first, unless they agreed to just what would happen now.

        This is asked in the transaction of the write, so that nothing can come in between. An agreement counts once.
        """
        if self._operation.plan is None or not self._operation.asks:
            return
        if self._confirmed and self._frame.may_confirm:
            self._frame.was_asked = True
            return
        if question := self._operation.plan(**self._values).question:
            expected = call_digest(self._operation.name, {**self._values, "question": question})
            self._frame.was_asked = self._is_agreed(session, expected)
            if not self._frame.was_asked:
                raise self._confirmation_error(question, create_agreement(expected, self._context.now()))

    def _is_agreed(self, session: Session | None, expected: str) -> bool:
        if session is not None:
            return use_agreement(session, self._frame.agreed, expected, self._context.now())
        with self._context.database.transaction(self._origin()) as transaction:
            return use_agreement(transaction, self._frame.agreed, expected, self._context.now())

    def _confirmation_error(self, question: str, agreement: str) -> ConfirmationError:
        is_script = self._frame.conversation.actor == SCRIPT_ACTOR
        nothing = "This call changed nothing." if self._frame.is_for_script else "Nothing was changed yet."
        gap = "\n" if "\n" in question else " "
        is_terminal = self._frame.conversation.actor == CLI_ACTOR
        command = "" if is_terminal else format_terminal_command(self._operation.name, self._values)
        person_hint = self._operation.person.format(**self._values) or format_confirm_hint(command)
        return ConfirmationError(
            f"{question}{gap}{nothing}", hint=SCRIPT_CONFIRM_HINT if is_script else person_hint, question=question,
            agreement=agreement, command=command,
        )  # fmt: skip

    def _set_page(self) -> None:
        """Build the page request from limit and cursor."""
        if self._arguments.page_parameter:
            self._question = rendering.query_digest(self._operation.name, self._values)
            after = rendering.decode_cursor(self._cursor, self._question) if self._cursor else None
            limit = self._reader.rows if self._reader.wants_all else self._reader.most_rows
            counts = after is None or not self._reader.wants_all  # the total was reported with the first page
            self._values[self._arguments.page_parameter] = PageRequest(
                min(self._limit or self._default_rows, limit), after, counts
            )

    @property
    def _default_rows(self) -> int:
        return self._reader.rows if self._reader.wants_all else self._operation.rows or self._reader.rows

    def _render(self, value: Any, session: Session | None) -> Answer:
        packed = None
        if is_page(value):
            value, data, packed = self._fit_page(value)
        else:
            data = self._to_plain(value, self._reader.alone)
            data = rendering.drop_withheld(value, data) if self._frame.is_for_script else data
            data = data if self._reader.wants_all else rendering.shrink(data, self._reader.most_chars)
        if self._frame.conversation.actor != SCRIPT_ACTOR:
            self._add_names(data, session)
        is_as_it_was = self._is_unchanged and isinstance(value, Item)
        summary = say.summarize_no_change(value) if is_as_it_was else self._operation.summary(value)
        if dates := self._list_read_dates(data):
            summary += f": {dates}" if self._operation.writes else f" ({dates})"
        if not self._reader.wants_all and (cut := rendering.count_cut_texts(data)):
            summary += f"; {say.pluralize(cut, 'long text')} cut"
        return Answer(
            data=data, summary=self._name_recalled(summary), metadata=self._metadata, rows=packed,
            shortfall=str(getattr(value, "shortfall", "")), exact=getattr(value, "TOLD_EXACTLY", ()),
            hidden=getattr(value, "HIDDEN", ()),
        )  # fmt: skip

    def _list_read_dates(self, data: Any) -> str:
        """Return what was read from dates in words."""
        if self._operation.writes:
            return rendering.list_read_dates(self._sent, data)
        return rendering.list_read_filters(self._sent, self._context.now(), self._context.zone)

    def _name_recalled(self, summary: str) -> str:
        """Return a summary that names the items recalled from earlier reads."""
        for kind, id_, label in self._recalled:
            summary += f" · the {kind} read last" + ("" if id_ in summary else f": “{label[:80]}” ({id_})")
        return summary

    def _to_plain(self, value: Any, long: int) -> Any:
        return to_plain(value, self._context.zone, brief=self._brief, long=long, nulls=self._reader.wants_all)

    def _fit_page(self, page: Page[Any]) -> tuple[Page[Any], list[Any], list[bytes] | None]:
        """Cut a page to the size limit and set its cursor; return it, its rows, and the packed rows."""
        reader = self._reader
        packed: list[bytes] | None = None
        row = (self._to_plain(item, reader.in_row) for item in page.items)
        if reader.wants_all:
            rows, packed = msgpack_rows.take_fitting(row, reader.page_chars)
        else:
            rows = rendering.take_fitting(list(row), reader.most_chars if self._limit else reader.page_chars)
            rows = rendering.shrink(rows, reader.most_chars)
        count = len(rows)
        if page.total is not None:
            self._metadata["total"] = page.total
        more = page.more or count < len(page.items)
        if count and page.keys[count - 1] and more:
            self._metadata["next_cursor"] = rendering.encode_cursor(page.keys[count - 1], self._question)
        if page.index is not None:
            self._metadata["index"] = dict(page.index)
        self._set_hint(page.hint)
        return replace(page, items=page.items[:count], more=more), rows, packed

    def _set_hint(self, hint: str) -> None:
        if hint:
            self._metadata["hint"] = hint

    def _add_names(self, data: Any, session: Session | None) -> None:
        """Add the names of the rows' projects, people and teams once."""
        ids = sorted({id_ for id_ in _iter_references(data) if kind_of(id_)})
        if ids and session is not None:
            known = lookup.get_labels(session, [(kind_of(id_) or "", id_) for id_ in ids])
            self._metadata["names"] = {id_: known[id_][2] for id_ in ids if id_ in known}


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _iter_references(data: Any) -> Generator[str]:
    if is_object(data):
        for name, value in data.items():
            if name in model_text.NAMED_REFERENCES and (isinstance(value, str) or is_list(value)):
                yield from (text for text in (value if is_list(value) else [value]) if isinstance(text, str))
            else:
                yield from _iter_references(value)
    elif is_list(data):
        for entry in data:
            yield from _iter_references(entry)
