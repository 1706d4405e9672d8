"""The lock on a space: shared by daemons, exclusive for a process that replaces or moves the rows."""

import os
import socket
from typing import Any

import psycopg

from panorama.errors import UnavailableError

_LOCK = 0x50414E50 << 32
"""The upper half of the number of the lock, "PANP" in ASCII; the lower half is the schema's number."""

_TRY = (
    f"SELECT pg_try_advisory_lock{{mode}}({_LOCK} | oid::bigint), set_config('application_name', %s, false) "
    "FROM pg_namespace WHERE nspname = current_schema()"
)
_HOLDERS = (
    "SELECT string_agg(DISTINCT a.application_name, ' and by ') FROM pg_locks AS l "
    "JOIN pg_stat_activity AS a ON a.pid = l.pid "
    f"JOIN pg_namespace AS n ON n.oid = l.objid WHERE l.locktype = 'advisory' AND l.classid = {_LOCK >> 32} "
    "AND l.objsubid = 1 AND n.nspname = current_schema() AND l.database = (SELECT oid FROM pg_database "
    "WHERE datname = current_database())"
).encode()
NAME_CHARS = 63
"""The number of characters of a connection's name that the server keeps."""


def try_lock(driver: psycopg.Connection[Any], *, is_alone: bool) -> bool:
    """Take the lock for the life of a connection; return false if there is no space yet.

    Raises:
        UnavailableError: Another process has it.
    """
    name = f"panorama on {socket.gethostname()}, process {os.getpid()}"[:NAME_CHARS]
    row = driver.execute(_TRY.format(mode="" if is_alone else "_shared").encode(), (name,)).fetchone()
    if row is None:
        return False
    if not row[0]:
        holders = driver.execute(_HOLDERS).fetchone()
        raise UnavailableError(
            f"The space is in use by {holders[0] if holders and holders[0] else 'another Panorama'}; "
            "nothing was changed.",
            hint=_HINT_ALONE if is_alone else _HINT_SHARED,
        )
    return True


_HINT_ALONE = "Stop every daemon of the space first: `panorama daemons` lists them, `panorama daemon stop` stops one."
_HINT_SHARED = "It is being restored or moved. Try again once that is done."
