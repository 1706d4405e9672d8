"""Processes, memory that runs, and the machine itself, with the language layer off."""

import pytest

from panorama.sandbox.isolation.syscalls import find_machine
from tests.attacks.kernel import forbidden, killed, needs_filter, number, works_plainly
from tests.sandbox.runs import Runs, nothing_is_left, unguarded

__all__ = ["nothing_is_left", "unguarded"]

HERE = find_machine()
IS_X86_64 = HERE is not None and HERE.audit == 0xC000003E

CLONE = 56 if IS_X86_64 else 220

ATTACKS = {
    "forking": "os.fork() or os._exit(0)",
    "starting a thread": "import _thread; _thread.start_new_thread(print, ()); time.sleep(0.05)",
    "asking whether its parent lives": "os.kill(os.getppid(), 0)",
    "signalling itself": "os.kill(os.getpid(), 0)",
    "signalling its group": "os.killpg(0, 0)",
    "holding another process": "os.pidfd_open(os.getppid() or 1)",
    "waiting for a child": "try:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    pass",
    "being kinder to others": "os.nice(1)",
    "choosing its processors": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "changing its limits": "resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))",
    "catching another signal": "signal.signal(signal.SIGHUP, signal.SIG_IGN)",
    "setting a timer": "signal.setitimer(signal.ITIMER_REAL, 0)",
    "letting others look into it": "checked(libc.prctl(4, 1, 0, 0, 0))",
    "outliving its parent": "checked(libc.prctl(1, 0, 0, 0, 0))",
    "asking who it is": "os.getppid() or 1 / 0\nos.getresuid()\nchecked(libc.getpgid(0))",
    "becoming another user": "os.setuid(os.getuid())",
    "starting a session": "os.setsid() if os.getpid() != os.getsid(0) else None",
    "asking the machine's name": "checked(libc.uname(ctypes.create_string_buffer(4096)))",
    "asking how much memory the machine has": "checked(libc.sysinfo(ctypes.create_string_buffer(512)))",
    "memory that runs": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)",
    "making memory run later": (
        "m = mmap.mmap(-1, 4096)\n"
        "at = ctypes.addressof(ctypes.c_char.from_buffer(m))\n"
        "checked(libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(4096), 7))"
    ),
    "sharing memory by a key": "checked(libc.shmctl(checked(libc.shmget(0, 4096, 0o1600)), 0, None))",
    "sharing messages by a key": "checked(libc.msgctl(checked(libc.msgget(0, 0o1600)), 0, None))",
    "copying itself by the kernel's own call": f"checked(libc.syscall({CLONE}, 17, 0, 0, 0, 0)) or os._exit(0)",
}
"""Each works in a plain process."""

TRIPWIRES = {
    "executing a program": "os.execv('/bin/echo', ['echo', '-n', 'through'])",
    "executing a program found by a descriptor": (
        "words = (ctypes.c_char_p * 4)(b'echo', b'-n', b'through')\n"
        f"libc.syscall({number('execveat')}, -100, b'/bin/echo', words, None, 0)"
    ),
    "tracing": "libc.ptrace(0, 0, 0, 0)",
    "reading another's memory": "libc.process_vm_readv(os.getpid(), None, 0, None, 0, 0)",
    "writing another's memory": "libc.process_vm_writev(os.getpid(), None, 0, None, 0, 0)",
    "leaving its namespaces": "checked(libc.unshare(0))",
    "entering others": "libc.setns(3, 0)",
    "mounting": "libc.mount(None, None, None, 0, None)",
    "unmounting": "libc.umount2(b'/nothing', 0)",
    "another root": "libc.chroot(b'/')",
    "another personality": "checked(libc.personality(0xFFFFFFFF))",
} | {
    f"the call {name}": f"libc.syscall({number(name)}, 99, 0, 0, 0, 0)"
    for name in (
        "bpf",
        "seccomp",
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "userfaultfd",
        "perf_event_open",
        "init_module",
        "finit_module",
        "delete_module",
        "keyctl",
        "add_key",
        "request_key",
        "pidfd_getfd",
        "pivot_root",
        "open_by_handle_at",
    )
}
"""What no script does by mistake. In a plain process it goes on, though most of it only tells what is wrong."""

NEVER_PLAINLY = {
    f"the call {name}": f"libc.syscall({number(name)}, 99, 0, 0, 0, 0)"
    for name in ("kexec_load", "kexec_file_load", "reboot")
}
"""What is no test's to do to a machine."""


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_the_kernel_refuses(unguarded: Runs, attack: str):
    needs_filter(unguarded)

    forbidden(unguarded, attack)

    assert works_plainly(attack)


@pytest.mark.parametrize("attack", TRIPWIRES.values(), ids=TRIPWIRES.keys())
def test_the_kernel_kills(unguarded: Runs, attack: str):
    needs_filter(unguarded)

    killed(unguarded, attack)

    assert works_plainly(attack)


@pytest.mark.parametrize("attack", NEVER_PLAINLY.values(), ids=NEVER_PLAINLY.keys())
def test_the_kernel_kills_who_would_take_the_machine(unguarded: Runs, attack: str):
    needs_filter(unguarded)

    killed(unguarded, attack)


@pytest.mark.skipif(not IS_X86_64, reason="only x86_64 has a second ABI")
def test_the_kernel_kills_who_calls_it_by_the_numbers_of_x32(unguarded: Runs):
    needs_filter(unguarded)

    killed(unguarded, "libc.syscall(0x40000000 + 39)")


def test_a_worker_may_still_do_what_computing_needs(unguarded: Runs):
    source = """
import mmap, os, random, time
def main():
    time.sleep(0.001)
    mmap.mmap(-1, 1 << 20).close()
    return [os.getpid() > 0, len(os.urandom(8)), time.time() > 0, len("x" * (1 << 24))]
"""

    assert unguarded.result(source) == [True, 8, True, 1 << 24]
