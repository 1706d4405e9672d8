"""The wire: the only place through which the SDK reaches Panorama, by a transport that its host has set."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from panorama.sdk.core.encode import encode_arguments
from panorama.sdk.core.unset import drop_unset
from panorama.sdk.errors import UnavailableError


class Transport(Protocol):
    """What the host of the SDK provides: a way to call operations, and to run functions side by side."""

    state: dict[str, Any]
    """What `sdk.state` is."""

    page_rows: int
    """The most rows that one page may be asked for."""

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call an operation of the catalogue and return {"data": …, "metadata": {…}}, the mappings in it as rows.

        Raises:
            SdkError: It was refused.
        """
        ...

    def progress(self, current: float, total: float, message: str) -> None:
        """Tell how far the script is; `total` is 0 if it is not known."""
        ...

    def parallel(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        """Run functions side by side and return their results in order.

        The first error is raised after all that run have ended.
        """
        ...


class _Host:
    """Holds the transport of this process."""

    transport: Transport | None = None


def use(transport: Transport | None) -> None:
    """Set the way by which everything goes from now on; None takes it away."""
    _Host.transport = transport


def get_transport() -> Transport:
    """Return the transport that was set.

    Raises:
        UnavailableError: There is none.
    """
    transport = _Host.transport
    if transport is None:
        raise UnavailableError(
            "The SDK is not connected to Panorama.",
            hint="Call panorama.sdk.connect() first; in a script that Panorama runs, `sdk` is connected already.",
        )
    return transport


def call(operation: str, /, **arguments: Any) -> Any:
    """Call an operation and return its data; arguments that are None are not sent."""
    return get_transport().call(operation, encode_arguments(arguments))["data"]


def call_update(operation: str, empty: Mapping[str, Any], /, **arguments: Any) -> Any:
    """Call an operation that changes fields; those that are `KEPT` are not sent, None is sent as what is `empty`.

    Raises:
        InvalidInputError: None stands for a field that cannot be empty.
    """
    return get_transport().call(operation, encode_arguments(drop_unset(operation, empty, arguments)))["data"]


def list_rows(operation: str, limit: int | None, /, **arguments: Any) -> list[Any]:
    """Call an operation that lists, page after page, and return all its rows, or the first `limit`."""
    transport, encoded = get_transport(), encode_arguments(arguments)
    limit = encode_arguments({"limit": limit}).get("limit")
    rows: list[Any] = []
    while True:
        left = transport.page_rows if limit is None else min(limit - len(rows), transport.page_rows)
        answer = transport.call(operation, {**encoded, "limit": left})
        rows += answer["data"]
        following = answer["metadata"].get("next_cursor")
        if not following or len(rows) == limit:
            return rows
        encoded["cursor"] = following
