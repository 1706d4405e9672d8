"""Memory of another process: the only place that asks the system for it."""

import ctypes
import os
import sys
from typing import NamedTuple


class Use(NamedTuple):
    """What a process used: `peak_bytes` of memory, the most so far where that is known."""

    peak_bytes: int = 0
    cpu_seconds: float = 0.0


def used(pid: int) -> Use:
    """Return what a process used; nothing if it is gone, or if the system does not tell."""
    try:
        return _linux(pid) if sys.platform == "linux" else _darwin(pid) if sys.platform == "darwin" else Use()
    except (OSError, ValueError, IndexError):
        return Use()


def _linux(pid: int) -> Use:
    with open(f"/proc/{pid}/status", "rb") as status:
        peak = next((line for line in status if line.startswith(b"VmHWM:")), b"VmHWM: 0")
    with open(f"/proc/{pid}/stat", "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    ticks = int(fields[11]) + int(fields[12])  # utime and stime, the 14th and 15th
    return Use(int(peak.split()[1]) << 10, ticks / os.sysconf("SC_CLK_TCK"))


class _TaskInfo(ctypes.Structure):
    """`struct proc_taskinfo` of <sys/proc_info.h>."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("virtual", "resident", "user", "system", "user_gone", "system_gone")),
        ("rest", ctypes.c_int32 * 12),
    )


_TASK_INFO = 4


def _darwin(pid: int) -> Use:
    info = _TaskInfo()
    size = ctypes.sizeof(info)
    if ctypes.CDLL(None).proc_pidinfo(pid, _TASK_INFO, ctypes.c_uint64(0), ctypes.byref(info), size) < size:
        return Use()
    return Use(info.resident, 0.0)
