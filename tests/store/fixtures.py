"""An S3-compatible server for the tests of a session; a plugin of all tests."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def s3_address() -> Iterator[str]:
    """The address of an S3-compatible server with a bucket."""
    from tests.store.s3_server import run_s3_server

    with run_s3_server() as address:
        yield address
