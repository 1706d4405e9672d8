"""Translates PostgreSQL's SQLSTATEs to errors that a user can act on."""

import re
from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from sqlalchemy.exc import DBAPIError

from panorama.errors import PanoramaError, UnavailableError
from panorama.store.read_limit import stopped_error

_CAUSES = {
    "22P05": ("A text holds a character that the database cannot store; nothing was changed.", "Leave it out."),
    "25006": (
        "The database takes no writes: its server is a replica, or it is set to read-only; nothing was changed.",
        "Give database_url the address of the primary server, or ask the administrator to allow writes.",
    ),
    "25P02": ("The database refused an earlier statement of this call; nothing was changed.", "Try again."),
    "25P04": ("The database ended a transaction that took too long; nothing was changed.", "Try again."),
    "25P03": ("The database ended a transaction that was idle for too long; nothing was changed.", "Try again."),
    "28000": (
        "The database server does not let this role connect.",
        "Check the role in database_url, or ask the administrator of the server.",
    ),
    "28P01": (
        "The database server refused the password.",
        "Check the role, and the password in database_url, ~/.pgpass or the keyring.",
    ),
    "3D000": (
        "The database named in database_url does not exist.",
        "Create it: CREATE DATABASE panorama TEMPLATE template0 ENCODING 'UTF8';",
    ),
    "3F000": ("The space does not exist in this database; nothing was changed.", "Check the setting `space`."),
    "40001": ("Another write came first; nothing was changed.", "Try again."),
    "40P01": ("Another write came first; nothing was changed.", "Try again."),
    "42501": (
        "The database role lacks a right; nothing was changed.",
        "Ask the administrator of the database for rights on this space.",
    ),
    "53100": (
        "The database server's disk is full; nothing was changed.",
        "Free some space there, then send the same call again.",
    ),
    "53200": ("The database server is out of memory; nothing was changed.", "Try again later."),
    "53300": ("The database server has no free connection; nothing was changed.", "Try again in a moment."),
    "53400": (
        "A limit of the database server was reached; nothing was changed.",
        "Ask the administrator of the server to raise it.",
    ),
    "54000": ("The text is too large for the database; nothing was changed.", "Split it."),
    "55P03": ("Another write is still running; nothing was changed.", "Try again in a moment."),
    "58030": ("The database server's disk reported an error; nothing was changed.", "Check the server's disk."),
    "XX001": ("The database is damaged.", "Restore a backup."),
    "XX002": ("An index of the database is damaged.", "Ask its administrator to REINDEX the space."),
}
"""The message and hint for SQLSTATEs, see appendix A of PostgreSQL's manual."""

_STOPPED, _LACKS_RIGHT = "57014", "42501"
_UNREACHABLE = (
    "The database server cannot be reached; nothing was changed.",
    "Check that it runs and that database_url is right; then send the same call again.",
)
_POOLER = (
    "The address of the database is that of a pooler (such as pgbouncer), which shares connections between programs.",
    "Give database_url the address of the server itself.",
)


def missing_password_error(address: str) -> UnavailableError:
    """Build the error for a server that asks for a password that is nowhere."""
    return UnavailableError(
        f"The database server asks for a password, and there is none for {address}.",
        hint=f"Store it: keyring set panorama {address}; or write it to ~/.pgpass.",
    )


def pooler_error() -> UnavailableError:
    """Build the error for a database that is reached through a pooler."""
    message, hint = _POOLER
    return UnavailableError(message, hint=hint)


@contextmanager
def translate_errors() -> Generator[None]:
    """Translate database errors to errors for the user."""
    try:
        yield
    except PanoramaError:
        raise
    except (DBAPIError, psycopg.Error) as error:
        raise_translated(error)
        raise


def raise_translated(error: DBAPIError | psycopg.Error) -> None:
    """Raise the translated error for a database error; do nothing if it is unknown.

    Raises:
        InvalidInputError: The read took too long.
        UnavailableError: There is a problem with the server, the connection or the rights.
    """
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, psycopg.Error):
        return
    if cause.sqlstate == _STOPPED:
        raise stopped_error() from error
    if known := _find_cause(cause):
        message, hint = known
        raise UnavailableError(message, hint=hint) from error


def lacks_right(error: BaseException) -> bool:
    """Return whether an error says that the role lacks a right."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return isinstance(cause, psycopg.Error) and cause.sqlstate == _LACKS_RIGHT


def is_lost(error: BaseException) -> bool:
    """Return whether an error says that the connection is gone, so that the answer to a statement is unknown."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate is None or cause.sqlstate.startswith(("08", "57P"))


def _find_cause(cause: psycopg.Error) -> tuple[str, str] | None:
    if "unsupported startup parameter" in str(cause):
        return _POOLER
    if cause.sqlstate is None:
        # Without a state it is the driver's own error: while connecting, only its text has the server's reason.
        return next((_CAUSES[state] for state, words in _CONNECTING.items() if words.search(str(cause))), None) or (
            _UNREACHABLE if isinstance(cause, psycopg.OperationalError) else None
        )
    return _CAUSES.get(cause.sqlstate) or (_UNREACHABLE if is_lost(cause) else None)


_CONNECTING = {
    "28P01": re.compile("password authentication failed"),
    "28000": re.compile('no pg_hba.conf entry|role ".*" (?:does not exist|is not permitted to log in)'),
    "3D000": re.compile('database ".*" does not exist'),
    "53300": re.compile("too many (?:clients|connections)|remaining connection slots"),
}
"""Messages for refused connections, by SQLSTATE."""
