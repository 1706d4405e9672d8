"""The secret key that protects the state of open questions, stored so that it survives a restart."""

import fcntl
import logging
import os
import secrets
from pathlib import Path

KEY_BYTES = 32
STATE_KEY = "state.key"

_log = logging.getLogger(__name__)


def load_state_key(home: Path) -> bytes:
    """Return the key in the data directory; a missing or damaged one is created.

    Processes that start at the same time get the same key. If the file cannot be used, the key lasts as long as this
    process, and an answer that comes after it is refused.
    """
    path = home / STATE_KEY
    try:
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+b", buffering=0) as file:
            os.fchmod(file.fileno(), 0o600)
            return _read_key(file.fileno()) or _create_key(file.fileno())
    except OSError as error:
        _log.warning("%s cannot be used (%s): open questions will not survive a restart", path, error.strerror)
        return secrets.token_bytes(KEY_BYTES)


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
