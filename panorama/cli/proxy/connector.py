"""Connects to the daemon in a thread, so that the client is served meanwhile; standard library only."""

import os
import threading

from panorama.transport.address import Address, Handshake, Hello
from panorama.transport.launch import connect_or_launch


class Connector:
    """An attempt to connect to the daemon, started if needed; its file becomes readable at the end."""

    def __init__(self, address: Address, hello: Hello) -> None:
        self._address = address
        self._hello = hello
        self._result: Handshake | BaseException | None = None
        self._ended, self._signal = os.pipe()
        threading.Thread(target=self._run, name="connector", daemon=True).start()

    def fileno(self) -> int:
        """Return the file that becomes readable at the end."""
        return self._ended

    def take_result(self) -> Handshake:
        """Wait for the end, and return the connection.

        Raises:
            UnreachableError: The daemon cannot be reached or started.
        """
        os.read(self._ended, 1)
        os.close(self._ended)
        os.close(self._signal)
        if isinstance(self._result, BaseException):
            raise self._result
        assert self._result is not None
        return self._result

    def _run(self) -> None:
        try:
            self._result = connect_or_launch(self._address, self._hello)
        except BaseException as error:  # the thread that waits for the result raises it
            self._result = error
        os.write(self._signal, b"x")
