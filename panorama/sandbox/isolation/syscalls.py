"""System call numbers of each supported machine."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass

_X86_64 = {
    "read": 0, "write": 1, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "sendto": 44, "recvfrom": 45,
    "execve": 59, "exit": 60, "gettimeofday": 96, "getrusage": 98, "ptrace": 101, "sigaltstack": 131,
    "personality": 135, "pivot_root": 155, "chroot": 161, "mount": 165, "umount2": 166, "reboot": 169,
    "init_module": 175, "delete_module": 176, "gettid": 186, "time": 201, "futex": 202, "restart_syscall": 219,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "kexec_load": 246,
    "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
    "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "finit_module": 313,
    "seccomp": 317, "getrandom": 318, "kexec_file_load": 320, "bpf": 321, "execveat": 322, "userfaultfd": 323,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435, "pidfd_getfd": 438,
}  # fmt: skip

_AARCH64 = {
    "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "read": 63, "write": 64, "personality": 92, "exit": 93,
    "exit_group": 94, "unshare": 97, "futex": 98, "nanosleep": 101, "kexec_load": 104, "init_module": 105,
    "delete_module": 106, "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "ptrace": 117,
    "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigprocmask": 135, "rt_sigreturn": 139,
    "reboot": 142, "getrusage": 165, "gettimeofday": 169, "getpid": 172, "gettid": 178, "sendto": 206, "recvfrom": 207,
    "brk": 214, "munmap": 215, "mremap": 216, "add_key": 217, "request_key": 218, "keyctl": 219, "execve": 221,
    "mmap": 222, "mprotect": 226, "madvise": 233, "perf_event_open": 241, "open_by_handle_at": 265, "setns": 268,
    "process_vm_readv": 270, "process_vm_writev": 271, "finit_module": 273, "seccomp": 277, "getrandom": 278,
    "bpf": 280, "execveat": 281, "userfaultfd": 282, "kexec_file_load": 294, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435, "pidfd_getfd": 438,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """System call numbers of a processor; from `foreign` on they are another ABI's."""

    audit: int
    numbers: Mapping[str, int]
    foreign: int


MACHINES = {
    "x86_64": Machine(audit=0xC000003E, numbers=_X86_64, foreign=0x4000_0000),
    "aarch64": Machine(audit=0xC00000B7, numbers=_AARCH64, foreign=0x4000_0000),
}


def find_machine() -> Machine | None:
    """Return this machine's numbers, or None if it is not supported."""
    return MACHINES.get(platform.machine())
