"""Reads the frames of one worker, which is not trusted, until the run ends."""

import re
import socket
import time
from contextlib import suppress
from dataclasses import replace

from panorama.domain.scripts.scripts import Failure, Limits, Reason, RunOutcome, Script
from panorama.sandbox.host import call_server, progress
from panorama.sandbox.host.call_server import CallServer
from panorama.sandbox.host.deadline import RunDeadline, is_memory_polled
from panorama.sandbox.host.progress import ProgressRelay
from panorama.sandbox.protocol import frames, outcome
from panorama.sandbox.protocol import limits as words
from panorama.sandbox.protocol.frames import FrameChannel, ProtocolError, StackError
from panorama.sandbox.rules.violations import FILENAME
from panorama.sandbox.worker.tracebacks import SourceTraceback

FRAMES_BURST, FRAMES_PER_SECOND = 1000, 200
"""Output and progress beyond this break the protocol: a worker collects them for some milliseconds."""

WATCH_DELAY_SECONDS = 0.005
"""How long a silent worker is not watched: many end within that, and watching costs 0.1 ms."""

STACK_CHARS = 1 << 14
"""How much of a stack dump is read; faulthandler writes at most a hundred short lines."""

_LINE = re.compile(rf'  File "{re.escape(FILENAME)}", line (\d{{1,9}}) in (.{{1,200}}).*')


class WorkerSilentError(Exception):
    """The worker is gone without an outcome; only the template knows how it ended."""


def open_channel(stream: socket.socket, limits: Limits) -> FrameChannel:
    """Return the channel to a worker, with the size limits of its frames."""
    call = call_server.max_frame_bytes(limits.call_bytes)
    caps = {
        frames.READY: 0,
        frames.CALL: call,
        frames.CONCURRENT_CALL: call,
        frames.OUTPUT: limits.output_bytes,
        frames.PROGRESS: progress.MAX_FRAME_BYTES,
        frames.OUTCOME: outcome.max_frame_bytes(limits),
    }
    return FrameChannel(stream, caps)


def try_send(channel: FrameChannel, script_message: bytes) -> bool:
    """Send a worker its script early; return False if that could block."""
    is_long = len(script_message) >= frames.CHUNK_BYTES  # sending could block until the worker reads
    if is_long or is_memory_polled():
        return False
    with suppress(OSError):  # it is gone; what it sent before is still read
        channel.send(frames.START, script_message)
    return True


