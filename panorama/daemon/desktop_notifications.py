"""Desktop notifications: shows a reminder with the platform's program for that.

No shell is used; the user's text is an argument, and never a command, an option or markup.
"""

import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from html import escape

MAX_CHARS = 250
TIMEOUT_SECONDS = 20.0
"""How long a program may take to show one; then it is ended."""

MAX_CONCURRENT = 8
"""Programs that may run at a time; a reminder beyond is not shown here, but waits in its row."""

_SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
_log = logging.getLogger(__name__)


class DesktopNotifier:
    """Shows notifications without waiting for them."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = dict(os.environ if environment is None else environment)
        self._free = threading.Semaphore(MAX_CONCURRENT)

    def show(self, title: str, words: str) -> bool:
        """Show a notification; return whether there is a desktop to show it on."""
        command = command_for(title, words, self._environment)
        if not command or not self._free.acquire(blocking=False):
            return False
        threading.Thread(target=self._run, args=(command,), name="desktop", daemon=True).start()
        return True

    def _run(self, command: Sequence[str]) -> None:
        null = subprocess.DEVNULL
        try:
            subprocess.run(
                command, stdin=null, stdout=null, stderr=null, env=self._environment, start_new_session=True,
                timeout=TIMEOUT_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            _log.warning("a reminder could not be shown on the desktop: %s", error)
        finally:
            self._free.release()


def command_for(title: str, words: str, environment: Mapping[str, str]) -> Sequence[str]:
    """Return the command that shows a notification; empty where there is no desktop."""
    title, words = _single_line(title), _single_line(words)
    path = environment.get("PATH", os.defpath)
    if sys.platform == "darwin":  # untested
        program = shutil.which("osascript", path=path)
        return [program, *(part for line in _SCRIPT for part in ("-e", line)), "--", title, words] if program else ()
    if not any(environment.get(name) for name in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")):
        return ()
    program = shutil.which("notify-send", path=path)
    # A notification's body may hold markup (Desktop Notifications Specification, 1.2); its summary may not.
    return [program, "--app-name=Panorama", "--", title, escape(words, quote=False)] if program else ()


def _single_line(words: str) -> str:
    line = "".join(sign if sign.isprintable() else " " for sign in words)
    line = " ".join(line.split())
    return line if len(line) <= MAX_CHARS else line[: MAX_CHARS - 1] + "…"
