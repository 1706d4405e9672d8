"""The seccomp filter: which system calls a worker may make."""

import ctypes
import errno
from collections.abc import Iterable, Iterator, Mapping
from struct import Struct

from panorama.sandbox.isolation.kernel import check_result, libc, set_no_new_privileges
from panorama.sandbox.isolation.syscalls import Machine

ALLOWED = (
    "munmap", "brk", "mremap", "madvise", "rt_sigreturn", "rt_sigprocmask", "sigaltstack", "restart_syscall",
    "sched_yield", "nanosleep", "gettimeofday", "time", "futex", "getpid", "gettid", "getrandom",
    "getrusage", "exit", "exit_group",
)  # fmt: skip
"""The system calls that an interpreter needs to compute, wait and exit."""

CLOCK_CALLS = ("clock_nanosleep", "clock_gettime", "clock_getres")
"""Allowed for the clocks that all share; those with a negative number are other processes'."""

PIPE_CALLS, PIPE_CALLS_WITHOUT_FLAGS = ("read", "write"), ("sendto", "recvfrom")
"""Allowed on the one descriptor; the latter without flags, such as that for data out of band, except MSG_DONTWAIT."""

MSG_DONTWAIT = 0x40
"""Linux's `MSG_DONTWAIT`: to do what can be done at once, and never sleep."""

NON_EXECUTABLE_CALLS = ("mmap", "mprotect")
"""Allowed for memory that holds no code."""

ENOSYS_CALLS = ("clone3",)
"""Answered as an old kernel would, which the C library knows how to take."""

KILLED_CALLS = (
    "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "bpf", "seccomp",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "perf_event_open", "open_by_handle_at",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "mount", "umount2",
    "pivot_root", "chroot", "setns", "unshare", "keyctl", "add_key", "request_key", "personality",
)  # fmt: skip
"""No script comes here by mistake: the process is killed. All that is not named is refused with EPERM."""

_KILL, _ERRNO, _ALLOW = 0x8000_0000, 0x0005_0000, 0x7FFF_0000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST, _THIRD, _FOURTH = 0, 4, 16, 32, 40
"""Where `struct seccomp_data` holds the call's number, the machine, the first, third and fourth argument."""

_PROT_EXEC, _NEGATIVE = 4, 0x8000_0000
_SET_MODE_FILTER, _TSYNC = 1, 1
_STEP = Struct("HBBI")


def build_program(machine: Machine, descriptor: int) -> bytes:
    """Return the filter in the kernel's instructions."""
    return b"".join(_build_steps(machine, descriptor))


def _build_steps(machine: Machine, descriptor: int) -> Iterator[bytes]:
    numbers = machine.numbers
    yield from (_pack_step(_LOAD, _MACHINE), _pack_step(_IF_EQUAL, machine.audit, 1, 0), _pack_step(_RETURN, _KILL))
    yield from (_pack_step(_LOAD, _NUMBER), _pack_step(_IF_AT_LEAST, machine.foreign, 0, 1), _pack_step(_RETURN, _KILL))
    for number in _find_numbers(numbers, PIPE_CALLS):
        yield from _allow_if_argument(number, _FIRST, _pack_step(_IF_EQUAL, descriptor, 0, 1))
    for number in _find_numbers(numbers, PIPE_CALLS_WITHOUT_FLAGS):
        plainly = _pack_step(_LOAD, _FOURTH), _pack_step(_IF_BITS, ~MSG_DONTWAIT & 0xFFFFFFFF, 1, 0)
        yield from _allow_if_argument(number, _FIRST, _pack_step(_IF_EQUAL, descriptor, 0, 3), *plainly)
    for number in _find_numbers(numbers, ALLOWED):
        yield from _return_for(number, _ALLOW)
    for number in _find_numbers(numbers, CLOCK_CALLS):
        yield from _allow_if_argument(number, _FIRST, _pack_step(_IF_BITS, _NEGATIVE, 1, 0))
    for number in _find_numbers(numbers, NON_EXECUTABLE_CALLS):
        yield from _allow_if_argument(number, _THIRD, _pack_step(_IF_BITS, _PROT_EXEC, 1, 0))
    for number in _find_numbers(numbers, KILLED_CALLS):
        yield from _return_for(number, _KILL)
    for number in _find_numbers(numbers, ENOSYS_CALLS):
        yield from _return_for(number, _ERRNO | errno.ENOSYS)
    yield _pack_step(_RETURN, _ERRNO | errno.EPERM)


def _find_numbers(numbers: Mapping[str, int], names: Iterable[str]) -> Iterator[int]:
    """Give the numbers of calls, without those that this machine never had."""
    return (numbers[name] for name in names if name in numbers)


def _return_for(number: int, verdict: int) -> tuple[bytes, ...]:
    return _pack_step(_IF_EQUAL, number, 0, 1), _pack_step(_RETURN, verdict)


def _allow_if_argument(number: int, at: int, *allowed_if: bytes) -> tuple[bytes, ...]:
    """Return steps that allow a call if its arguments match, else refuse it."""
    return (
        _pack_step(_IF_EQUAL, number, 0, 3 + len(allowed_if)),
        _pack_step(_LOAD, at),
        *allowed_if,
        _pack_step(_RETURN, _ALLOW),
        _pack_step(_RETURN, _ERRNO | errno.EPERM),
    )


def _pack_step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return _STEP.pack(code, if_true, if_false, value)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


class SeccompFilter:
    """A filter, built once; installing it after a fork allocates nothing."""

    def __init__(self, machine: Machine, descriptor: int) -> None:
        steps = build_program(machine, descriptor)
        self._number = machine.numbers["seccomp"]
        self._steps = ctypes.create_string_buffer(steps, len(steps))
        self._program = _Program(len(steps) // _STEP.size, ctypes.cast(self._steps, ctypes.c_void_p))

    def install(self) -> None:
        """Filter the system calls of this process from now on, irrevocably.

        Raises:
            OSError: The kernel cannot.
        """
        set_no_new_privileges()
        arguments = (ctypes.c_uint(_SET_MODE_FILTER), ctypes.c_uint(_TSYNC), ctypes.byref(self._program))
        check_result(libc().syscall(ctypes.c_long(self._number), *arguments))
