"""The worker: the only place that makes of a new process one that can do nothing but run a script, once."""

import faulthandler
import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn

from panorama.domain.scripts import Reason
from panorama.sandbox import frames, jobs
from panorama.sandbox.control import STOP, TELL, Order
from panorama.sandbox.execution import Execution, Stage, rehearse
from panorama.sandbox.frames import Frames
from panorama.sandbox.garbage import ASK_SECONDS, GARBAGE
from panorama.sandbox.lockdown import PIPE, Lockdown
from panorama.sandbox.pipe import Pipe
from panorama.sandbox.spoken import Language

UNABLE = 70
"""How a worker exits that could not begin."""

PATIENCE_SECONDS = 0.02
"""How long a script may go on computing after it was told to end; then C code alone tells where it is."""

REHEARSALS = 2
"""How often a worker that waits goes through a small script: the second takes 1 ms, and saves a fifth of it later."""

_FROM_THE_HOST: dict[bytes, int] = dict.fromkeys((frames.START, frames.ANSWER, frames.REFUSAL), 1 << 31)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What the template made for all its workers."""

    lockdown: Lockdown
    language: Language
    state: dict[str, Any]
    template: int


class Turn:
    """The one run of this process, once it has begun."""

    pipe: Pipe | None = None

    def stop(self, reason: Reason) -> None:
        """End the run, or the process that waits for one."""
        if self.pipe is None:
            os._exit(UNABLE)
        with suppress(RecursionError, MemoryError):  # the host kills what does not end by itself
            self.pipe.stop(reason)


def serve(prepared: Prepared, stream: int, order: Order) -> NoReturn:
    """Lock this new process in, wait for a script, run it, and exit."""
    try:
        prepared.lockdown.enter(stream, prepared.template, order.cpu_seconds, order.memory_bytes)
        channel = Frames(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, PIPE), _FROM_THE_HOST)
        if order.prepare:
            for _ in range(REHEARSALS):
                rehearse(prepared.language.small, prepared.language)
        turn = Turn()
        _answer_signals(turn, order.cpu_seconds)
        prepared.lockdown.filter()
        channel.send(frames.READY)
        stage = Stage(prepared.language, channel, prepared.state)
        execution = Execution(jobs.unpacked(channel.receive()[1]), stage)
        turn.pipe = execution.pipe
        execution.run()
        os._exit(0)
    finally:
        os._exit(UNABLE)


def _answer_signals(turn: Turn, cpu_seconds: float) -> None:
    """Let signals search for garbage, and end the run; where Python does not come to that, C code tells the line."""

    used = time.process_time()

    def stop(_: int, __: FrameType | None) -> None:
        turn.stop("time")

    def tick(_: int, interrupted: FrameType | None) -> None:
        if time.process_time() - used > cpu_seconds - ASK_SECONDS / 2:  # the next tick would be too late
            turn.stop("cpu")
        else:
            with suppress(RecursionError, MemoryError):  # it is asked again
                GARBAGE.search(interrupted)

    signal.signal(STOP, stop)
    signal.signal(signal.SIGPROF, tick)
    for number in (TELL, signal.SIGVTALRM):
        faulthandler.register(number, file=PIPE, all_threads=False)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds % ASK_SECONDS or ASK_SECONDS, ASK_SECONDS)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_seconds + PATIENCE_SECONDS)
