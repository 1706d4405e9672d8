"""Commits a transaction, and finds out whether it was kept if the connection is lost meanwhile."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Literal

import psycopg
from sqlalchemy.exc import DBAPIError

from panorama.errors import UnavailableError
from panorama.store.postgres.errors import is_lost

ASK_SECONDS = 10.0
"""How long the server is asked whether a commit was kept: a server that was killed needs seconds to come back."""

PAUSE_SECONDS = 0.25

AskServer = Callable[[], AbstractContextManager[psycopg.Connection[Any]]]
"""Opens a new connection to the server."""


def commit(driver: psycopg.Connection[Any], number: str, ask: AskServer) -> None:
    """Commit the transaction of this number; return only if it is kept.

    Raises:
        UnavailableError: It was rolled back; or the server stayed away, and nobody knows.
    """
    try:
        status = driver.execute("COMMIT").statusmessage
    except psycopg.OperationalError as error:
        if not is_lost(error):
            raise
        outcome = _find_outcome(number, ask)
        if outcome == "committed":
            return
        if outcome == "unknown":
            raise UnavailableError(
                "The connection to the database was lost while the change was stored; whether it was kept is unknown.",
                hint="Look whether it is there once the server answers; a call with idempotency_key may be sent again.",
            ) from error
        raise UnavailableError(
            "The connection to the database was lost; nothing was changed.", hint="Send the same call again."
        ) from error
    if status != "COMMIT":  # a statement had failed, and whoever sent it went on
        raise UnavailableError(
            "The database refused an earlier statement of this call; nothing was changed.", hint="Try again."
        )


def _find_outcome(number: str, ask: AskServer) -> Literal["committed", "aborted", "unknown"]:
    """Ask the server what became of a transaction, until it knows or stayed away too long."""
    end = time.monotonic() + ASK_SECONDS
    while time.monotonic() < end:
        try:
            with ask() as driver:
                row = driver.execute("SELECT pg_xact_status(%s::xid8)", (number,)).fetchone()
        except (psycopg.OperationalError, DBAPIError):
            row = None
        if row and row[0] in ("committed", "aborted"):
            return row[0]
        time.sleep(PAUSE_SECONDS)
    return "unknown"
