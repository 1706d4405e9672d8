"""One run: the only place of the host that listens to a worker, which may lie, and says how the run ended."""

import re
import socket
import time
from contextlib import suppress
from dataclasses import replace

from panorama.domain.scripts import Ending, Failure, Limits, Reason, Script
from panorama.sandbox import answering, endings, frames, reports
from panorama.sandbox import limits as words
from panorama.sandbox.answering import Answering
from panorama.sandbox.failures import Text
from panorama.sandbox.frames import Frames, ProtocolError, StackError
from panorama.sandbox.refusals import FILENAME
from panorama.sandbox.reports import Reports
from panorama.sandbox.stopping import Stopping, counts_memory

FRAMES_AT_FIRST, FRAMES_PER_SECOND = 1000, 200
"""Output and progress in more pieces come from no worker of ours: it keeps them together for some milliseconds."""

SOON_SECONDS = 0.005
"""How long a worker is not watched that has not said anything yet: many end within that, and to watch costs 0.1 ms."""

STACK_CHARS = 1 << 14
"""How much of what a worker says of its place is read; C code tells of a hundred functions at most, in short lines."""

_LINE = re.compile(rf'  File "{re.escape(FILENAME)}", line (\d{{1,9}}) in (.{{1,200}}).*')


class SilentError(Exception):
    """The worker is gone and said nothing; how it ended is known to the template alone."""


def channel(stream: socket.socket, limits: Limits) -> Frames:
    """Return the pipe to a worker, with all that it may say."""
    call = answering.cap(limits.call_bytes)
    caps = {
        frames.READY: 0,
        frames.CALL: call,
        frames.OVERLAPPING: call,
        frames.OUTPUT: limits.output_bytes,
        frames.PROGRESS: reports.CAP_BYTES,
        frames.ENDING: endings.cap(limits),
    }
    return Frames(stream, caps)


def sent(channel: Frames, job: bytes) -> bool:
    """Send a worker its script at once, so that it is at work while all else is made; False if that must not be."""
    is_long = len(job) >= frames.CHUNK_BYTES  # to send it takes as long as the worker takes to read it
    if is_long or counts_memory():
        return False
    with suppress(OSError):  # what it said before it went is still to be read
        channel.send(frames.START, job)
    return True


class Run:
    """One script in one worker."""

    def __init__(
        self, script: Script, channel: Frames, answering: Answering, reports: Reports, stopping: Stopping, job: bytes
    ) -> None:
        """Make a run; `job` is what the worker is still to be sent, b"" if it has it."""
        self._script = script
        self._channel = channel
        self._answering = answering
        self._reports = reports
        self._stopping = stopping
        self._job = job
        self._text = Text(source=script.source, filename=FILENAME, entry="")
        self._output = bytearray()
        self._ready = False
        self._heard = 0
        self._began = time.monotonic()

    def ending(self) -> Ending:
        """Send the script if it was not sent, answer its calls, and return how it ended.

        Raises:
            SilentError: The worker is gone, and nobody here knows why.
        """
        try:
            ending = self._listened()
        except StackError as error:
            ending = self._told_where(error.text)
        except (ProtocolError, EOFError, OSError) as error:
            ending = self._broken(self._answering.broken or error)
        self._reports.tell(at_last=True)
        return self.completed(ending)

    def completed(self, ending: Ending) -> Ending:
        """Return an ending with what was heard before it."""
        output = self._output.decode("utf-8", "replace") + ending.output
        return replace(ending, output=output, calls=self._answering.calls, sent_bytes=self._answering.sent_bytes)

    def _listened(self) -> Ending:
        self._begin()
        kind = frames.READY
        while True:
            if kind != frames.READY or not self._channel.comes(SOON_SECONDS):
                self._stopping.begin()
            is_answered = kind == frames.CALL  # then the worker goes on, and often calls again
            kind, frame = self._channel.receive_soon() if is_answered else self._channel.receive()
            if kind in (frames.CALL, frames.OVERLAPPING) and self._ready:
                self._stopping.begin()  # to answer may take long
                if self._stopping.cause is not None:
                    continue  # it was told to end: what it asked for before and was not given is not done any more
                if not self._answering.call(frame, overlapping=kind == frames.OVERLAPPING):
                    return self._failed("calls")
                self._reports.tell()
            elif kind == frames.ENDING and self._ready:
                return self._ended(endings.unpacked(frame, self._script.limits))
            else:
                self._take(kind, frame)

    def _begin(self) -> None:
        """Send the script, if that could not be done at once; the worker is watched meanwhile."""
        if self._job:
            self._stopping.begin()
            with suppress(OSError):  # what it said before it went is still to be read
                self._channel.send(frames.START, self._job)

    def _take(self, kind: bytes, frame: bytes | bytearray) -> None:
        self._heard += 1
        if self._ready == (kind == frames.READY):
            raise ProtocolError("frames in a strange order")
        if self._heard > FRAMES_AT_FIRST + FRAMES_PER_SECOND * (time.monotonic() - self._began):
            raise ProtocolError("too many frames")
        if kind == frames.READY:
            self._ready = True
        elif kind == frames.PROGRESS:
            self._reports.take(frame)
        else:
            self._print(frame)

    def _print(self, frame: bytes | bytearray) -> None:
        self._output += frame
        if len(self._output) > self._script.limits.output_bytes:
            raise ProtocolError("more output than it may send")

    def _ended(self, ending: Ending) -> Ending:
        """Return an ending for the reason that is known here: a worker that was stopped does not know why."""
        if len(self._output) + len(ending.output) > self._script.limits.output_bytes:
            raise ProtocolError("more output than it may send")
        cause = self._stopping.cause
        if cause is None or ending.failure is None or ending.failure.reason != "time":
            return ending
        message, hint = words.message(cause, self._script.limits), words.hint(cause)
        return replace(ending, failure=replace(ending.failure, reason=cause, message=message, hint=hint))

    def _told_where(self, text: str) -> Ending:
        """Return the ending of a script that C code has told the place of, after it was asked or used up its time."""
        found, heard = None, len(text)
        with suppress(EOFError, OSError):
            while (found := _place(text)) is None and heard < STACK_CHARS:
                some = self._channel.some().decode("utf-8", "replace")
                text, heard = text[text.rfind("\n") + 1 :] + some, heard + len(some)
        line, function = (int(found[1]), found[2]) if found else (0, "")
        return self._failed(self._stopping.cause or "cpu", line=line, function=function)

    def _broken(self, error: Exception) -> Ending:
        """Return the ending of a run that was told to end, or of a worker that lies."""
        if self._stopping.cause is not None:
            return self._failed(self._stopping.cause)
        if isinstance(error, ProtocolError):
            return self._failed("protocol", f"The process that ran the script said what it never says: {error}.")
        raise SilentError from error

    def _failed(self, reason: Reason, message: str = "", line: int = 0, function: str = "") -> Ending:
        said = message or words.message(reason, self._script.limits)
        failure: Failure = self._text.dumped(reason, said, line, function)
        used = self._stopping.used
        return Ending(failure=failure, peak_bytes=used.peak_bytes, cpu_seconds=used.cpu_seconds)


def _place(text: str) -> re.Match[str] | None:
    """Return the first line that tells of a place in the script; one that has not ended yet is none."""
    return next(filter(None, map(_LINE.fullmatch, text.split("\n")[:-1])), None)
