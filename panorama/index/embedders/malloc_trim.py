"""Returns freed memory to the system."""

import ctypes
import gc


def trim_memory() -> None:
    """Return freed memory to the system if the C library needs a call for that (glibc; 40 MB after a model)."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
