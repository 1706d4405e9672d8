"""Compiles and runs one script, and builds its outcome."""

import mmap
import resource
import sys
import time
from contextlib import suppress
from typing import Any

from panorama.domain.scripts.scripts import Failure, Limits, Reason, RunOutcome, Script
from panorama.sandbox.protocol import frames, outcome, script_message
from panorama.sandbox.protocol import limits as words
from panorama.sandbox.protocol.frames import FrameChannel
from panorama.sandbox.protocol.script_message import ScriptMessage
from panorama.sandbox.worker import result_summary
from panorama.sandbox.worker import state as states
from panorama.sandbox.worker.language import Language
from panorama.sandbox.worker.pipe import Pipe
from panorama.sandbox.worker.results import encode_json
from panorama.sandbox.worker.tracebacks import OutcomeError, SourceTraceback
from panorama.sdk.core import wire

MEMORY_RESERVE = mmap.mmap(-1, 4 << 20)
"""Released when memory runs out, so that this can be reported; never touched, which would take milliseconds."""

INLINE_RESULT_BYTES = 1_000
"""Results up to this size are always shown whole and need no description."""

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class RunEnvironment:
    """The pipe and the names of a run, prepared while the worker waits for a script.

    `names` are the initial globals; `state` is the dict behind `sdk.state`.
    """

    def __init__(self, language: Language, channel: FrameChannel, state: dict[str, Any]) -> None:
        self.language = language
        self.pipe = Pipe(channel, state)
        self.names = language.build_namespace(self.pipe.output.print)


class Execution:
    """One run of one script."""

    def __init__(self, script: ScriptMessage, environment: RunEnvironment) -> None:
        language = environment.language
        self.pipe = environment.pipe
        self.pipe.start(script.limits, self._build_stop_outcome)
        self._names = environment.names
        self._script = script
        self._language = language
        self._text = SourceTraceback(source=script.source, filename=language.filename, entry=language.entry)
        self._began = time.process_time()

    def run(self) -> None:
        """Run the script and send how it ended."""
        self.pipe.state.update(states.decode_state(self._script.state))
        wire.use(self.pipe)
        self.pipe.send_outcome(self._execute())

    def _execute(self) -> RunOutcome:
        try:
            try:
                code = self._language.compile(self._script.source, self._script.inputs)
            except SyntaxError as error:
                return self._build_outcome(failure=self._text.build_syntax_failure(error))
            return self._build_success_outcome(self._call_entry(code))
        except BaseException as error:  # a script may raise anything; it becomes the run's failure
            MEMORY_RESERVE.close()
            failure = self._text.build_exception_failure(error, self._script.limits)
            error.__traceback__ = None  # it refers to the script's objects
            return self._build_outcome(failure=failure, state=self._try_diff_state())

    def _call_entry(self, code: Any) -> object:
        self._language.add_inputs(self._names, self._script.inputs)
        if self._script.sources:
            self._language.add_sources(self._script.sources)
        exec(code, self._names)
        entry: Any = self._names[self._language.entry]
        return entry()

    def _build_success_outcome(self, result: object) -> RunOutcome:
        limits = self._script.limits
        try:
            text = encode_json(result)
            state = states.diff_state(self._script.state, self.pipe.state, limits)
        except MemoryError:
            message = f"The result is too large to be sent: {words.format_message('memory', limits)}"
            raise OutcomeError(message, hint=words.get_hint("result_size"), reason="memory") from None
        if len(text) > limits.result_bytes:
            raise OutcomeError(
                words.format_message("result_size", limits), hint=words.get_hint("result_size"), reason="result_size"
            )
        shape = result_summary.describe_shape(result) if len(text) > INLINE_RESULT_BYTES else ""
        return self._build_outcome(result=text, shape=shape, state=state)

    def _try_diff_state(self) -> bytes:
        """Return the state changes of a failed script, if they can be stored."""
        with suppress(BaseException):  # the run has failed already, and its own error is the one to report
            return states.diff_state(self._script.state, self.pipe.state, self._script.limits)
        return b""

    def _build_stop_outcome(self, reason: Reason) -> RunOutcome:
        frame = sys._getframe()  # pyright: ignore[reportPrivateUsage] (the only way to the frame)
        message = words.format_message(reason, self._script.limits)
        return self._build_outcome(failure=self._text.build_stop_failure(reason, message, frame))

    def _build_outcome(
        self, *, result: bytes = b"", shape: str = "", state: bytes = b"", failure: Failure | None = None
    ) -> RunOutcome:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT
        return RunOutcome(
            result=result, shape=shape, state=state, failure=failure, peak_bytes=peak,
            cpu_seconds=time.process_time() - self._began,
        )  # fmt: skip


def warm_up(source: str, language: Language) -> RunOutcome:
    """Run a warm-up script, so that first-time costs are paid before a real one."""
    sink = _NullChannel()
    Execution(
        script_message.unpack_script(script_message.pack_script(Script(source=source))),
        RunEnvironment(language, sink, {}),
    ).run()
    return sink.outcome


class _NullChannel(FrameChannel):
    """A channel that keeps the outcome and drops everything else."""

    def __init__(self) -> None:
        self.outcome = RunOutcome()

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Keep the outcome."""
        if kind == frames.OUTCOME:
            self.outcome = outcome.unpack_outcome(b"".join(parts), Limits())
