"""An S3-compatible server in a process of its own: moto's, from an environment of its own on the PATH."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from urllib.request import Request, urlopen

import pytest

BUCKET = "team-files"
KEY_ID, KEY = "key-of-the-tests", "secret-of-the-tests"


@contextmanager
def run_s3_server(*, checks_keys: bool = False) -> Generator[str]:
    """Run a server with an empty bucket and yield its address. Without one the tests are skipped; they fail in CI.

    Args:
        checks_keys: Refuse every key after the bucket is made.
    """
    program = shutil.which("moto_server")
    if program is None:
        reason = "There is no moto_server on the PATH: install moto[server] in an environment of its own."
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    silent = subprocess.DEVNULL
    variables = {"INITIAL_NO_AUTH_ACTION_COUNT": "1"} if checks_keys else {}
    command = [program, "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=silent, stderr=silent, env=os.environ | variables) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            _await(address)
            create_bucket(address, BUCKET)
            yield address
        finally:
            server.kill()


def create_bucket(address: str, name: str) -> None:
    """Create a bucket."""
    from obstore.store import S3Store

    signed = S3Store(name, endpoint=address, access_key_id=KEY_ID, secret_access_key=KEY, region="us-east-1")
    import obstore

    url = obstore.sign(signed, "PUT", "", timedelta(minutes=1))
    with urlopen(Request(url, method="PUT", headers={"Content-Type": "application/xml"})):
        pass


def _await(address: str) -> None:
    """Wait until the server answers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), urlopen(f"{address}/moto-api/data.json"):
            return
        time.sleep(0.05)
    pytest.fail("moto_server does not answer.")
