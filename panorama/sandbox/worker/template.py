"""The template process: imports everything, restricts itself, and forks workers.

It has one thread, because a worker is killed with the thread that forked it.
"""

import gc
import json
import os
import signal
import socket
import sys
import warnings
from typing import Any

from panorama.sandbox.isolation.kernel import trim_memory
from panorama.sandbox.isolation.lockdown import Lockdown
from panorama.sandbox.protocol.control import GREETING_BYTES, ControlChannel, Order, Report
from panorama.sandbox.stdlib.sdk_module import build_sdk
from panorama.sandbox.worker.execution import warm_up
from panorama.sandbox.worker.language import Language, RestrictedLanguage
from panorama.sandbox.worker.unrestricted import UnrestrictedLanguage
from panorama.sandbox.worker.worker import WorkerSetup, serve

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    """Serve the host over the socket in argument 1; argument 2 is JSON of layers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host decides when to end
    warnings.simplefilter("ignore")  # nobody would see them
    gc.disable()
    control = ControlChannel(socket.socket(fileno=int(sys.argv[1])))
    layers: dict[str, bool] = json.loads(sys.argv[2])
    state: dict[str, Any] = {}
    language = _build_language(state, guarded=layers.get("language", True))
    for _ in range(2):  # the second run finds what the first created lazily
        _warm_up(language)
    lockdown = Lockdown(seccomp=layers.get("seccomp", True), landlock=layers.get("landlock", True))
    isolation = lockdown.measure_isolation()
    gc.collect()
    trim_memory()
    gc.freeze()  # so that no collection writes to memory that all workers share
    gc.enable()
    control.stream.sendall(isolation.ljust(GREETING_BYTES).encode())
    _serve(control, WorkerSetup(lockdown=lockdown, language=language, state=state, template=os.getpid()))


def _build_language(state: dict[str, Any], *, guarded: bool) -> Language:
    sdk = build_sdk(state)
    return RestrictedLanguage(sdk) if guarded else UnrestrictedLanguage(sdk)


def _warm_up(language: Language) -> None:
    failure = warm_up(language.broad, language).failure
    if failure:
        raise RuntimeError(f"line {failure.line}: {failure.message}")


def _serve(control: ControlChannel, setup: WorkerSetup) -> None:
    while True:
        try:
            order, descriptors = control.receive_order()
        except (EOFError, OSError):
            os._exit(0)  # the host is gone; workers are killed with this process
        if order.fork:
            control.send_report(_fork_worker(setup, order, descriptors[0]))
        else:
            control.send_report(_reap_worker(order.pid))


def _fork_worker(setup: WorkerSetup, order: Order, stream: int) -> Report:
    try:
        child = os.fork()
    except OSError:
        child = -1
    if child == 0:
        serve(setup, stream, order)
    os.close(stream)
    return Report(child)


def _reap_worker(worker: int) -> Report:
    """Wait for a killed worker, whose pid is not reused until then; report on it."""
    _, status, used = os.wait4(worker, 0)
    return Report(worker, status, used.ru_maxrss * _PEAK_UNIT, used.ru_utime + used.ru_stime)
