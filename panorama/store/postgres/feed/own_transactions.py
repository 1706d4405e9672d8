"""The transactions of this process, whose rows its listeners know already."""

import threading
from collections.abc import Collection
from dataclasses import dataclass

_XID_BITS = 32
"""The number of bits of a transaction's number that a row keeps, in its system column `xmin`."""


@dataclass(frozen=True, slots=True)
class OwnTransaction:
    """A transaction by the number in its rows, which is unique from one start of the server to the next."""

    server_start: str
    xmin: int


class OwnTransactions:
    """Transactions of this process, until their rows were skipped. Thread-safe.

    A row says by `xmin` which transaction wrote it, so own rows are recognised without a column or a statement.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[OwnTransaction] = set()
        self._committed: set[OwnTransaction] = set()

    def begin(self, server_start: str, number: str) -> OwnTransaction:
        """Add a transaction, before its rows can be seen."""
        transaction = OwnTransaction(server_start, int(number) & ((1 << _XID_BITS) - 1))
        with self._lock:
            self._open.add(transaction)
        return transaction

    def commit(self, transaction: OwnTransaction) -> None:
        """Record that a transaction is committed, so that every later statement sees its rows."""
        with self._lock:
            self._open.discard(transaction)
            self._committed.add(transaction)

    def discard(self, transaction: OwnTransaction) -> None:
        """Forget a transaction that failed: if it was committed nevertheless, its rows count as those of others."""
        with self._lock:
            self._open.discard(transaction)

    def list_xmins(self, server_start: str) -> list[int]:
        """Return the `xmin` of all since a start of the server."""
        with self._lock:
            return [one.xmin for one in (*self._open, *self._committed) if one.server_start == server_start]

    def list_committed(self) -> list[OwnTransaction]:
        """Return those that are committed."""
        with self._lock:
            return [*self._committed]

    def forget(self, transactions: Collection[OwnTransaction]) -> None:
        """Forget transactions whose rows are not read again."""
        with self._lock:
            self._committed.difference_update(transactions)
