"""The port of this machine where the daemon serves HTTP."""

import socket

from panorama.errors import UnavailableError

HOST = "127.0.0.1"


def bind_port(port: int) -> socket.socket:
    """Return a socket bound to a port of this machine.

    asyncio sends small answers at once (TCP_NODELAY) only on sockets that name their protocol.

    Raises:
        UnavailableError: The port is taken, or not allowed.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise UnavailableError(
            f"Port {port} of this machine cannot be used: {error.strerror}.",
            hint="Choose another one with --http or http_port in config.toml.",
        ) from error
    return bound
