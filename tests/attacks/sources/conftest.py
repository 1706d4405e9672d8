"""Sources at stand-ins, as in the tests of sources."""

from tests.sources.conftest import open_caller

__all__ = ["open_caller"]
