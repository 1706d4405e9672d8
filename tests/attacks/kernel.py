"""System calls as attacks: each is tried in a plain Python, where it works, and in a worker without its language layer.

An attack is the body of a function; one that comes to its end has got through.
"""

import os
import subprocess
import sys
import textwrap

import pytest

from panorama.domain.scripts.scripts import RunOutcome
from panorama.sandbox.isolation.syscalls import find_machine
from tests.sandbox.runs import Runs, limits

_SCRIPT = """
import ctypes, errno, mmap, os, resource, select, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def checked(answer):
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer

def attack():
{body}

def main():
    attack()
    return "through"
"""


def number(name: str) -> int:
    """Return a system call's number on this machine."""
    here = find_machine()
    return here.numbers.get(name, -1) if here else -1


def script(attack: str) -> str:
    """Return an attack as a script that returns "through" if it comes to its end."""
    return _SCRIPT.format(body=textwrap.indent(attack.strip(), "    "))


def needs_filter(runs: Runs) -> None:
    """Skip where there is no filter of system calls; on Linux, CI must have one."""
    if not runs.runner.isolation.startswith("seccomp"):
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("seccomp is missing in CI")
        pytest.skip("this kernel has no seccomp")


def works_plainly(attack: str, before: str = "") -> bool:
    """Tell whether an attack gets through in a Python process without anything around it."""
    code = f"{script(attack)}\n{before}\nimport os\nos.write(1, main().encode())\nos._exit(0)"
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, timeout=20, cwd="/tmp", check=False)
    return done.stdout.endswith(b"through")


def run_attack(runs: Runs, attack: str) -> RunOutcome:
    """Try an attack in a worker, and see that the host answers the next script."""
    ending = runs(script(attack), limits=limits(seconds=3))
    assert runs.result("def main():\n    return 1") == 1
    return ending


def assert_refused(runs: Runs, attack: str) -> None:
    """Check that an attack does not get through: an error, or the end of the process."""
    ending = run_attack(runs, attack)
    assert ending.failure is not None, ending.result
    assert ending.failure.reason in ("raised", "blocked"), ending.failure
    names = ("PermissionError", "OSError", "RuntimeError", "BlockingIOError", "itimer_error", "ValueError: not allowed")
    assert ending.failure.reason == "blocked" or ending.failure.message.startswith(names), ending.failure


def forbidden(runs: Runs, attack: str) -> None:
    """Check that the filter refuses an attack: it says EPERM, which Landlock and most limits do not."""
    failure = run_attack(runs, attack).failure
    assert failure is not None
    assert failure.reason == "raised", failure
    assert "[Errno 1] " in failure.message or "can't start new thread" in failure.message, failure


def killed(runs: Runs, attack: str) -> None:
    """Check that an attack is the end of the process."""
    failure = run_attack(runs, attack).failure
    assert failure is not None
    assert failure.reason == "blocked", failure
