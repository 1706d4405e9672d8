"""The transactions of this process, whose rows its listeners know already."""

import threading
from collections.abc import Collection

_XID_BITS = 32
"""So many bits of a transaction's number a row keeps, in its system column `xmin`."""


class OwnTransactions:
    """Numbers of transactions of this process, until their rows were skipped. Thread-safe.

    A row says by `xmin` which transaction wrote it, so own rows are recognised without a column or a statement.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[int] = set()
        self._committed: set[int] = set()

    def begin(self, number: str) -> None:
        """Add a transaction, before its rows can be seen."""
        with self._lock:
            self._open.add(_to_xmin(number))

    def commit(self, number: str) -> None:
        """Record that a transaction is committed, so that every later statement sees its rows."""
        with self._lock:
            self._open.discard(_to_xmin(number))
            self._committed.add(_to_xmin(number))

    def discard(self, number: str) -> None:
        """Forget a transaction that failed: if it was committed nevertheless, its rows count as those of others."""
        with self._lock:
            self._open.discard(_to_xmin(number))

    def list_all(self) -> list[int]:
        """Return the `xmin` of all."""
        with self._lock:
            return [*self._open, *self._committed]

    def list_committed(self) -> list[int]:
        """Return the `xmin` of those that are committed."""
        with self._lock:
            return [*self._committed]

    def forget(self, xmins: Collection[int]) -> None:
        """Forget transactions whose rows are not read again."""
        with self._lock:
            self._committed.difference_update(xmins)


def _to_xmin(number: str) -> int:
    return int(number) & ((1 << _XID_BITS) - 1)
