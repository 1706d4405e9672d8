"""Connects the terminal to the daemon, and stops it."""

import os
import signal
import time
from contextlib import suppress

from panorama.cli.client import CONVERSATION, translate_errors
from panorama.errors import UnavailableError
from panorama.transport.address import (
    HANDSHAKE_SECONDS,
    NO_DAEMON_ERRORS,
    Address,
    handshake,
    hello_message,
)
from panorama.transport.rpc_client import RpcClient

STOP_SECONDS = 40.0
"""How long a daemon may take to stop: running calls get at most 30 seconds."""

REQUEST_SECONDS = 3.0
KILL_SECONDS = 5.0


def connect_to_daemon(address: Address, seconds: float = HANDSHAKE_SECONDS) -> RpcClient | None:
    """Connect to the daemon; return None if none runs."""
    with translate_errors():
        try:
            return RpcClient(
                address, handshake(address, hello_message(address, "calls", CONVERSATION), seconds=seconds)
            )
        except NO_DAEMON_ERRORS:
            return None


def end_daemon(address: Address, *, again: bool, force: bool = False) -> int | None:
    """Stop the daemon after running calls, and wait for its end; return its process id, None if none ran.

    Args:
        again: Whether open clients should start a successor at once.

    Raises:
        UnavailableError: It did not stop in time.
    """
    pid = address.find_pid()
    if pid is not None:
        _ask_to_stop(address, pid, again=again)
        _ensure_exit(address, pid, force=force)
    return pid


def _ask_to_stop(address: Address, pid: int, *, again: bool) -> None:
    """Request it over the socket; a daemon that does not answer gets a signal."""
    with suppress(UnavailableError):
        if (direct := connect_to_daemon(address, REQUEST_SECONDS)) is not None:
            with direct, translate_errors():
                direct.request("panorama/stop", {"again": again})
            return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def _ensure_exit(address: Address, pid: int, *, force: bool) -> None:
    if _wait_for_exit(address, pid, KILL_SECONDS if force else STOP_SECONDS):
        return
    if not force:
        raise UnavailableError(
            f"The daemon (process {pid}) is still running.",
            hint="Wait, or kill it with `panorama daemon stop --force`.",
        )
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _wait_for_exit(address, pid, KILL_SECONDS)


def _wait_for_exit(address: Address, pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while address.find_pid() == pid:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