class WorkerRun:
    """One script in one worker."""

    def __init__(
        self,
        script: Script,
        channel: FrameChannel,
        server: CallServer,
        progress_relay: ProgressRelay,
        deadline: RunDeadline,
        script_message: bytes,
    ) -> None:
        """Create a run; `unsent_script` is b"" if the worker already has the script."""
        self._script = script
        self._channel = channel
        self._server = server
        self._progress = progress_relay
        self._deadline = deadline
        self._unsent_script = script_message
        self._text = SourceTraceback(source=script.source, filename=FILENAME, entry="")
        self._output = bytearray()
        self._ready = False
        self._frame_count = 0
        self._started_at = time.monotonic()

    def wait_for_outcome(self) -> RunOutcome:
        """Send the script if it was not sent, answer its calls, and return how it ended.

        Raises:
            WorkerSilentError: The worker is gone without an outcome.
        """
        try:
            run_outcome = self._serve()
        except StackError as error:
            run_outcome = self._build_stack_outcome(error.text)
        except (ProtocolError, EOFError, OSError) as error:
            run_outcome = self._build_broken_outcome(self._server.broken or error)
        self._progress.forward(is_final=True)
        return self.complete_outcome(run_outcome)

    def complete_outcome(self, run_outcome: RunOutcome) -> RunOutcome:
        """Return an outcome with the output and counts that came before it."""
        output = self._output.decode("utf-8", "replace") + run_outcome.output
        return replace(run_outcome, output=output, calls=self._server.calls, sent_bytes=self._server.sent_bytes)

    def _serve(self) -> RunOutcome:
        self._send_script()
        kind = frames.READY
        while True:
            if kind != frames.READY or not self._channel.poll(WATCH_DELAY_SECONDS):
                self._deadline.start()
            is_answered = kind == frames.CALL  # then the worker often calls again
            kind, frame = self._channel.receive_fast() if is_answered else self._channel.receive()
            if kind in (frames.CALL, frames.CONCURRENT_CALL) and self._ready:
                self._deadline.start()  # the call may take long
                if self._deadline.cause is not None:
                    continue  # it was asked to stop: pending calls are not executed
                if not self._server.handle(frame, overlapping=kind == frames.CONCURRENT_CALL):
                    return self._build_failure_outcome("calls")
                self._progress.forward()
            elif kind == frames.OUTCOME and self._ready:
                return self._check_outcome(outcome.unpack_outcome(frame, self._script.limits))
            else:
                self._handle_frame(kind, frame)

    def _send_script(self) -> None:
        """Send the script if it was not sent early; the worker is watched meanwhile."""
        if self._unsent_script:
            self._deadline.start()
            with suppress(OSError):  # it is gone; what it sent before is still read
                self._channel.send(frames.START, self._unsent_script)

    def _handle_frame(self, kind: bytes, frame: bytes | bytearray) -> None:
        self._frame_count += 1
        if self._ready == (kind == frames.READY):
            raise ProtocolError("frames in a strange order")
        if self._frame_count > FRAMES_BURST + FRAMES_PER_SECOND * (time.monotonic() - self._started_at):
            raise ProtocolError("too many frames")
        if kind == frames.READY:
            self._ready = True
        elif kind == frames.PROGRESS:
            self._progress.receive(frame)
        else:
            self._append_output(frame)

    def _append_output(self, frame: bytes | bytearray) -> None:
        self._output += frame
        if len(self._output) > self._script.limits.output_bytes:
            raise ProtocolError("more output than it may send")

    def _check_outcome(self, run_outcome: RunOutcome) -> RunOutcome:
        """Return an outcome with the reason that only the host knows."""
        if len(self._output) + len(run_outcome.output) > self._script.limits.output_bytes:
            raise ProtocolError("more output than it may send")
        cause = self._deadline.cause
        if cause is None or run_outcome.failure is None or run_outcome.failure.reason != "time":
            return run_outcome
        message, hint = words.format_message(cause, self._script.limits), words.get_hint(cause)
        return replace(run_outcome, failure=replace(run_outcome.failure, reason=cause, message=message, hint=hint))

    def _build_stack_outcome(self, text: str) -> RunOutcome:
        """Return the outcome of a script whose position was dumped by `faulthandler`."""
        match, received = None, len(text)
        with suppress(EOFError, OSError):
            while (match := _find_position(text)) is None and received < STACK_CHARS:
                chunk = self._channel.receive_raw().decode("utf-8", "replace")
                text, received = text[text.rfind("\n") + 1 :] + chunk, received + len(chunk)
        line, function = (int(match[1]), match[2]) if match else (0, "")
        return self._build_failure_outcome(self._deadline.cause or "cpu", line=line, function=function)

    def _build_broken_outcome(self, error: Exception) -> RunOutcome:
        """Return the outcome of a stopped run, or of a worker that broke the protocol."""
        if self._deadline.cause is not None:
            return self._build_failure_outcome(self._deadline.cause)
        if isinstance(error, ProtocolError):
            return self._build_failure_outcome("protocol", f"The script's process sent invalid data: {error}.")
        raise WorkerSilentError from error

    def _build_failure_outcome(
        self, reason: Reason, message: str = "", line: int = 0, function: str = ""
    ) -> RunOutcome:
        description = message or words.format_message(reason, self._script.limits)
        failure: Failure = self._text.build_dump_failure(reason, description, line, function)
        used = self._deadline.used
        return RunOutcome(failure=failure, peak_bytes=used.peak_bytes, cpu_seconds=used.cpu_seconds)


def _find_position(text: str) -> re.Match[str] | None:
    """Return the first complete line that names a position in the script."""
    return next(filter(None, map(_LINE.fullmatch, text.split("\n")[:-1])), None)
