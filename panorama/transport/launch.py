"""Starts the daemon of a data directory, once even with many callers; standard library only."""

import errno
import json
import os
import select
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import IO

from panorama.transport.address import (
    DOCTOR_HINT,
    NO_DAEMON_ERRORS,
    POLL_SECONDS,
    Address,
    Handshake,
    Hello,
    UnreachableError,
    handshake,
    hold_lock,
    open_private,
)

START_SECONDS = 60.0
"""How long a daemon may take to start: a migration of a large store, a machine under load."""

LOG_TAIL_LINES = 5


class DaemonExitedError(UnreachableError):
    """A started daemon ended before it listened, without a reason."""


def connect_or_launch(address: Address, hello: Hello) -> Handshake:
    """Connect to the daemon, or start one; of concurrent callers one starts it and the others wait.

    Raises:
        UnreachableError: It refuses, or cannot be started; the message says why.
    """
    began, deadline = time.time(), time.monotonic() + START_SECONDS + 5
    while time.monotonic() < deadline:
        with suppress(*NO_DAEMON_ERRORS):
            return handshake(address, hello)
        with _hold_start_lock(address) as lock:
            if lock is not None:
                # Between the check and the lock, another process may have started it, or failed to.
                with suppress(*NO_DAEMON_ERRORS):
                    return handshake(address, hello)
                _start(address, lock, began)
                continue
        time.sleep(POLL_SECONDS)
    raise UnreachableError("Panorama's daemon did not start in time.", f"Its log is {address.log}.")


@contextmanager
def exclusive_start(address: Address) -> Generator[None]:
    """Hold the lock for starting a daemon.

    Raises:
        UnreachableError: Another program has been starting one for a minute.
    """
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with _hold_start_lock(address) as lock:
            if lock is not None:
                yield
                return
        time.sleep(POLL_SECONDS)
    raise UnreachableError("Another program has been starting Panorama's daemon for a minute.", DOCTOR_HINT)


def _start(address: Address, lock: IO[bytes], since: float) -> None:
    """Start the daemon under the lock, or raise the error of another process that just failed to."""
    if failed := _read_failure(lock, since):
        raise UnreachableError(*failed)
    try:
        with suppress(DaemonExitedError):
            return launch(address)
        launch(address)  # retry once: the first may have been killed
    except UnreachableError as error:
        _write_failure(lock, error)
        raise


def launch(address: Address) -> None:
    """Start a daemon in its own session, inside `exclusive_start`, and wait until it reports that it listens.

    Raises:
        UnreachableError: It cannot be started; the message says why.
    """
    import subprocess  # 10 ms, and only needed by the first

    command = [sys.executable, "-m", "panorama", "serve", "--detached"]
    environment = {**os.environ, "PANORAMA_HOME": address.home}
    with open(address.log, "ab", opener=open_private) as log:
        daemon = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, cwd="/", env=environment,
            start_new_session=True, close_fds=True,
        )  # fmt: skip
    assert daemon.stdout is not None
    with daemon.stdout as output:
        waiting = select.poll()
        waiting.register(output, select.POLLIN)
        line = output.readline() if waiting.poll(START_SECONDS * 1000) else b""
    daemon.returncode = 0  # not waited for: it outlives this process
    _check_start(address, line)


def reap() -> None:
    """Reap a daemon that this process started."""
    with suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def _check_start(address: Address, line: bytes) -> None:
    try:
        answer: Hello = json.loads(line)
    except ValueError:
        shown = "\n".join(_read_tail(address.log))
        raise DaemonExitedError(
            "Panorama's daemon ended while it started.",
            f"Its log is {address.log}; it ends with:\n{shown}" if shown else f"Its log is {address.log}.",
        ) from None
    if "error" in answer:
        raise UnreachableError(answer["error"], answer.get("hint", ""))


def _read_tail(path: str) -> list[str]:
    with suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 4000))
        return file.read().decode(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return []


@contextmanager
def _hold_start_lock(address: Address) -> Generator[IO[bytes] | None]:
    try:
        os.makedirs(address.home, mode=0o700, exist_ok=True)
        with hold_lock(address.starting) as lock:
            yield lock
    except OSError as error:
        raise UnreachableError(
            f"The data directory {address.home} cannot be used: {error.strerror}.",
            "Free some space."
            if error.errno == errno.ENOSPC
            else "Choose another folder with PANORAMA_HOME, or fix its owner and permissions.",
        ) from error


def _write_failure(lock: IO[bytes], error: UnreachableError) -> None:
    """Store the error for processes waiting for the lock, so that they do not all fail one after another."""
    lock.truncate(0)
    lock.write(json.dumps([time.time(), error.message, error.hint]).encode())
    lock.flush()


def _read_failure(lock: IO[bytes], since: float) -> tuple[str, str] | None:
    lock.seek(0)
    with suppress(ValueError):
        at, message, hint = json.loads(lock.read(100_000))
        if at > since:
            return message, hint
    return None
