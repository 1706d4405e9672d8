"""The client for the user's own Python: connects the SDK to the daemon."""

import os
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from panorama.sdk import scripts
from panorama.sdk.core import wire
from panorama.sdk.core.namespace import SURFACE
from panorama.sdk.core.rows import Row
from panorama.sdk.core.suggestions import explain_unknown
from panorama.sdk.core.types.items import NounModules
from panorama.sdk.errors import ConflictError, UnavailableError, from_dict

if TYPE_CHECKING:
    from panorama.sdk.core import history as _history
    from panorama.sdk.core import parallel as _parallel
    from panorama.sdk.core import search as _search
    from panorama.sdk.core import tables as _tables
    from panorama.transport.address import Address
    from panorama.transport.rpc_client import RpcClient

PAGE_ROWS = 10_000
"""The maximum number of rows of one answer of the daemon."""


class _DaemonTransport:
    """The transport to the daemon; concurrent calls have separate connections, which are reused."""

    page_rows = PAGE_ROWS

    def __init__(self, address: "Address") -> None:
        self.state: dict[str, Any] = {}
        self.home = address.home
        self._address = address
        self._idle: list[RpcClient] = []
        self._lock = threading.Lock()
        self._closed = False

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call an operation of the daemon."""
        from panorama.transport.address import UnreachableError
        from panorama.transport.rpc_client import RpcError

        try:
            with self._borrow_connection() as direct:
                try:
                    answer, refused = direct.call(operation, arguments, whole=True), None
                except RpcError as error:
                    answer, refused = {}, error.data
        except UnreachableError as error:
            raise UnavailableError(error.message, hint=error.hint) from error
        if refused is not None:
            raise from_dict(_to_rows(refused))
        return _to_rows(answer)

    def progress(self, current: float, total: float, message: str) -> None:
        """Do nothing: there is no run whose progress could be reported."""

    def parallel(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        """Run functions in threads."""
        from concurrent.futures import ThreadPoolExecutor  # 15 ms, and needed only here

        with ThreadPoolExecutor(at_most, "panorama-sdk") as threads:
            running = [threads.submit(function) for function in functions]
        return [future.result() for future in running]

    def close(self) -> None:
        """Close all connections; running calls are answered first."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.__exit__(None, None, None)

    @contextmanager
    def _borrow_connection(self) -> Generator["RpcClient"]:
        """Yield a connection; one whose call was interrupted is closed."""
        with self._lock:
            direct = self._idle.pop() if self._idle else None
        direct = direct or self._connect()
        try:
            yield direct
        except BaseException:
            direct.__exit__(None, None, None)
            raise
        with self._lock:
            is_kept = not self._closed
            if is_kept:
                self._idle.append(direct)
        if not is_kept:
            direct.__exit__(None, None, None)

    def _connect(self) -> "RpcClient":
        from panorama.transport.address import hello_message
        from panorama.transport.launch import connect_or_launch
        from panorama.transport.rpc_client import RpcClient

        hello = hello_message(self._address, "calls", f"sdk_{os.getpid()}")
        return RpcClient(self._address, connect_or_launch(self._address, hello))


class _Namespace:
    """The functions of one noun; the error for an unknown name suggests the nearest."""

    def __init__(self, name: str, functions: Mapping[str, object]) -> None:
        self.__dict__.update(functions)
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        """Raise an error that suggests names; names of scripts are only known to the library."""
        if self.__name__ == "scripts" and not name.startswith("_"):
            return scripts.script_function(name)
        owner = f"sdk.{self.__name__}"
        raise AttributeError(f"{owner} has no {name}. {explain_unknown(owner, name, self.__dir__())}")

    def __dir__(self) -> list[str]:
        """Return the names of the functions."""
        return [name for name in self.__dict__ if name != "__name__"]


class Connection(NounModules):
    """The counterpart of `sdk` in scripts, over the daemon's socket.

    `state` is a dict that lives as long as the connection.
    """

    if TYPE_CHECKING:
        from panorama.sdk import errors, items, overview

        search = staticmethod(_search.search)
        similar = staticmethod(_search.similar)
        query = staticmethod(_search.query)
        batch = staticmethod(_history.batch)
        history = staticmethod(_history.history)
        undo = staticmethod(_history.undo)
        status = staticmethod(_history.status)
        parallel = staticmethod(_parallel.parallel)
        parallel_map = staticmethod(_parallel.parallel_map)
        progress = staticmethod(_parallel.progress)
        markdown_table = staticmethod(_tables.markdown_table)

    def __init__(self, transport: _DaemonTransport) -> None:
        self.state = transport.state
        self._transport = transport
        self._holders = 0
        for name, value in SURFACE.items():
            noun = _Namespace(name, cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else value
            self.__dict__[name] = noun

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def __getattr__(self, name: str) -> Any:
        """Raise an error that suggests names."""
        raise AttributeError(f"sdk has no {name}. {explain_unknown('sdk', name, [*SURFACE, 'state'])}")

    def close(self) -> None:
        """Close the connection; the last of several `connect` calls must be closed, too. More calls do nothing."""
        with _ProcessConnection.lock:
            self._holders -= 1
            if self._holders > 0 or _ProcessConnection.connection is not self:
                return
            _ProcessConnection.connection = None
            wire.use(None)
        self._transport.close()

    def acquire(self, home: str) -> Self:
        """Count one more user and return the connection.

        Raises:
            ConflictError: It is connected to another data directory.
        """
        if self._transport.home != home:
            raise ConflictError(
                f"This process is connected to {self._transport.home}.", hint="Close that connection first."
            )
        self._holders += 1
        return self


class _ProcessConnection:
    """The connection of this process."""

    lock = threading.Lock()
    connection: Connection | None = None


def connect(home: str | os.PathLike[str] | None = None) -> Connection:
    """Connect to the daemon of a data directory and return the counterpart of `sdk` in scripts.

    The daemon is started if necessary.

    A process is connected to one data directory at a time; a second call for the same one returns the same connection.
    Its functions, and those imported from `panorama.sdk`, may be called from several threads.

    Args:
        home: The data directory; `PANORAMA_HOME` or the platform's default if left out.

    Raises:
        UnavailableError: The daemon cannot be started.
        ConflictError: This process is connected to another data directory.
    """
    from panorama.transport.address import Address, data_directory, is_in_process

    if is_in_process():
        raise UnavailableError(
            "The SDK reaches Panorama through its daemon, and PANORAMA_NO_DAEMON or this platform forbids one.",
            hint="Unset PANORAMA_NO_DAEMON.",
        )
    address = Address(data_directory() if home is None else os.path.abspath(os.path.expanduser(home)))
    with _ProcessConnection.lock:
        if _ProcessConnection.connection is None:
            _ProcessConnection.connection = _open_connection(_DaemonTransport(address))
        return _ProcessConnection.connection.acquire(address.home)


def _open_connection(transport: _DaemonTransport) -> Connection:
    """Connect once, so that a daemon that cannot be started fails here and not at the first call."""
    transport.call("status", {})
    wire.use(transport)
    return Connection(transport)


def _to_rows(value: Any) -> Any:
    """Return data with its mappings as rows."""
    if isinstance(value, dict):
        return Row({name: _to_rows(entry) for name, entry in cast("dict[str, Any]", value).items()})
    return [_to_rows(entry) for entry in cast("list[Any]", value)] if isinstance(value, list) else value
