"""What the protocol checks share: Node with the packages, a store of their own, and the server over HTTP."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from . import node

HELPER = Path(__file__).with_name("serve_http.py")


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    """Node and the packages: without them the checks are skipped, and fail in CI."""
    if reason := node.find_missing():
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


def count(text: str) -> None:
    """Print what a check counted; `pytest -s` shows it."""
    sys.stdout.write(f"\n{text} ")


@contextmanager
def serve_http(home: Path) -> Generator[str]:
    """Serve the store in `home` over HTTP in a process of its own, and return the address."""
    env = {**os.environ, "PANORAMA_HOME": str(home), "PANORAMA_TIMEZONE": "UTC", "PANORAMA_EMBEDDER": "none"}
    with subprocess.Popen([sys.executable, str(HELPER)], env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            assert address, "the server did not start: see its words above"
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
