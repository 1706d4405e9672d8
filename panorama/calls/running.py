"""How one call runs, from the arguments that were sent to the answer that is given."""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from panorama.calls import answers, packing
from panorama.calls.answers import MODEL, Answer, Reader, plain
from panorama.calls.arguments import Arguments
from panorama.calls.conversation import SCRIPT_ACTOR, Conversation, Memory
from panorama.domain.changes import PERSON, Origin, digest
from panorama.domain.items import Item, kind_of
from panorama.domain.jobs import FOR_THE_CALL, Asker
from panorama.domain.plain import is_list, is_object
from panorama.domain.results import Page, Slice, is_noted, is_page
from panorama.errors import ConfirmationError, ConflictError, InvalidInputError
from panorama.services import summaries as say
from panorama.services.base import Desk
from panorama.services.jobs import Jobs
from panorama.services.references import resolve
from panorama.store import idempotency, names, rows
from panorama.store.calls import Call
from panorama.store.engine import Acting, Session
from panorama.store.rows import IdTakenError

SOURCE = "panorama_db"
ATTEMPTS = 2
"""How often a write is begun anew because a random id was taken."""

UNCHANGED = 'It is so already, or nothing to change was given: "" or [] clears a field, what is left out or null stays.'


@dataclass(slots=True)
class Frame:
    """A call that runs: `unit` is shared with what runs inside it, `whole` says that all of it is one transaction.

    `agreed` is the agreement that the person gave to the call, "" before they were asked. `position` counts the calls
    of a script, from 1. A script that `reads_only` is refused what writes.
    """

    conversation: Conversation
    call: str
    unit: str
    whole: bool = True
    agreed: str = ""
    reader: Reader = MODEL
    position: int = 0
    reads_only: bool = False
    key: str = ""
    steps: int = 0
    wrote: int = 0
    entries: list[Call] = field(default_factory=list[Call])
    memory: Memory | None = None

    @property
    def is_for_a_script(self) -> bool:
        """Whether a script reads the answer, itself or through a batch."""
        return self.reader.wants_all or self.conversation.actor == SCRIPT_ACTOR

    def inside(self) -> Conversation:
        """Return the conversation of the calls inside this one: the same, with a working memory of its own."""
        self.memory = self.memory or Memory()
        return replace(self.conversation, memory=self.memory)


_current: ContextVar[Frame | None] = ContextVar("frame", default=None)


def current() -> Frame:
    """Return the call that runs in this context."""
    frame = _current.get()
    if frame is None:
        raise RuntimeError("no call runs here")
    return frame


@contextmanager
def _entered(frame: Frame) -> Generator[None]:
    token = _current.set(frame)
    try:
        yield
    finally:
        _current.reset(token)


def asker(conversation: Conversation) -> Asker:
    """Return who asks for a job in a conversation."""
    return Asker(actor=conversation.actor, client=conversation.client_name, conversation=conversation.id)


def asked(name: str, sent: Mapping[str, Any]) -> str:
    """Return a digest of a call and its arguments."""
    return digest(name + json.dumps(sent, sort_keys=True, default=str, ensure_ascii=True))


