"""Script sessions: scripts call operations separately, and all calls of a run are one unit."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from panorama.calls.call import Call
from panorama.calls.call_log import CallLogWriter, describe_source_call, redact
from panorama.calls.conversation import Memory
from panorama.calls.rendering import SCRIPT, Answer
from panorama.domain.changes import CLI_ACTOR, SCRIPT_ACTOR, WriteBudget
from panorama.domain.scripts.allowed_calls import AllowedCalls
from panorama.domain.scripts.scripts import CallRecord
from panorama.store.log.runs import Run

_CallFunction = Callable[[Call], Answer]


class ScriptSession:
    """The calls of one run, on behalf of the call that started it. Thread-safe."""

    def __init__(self, calling: _CallFunction, recorder: CallLogWriter, outer: Call, *, may_confirm: bool) -> None:
        self._calling = calling
        self._recorder = recorder
        self._outer = outer
        self._made: list[CallRecord] = []
        self._position = 0
        self._lock = threading.Lock()
        client = outer.conversation.client_name  # known in the thread of the request, not in those of the calls
        conversation = replace(outer.conversation, actor=SCRIPT_ACTOR, client=client, memory=Memory())
        self._template = Call(
            conversation=conversation, id="", unit=outer.unit, reader=SCRIPT, key=outer.key, may_confirm=may_confirm,
            budget=WriteBudget(),
        )  # fmt: skip

    @property
    def run(self) -> str:
        """The run's id, which is the unit of all its calls."""
        return self._template.unit

    @property
    def conversation(self) -> str:
        """The id of the requesting conversation."""
        return self._template.conversation.id

    def limit_writes(self, size_bytes: int) -> None:
        """Limit the bytes stored by all calls of the run together."""
        self._template.budget = WriteBudget(size_bytes)

    @property
    def client(self) -> str:
        """The client's name."""
        return self._template.conversation.client_name

    @property
    def is_at_terminal(self) -> bool:
        """Whether the user runs the script at a terminal, and reads its errors."""
        return self._outer.conversation.actor == CLI_ACTOR

    @property
    def takes_all(self) -> bool:
        """Whether a program reads the whole answer; models get a large result as a file."""
        return self._outer.reader.wants_all

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """The calls so far, in starting order."""
        return tuple(sorted(self._made, key=lambda call: call.position))

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        reads_only: bool = False,
        allowed: AllowedCalls | None = None,
    ) -> bytes:
        """Call one operation; return msgpack of {"data", "metadata"}.

        Args:
            reads_only: Reject writing operations.
            allowed: Reject all other calls.

        Raises:
            PanoramaError: The operation failed.
        """
        with self._lock:
            self._position += 1
            position = self._position
        began, wrote, is_done = time.perf_counter(), 0, False
        try:
            call = replace(
                self._template, name=name, arguments=arguments, position=position, reads_only=reads_only,
                allowed=allowed, entries=[],
            )  # fmt: skip
            answer = self._calling(call)
            wrote, is_done = call.wrote, True
            return answer.msgpack_bytes
        finally:
            ms = round((time.perf_counter() - began) * 1000, 3)
            logged, _ = describe_source_call(name, arguments)
            self._made.append(CallRecord(position=position, name=logged, ms=ms, ok=is_done, wrote=wrote))

    def record(self, run: Run, *, at_once: bool = False) -> None:
        """Log the state of the run; `at_once` waits until it is written."""
        self._recorder.record(replace(run, inputs=redact(run.inputs)))
        if at_once:
            self._recorder.flush()

    def finish(self, *, stands: bool) -> None:
        """Wait until everything is logged, and set whether the changes are kept."""
        self._outer.wrote = self._outer.wrote + sum(call.wrote for call in self._made) if stands else 0
        self._recorder.flush()
