"""The claim of one server on a space: as long as it is held, no other Panorama serves the space."""

import os
import socket
import threading
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine

from panorama.errors import UnavailableError
from panorama.store.postgres.connections import discard, driver_connection, is_open
from panorama.store.postgres.errors import translate_errors

_LOCK = 0x50414E50 << 32
"""The upper half of the number of the lock; the lower half is the schema's number."""

_TRY = (
    f"SELECT pg_try_advisory_lock({_LOCK} | oid::bigint), set_config('application_name', %s, false) "
    "FROM pg_namespace WHERE nspname = current_schema()"
).encode()
_HOLDER = (
    "SELECT a.application_name FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid "
    f"JOIN pg_namespace AS n ON n.oid = l.objid WHERE l.locktype = 'advisory' AND l.classid = {_LOCK >> 32} "
    "AND l.objsubid = 1 AND n.nspname = current_schema() AND l.database = (SELECT oid FROM pg_database "
    "WHERE datname = current_database())"
).encode()
NAME_CHARS = 63
"""So much of a connection's name the server keeps."""


class SpaceClaim:
    """A lock on a connection of its own, which the server gives up with the connection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._is_wanted = False

    def take(self) -> None:
        """Take the claim, or once there is a space to claim.

        Raises:
            UnavailableError: Another Panorama serves the space.
        """
        self._is_wanted = True
        self.renew()

    def renew(self) -> None:
        """Take the claim again if its connection was lost; costs a few microseconds if it was not.

        Raises:
            UnavailableError: Another Panorama took it meanwhile.
        """
        if not self._is_wanted:
            return
        with self._lock, translate_errors():
            if self._connection and is_open(driver_connection(self._connection)):
                return
            self._release()
            connection = self._engine.connect()
            try:
                is_taken = _take(driver_connection(connection))
            except BaseException:
                discard(connection)
                raise
            if is_taken:
                self._connection = connection
            else:
                connection.close()

    def give_up(self) -> None:
        """Let another server have the space."""
        with self._lock:
            self._is_wanted = False
            self._release()

    def _release(self) -> None:
        if self._connection:
            discard(self._connection)
            self._connection = None


def _take(driver: psycopg.Connection[Any]) -> bool:
    """Take the lock; return false if there is no space yet.

    Raises:
        UnavailableError: Another Panorama has it.
    """
    name = f"panorama on {socket.gethostname()}, process {os.getpid()}"[:NAME_CHARS]
    row = driver.execute(_TRY, (name,)).fetchone()
    if row is None:
        return False
    if not row[0]:
        holder = driver.execute(_HOLDER).fetchone()
        raise UnavailableError(
            f"The space is in use by {holder[0] if holder else 'another Panorama'}; nothing was changed.",
            hint="One daemon serves a space at a time. Stop that one with `panorama daemon stop` on its machine.",
        )
    return True
