"""Calls operations of Panorama through the transport that the host of the SDK has set."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from panorama.sdk.core.encode import encode_arguments
from panorama.sdk.core.unset import drop_unset
from panorama.sdk.errors import UnavailableError


class Transport(Protocol):
    """The interface to the host of the SDK: calls operations, and runs functions concurrently."""

    state: dict[str, Any]
    """The value of `sdk.state`."""

    page_rows: int
    """The maximum number of rows of one page."""

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call an operation of the catalogue and return {"data": …, "metadata": {…}}, with its mappings as rows.

        Raises:
            SdkError: The call was refused.
        """
        ...

    def progress(self, current: float, total: float, message: str) -> None:
        """Report the progress of the script; `total` is 0 if unknown."""
        ...

    def parallel(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        """Run functions concurrently and return their results in order.

        The first error is raised after all running functions have ended.
        """
        ...


class _Host:
    """Holds the transport of this process."""

    transport: Transport | None = None


def use(transport: Transport | None) -> None:
    """Set the transport of all later calls; None removes it."""
    _Host.transport = transport


def get_transport() -> Transport:
    """Return the transport.

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
    """Call an operation that changes fields: `KEPT` ones are not sent, None is sent as the value in `empty`.

    Raises:
        InvalidInputError: A field that cannot be empty is None.
    """
    return get_transport().call(operation, encode_arguments(drop_unset(operation, empty, arguments)))["data"]


def list_rows(operation: str, limit: int | None, /, **arguments: Any) -> list[Any]:
    """Call a list operation page by page, and return all rows or the first `limit`."""
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
