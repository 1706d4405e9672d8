"""Memory of the template: the only place that decides what it does without.

It comes before all else that is imported: what is left out here is not loaded by Python's own modules either.
"""

import sys
from importlib.util import find_spec

_HASHES = ("_md5", "_sha1", "_sha3", "_blake2")
"""What `hashlib` does by itself; some systems build Python without."""

_SHA2 = ("_sha2", "_sha512")
"""The same, before Python 3.12 by another name."""


def leave_out() -> None:
    """Do without compression, which scripts do not have, and without OpenSSL, which takes 3.5 MB for a few hashes."""
    needless = ["_bz2", "_lzma"]
    if all(map(find_spec, _HASHES)) and any(map(find_spec, _SHA2)):
        needless.append("_hashlib")
    sys.modules.update(dict.fromkeys(needless))  # pyright: ignore[reportArgumentType, reportCallIssue] (None: no import)