class Run:
    """One call of one operation."""

    def __init__(self, desk: Desk, jobs: Jobs, arguments: Arguments, frame: Frame, sent: Mapping[str, Any]) -> None:
        self._desk = desk
        self._jobs = jobs
        self._arguments = arguments
        self._operation = arguments.operation
        self._frame = frame
        self._sent = sent
        self._reader = frame.reader
        self._values = arguments.parse(sent, self._reader)
        self._limit: int | None = self._values.pop("limit", None)
        self._cursor: str = self._values.pop("cursor", "")
        plainly = "brief" if self._operation.writes else "full"
        detail = self._values.pop("detail") if arguments.has_detail else plainly
        self._brief = detail == "brief" and not self._reader.wants_all
        self._question = ""
        self._is_unchanged = False
        self._metadata: dict[str, Any] = {"source": SOURCE, "policy": self._operation.policy}
        self._confirmed: bool = self._arguments.takes_confirm and self._values.pop("confirm")
        self._put_off: bool = bool(self._operation.job) and self._values.pop("background")
        frame.key = self._values.pop("idempotency_key", "")
        decides = self._operation.whole_if
        frame.whole = bool(self._values[decides]) if decides else self._operation.transactional

    def answer(self) -> Answer:
        """Run the operation in the transaction it needs, or ask for it as a job."""
        if self._put_off:
            return self._as_job()
        if not self._operation.writes:
            if not self._operation.transactional:
                return self._answered(None)
            with self._desk.database.reading() as session:
                return self._answered(session)
        if not self._frame.whole:
            return self._in_steps()
        for _ in range(ATTEMPTS):
            with suppress(IdTakenError):
                return self._written(dict(self._values))
        return self._written(dict(self._values))

    def _in_steps(self) -> Answer:
        """Run an operation that opens its own transactions, or whose steps do."""
        if self._operation.composed:
            return self._answered(None)
        with self._desk.database.acting(self._origin()) as acting:
            return self._answered(None, acting=acting)

    def _written(self, values: dict[str, Any]) -> Answer:
        self._values = values
        with self._desk.database.transaction(self._origin()) as session:
            before = session.wrote
            return self._once(session, lambda: self._answered(session, before))

    def _as_job(self) -> Answer:
        """Ask for the operation as a job, in a transaction of its own; a repeated key asks once."""
        self._frame.whole = True
        with self._desk.database.transaction(self._origin()) as session:
            answer = self._once(session, lambda: self._submitted(session))
        self._jobs.wake()
        return answer

    def _submitted(self, session: Session) -> Answer:
        with _entered(self._frame):
            self._resolve(session)
            if self._operation.check:
                self._operation.check(**self._values)
            self._ask()
            job = self._jobs.submit(self._kind, self._of_the_job(), asker(self._frame.conversation))
            view = self._jobs.get(job)
        told = say.job_begun(view, at_terminal=self._frame.conversation.actor == PERSON)
        return Answer(data=self._plain(view, self._reader.alone), summary=told, metadata=self._metadata)

    @property
    def _kind(self) -> str:
        return self._operation.job.name if self._operation.job else ""

    def _of_the_job(self) -> dict[str, Any]:
        """Return the arguments that the job is run with: what was sent, with ids for names; the person was asked."""
        named = {each.name for each in self._arguments.parameters if each.reference}
        sent = {
            name: self._values[name] if name in named else value
            for name, value in self._sent.items()
            if name not in FOR_THE_CALL
        }
        return sent | ({"confirm": True} if self._operation.question else {})

    def _origin(self) -> Origin:
        conversation = self._frame.conversation
        return Origin(
            actor=conversation.actor, client=conversation.client_name, conversation=conversation.id,
            operation=self._operation.name, call=self._frame.call, unit=self._frame.unit,
        )  # fmt: skip

    def _once(self, session: Session, made: Callable[[], Answer]) -> Answer:
        """Give the first answer to a key again, or make it and keep it."""
        if not self._frame.key:
            return made()
        mine = asked(self._operation.name, self._meant())
        first = idempotency.first(session, self._frame.key, self._desk.now())
        if first is None:
            answer = made()
            idempotency.keep(session, self._frame.key, mine, answer.structured(), self._desk.now())
            return answer
        if first[0] != mine:
            used = f"The idempotency key {self._frame.key[:60]!r} was used for another call."
            raise ConflictError(used, hint="Use a new key for a new write.")
        known = first[1]
        return Answer(data=known["data"], summary=known["summary"], metadata={**known["metadata"], "repeated": True})

    def _meant(self) -> dict[str, Any]:
        """Return what was sent but for what does not change the deed: the key itself, and that it was agreed to."""
        return {
            name: value for name, value in self._sent.items() if name != "confirm" or self._operation.question is None
        } | {"idempotency_key": ""}

    def _answered(self, session: Session | None, before: int = 0, acting: Acting | None = None) -> Answer:
        with _entered(self._frame):
            self._bind(session)
            if session is not None:
                self._resolve(session)
            elif any(each.reference for each in self._arguments.parameters):
                with self._desk.database.reading() as view:  # what opens its own transactions hears of ids alone, too
                    self._resolve(view)
            self._turn_page()
            self._ask()
            value: Any = self._operation.call(**self._values)
        if is_noted(value):
            self._remark(value.hint or ("" if value.wrote else UNCHANGED))
            self._is_unchanged = not value.wrote
            value = value.value
        if self._operation.remembers and self._reader.recalls:
            self._frame.conversation.memory.remember(self._operation.remembers, value.id, self._desk.now())
        if session is not None:
            self._frame.wrote = session.wrote - before
        elif acting is not None:
            self._frame.wrote = acting.wrote
        if self._frame.wrote and self._frame.unit == self._frame.call:
            self._metadata["undo"] = self._frame.unit
        return self._rendered(value, session)

    def _bind(self, session: Session | None) -> None:
        """Put in what was read lately where a reading operation was not told."""
        memory, now = self._frame.conversation.memory, self._desk.now()
        for name in self._operation.binds:
            if self._values[name] is not None:
                continue
            found = memory.recall(name, now) if self._reader.recalls else None
            if found and session is not None and rows.exists(session, kind_of(found) or "", found):
                self._values[name] = found
                self._metadata.setdefault("bound", {})[name] = found
            elif not self._arguments.is_optional(name):
                onward = "." if self._reader.wants_all else ", or read one first."
                missing = f"{self._arguments.called(self._reader)} was not called: {name} is missing."
                raise InvalidInputError(missing, hint=f"Give the id or name of a {name}{onward}")

    def _resolve(self, session: Session) -> None:
        """Put ids in the place of names."""
        for each in self._arguments.parameters:
            said = self._values[each.name]
            if each.reference is None or not isinstance(said, str):
                continue
            if said.strip() == "" and not self._arguments.is_optional(each.name):
                raise InvalidInputError(f"{each.name} is empty.", hint="Give an id or a name.")
            self._values[each.name] = resolve(session, each.reference, said.strip(), each.name)

    def _ask(self) -> None:
        """Stop where the person has to agree first, unless they agreed to just what would happen now.

        This is asked in the transaction of the write, so that nothing can come in between.
        """
        if self._operation.question is None or self._confirmed:
            return
        if question := self._operation.question(**self._values):
            agreement = asked(self._operation.name, {**self._values, "question": question})
            if agreement != self._frame.agreed:
                nothing = "This call changed nothing." if self._frame.is_for_a_script else "Nothing was changed yet."
                gap = "\n" if "\n" in question else " "
                told = f"{question}{gap}{nothing}"
                if way := self._operation.person:
                    hint = way.format(**self._values)
                    raise ConfirmationError(told, hint=hint, question=question, agreement=agreement)
                raise ConfirmationError(told, question=question, agreement=agreement)

    def _turn_page(self) -> None:
        """Turn limit and cursor into the part of the list that is wanted."""
        if self._arguments.page:
            self._question = answers.question(self._operation.name, self._values)
            after = answers.place(self._cursor, self._question) if self._cursor else None
            most = self._reader.rows if self._reader.wants_all else self._reader.most_rows
            counts = after is None or not self._reader.wants_all  # who reads all was told with the first page
            self._values[self._arguments.page] = Slice(min(self._limit or self._reader.rows, most), after, counts)

    def _rendered(self, value: Any, session: Session | None) -> Answer:
        packed = None
        if is_page(value):
            value, data, packed = self._fitted(value)
        else:
            data = self._plain(value, self._reader.alone)
            data = answers.without_withheld(value, data) if self._frame.is_for_a_script else data
            data = data if self._reader.wants_all else answers.shortened(data, self._reader.most_chars)
        if not self._reader.wants_all:
            self._name_projects(data, session)
        is_as_it_was = self._is_unchanged and isinstance(value, Item)
        summary = say.unchanged(value) if is_as_it_was else self._operation.summary(value)
        return Answer(
            data=data, summary=summary, metadata=self._metadata, rows=packed,
            shortfall=str(getattr(value, "shortfall", "")), exact=getattr(value, "TOLD_EXACTLY", ()),
        )  # fmt: skip

    def _plain(self, value: Any, long: int) -> Any:
        return plain(value, self._desk.zone, brief=self._brief, long=long, nulls=self._reader.wants_all)

    def _fitted(self, page: Page[Any]) -> tuple[Page[Any], list[Any], list[bytes] | None]:
        """Cut a page to the size that fits, say where the next begins; return it, its rows, and those packed."""
        reader = self._reader
        packed: list[bytes] | None = None
        each = (self._plain(item, reader.in_row) for item in page.items)
        if reader.wants_all:
            rows, packed = packing.fitting(each, reader.page_chars)
        else:
            rows = answers.fitting(list(each), reader.most_chars if self._limit else reader.page_chars)
            rows = answers.shortened(rows, reader.most_chars)
        count = len(rows)
        if page.total is not None:
            self._metadata["total"] = page.total
        more = page.more or count < len(page.items)
        if count and page.keys[count - 1] and more:
            self._metadata["next_cursor"] = answers.cursor(page.keys[count - 1], self._question)
        if page.index is not None:
            self._metadata["index"] = dict(page.index)
        self._remark(page.hint)
        return replace(page, items=page.items[:count], more=more), rows, packed

    def _remark(self, hint: str) -> None:
        if hint:
            self._metadata["hint"] = hint

    def _name_projects(self, data: Any, session: Session | None) -> None:
        """Say once what the projects of the rows are called."""
        ids = sorted(
            {id_ for id_ in (*_projects(data), *self._metadata.get("bound", {}).values()) if kind_of(id_) == "project"}
        )
        if ids and session is not None:
            known = names.labels(session, [("project", id_) for id_ in ids])
            self._metadata["names"] = {id_: known[id_][2] for id_ in ids if id_ in known}


def _projects(data: Any) -> Generator[str]:
    if is_object(data):
        for name, value in data.items():
            if name == "project" and isinstance(value, str):
                yield value
            else:
                yield from _projects(value)
    elif is_list(data):
        for each in data:
            yield from _projects(each)
