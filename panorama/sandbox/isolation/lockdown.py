"""Applies the isolation layers to the template and its workers, in order."""

import contextlib
import errno
import math
import os
import sys
import time
from collections.abc import Callable

from panorama.domain.scripts.scripts import Isolation
from panorama.sandbox.isolation import kernel, seatbelt
from panorama.sandbox.isolation.seccomp import SeccompFilter
from panorama.sandbox.isolation.syscalls import find_machine

if sys.platform != "win32":
    import resource

PIPE_FD = 3
"""The one descriptor that a worker has."""

_LINUX, _MACOS = sys.platform == "linux", sys.platform == "darwin"
_ZERO_RLIMITS = ("CORE", "FSIZE", "NPROC", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO")
_EXIT_FAILURE = 70


class Lockdown:
    """The isolation of scripts; created in the template after all imports.

    The order matters: root is dropped before namespaces are left, and files are forbidden last.
    """

    def __init__(self, *, seccomp: bool = True, landlock: bool = True) -> None:
        self._size = _read_address_space_bytes()  # while /proc can be read
        os.chdir("/")
        _clear_environment()
        kernel.drop_root()
        could_open_files = _can_open_files()
        if _LINUX:
            kernel.unshare_namespaces()
            if landlock:
                kernel.apply_landlock()
        elif _MACOS and _run_in_child(_is_seatbelt_usable):
            seatbelt.apply_profile()
        self._denies_files = could_open_files and not _can_open_files()
        numbers = find_machine() if _LINUX and seccomp else None
        self._filter = numbers and SeccompFilter(numbers, PIPE_FD)

    def measure_isolation(self) -> Isolation:
        """Return the isolation of workers, as tried in a child process."""
        if _MACOS and self._denies_files:
            return "seatbelt"
        if not self._filter or not _run_in_child(self._is_filter_effective):
            return "language-only"
        return "seccomp+landlock" if self._denies_files else "seccomp"

    def _is_filter_effective(self) -> bool:
        assert self._filter
        self._filter.install()
        return _is_filtered()

    def enter(self, stream: int, template: int, cpu_seconds: float, memory_bytes: int) -> None:
        """Give up everything but one socket in a new worker; the filter comes last.

        Raises:
            OSError: Something cannot be given up; no script may run then.
        """
        _keep_only(stream)
        if _LINUX:
            kernel.die_with_parent()
            kernel.make_undumpable()
        if os.getppid() != template:
            os._exit(_EXIT_FAILURE)
        _set_limits(cpu_seconds, self._size + memory_bytes)

    def install_filter(self) -> None:
        """Filter the system calls of a worker from now on.

        Raises:
            OSError: The filter does not hold; no script may run then.
        """
        if self._filter:
            self._filter.install()
            if not _is_filtered():
                raise OSError(errno.ENOSYS, "the filter of system calls does not hold")


def _clear_environment() -> None:
    """Clear the environment except the time zone, which C's `mktime` reads again."""
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


def _is_filtered() -> bool:
    """Return whether stat fails, which only the filter refuses."""
    try:
        os.stat("/")
    except OSError as error:
        return error.errno == errno.EPERM
    return False


def _is_seatbelt_usable() -> bool:
    """Return whether this process, restricted, opens no files but still forks."""
    seatbelt.apply_profile()
    return _run_in_child(lambda: not _can_open_files())


def _run_in_child(check: Callable[[], bool]) -> bool:
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    try:
        os._exit(0 if check() else _EXIT_FAILURE)
    finally:
        os._exit(_EXIT_FAILURE)


def _keep_only(stream: int) -> None:
    if stream != PIPE_FD:
        os.dup2(stream, PIPE_FD, inheritable=False)
    os.closerange(PIPE_FD + 1, max(1 << 16, stream + 1))
    for standard in range(PIPE_FD):
        with contextlib.suppress(OSError):
            os.close(standard)
    sys.stdin = sys.stdout = sys.stderr = None
    sys.__stdin__ = sys.__stdout__ = sys.__stderr__ = None
    sys.argv[:] = [""]
    sys.orig_argv[:] = [""]
    sys.path[:] = []
    sys.executable = ""


def _set_limits(cpu_seconds: float, address_space: int) -> None:
    if sys.platform == "win32":
        return
    seconds = math.ceil(cpu_seconds) + 1  # the timers come first; this one holds even if a script takes them away
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (PIPE_FD + 1, PIPE_FD + 1))
    for name in _ZERO_RLIMITS:
        if (limit := getattr(resource, f"RLIMIT_{name}", None)) is not None:
            resource.setrlimit(limit, (0, 0))
    if _LINUX:  # elsewhere the host looks at the memory
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def _read_address_space_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as pages:
            return int(pages.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
