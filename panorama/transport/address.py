"""The address of a data directory's daemon, and the handshake; standard library only.

Everything specific to Unix sockets and file locks is here and in `panorama.daemon.socket`.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from panorama import __version__

PROTOCOL = 1
"""The version of the handshake; increased when proxy and daemon become incompatible."""

MAX_SOCKET_PATH_BYTES = 103
"""The longest Unix socket path on macOS (104 with its terminator, `sys/un.h`); Linux allows 107."""

HANDSHAKE_SECONDS = 20.0
"""The time limit for a running daemon's handshake."""

POLL_SECONDS = 0.02
DOCTOR_HINT = "Run `panorama doctor`."
_NOT_SETTINGS = {"PANORAMA_HOME", "PANORAMA_NO_DAEMON", "PANORAMA_DEBUG", "PANORAMA_LOG"}
_KEYS = {"PANORAMA_OPENAI_KEY"}

Hello = dict[str, Any]


class UnreachableError(Exception):
    """No daemon answers, and none can be started; `hint` is the next step."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ShuttingDownError(Exception):
    """The daemon is shutting down; another may be started."""


def data_directory() -> str:
    """Return the data directory: `PANORAMA_HOME`, else the platform's folder for user data."""
    chosen = os.environ.get("PANORAMA_HOME", "").strip()
    return os.path.abspath(os.path.expanduser(chosen)) if chosen else default_directory()


def default_directory() -> str:
    """Return the platform's folder for user data, as platformdirs does."""
    if sys.platform == "win32":  # untested
        local = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
        return os.path.join(local, "panorama", "panorama")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/panorama")
    shared = os.environ.get("XDG_DATA_HOME", "").strip()
    return os.path.join(shared if os.path.isabs(shared) else os.path.expanduser("~/.local/share"), "panorama")


def is_in_process() -> bool:
    """Return whether everything runs in this process, without a daemon."""
    return os.environ.get("PANORAMA_NO_DAEMON", "").strip() not in ("", "0") or sys.platform == "win32"


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in an environment that a daemon started with it would have."""
    return {
        name: value for name, value in environment.items() if name.startswith("PANORAMA_") and name not in _NOT_SETTINGS
    }


class Address:
    """The paths of one data directory's daemon.

    `socket` is in a directory that only its owner can enter: in the data directory or, if that path is too long, in
    /tmp under a digest of it. `lock` is held by the running daemon, `starting` by the process that starts one.
    """

    def __init__(self, home: str) -> None:
        self.home = os.path.realpath(home)
        self.log = os.path.join(self.home, "daemon.log")
        self.lock = os.path.join(self.home, "daemon.lock")
        self.starting = os.path.join(self.home, "starting.lock")
        self.socket = os.path.join(self.home, "run", "daemon.sock")
        if len(os.fsencode(self.socket)) > MAX_SOCKET_PATH_BYTES:
            import hashlib  # 10 ms, and only for long paths

            digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
            self.socket = f"/tmp/panorama-{os.getuid()}/{digest}.sock"

    @property
    def socket_directory(self) -> str:
        """The socket's directory."""
        return os.path.dirname(self.socket)

    def find_pid(self) -> int | None:
        """Return the process that holds the lock, None if there is none."""
        try:
            with open(self.lock, "rb") as file:
                if not _is_locked(file):
                    return None
                return int(file.read(20).split()[0])
        except (OSError, ValueError, IndexError):
            return None


class Handshake:
    """A finished handshake: the socket, the daemon's hello, and the bytes after it."""

    def __init__(self, stream: socket.socket, reply: Hello, rest: bytes) -> None:
        self.stream = stream
        self.reply = reply
        self.rest = rest


def hello_message(address: Address, purpose: str, conversation: str) -> Hello:
    """Return a client's hello message; `purpose` is "mcp" or "calls"."""
    return {
        "panorama": PROTOCOL, "version": __version__, "home": address.home, "for": purpose,
        "conversation": conversation, "pid": os.getpid(), "settings": settings_in(os.environ),
    }  # fmt: skip


def settings_warning(address: Address, reply: Hello) -> str:
    """Return the warning for an environment whose settings differ from the daemon's, "" if they do not."""
    if not reply.get("differs"):
        return ""
    differs = list(reply["differs"])
    remedy = settings_hint(os.path.join(address.home, "config.toml"), differs)
    return f"panorama: the running daemon was started with different {', '.join(differs)}. {remedy}\n"


