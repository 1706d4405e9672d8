"""System calls as attacks, each made by its number: what they are called, and with what they are tried.

All arguments are such that the kernel itself gives another answer than the filter, to root and to nobody, and that a
filter with a hole in it harms no machine: files and descriptors that are not there, addresses and flags that are none.
"""

import errno
import subprocess
import sys
from typing import NamedTuple

from panorama.sandbox.isolation.syscalls import find_machine
from tests.sandbox.runs import Runs, limits


class Call(NamedTuple):
    """One idea: a call by its numbers on two kinds of machine, and its arguments as Python."""

    idea: str
    x86_64: int
    aarch64: int
    arguments: str = ""

    @property
    def number(self) -> int:
        """Its number here."""
        here = find_machine()
        return self.aarch64 if here is not None and here.audit == 0xC00000B7 else self.x86_64


FILES = (
    Call("changing who may read a file", 268, 53, "HERE, NOWHERE, 0o777"),
    Call("changing who may read what is open", 91, 52, "CLOSED, 0o777"),
    Call("changing a file's owner", 260, 54, "HERE, NOWHERE, 0, 0, 0"),
    Call("changing the owner of what is open", 93, 55, "CLOSED, 0, 0"),
    Call("changing who may read what it makes", 95, 166, "0"),
    Call("renaming a file", 316, 276, "HERE, NOWHERE, HERE, NOWHERE, 0"),
    Call("cutting a file", 76, 45, "NOWHERE, 0"),
    Call("cutting what is open", 77, 46, "CLOSED, 0"),
    Call("reserving room on the disk", 285, 47, "CLOSED, 0, 0, 1"),
    Call("giving a file a second name", 265, 37, "HERE, NOWHERE, HERE, NOWHERE, 0"),
    Call("removing a file", 263, 35, "HERE, NOWHERE, 0"),
    Call("changing a file's times", 280, 88, "HERE, NOWHERE, None, 0"),
    Call("marking a file", 188, 5, "NOWHERE, b'user.x', b'x', 1, 0"),
    Call("reading a file's marks", 191, 8, "NOWHERE, b'user.x', None, 0"),
    Call("removing a file's marks", 197, 14, "NOWHERE, b'user.x'"),
    Call("asking for a file's number", 303, 264, "HERE, NOWHERE, None, None, -1"),
    Call("looking at a file in the new way", 332, 291, "HERE, NOWHERE, 0, 0, None"),
    Call("locking a file", 73, 32, "CLOSED, 2"),
    Call("counting what a disk keeps for users", 179, 60, "-1, None, 0, None"),
    Call("watching all files", 300, 262, "0x8000_0200, 0"),
    Call("marking a file as watched", 301, 263, "CLOSED, -1, 0, HERE, None"),
)
DESCRIPTORS = (
    Call("steering a device", 16, 29, "3, 0x541B, ROOM"),
    Call("moving bytes through a pipe", 275, 76, "CLOSED, None, CLOSED, None, 1, 0"),
    Call("sending a file", 40, 71, "CLOSED, CLOSED, None, 1"),
    Call("doubling what is in a pipe", 276, 77, "CLOSED, CLOSED, 1, 0"),
    Call("lending memory to a pipe", 278, 75, "CLOSED, None, 0, 0"),
    Call("copying from file to file", 326, 285, "CLOSED, None, CLOSED, None, 1, 0"),
    Call("reading into many places", 19, 65, "3, None, 0"),
    Call("writing from many places", 20, 66, "3, None, 0"),
    Call("reading elsewhere in a file", 17, 67, "3, ROOM, 0, -1"),
    Call("sending a message with more in it", 46, 211, "3, None, 0"),
    Call("taking a message with more in it", 47, 212, "3, None, 0x40"),
    Call("sending many messages", 307, 269, "CLOSED, None, 1, 0"),
    Call("taking many messages", 299, 243, "CLOSED, None, 1, 0, None"),
    Call("hearing signals by a descriptor", 289, 74, "-1, ROOM, 8, 0"),
    Call("reading and writing later", 206, 0, "1, ROOM"),
    Call("handing over what is to be read later", 209, 2, "0, 1, None"),
    Call("a queue of messages", 240, 180, "b'panorama-nowhere', 0, 0, None"),
    Call("removing a queue of messages", 241, 181, "b'panorama-nowhere'"),
    Call("sending into a queue", 242, 182, "CLOSED, b'x', 1, 0, None"),
    Call("semaphores by a key", 64, 190, "0, -1, 0"),
    Call("raising a semaphore", 65, 193, "-1, ROOM, 1"),
    Call("raising a semaphore for a while", 220, 192, "-1, ROOM, 1, None"),
)
PROCESSES = (
    Call("a timer that signals", 222, 107, "1, None, ROOM"),
    Call("setting a timer that signals", 223, 110, "-1, 0, None, None"),
    Call("signalling a thread", 234, 131, "os.getpid(), os.getpid(), 0"),
    Call("signalling a thread in the old way", 200, 130, "os.getpid(), 0"),
    Call("sending a signal with more in it", 129, 138, "os.getpid(), 0, None"),
    Call("sending a thread a signal with more in it", 297, 240, "os.getpid(), os.getpid(), 0, None"),
    Call("signalling what it holds", 424, 424, "CLOSED, 0, None, 0"),
    Call("waiting for a signal", 128, 137, "ROOM, None, ROOM, 8"),
    Call("choosing how it is scheduled", 144, 119, "0, 0, ROOM"),
    Call("choosing when it is scheduled", 142, 118, "0, ROOM"),
    Call("choosing more of how it is scheduled", 314, 274, "0, None, 0"),
    Call("choosing its turn at the disk", 251, 30, "1, 0, 0"),
    Call("asking for its turn at the disk", 252, 31, "1, 0"),
    Call("being less kind to others", 141, 140, "0, 0, 19"),
    Call("taking another group", 106, 144, "-1"),
    Call("taking two groups", 114, 143, "-1, -1"),
    Call("taking three groups", 119, 149, "-1, -1, -1"),
    Call("asking for its groups", 115, 158, "0, None"),
    Call("becoming another user", 105, 146, "-1"),
    Call("becoming three users", 117, 147, "-1, -1, -1"),
    Call("becoming another user for files", 122, 151, "-1"),
    Call("asking for its rights", 125, 90, "None, None"),
    Call("taking rights", 126, 91, "None, None"),
    Call("comparing two processes", 312, 272, "os.getpid(), os.getpid(), -1, 0, 0"),
)
MEMORY = (
    Call("keeping all memory from being swapped", 151, 230, "0"),
    Call("letting all memory be swapped", 152, 231),
    Call("keeping memory from being swapped", 325, 284, "None, 0, -1"),
    Call("letting memory be swapped", 150, 229, "None, 0"),
    Call("memory that even the kernel cannot see", 447, 447, "-1"),
    Call("another's memory", 440, 440, "CLOSED, None, 0, 0, 0"),
    Call("freeing another's memory", 448, 448, "CLOSED, 0"),
    Call("moving another's memory", 279, 239, "0, 0, None, None, None, -1"),
    Call("choosing where memory is", 238, 237, "-1, None, 0"),
    Call("memory with a key", 330, 289, "-1, 0"),
    Call("ordering what other threads see", 324, 283, "0, 0, 0"),
)
MACHINE = (
    Call("setting the clock", 227, 112, "0, None"),
    Call("setting the time of day", 164, 170, "BAD, None"),
    Call("steering a clock", 305, 266, "0, None"),
    Call("steering the clock", 159, 171, "None"),
    Call("how much another process computed", 228, 113, "(~1 << 3) | 2, None"),
    Call("how exactly that is known", 229, 114, "(~1 << 3) | 2, None"),
    Call("sleeping until it has computed more", 230, 115, "(~1 << 3) | 2, 0, None, None"),
    Call("more room to swap", 167, 224, "NOWHERE, -1"),
    Call("asking what a ruleset may hold", 444, 444, "None, 0, 1"),
    Call("adding to a ruleset", 445, 445, "CLOSED, 0, None, -1"),
    Call("a ruleset of its own", 446, 446, "CLOSED, 0"),
    Call("choosing a file system", 431, 431, "CLOSED, 0, None, None, 0"),
    Call("a tree of files", 428, 428, "HERE, NOWHERE, -1"),
    Call("changing a mount", 442, 442, "HERE, NOWHERE, -1, None, 0"),
)
FAMILIES = (*FILES, *DESCRIPTORS, *PROCESSES, *MEMORY, *MACHINE)

