"""Keeps modules that scripts do not need out of the template.

It runs before all other imports, so that Python's own modules do not load them either.
"""

import sys
from importlib.util import find_spec

_HASHES = ("_md5", "_sha1", "_sha3", "_blake2")
"""The hashes that `hashlib` has without OpenSSL; some systems build Python without them."""

_SHA2 = ("_sha2", "_sha512")
"""The same, before Python 3.12 by another name."""


def skip_unused_modules() -> None:
    """Skip compression, and OpenSSL, which takes 3.5 MB for a few hashes."""
    needless = ["_bz2", "_lzma"]
    if all(map(find_spec, _HASHES)) and any(map(find_spec, _SHA2)):
        needless.append("_hashlib")
    sys.modules.update(dict.fromkeys(needless))  # pyright: ignore[reportArgumentType, reportCallIssue] (None: no import)
