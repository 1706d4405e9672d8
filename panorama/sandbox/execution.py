"""One execution: the only place that compiles a script, runs it, and makes of what is left how it ended."""

import mmap
import resource
import sys
import time
from contextlib import suppress
from typing import Any

from panorama.domain.scripts import Ending, Failure, Limits, Reason, Script
from panorama.sandbox import endings, frames, jobs, shapes, states
from panorama.sandbox import limits as words
from panorama.sandbox.failures import EndError, Text
from panorama.sandbox.frames import Frames
from panorama.sandbox.jobs import Job
from panorama.sandbox.pipe import Pipe
from panorama.sandbox.results import encoded
from panorama.sandbox.spoken import Language
from panorama.sdk import _wire

BALLAST = mmap.mmap(-1, 4 << 20)
"""Given back when memory runs out, so that this can be said; never touched, for that would take milliseconds."""

SHOWN_BYTES = 1_000
"""Results up to here are always shown whole, and need no description."""

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class Stage:
    """What a script needs, whatever it is: made while its worker waits for it.

    `pipe` is its way out, `names` are those it begins with, `state` is the dict that is `sdk.state`.
    """

    def __init__(self, language: Language, channel: Frames, state: dict[str, Any]) -> None:
        self.language = language
        self.pipe = Pipe(channel, state)
        self.names = language.namespace(self.pipe.output.printed)


class Execution:
    """A script that is run once, on a stage of its own."""

    def __init__(self, job: Job, stage: Stage) -> None:
        language = stage.language
        self.pipe = stage.pipe
        self.pipe.begin(job.limits, self._stopped)
        self._names = stage.names
        self._job = job
        self._language = language
        self._text = Text(source=job.source, filename=language.filename, entry=language.entry)
        self._began = time.process_time()

    def run(self) -> None:
        """Run the script and send how it ended."""
        self.pipe.state.update(states.read(self._job.state))
        _wire.use(self.pipe)
        self.pipe.say(self._ended())

    def _ended(self) -> Ending:
        try:
            try:
                code = self._language.compiled(self._job.source, self._job.inputs)
            except SyntaxError as error:
                return self._ending(failure=self._text.refused(error))
            return self._succeeded(self._result(code))
        except BaseException as error:
            BALLAST.close()
            failure = self._text.failed(error, self._job.limits)
            error.__traceback__ = None  # what the script holds is in there
            return self._ending(failure=failure, state=self._kept())

    def _result(self, code: Any) -> object:
        self._language.give(self._names, self._job.inputs)
        exec(code, self._names)
        entry: Any = self._names[self._language.entry]
        return entry()

    def _succeeded(self, result: object) -> Ending:
        limits = self._job.limits
        try:
            text = encoded(result)
            state = states.changed(self._job.state, self.pipe.state, limits)
        except MemoryError:
            message = f"The result is too large to be told: {words.message('memory', limits)}"
            raise EndError(message, hint=words.hint("result_size"), reason="memory") from None
        if len(text) > limits.result_bytes:
            raise EndError(words.message("result_size", limits), hint=words.hint("result_size"), reason="result_size")
        shape = shapes.shape(result) if len(text) > SHOWN_BYTES else ""
        return self._ending(result=text, shape=shape, state=state)

    def _kept(self) -> bytes:
        """Return what changed in the state of a script that failed, if it can be kept."""
        with suppress(BaseException):
            return states.changed(self._job.state, self.pipe.state, self._job.limits)
        return b""

    def _stopped(self, reason: Reason) -> Ending:
        frame = sys._getframe()  # pyright: ignore[reportPrivateUsage]
        message = words.message(reason, self._job.limits)
        return self._ending(failure=self._text.stopped(reason, message, frame))

    def _ending(
        self, *, result: bytes = b"", shape: str = "", state: bytes = b"", failure: Failure | None = None
    ) -> Ending:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT
        return Ending(
            result=result, shape=shape, state=state, failure=failure, peak_bytes=peak,
            cpu_seconds=time.process_time() - self._began,
        )  # fmt: skip


def rehearse(source: str, language: Language) -> Ending:
    """Run a script of our own and return how it ended: what is slow the first time is then done."""
    nobody = _Nobody()
    Execution(jobs.unpacked(jobs.packed(Script(source=source))), Stage(language, nobody, {})).run()
    return nobody.ending


class _Nobody(Frames):
    """A channel at whose end nobody listens."""

    def __init__(self) -> None:
        self.ending = Ending()

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Keep the ending."""
        if kind == frames.ENDING:
            self.ending = endings.unpacked(b"".join(parts), Limits())
