"""Takes rights away from this process through the C library (Linux)."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from struct import pack

NOBODY = 65534
"""The user and group without rights."""

_PDEATHSIG, _DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38
_NEW_USER, _NEW_NET, _NEW_IPC = 0x1000_0000, 0x4000_0000, 0x0800_0000
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT, _LANDLOCK_VERSION = 444, 446, 1

_FILES = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights to files that Landlock handles, by the version that brought them."""

_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
_NETWORK, _SCOPES = 0b11, 0b11


@cache
def libc() -> ctypes.CDLL:
    """Return the C library."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def check_result(answer: int) -> int:
    """Return the result of a C library call.

    Raises:
        OSError: The call failed.
    """
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def trim_memory() -> None:
    """Return freed memory to the system, where the C library has to be asked (glibc)."""
    trim = getattr(libc(), "malloc_trim", None)
    if trim:
        trim(0)


def set_no_new_privileges() -> None:
    """Deny new privileges to executed programs, as seccomp and Landlock require."""
    check_result(libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))


def die_with_parent() -> None:
    """Be killed when the thread that forked ends."""
    check_result(libc().prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def make_undumpable() -> None:
    """Let no process of the same user look into this one, and write no core file."""
    check_result(libc().prctl(_DUMPABLE, 0, 0, 0, 0))


def drop_root() -> None:
    """Switch to the user nobody if this process is root."""
    if sys.platform == "win32" or os.geteuid() != 0:
        return
    with suppress(OSError):  # a container's root can lack the right; the other layers remain
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def unshare_namespaces() -> None:
    """Enter empty network, user and IPC namespaces, where the kernel allows it."""
    libc().unshare(_NEW_USER | _NEW_NET | _NEW_IPC)


def apply_landlock() -> None:
    """Deny files, TCP, and signals and sockets to others by Landlock, if available."""
    call = libc().syscall
    version = call(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(_LANDLOCK_VERSION))
    if version < 1:
        return
    rules = _build_ruleset(version)
    ruleset = call(_LANDLOCK_CREATE, rules, ctypes.c_size_t(len(rules)), ctypes.c_uint(0))
    if ruleset < 0:
        return
    set_no_new_privileges()
    call(_LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0))
    os.close(ruleset)


def _build_ruleset(version: int) -> bytes:
    files = sum(rights for since, rights in _FILES.items() if since <= version)
    rules = pack("<Q", files)
    if version >= _NETWORK_SINCE:
        rules += pack("<Q", _NETWORK)
    if version >= _SCOPES_SINCE:
        rules += pack("<Q", _SCOPES)
    return rules
