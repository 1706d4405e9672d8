"""Locking in: the only place that knows in which order template and worker give up what they may."""

import contextlib
import errno
import math
import os
import sys
import time
from collections.abc import Callable

from panorama.domain.scripts import Isolation
from panorama.sandbox import kernel
from panorama.sandbox.seccomp import Filter
from panorama.sandbox.syscalls import machine

if sys.platform != "win32":
    import resource

PIPE = 3
"""The one descriptor that a worker has."""

_LINUX = sys.platform == "linux"
_NOTHING_OF = ("CORE", "FSIZE", "NPROC", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO")
_DIED = 70


class Lockdown:
    """What stands between a script and the machine; made in the template, once everything is imported.

    The order matters: root is dropped before namespaces are left, and files are forbidden last.
    """

    def __init__(self, *, seccomp: bool = True, landlock: bool = True) -> None:
        self._size = _address_space()  # while /proc can be read
        os.chdir("/")
        _clear_environment()
        kernel.drop_root()
        had_files = _can_open_files()
        if _LINUX:
            kernel.leave_namespaces()
            if landlock:
                kernel.forbid_files()
        self._no_files = had_files and not _can_open_files()
        numbers = machine() if _LINUX and seccomp else None
        self._filter = numbers and Filter(numbers, PIPE)

    def isolation(self) -> Isolation:
        """Return what stands around a worker, tried out in one."""
        if not self._filter or not _in_a_child(self._filter_holds):
            return "language-only"
        return "seccomp+landlock" if self._no_files else "seccomp"

    def _filter_holds(self) -> bool:
        assert self._filter
        self._filter.put_on()
        return _refused_by_filter()

    def enter(self, stream: int, template: int, cpu_seconds: float, memory_bytes: int) -> None:
        """Give up everything but one socket in a new worker; all but the filter, which comes last.

        Raises:
            OSError: Something cannot be given up; no script may run then.
        """
        _keep_only(stream)
        if _LINUX:
            kernel.die_with_parent()
            kernel.hide()
        if os.getppid() != template:
            os._exit(_DIED)
        _limit(cpu_seconds, self._size + memory_bytes)

    def filter(self) -> None:
        """Filter the system calls of a worker from now on.

        Raises:
            OSError: The filter does not hold; no script may run then.
        """
        if self._filter:
            self._filter.put_on()
            if not _refused_by_filter():
                raise OSError(errno.ENOSYS, "the filter of system calls does not hold")


def _clear_environment() -> None:
    """Forget the environment but for the time zone: C's `mktime` would read the zone anew, and find no file."""
    for name in set(os.environ) - {"TZ"}:
        del os.environ[name]
    if sys.platform != "win32":
        time.tzset()


def _can_open_files() -> bool:
    try:
        os.close(os.open("/", os.O_RDONLY))
    except OSError:
        return False
    return True


def _refused_by_filter() -> bool:
    """Tell whether a call fails that nothing else would refuse: Landlock lets everybody look at a file's size."""
    try:
        os.stat("/")
    except OSError as error:
        return error.errno == errno.EPERM
    return False


def _in_a_child(holds: Callable[[], bool]) -> bool:
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    try:
        os._exit(0 if holds() else _DIED)
    finally:
        os._exit(_DIED)


def _keep_only(stream: int) -> None:
    if stream != PIPE:
        os.dup2(stream, PIPE, inheritable=False)
    os.closerange(PIPE + 1, max(1 << 16, stream + 1))
    for standard in range(PIPE):
        with contextlib.suppress(OSError):
            os.close(standard)
    sys.stdin = sys.stdout = sys.stderr = None
    sys.__stdin__ = sys.__stdout__ = sys.__stderr__ = None
    sys.argv[:] = [""]
    sys.orig_argv[:] = [""]
    sys.path[:] = []
    sys.executable = ""


def _limit(cpu_seconds: float, address_space: int) -> None:
    if sys.platform == "win32":
        return
    seconds = math.ceil(cpu_seconds) + 1  # the timers come first; this one holds even if a script takes them away
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (PIPE + 1, PIPE + 1))
    for name in _NOTHING_OF:
        if (limit := getattr(resource, f"RLIMIT_{name}", None)) is not None:
            resource.setrlimit(limit, (0, 0))
    if _LINUX:  # elsewhere the host looks at the memory
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as pages:
            return int(pages.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
