"""The secret key that protects the state of open questions, stored so that it survives a restart."""

import logging
import secrets
from pathlib import Path

from panorama.store.key_files import KEY_BYTES, load_key

STATE_KEY = "state.key"

_log = logging.getLogger(__name__)


def load_state_key(home: Path) -> bytes:
    """Return the key in the data directory; a missing or damaged one is created.

    If the file cannot be used, the key lasts as long as this process, and an answer that comes after it is refused.
    """
    path = home / STATE_KEY
    try:
        return load_key(path)
    except OSError as error:
        _log.warning("%s cannot be used (%s): open questions will not survive a restart", path, error.strerror)
        return secrets.token_bytes(KEY_BYTES)
