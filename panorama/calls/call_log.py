"""Writes the call log in a thread, in batches, so that no call waits for it."""

import logging
import math
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, Self

from panorama.calls.arguments import printable
from panorama.calls.call import Call
from panorama.calls.rendering import Answer
from panorama.domain.changes import Origin
from panorama.domain.scripts.scripts import SOURCE_CALL
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.secrets import REDACTED, is_secret_name, redact_text
from panorama.errors import PanoramaError
from panorama.store.backend import Database
from panorama.store.backend.membership import CLEANUP
from panorama.store.log import calls, runs
from panorama.store.log.calls import CallLogEntry
from panorama.store.log.runs import Run

FLUSH_DELAY_SECONDS = 0.2
"""Seconds that an entry may wait for its batch; each batch takes the write lock and 3 ms."""

MAX_PENDING = 10_000
"""The maximum number of entries held while the database cannot be written; older ones are dropped."""

VALUE_CHARS = 200
SHORT_CHARS, SHORT_TEXTS = 64, 4096
"""The length and number of cached texts that scripts send repeatedly (a day, a status, an id, a name).

Longer texts and secrets are not cached, so the cache stays below two megabytes.
"""

MAX_VALUES = 50
ENTRY_CHARS = 4096
"""The maximum number of characters of argument names and values in one entry; the rest is cut."""

OMITTED = "…"
INTERNAL = "internal"
NAME_CHARS = 80
"""The maximum number of characters of a call's name in an entry."""

CHARS_PER_TOKEN = 4
Entry = CallLogEntry | Run
_ORIGIN = Origin(actor="log", client="", conversation="", operation="", call="", unit="")
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class CallOutcome:
    """The outcome of a call: the size of its answer in characters, those sent to a model, and the error code."""

    chars: int = 0
    read: int = 0
    code: str = INTERNAL

    @classmethod
    def of(cls, text: str, code: str = "") -> Self:
        """Return the outcome of a call with a text as its answer."""
        return cls(len(text), len(text), code)


