"""Commits a transaction, and finds out whether it was kept if the connection is lost meanwhile."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import psycopg
from sqlalchemy.exc import DBAPIError

from panorama.errors import UnavailableError
from panorama.store.postgres.errors import is_lost
from panorama.store.postgres.pipeline.connection import QueueingConnection

ASK_SECONDS = 10.0
"""How long the server is asked whether a commit was kept: a server that was killed needs seconds to come back."""

PAUSE_SECONDS = 0.25

_STATUS = "SELECT pg_xact_status(%s::xid8)"
_HAS_CHANGE = "SELECT EXISTS (SELECT 1 FROM changes WHERE item = %s AND call = %s AND xmin = %s::xid8::xid)"

AskServer = Callable[[], AbstractContextManager[QueueingConnection]]
"""Opens a new connection to the server."""

_Outcome = Literal["committed", "aborted", "unknown"]


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction that wrote: its number, the call it belongs to, and an item that it changed, "" if there is none.

    The number is unique until the server crashes: it gives those of transactions that the crash undid to others.
    """

    number: str
    call: str
    item: str


def commit(driver: QueueingConnection, transaction: Transaction, ask: AskServer) -> None:
    """Commit a transaction; return only if it is kept.

    Raises:
        UnavailableError: It was rolled back; or nobody knows, because the server stayed away, or because it crashed and
            the transaction changed no item.
    """
    try:
        status = driver.execute("COMMIT").statusmessage
    except psycopg.OperationalError as error:
        if not is_lost(error):
            raise
        outcome = _ask_for_outcome(transaction, driver.server_start, ask)
        if outcome == "committed":
            return
        if outcome == "unknown":
            raise UnavailableError(
                "The connection to the database was lost while the change was stored; whether it was kept is unknown.",
                hint="Once the server answers, check whether it was kept; a call with idempotency_key can be repeated.",
            ) from error
        raise UnavailableError(
            "The connection to the database was lost; nothing was changed.", hint="Send the same call again."
        ) from error
    if status != "COMMIT":  # a statement had failed, and its caller continued
        raise UnavailableError(
            "The database refused an earlier statement of this call; nothing was changed.", hint="Try again."
        )


def _ask_for_outcome(transaction: Transaction, server_start: str, ask: AskServer) -> _Outcome:
    """Ask the server what became of a transaction, until it knows or stayed away too long."""
    end = time.monotonic() + ASK_SECONDS
    while time.monotonic() < end:
        try:
            with ask() as driver:
                status = _read_status(driver, transaction.number)
                if status == "aborted":
                    return status
                if status == "committed":
                    return status if driver.server_start == server_start else _find_change(driver, transaction)
        except (psycopg.OperationalError, DBAPIError):
            pass  # it is not back yet
        time.sleep(PAUSE_SECONDS)
    return "unknown"


def _read_status(driver: QueueingConnection, number: str) -> str | None:
    try:
        row = driver.execute(_STATUS, (number,)).fetchone()
    except psycopg.errors.InvalidParameterValue:
        return "aborted"  # a crash undid it, and nobody has its number yet
    return str(row[0]) if row and row[0] else None


def _find_change(driver: QueueingConnection, transaction: Transaction) -> _Outcome:
    """Tell a transaction by its rows from another one that got its number after a crash."""
    if not transaction.item:
        return "unknown"
    row = driver.execute(_HAS_CHANGE, (transaction.item, transaction.call, transaction.number)).fetchone()
    return "committed" if row and row[0] else "aborted"
