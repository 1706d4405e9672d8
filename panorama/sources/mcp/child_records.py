"""Records of the server processes that run, so that they can be ended after this process was killed.

Most servers end when their input is closed; some stay forever.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

SUFFIX = ".process.json"


class ChildRecord:
    """The record of one running server, in a file."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file = folder / f"{name}-{os.getpid()}{SUFFIX}"

    def write(self, pid: int) -> None:
        """Record a started process; without it only the clean-up after a crash is missing."""
        owner = os.getpid()
        data = {"pid": pid, "started": find_start_time(pid), "owner": owner, "owner_started": find_start_time(owner)}
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.write_text(json.dumps(data))

    def clear(self) -> None:
        """Remove the record."""
        with suppress(OSError):
            self._file.unlink()


def end_orphans(folder: Path) -> int:
    """Kill the recorded servers whose owner has ended, and return how many there were."""
    count = 0
    for file in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            data: Mapping[str, Any] = json.loads(file.read_text())
            if _is_running(data["owner"], data["owner_started"]):
                continue
            if _is_running(data["pid"], data["started"]):
                os.killpg(data["pid"], signal.SIGKILL)
                count += 1
        with suppress(OSError):
            file.unlink()
    return count


def find_start_time(pid: int) -> str:
    """Return when a process started, "" if it does not exist; with its id this identifies it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        pass
    with suppress(OSError, subprocess.SubprocessError):  # macOS has no /proc
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    return ""


def _is_running(pid: int, started: str) -> bool:
    return bool(started) and find_start_time(pid) == started
