"""The worker: restricts a forked process, waits for a script, and runs it once."""

import faulthandler
import os
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn

from panorama.domain.scripts.scripts import Reason
from panorama.sandbox.isolation.lockdown import PIPE_FD, Lockdown
from panorama.sandbox.protocol import frames, script_message
from panorama.sandbox.protocol.control import DUMP_STACK, STOP, Order
from panorama.sandbox.protocol.frames import FrameChannel
from panorama.sandbox.worker.execution import Execution, RunEnvironment, warm_up
from panorama.sandbox.worker.language import Language
from panorama.sandbox.worker.pipe import Pipe

EXIT_UNABLE = 70
"""Exit code of a worker that could not start."""

GRACE_SECONDS = 0.02
"""How long a script may continue after it was asked to stop; then faulthandler dumps its line."""

WARM_UP_RUNS = 2
"""How often a waiting worker runs a short script: the second run takes 1 ms and saves a fifth of a start."""

_HOST_FRAME_LIMITS: dict[bytes, int] = dict.fromkeys((frames.START, frames.ANSWER, frames.REFUSAL), 1 << 31)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSetup:
    """The parts that the template prepares for all its workers."""

    lockdown: Lockdown
    language: Language
    state: dict[str, Any]
    template: int


class CurrentRun:
    """The one run of this process, once it has begun."""

    pipe: Pipe | None = None

    def stop(self, reason: Reason) -> None:
        """End the run, or the process that waits for one."""
        if self.pipe is None:
            os._exit(EXIT_UNABLE)
        with suppress(RecursionError, MemoryError):  # the host kills a process that does not end
            self.pipe.stop(reason)


def serve(setup: WorkerSetup, stream: int, order: Order) -> NoReturn:
    """Lock this new process in, wait for a script, run it, and exit."""
    try:
        setup.lockdown.enter(stream, setup.template, order.cpu_seconds, order.memory_bytes)
        channel = FrameChannel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, PIPE_FD), _HOST_FRAME_LIMITS)
        if order.prepare:
            for _ in range(WARM_UP_RUNS):
                warm_up(setup.language.small, setup.language)
        current = CurrentRun()
        _install_signal_handlers(current, order.cpu_seconds)
        setup.lockdown.install_filter()
        channel.send(frames.READY)
        environment = RunEnvironment(setup.language, channel, setup.state)
        execution = Execution(script_message.unpack_script(channel.receive()[1]), environment)
        current.pipe = execution.pipe
        execution.run()
        os._exit(0)
    finally:
        os._exit(EXIT_UNABLE)


def _install_signal_handlers(current: CurrentRun, cpu_seconds: float) -> None:
    """End the run on signals; during C code `faulthandler` dumps the line instead."""

    def stop_for_time(_: int, __: FrameType | None) -> None:
        current.stop("time")

    def stop_for_cpu(_: int, __: FrameType | None) -> None:
        current.stop("cpu")

    signal.signal(STOP, stop_for_time)
    signal.signal(signal.SIGPROF, stop_for_cpu)
    for number in (DUMP_STACK, signal.SIGVTALRM):
        faulthandler.register(number, file=PIPE_FD, all_threads=False)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_seconds + GRACE_SECONDS)
