"""macOS Seatbelt: a profile that denies scripts everything but computing.

UNTESTED: it was written from Apple's documentation and has not run on a Mac yet. `Lockdown` tries it in a child process
first and goes without it where scripts could not run under it; `panorama doctor` reports whether it is active.
"""

import ctypes
import errno

from panorama.sandbox.isolation.kernel import libc

PROFILE = b"""
(version 1)
(deny default)
(allow process-fork)
(allow process-info* (target self))
(allow signal (target self))
(allow sysctl-read)
"""
"""The template forks workers; limits on processes keep a worker from forking. Open descriptors stay usable."""


def apply_profile() -> None:
    """Restrict this process and its forks for good; import everything before.

    Raises:
        OSError: macOS refuses the profile.
    """
    message = ctypes.c_char_p()
    if libc().sandbox_init(PROFILE, ctypes.c_uint64(0), ctypes.byref(message)) != 0:
        raise OSError(errno.EPERM, (message.value or b"sandbox_init failed").decode(errors="replace"))
