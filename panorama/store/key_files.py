"""Secret keys in files of the data directory, which no backup contains."""

import fcntl
import os
import secrets
from pathlib import Path

KEY_BYTES = 32


def load_key(path: Path) -> bytes:
    """Return the key in a file; a missing or damaged one is created.

    Processes that start at the same time get the same key.

    Raises:
        OSError: The file cannot be used.
    """
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+b", buffering=0) as file:
        os.fchmod(file.fileno(), 0o600)
        return _read_key(file.fileno()) or _create_key(file.fileno())


def find_key(path: Path) -> bytes | None:
    """Return the key in a file, None if there is none."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb", buffering=0) as file:
            return _read_key(file.fileno()) or None
    except OSError:
        return None


def _read_key(file: int) -> bytes:
    """Return the key in a file, empty if it holds none; a power cut may leave a file of zeros."""
    key = os.pread(file, KEY_BYTES + 1, 0)
    return key if len(key) == KEY_BYTES and any(key) else b""


def _create_key(file: int) -> bytes:
    """Write a new key, unless another process was faster."""
    fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
    if key := _read_key(file):
        return key
    key = secrets.token_bytes(KEY_BYTES)
    os.ftruncate(file, 0)
    os.pwrite(file, key, 0)
    os.fsync(file)
    return key
