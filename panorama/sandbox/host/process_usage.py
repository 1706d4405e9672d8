"""Measures memory and processor time of another process."""

import ctypes
import os
import sys
from typing import NamedTuple


class ProcessUsage(NamedTuple):
    """The resource usage of a process; `peak_bytes` is its maximum memory, where known."""

    peak_bytes: int = 0
    cpu_seconds: float = 0.0


def measure_usage(pid: int) -> ProcessUsage:
    """Return the resource usage of a process; zeros if it is gone or the system cannot report it."""
    try:
        return (
            _measure_linux(pid)
            if sys.platform == "linux"
            else _measure_darwin(pid)
            if sys.platform == "darwin"
            else ProcessUsage()
        )
    except (OSError, ValueError, IndexError):
        return ProcessUsage()


def _measure_linux(pid: int) -> ProcessUsage:
    with open(f"/proc/{pid}/status", "rb") as status:
        peak = next((line for line in status if line.startswith(b"VmHWM:")), b"VmHWM: 0")
    with open(f"/proc/{pid}/stat", "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    ticks = int(fields[11]) + int(fields[12])  # utime and stime, the 14th and 15th
    return ProcessUsage(int(peak.split()[1]) << 10, ticks / os.sysconf("SC_CLK_TCK"))


class _TaskInfo(ctypes.Structure):
    """`struct proc_taskinfo` of <sys/proc_info.h>."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("virtual", "resident", "user", "system", "user_gone", "system_gone")),
        ("rest", ctypes.c_int32 * 12),
    )


_TASK_INFO = 4


def _measure_darwin(pid: int) -> ProcessUsage:
    info = _TaskInfo()
    size = ctypes.sizeof(info)
    if ctypes.CDLL(None).proc_pidinfo(pid, _TASK_INFO, ctypes.c_uint64(0), ctypes.byref(info), size) < size:
        return ProcessUsage()
    return ProcessUsage(info.resident, 0.0)
