"""Lowers the priority of background threads."""

import os
import sys
import threading

NICENESS = 10
"""Of the thread that calls `give_way`: on Linux each has its own."""


def lower_thread_priority() -> None:
    """Let the thread that calls have a low claim on the processor, where threads have claims of their own."""
    if sys.platform != "linux":
        return
    thread = threading.get_native_id()
    if os.getpriority(os.PRIO_PROCESS, thread) < NICENESS:  # a higher claim than the one it has may not be asked for
        os.setpriority(os.PRIO_PROCESS, thread, NICENESS)
