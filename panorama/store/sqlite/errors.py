"""Translates SQLite's result codes to errors that a user can act on."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError

from panorama.errors import PanoramaError, UnavailableError
from panorama.store.read_limit import stopped_error

_CAUSES = {
    sqlite3.SQLITE_BUSY: (
        "The database is locked by another program; nothing was changed.",
        "Try again; if it persists, run `panorama doctor`.",
    ),
    sqlite3.SQLITE_LOCKED: ("The database is locked; nothing was changed.", "Try again in a moment."),
    sqlite3.SQLITE_FULL: ("The disk is full; nothing was changed.", "Free some space, then send the same call again."),
    sqlite3.SQLITE_READONLY: (
        "The database cannot be written; nothing was changed.",
        "Allow this user to write to the data directory and its files.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "The database file cannot be opened; nothing was changed.",
        "Check that the data directory exists and may be written.",
    ),
    sqlite3.SQLITE_IOERR: (
        "The disk reported an error; nothing was changed.",
        "Check the disk and its free space with `panorama doctor`.",
    ),
    sqlite3.SQLITE_CORRUPT: ("The database file is damaged.", "Stop using it and restore a backup."),
    sqlite3.SQLITE_NOTADB: (
        "panorama.db is not a database.",
        "It is damaged or belongs to another program; check PANORAMA_HOME.",
    ),
    sqlite3.SQLITE_TOOBIG: ("The text is too large for the database; nothing was changed.", "Split it."),
}
"""The message and hint for each SQLite result code."""


@contextmanager
def translate_errors() -> Generator[None]:
    """Translate database errors to errors for the user."""
    try:
        yield
    except PanoramaError:
        raise
    except (DBAPIError, sqlite3.Error) as error:
        raise_translated(error)
        raise


def unavailable_error(code: int) -> UnavailableError:
    """Return the error for an SQLite result code."""
    message, hint = _CAUSES[code]
    return UnavailableError(message, hint=hint)


def raise_translated(error: DBAPIError | sqlite3.Error) -> None:
    """Raise the translated error for a database error; do nothing if it is unknown.

    Raises:
        InvalidInputError: The read took too long.
        UnavailableError: There is a problem with the disk or the file.
    """
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:
        return
    if code == sqlite3.SQLITE_INTERRUPT:
        raise stopped_error() from error
    known = _CAUSES.get(code) or _CAUSES.get(code & 0xFF)
    if known is None or (code & 0xFF == sqlite3.SQLITE_ERROR and not isinstance(error, OperationalError)):
        return
    message, hint = known
    raise UnavailableError(message, hint=hint) from error
