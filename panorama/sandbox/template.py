"""The template: the process that imports everything once, locks itself in, and is copied for each run.

It has one thread: a worker is killed with the thread that forked it.
"""

import gc
import json
import os
import signal
import socket
import sys
import warnings
from typing import Any

from panorama.sandbox import addresses, faults, statics
from panorama.sandbox.control import GREETING_BYTES, Control, Order, Report
from panorama.sandbox.execution import rehearse
from panorama.sandbox.kernel import give_back
from panorama.sandbox.lockdown import Lockdown
from panorama.sandbox.spoken import Guarded, Language
from panorama.sandbox.surface import sdk
from panorama.sandbox.unguarded import Unguarded
from panorama.sandbox.worker import Prepared, serve

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    """Serve the host at the other end of the socket in the first argument; the second is JSON: what to leave out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the host who decides when to end
    warnings.simplefilter("ignore")  # nobody would hear them; "\d" in a text is a matter of taste
    gc.disable()
    control = Control(socket.socket(fileno=int(sys.argv[1])))
    left_out: dict[str, bool] = json.loads(sys.argv[2])
    state: dict[str, Any] = {}
    language = _language(state, guarded=left_out.get("language", True))
    for _ in range(2):  # the second time, what was made lazily in the first is found
        _rehearse(language)
    lockdown = Lockdown(seccomp=left_out.get("seccomp", True), landlock=left_out.get("landlock", True))
    isolation = lockdown.isolation()
    gc.collect()
    give_back()
    gc.freeze()  # so that no search for garbage writes to memory that all copies share
    control.stream.sendall(isolation.ljust(GREETING_BYTES).encode())
    _serve(control, Prepared(lockdown=lockdown, language=language, state=state, template=os.getpid()))


def _language(state: dict[str, Any], *, guarded: bool) -> Language:
    if not guarded:
        return Unguarded(sdk(state))
    language = Guarded(sdk(state))
    for each in (statics, faults, addresses):
        each.mend()
    return language


def _rehearse(language: Language) -> None:
    failure = rehearse(language.broad, language).failure
    if failure:
        raise RuntimeError(f"line {failure.line}: {failure.message}")


def _serve(control: Control, prepared: Prepared) -> None:
    while True:
        try:
            order, descriptors = control.ordered()
        except (EOFError, OSError):
            os._exit(0)  # the host is gone; its workers are killed with this process
        if order.fork:
            control.report(_forked(prepared, order, descriptors[0]))
        else:
            control.report(_ended(order.pid))


def _forked(prepared: Prepared, order: Order, stream: int) -> Report:
    try:
        child = os.fork()
    except OSError:
        child = -1
    if child == 0:
        serve(prepared, stream, order)
    os.close(stream)
    return Report(child)


def _ended(worker: int) -> Report:
    """Wait for a worker that the host has killed, and tell how it ended; until then nobody else has its number."""
    _, status, used = os.wait4(worker, 0)
    return Report(worker, status, used.ru_maxrss * _PEAK_UNIT, used.ru_utime + used.ru_stime)