def settings_hint(file: str, differs: Sequence[str]) -> str:
    """Return how to pass variables of the user's shell to the daemon."""
    settings = [name for name in differs if name not in _KEYS]
    hints = [f"Put such settings into {file}, or run `panorama daemon restart`."] if settings else []
    if keys := [name for name in differs if name in _KEYS]:
        hints.append(
            f"{', '.join(keys)} is not read from config.toml: run `panorama daemon restart` in a shell that has it, or "
            "keep the key with `keyring set panorama ADDRESS` (not for a service on this machine), then restart."
        )
    return " ".join(hints)


def is_newer(one: str, other: str) -> bool:
    """Return whether one version is later than the other; 2.0rc1 is before 2.0."""
    return _version_key(one) > _version_key(other)


def _version_key(version: str) -> tuple[list[int], bool, str]:
    end = next((at for at, sign in enumerate(version) if sign not in "0123456789."), len(version))
    numbers = [int(part) for part in version[:end].split(".") if part]
    return numbers, not version[end:], version[end:]


NO_DAEMON_ERRORS = (FileNotFoundError, NotADirectoryError, ConnectionError, ShuttingDownError)
"""Errors which mean that no daemon listens."""


def handshake(address: Address, hello: Hello, *, seconds: float = HANDSHAKE_SECONDS) -> Handshake:
    """Connect to the running daemon, and do the handshake.

    Raises:
        FileNotFoundError, NotADirectoryError, ConnectionError: No daemon runs.
        LeavingError: It is shutting down.
        UnreachableError: It refuses, does not answer, or the socket is not ours.
    """
    _check_owner(address)
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.settimeout(seconds)
        _connect(stream, address.socket, seconds)
        stream.sendall(json.dumps(hello).encode() + b"\n")
        line, rest = _read_first_line(stream)
        reply = _parse_reply(line)
    except TimeoutError as error:
        stream.close()
        who = f" (process {pid})" if (pid := address.find_pid()) else ""
        raise UnreachableError(
            f"Panorama's daemon{who} does not answer.",
            "Run `panorama daemon restart --force`; see its log for the reason.",
        ) from error
    except BaseException:
        stream.close()
        raise
    stream.settimeout(None)
    return Handshake(stream, reply, rest)


def _connect(stream: socket.socket, path: str, seconds: float) -> None:
    """Connect; if the backlog is full, Linux does not wait but returns EAGAIN (unix(7))."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return stream.connect(path)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise TimeoutError from error
            time.sleep(POLL_SECONDS)


def _check_owner(address: Address) -> None:
    """Reject a directory in /tmp that another user created."""
    stat = os.lstat(address.socket_directory)
    if stat.st_uid != os.getuid():
        raise UnreachableError(
            f"{address.socket_directory} belongs to another user.", "Choose a shorter PANORAMA_HOME."
        )


def _read_first_line(stream: socket.socket) -> tuple[bytes, bytes]:
    got = b""
    while b"\n" not in got:
        chunk = stream.recv(65536)
        if not chunk:
            raise ConnectionResetError("the daemon closed the connection without a handshake")
        got += chunk
    line, _, rest = got.partition(b"\n")
    return line, rest


def _parse_reply(line: bytes) -> Hello:
    try:
        reply: Hello = json.loads(line)
    except ValueError as error:
        raise UnreachableError("What answers on Panorama's socket is not Panorama.", DOCTOR_HINT) from error
    if reply.get("leaving"):
        raise ShuttingDownError
    if refused := reply.get("refused"):
        raise UnreachableError(refused, reply.get("hint", ""))
    return reply


def open_private(path: str, flags: int) -> int:
    """Open a file; a new one is readable only by its owner."""
    return os.open(path, flags, 0o600)


def _is_locked(file: IO[bytes]) -> bool:
    """Return whether another process holds the lock on a file, without taking it."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


@contextmanager
def hold_lock(path: str) -> Generator[IO[bytes] | None]:
    """Lock a file, created if needed; yield None if another process holds the lock."""
    import fcntl

    with open(path, "a+b", opener=open_private) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file
