"""How a daemon starts and ends: its lock, its log, and its report to the proxy that started it."""

import gc
import json
import logging
import os
import select
import socket
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from typing import IO, Any

import anyio

from panorama import __version__
from panorama.app import open_app
from panorama.config import Settings, read_settings
from panorama.daemon.daemon import Daemon
from panorama.daemon.job_scheduler import run_jobs
from panorama.errors import ConflictError, PanoramaError
from panorama.mcp.log_format import LogFormatter
from panorama.transport.address import Address, hold_lock
from panorama.transport.launch import START_SECONDS

LOG_BYTES, LOG_FILES = 1 << 20, 3
POLL_SECONDS = 0.02

SWITCH_INTERVAL_SECONDS = 0.0005
"""How long a thread keeps Python's lock from one that waits for it; Python's own 5 ms suit a program with one user.

A call waits for the lock some twenty times, after each step of the database. Others' calls beside a script that reads
all tasks again and again took six times as long as in quiet, and take twice as long with this. With 0.2 ms a script's
own calls become slower. Measured by tests/benchmarks/test_scripts.py.
"""


def serve(*, detached: bool, http_port: int | None = None) -> None:
    """Run the daemon of the data directory until it is no longer needed, or is stopped.

    Args:
        detached: A proxy started it: it reports on standard output when it listens, logs to its file alone, waits for
            its predecessor to end, and ends after `linger_seconds` without clients.

    Raises:
        ConflictError: Another daemon serves this data directory.
        UnavailableError: The data directory, the database or the socket cannot be used.
    """
    try:
        _serve(detached=detached, http_port=http_port)
    except PanoramaError as error:
        if not detached:
            raise
        _report_to_launcher({"error": error.message, "hint": error.hint})
        raise SystemExit(1) from error


def _serve(*, detached: bool, http_port: int | None) -> None:
    settings = read_settings(**({} if http_port is None else {"http_port": http_port}))
    address = Address(str(settings.home))
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    with (
        _hold_daemon_lock(address, wait=detached),
        _set_up_logging(address, detached=detached),
        open_app(settings, serves=_describe_doors(settings)) as app,
    ):
        gc.freeze()  # what was imported stays: no search for garbage need go through it
        gc.enable()
        with app.follow_changes() as is_catching_up, run_jobs(app):
            daemon = Daemon(app, address, is_catching_up, lingers=detached)
            anyio.run(daemon.run, lambda: _report_to_launcher({"ready": os.getpid()}) if detached else None)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # all is closed; what is left is half a second of tearing down modules


def _describe_doors(settings: Settings) -> str:
    """Return how clients reach this daemon."""
    return ", ".join(["mcp", *(["http"] if settings.http_port else []), *(["web"] if settings.web else [])])


@contextmanager
def _hold_daemon_lock(address: Address, *, wait: bool) -> Generator[None]:
    """Hold the lock of the data directory, which names the serving process.

    A daemon that a proxy started waits until its predecessor has ended, unless it is no longer needed.
    """
    os.makedirs(address.home, mode=0o700, exist_ok=True)
    deadline = time.monotonic() + (START_SECONDS if wait else 0.2)
    while True:
        with hold_lock(address.lock) as lock:
            if lock is not None:
                _write_pid(lock)
                yield
                lock.truncate(0)
                return
        if wait and _is_superfluous(address):
            _report_to_launcher({"ready": address.find_pid()})
            raise SystemExit(0)
        if time.monotonic() > deadline:
            raise _already_running_error(address)
        time.sleep(POLL_SECONDS)


def _is_superfluous(address: Address) -> bool:
    """Return whether the proxy that started us is gone, or is served by the daemon that holds the lock."""
    asking = select.poll()
    asking.register(1, 0)
    if any(events & (select.POLLERR | select.POLLHUP) for _, events in asking.poll(0)):
        return True
    with socket.socket(socket.AF_UNIX) as trying:
        return trying.connect_ex(address.socket) == 0


def _already_running_error(address: Address) -> ConflictError:
    who = f" (process {pid})" if (pid := address.find_pid()) else ""
    return ConflictError(
        f"Panorama's daemon already serves {address.home}{who}.",
        hint="`panorama daemon status` shows it, `panorama daemon stop` stops it.",
    )


def _write_pid(lock: IO[bytes]) -> None:
    lock.truncate(0)
    lock.write(f"{os.getpid()} {__version__}\n".encode())
    lock.flush()


@contextmanager
def _set_up_logging(address: Address, *, detached: bool) -> Generator[None]:
    """Log to a file that is rotated at 1 MB; in the foreground to standard error too."""
    handlers: list[logging.Handler] = [_LogFile(address.log, maxBytes=LOG_BYTES, backupCount=LOG_FILES)]
    if not detached:
        handlers.append(logging.StreamHandler(sys.stderr))
    root = logging.getLogger()
    for handler in handlers:
        handler.setFormatter(LogFormatter())
        root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("panorama").setLevel(os.environ.get("PANORAMA_LOG", "INFO").upper())
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


class _LogFile(RotatingFileHandler):
    """A log file that only its owner may read."""

    def _open(self) -> Any:
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600))
        return super()._open()


def _report_to_launcher(message: Mapping[str, Any]) -> None:
    """Report to the proxy that started us, if it still listens, and print nothing from then on."""
    with suppress(OSError):
        os.write(1, json.dumps(message).encode() + b"\n")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