def create_entry(call: Call, at: datetime, ms: float, ended_with: Answer | CallOutcome) -> CallLogEntry:
    """Return the log entry of a call that ended."""
    outcome = _measure_answer(ended_with, call) if isinstance(ended_with, Answer) else ended_with
    conversation = call.conversation
    name, arguments = describe_source_call(call.name, call.arguments)
    return CallLogEntry(
        id=call.id, unit=call.unit, at=at, actor=conversation.actor, client=conversation.client_name,
        conversation=conversation.id, name=printable(name, NAME_CHARS), arguments=redact(arguments),
        ms=round(ms, 3), success=not outcome.code, code=outcome.code, chars=outcome.chars,
        tokens=-(-outcome.read // CHARS_PER_TOKEN), changes=0 if outcome.code else call.wrote, position=call.position,
    )  # fmt: skip


def describe_source_call(name: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return how a call is logged: a call of a source under the name and with the arguments of its function."""
    if name != SOURCE_CALL:
        return name, arguments
    inner = arguments.get("arguments")
    called = f"{arguments.get('source')}.{arguments.get('function')}"
    return called, inner if is_object(inner) else {}


def _measure_answer(answer: Answer, call: Call) -> CallOutcome:
    """Return the outcome of a call that has an answer; models read neither what scripts get nor what a page shows."""
    if call.position:
        return CallOutcome(len(answer.msgpack_bytes), 0, "")
    return CallOutcome(0, 0, "") if call.reader.is_page else CallOutcome.of(answer.text)


class CallLogWriter:
    """Accepts entries immediately and writes them within 200 ms; `flush` waits until all are written."""

    def __init__(self, database: Database, *, keep: timedelta) -> None:
        self._database = database
        self._keep = keep
        self._waiting: deque[Entry] = deque(maxlen=MAX_PENDING)
        self._left: list[Entry] = []
        self._wake = threading.Event()
        self._writing = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._problem = ""
        self._start = threading.Lock()
        self._forgot: datetime | None = None

    def record(self, *entries: Entry) -> None:
        """Add entries."""
        self._waiting.extend(entries)
        if self._thread is None:
            self._start_thread()
        if not self._wake.is_set():
            self._wake.set()

    def flush(self) -> None:
        """Write pending entries now; those that cannot be written stay pending."""
        with self._writing:
            batch = [*self._left, *(self._waiting.popleft() for _ in range(len(self._waiting)))]
            if batch:
                self._left = self._write(batch)[-MAX_PENDING:]

    def close(self) -> None:
        """Write pending entries and stop the thread."""
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self.flush()

    def _start_thread(self) -> None:
        with self._start:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="call-log", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._wake.clear()
            self._closing.wait(FLUSH_DELAY_SECONDS)
            self.flush()

    def _write(self, batch: list[Entry]) -> list[Entry]:
        """Write entries in one transaction, else one by one; return those that could not be written."""
        try:
            with self._database.transaction(_ORIGIN) as session:
                if entries := [entry for entry in batch if isinstance(entry, CallLogEntry)]:
                    calls.add(session, entries)
                if ran := [entry for entry in batch if isinstance(entry, Run)]:
                    runs.save(session, ran)
                self._prune_daily(session, batch[-1].at)
        except PanoramaError as error:
            if error.message != self._problem:  # once per cause: a read-only role would get it after each call
                _log.warning("the call log cannot be written yet: %s", error.message)
            self._problem = error.message
            return batch
        except Exception:  # one bad entry must not block the others
            if len(batch) > 1:
                return [left for record in batch for left in self._write([record])]
            _log.exception("an entry of the call log cannot be written yet")
            return batch
        self._problem = ""
        return []

    def _prune_daily(self, session: Any, now: datetime) -> None:
        is_due = self._forgot is None or now - self._forgot > timedelta(days=1)
        if is_due and self._database.membership.holds(CLEANUP):
            calls.delete_before(session, now - self._keep)
            runs.delete_before(session, now - self._keep)
            self._forgot = now


def redact(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for the log: secrets redacted, long values cut."""
    return _redact_object(arguments, -1, _CharBudget())


class _CharBudget:
    """The remaining characters for one entry."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = ENTRY_CHARS


def _redact_object(value: Mapping[Any, Any], depth: int, room: _CharBudget) -> dict[str, Any]:
    redacted: dict[str, Any] = {}
    for name, entry in islice(value.items(), MAX_VALUES):
        if room.left <= 0:
            redacted[OMITTED] = OMITTED
            break
        key = printable(name)
        room.left -= len(key)
        redacted[key] = _redact_and_count(entry, str(name), depth + 1, room)
    return redacted


def _redact_list(value: list[Any], name: str, depth: int, room: _CharBudget) -> list[Any]:
    redacted: list[Any] = []
    for entry in islice(value, MAX_VALUES):
        if room.left <= 0:
            redacted.append(OMITTED)
            break
        redacted.append(_redact_and_count(entry, name, depth + 1, room))
    return redacted


def _redact_and_count(value: Any, name: str, depth: int, room: _CharBudget) -> Any:
    redacted = _redact_value(value, name, depth, room)
    room.left -= len(redacted) if type(redacted) is str else 8
    return redacted


@lru_cache(SHORT_TEXTS)
def _redact_short(value: str) -> str:
    return redact_text(printable(value))


_short_names_secret = lru_cache(SHORT_TEXTS)(is_secret_name)


def _redact_value(value: Any, name: str, depth: int, room: _CharBudget) -> Any:
    hides = _short_names_secret(name) if len(name) <= SHORT_CHARS else is_secret_name(name)
    if hides and value not in (None, ""):
        return REDACTED
    if type(value) is str and len(value) <= SHORT_CHARS:
        return _redact_short(value)
    if isinstance(value, str):
        shown = redact_text(printable(value, VALUE_CHARS * 4))
        return shown if len(value) <= VALUE_CHARS else f"{shown[:VALUE_CHARS]}… ({len(value):,} characters)"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no number for it
    if isinstance(value, int | float | bool) or value is None:
        return value
    if depth > 6:
        return OMITTED
    if is_object(value):
        return _redact_object(value, depth, room)
    if is_list(value):
        return _redact_list(value, name, depth, room)
    return printable(value)
