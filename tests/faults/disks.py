"""Real disks that are small or cannot be written."""

import os
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(at: Path, *arguments: str) -> Generator[Path]:
    """Mount a disk; skips where that is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    at.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *arguments, at], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", at], check=True)


@contextmanager
def unwritable(folder: Path) -> Generator[None]:
    """Let nobody write a folder and what is in it: by a read-only mount over it for root, by its mode for others."""
    with ExitStack() as stack:
        if os.geteuid() == 0:
            stack.enter_context(mounted(folder, "--bind", str(folder)))
            subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        else:
            modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
            for path, mode in modes.items():
                path.chmod(mode & 0o555)
                stack.callback(path.chmod, mode)
        yield
