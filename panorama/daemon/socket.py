"""The daemon's socket: accessible to its owner alone, replaced if stale, and restored if deleted.

Everything specific to Unix sockets is here and in `panorama.transport.address`.
"""

import os
import select
import socket
import stat
import struct
import sys
from contextlib import suppress

from panorama.errors import UnavailableError
from panorama.transport.address import Address

BACKLOG = 256
_LOCAL_PEERCRED = 1
"""macOS: the option of a Unix socket that returns the peer's credentials (`sys/un.h`)."""


class ListeningSocket:
    """A listening socket."""

    def __init__(self, address: Address) -> None:
        self._path = address.socket
        _create_directory(address.socket_directory)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Whoever comes here holds the daemon's lock: a socket that is still there is a dead daemon's.
            with suppress(FileNotFoundError):
                os.unlink(self._path)
            self.socket.bind(self._path)
            os.chmod(self._path, 0o600)
            self._inode = os.stat(self._path).st_ino
            self.socket.listen(BACKLOG)
            self.socket.setblocking(False)
        except OSError as error:
            self.socket.close()
            raise UnavailableError(
                f"The socket {self._path} cannot be created: {error.strerror}.",
                hint="Choose a data directory on a local disk with PANORAMA_HOME.",
            ) from error

    def is_reachable(self) -> bool:
        """Return whether clients still find it: programs that clean /tmp delete sockets."""
        try:
            return os.stat(self._path).st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Stop listening; delete the path if it is still this socket's."""
        if self.is_reachable():
            os.unlink(self._path)
        self.socket.close()


def _create_directory(directory: str) -> None:
    """Create the socket's directory, which only this user may enter."""
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        found = os.lstat(directory)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise UnavailableError(f"{directory} belongs to another user.", hint="Choose a shorter PANORAMA_HOME.")
        os.chmod(directory, 0o700)
    except OSError as error:
        raise UnavailableError(
            f"The folder {directory} cannot be created: {error.strerror}.", hint="Check its owner and permissions."
        ) from error


def is_hung_up(connection: socket.socket) -> bool:
    """Return whether the peer has closed a connection in both directions; only Linux can tell."""
    if sys.platform != "linux":
        return False
    asking = select.poll()
    asking.register(connection, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in asking.poll(0))


def is_same_user(stream: socket.socket) -> bool:
    """Return whether the peer runs as this user."""
    if sys.platform == "darwin":  # struct xucred: a version, then the user (`sys/ucred.h`); untested
        _, uid = struct.unpack("II", stream.getsockopt(0, _LOCAL_PEERCRED, 8))
    else:
        _, uid, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid == os.getuid()