RIGHTLESS = (
    Call("naming the machine", 170, 161, "NOWHERE, -1"),
    Call("naming the machine's domain", 171, 162, "NOWHERE, -1"),
    Call("taking other groups", 116, 159, "-1, None"),
    Call("less room to swap", 168, 225, "NOWHERE"),
    Call("keeping account of processes", 163, 89, "NOWHERE"),
    Call("reading what the kernel says", 103, 116, "-1, None, 0"),
    Call("opening a file system", 430, 430, "NOWHERE, -1"),
    Call("mounting what it opened", 432, 432, "CLOSED, -1, 0"),
    Call("picking a file system", 433, 433, "HERE, NOWHERE, -1"),
    Call("moving a mount", 429, 429, "CLOSED, NOWHERE, CLOSED, NOWHERE, -1"),
)
"""What the kernel itself answers with EPERM to whoever is not root: there a filter is seen by root alone."""

FORKING = Call("forking in a new way", 435, 435, "None, 0")

_SCRIPT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
HERE, CLOSED, BAD, NOWHERE, ROOM = -100, 1000, 1, b"/nowhere/panorama", ctypes.create_string_buffer(4096)
def main():
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in [{arguments}]]
    return ctypes.get_errno() if libc.syscall(ctypes.c_long({number}), *given) < 0 else 0
"""
_TELLING = "\nos.write(1, str(main()).encode())\nos._exit(0)"
_PLAIN = "libc.prctl(38, 1, 0, 0, 0)"  # no new privileges, as in a worker: without it Landlock wants root
_FILTERED = """
from panorama.sandbox.isolation.seccomp import SeccompFilter
from panorama.sandbox.isolation.syscalls import find_machine
SeccompFilter(find_machine(), 1).install()
"""


def answer(runs: Runs, call: Call) -> str:
    """Return the name of the errno that a worker gets for a call, "done" if it is done."""
    return _name(runs.result(_script(call), limits=limits(seconds=3)))


def plain_answer(call: Call) -> str:
    """Return what a plain Python gets for it."""
    return _told(_PLAIN, call, "-I", "-S")


def filtered_answer(call: Call) -> str:
    """Return what a Python gets for it that has the filter around it and nothing else: it may be root."""
    return _told(_FILTERED, call)


def _script(call: Call) -> str:
    return _SCRIPT.format(arguments=call.arguments, number=call.number)


def _told(before: str, call: Call, *options: str) -> str:
    command = [sys.executable, *options, "-c", f"{_script(call)}\n{before}{_TELLING}"]
    return _name(int(subprocess.run(command, capture_output=True, timeout=20, check=True).stdout))


def _name(number: int) -> str:
    return errno.errorcode[number] if number else "done"
