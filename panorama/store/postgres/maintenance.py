"""Checks a space of a PostgreSQL database without changing it, and replaces it by a copy."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL

from panorama.domain.changes import CLI_ACTOR, Origin
from panorama.domain.text.sizes import format_size
from panorama.domain.withdrawal import Replacement
from panorama.errors import UnavailableError
from panorama.store.backend import CheckResult
from panorama.store.items import long_texts
from panorama.store.migrate import HEAD
from panorama.store.postgres import spaces
from panorama.store.postgres.connections import describe_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.errors import translate_errors
from panorama.store.postgres.transfer.replace_space import replace_space
from panorama.store.sqlite.replace_database import validate_copy

LOCK_SECONDS = 2.0
DAEMONS_SINCE = "0025"
"""The revision that has the list of daemons."""

MAX_CLOCK_SECONDS = 2.0
"""By how much the server's clock may differ from this machine's."""

_ORIGIN = Origin(actor=CLI_ACTOR, client="doctor", conversation="", operation="", call="", unit="")
_RIGHTS = (
    "SELECT bool_and(has_table_privilege(c.oid, 'SELECT')), "
    "bool_and(c.relname = 'alembic_version' OR has_table_privilege(c.oid, 'INSERT') "
    "AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')), "
    "pg_has_role(n.nspowner, 'MEMBER'), has_database_privilege(current_database(), 'CREATE'), "
    "has_database_privilege(current_database(), 'TEMPORARY') "
    "FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind = 'r' "
    "WHERE n.nspname = %s GROUP BY n.oid, n.nspowner"
)
_OTHER_COLLATIONS = (
    "SELECT count(*) FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid "
    "JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_collation AS l ON l.oid = a.attcollation "
    "WHERE n.nspname = %s AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND l.collname <> 'C'"
)
_DURABILITY = (
    "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') "
    "AND setting = 'off' ORDER BY name"
)


class PostgresMaintenance:
    """Checks and replaces one space."""

    software = "postgresql"

    def __init__(self, url: URL, space: str) -> None:
        self._url = url
        self._space = space

    def describe(self) -> str:
        """Return the address of the database, without a password, and the space."""
        return f"space {self._space} of {describe_url(self._url)}"

    def describe_previous(self) -> str:
        """Say in which space the present data stays after it was replaced."""
        return f"The current data is kept in a space of the same database, {self._space}_before_ and the time."

    def has_data(self) -> bool:
        """Return whether the space exists and has tables."""
        with closing(self._open()) as database:
            return bool(database.revision())

    def check_software(self) -> CheckResult:
        """Check the driver; it cannot be missing any more."""
        return CheckResult("ok", f"PostgreSQL by psycopg {psycopg.__version__}")

    def check_place(self) -> CheckResult:
        """Check that the server can be reached, is new enough, and that the space is ours."""
        with self._connect() as driver:
            spaces.check_server(driver)
            spaces.find_revision(driver, spaces.schema_name(self._space))
            version = driver.info.parameter_status("server_version")
        return CheckResult("ok", f"{self.describe()}, PostgreSQL {version}")

    def checks(self) -> Mapping[str, Callable[[], CheckResult]]:
        """Return the checks of the space, by name."""
        return {
            "write lock": self._check_write_lock,
            "schema": self._check_schema,
            "rights": self._check_rights,
            "collation": self._check_collation,
            "durability": self._check_durability,
            "clock": self._check_clock,
            "daemons": self._check_daemons,
            "size": self._check_size,
            "search index": self._check_search_index,
        }

    def validate_copy(self, copy: Path) -> None:
        """Check that a file can replace the space.

        Raises:
            InvalidInputError: It is missing, damaged, another program's, or newer than this program.
        """
        validate_copy(copy)

    def replace(self, copy: Path, now: datetime, *, is_own: bool, contents: Path | None = None) -> Replacement:
        """Replace the rows of the space by those of a copy; the present ones stay in another space.

        Args:
            is_own: Whether this data directory made the copy; otherwise what was approved in it is withdrawn.
            contents: A folder with contents of files that the copy names; it keeps the present ones that it names too.

        Raises:
            UnavailableError: Another Panorama serves the space, the role may not create schemas, or a disk is full;
                nothing was changed.
        """
        with closing(PostgresDatabase(self._url, self._space)) as database:
            return replace_space(database, copy, now, is_own=is_own, contents=contents)

    def _open(self) -> PostgresDatabase:
        return PostgresDatabase(self._url, self._space, busy_seconds=LOCK_SECONDS)

    @contextmanager
    def _connect(self) -> Generator[psycopg.Connection[Any]]:
        with closing(self._open()) as database, translate_errors(), database.connect() as driver:
            yield driver

    def _check_write_lock(self) -> CheckResult:
        with closing(self._open()) as database:
            try:
                with database.transaction(_ORIGIN):
                    pass  # nothing was written, only the lock was held
            except spaces.ReadOnlyRoleError:
                return CheckResult("ok", "not needed: the role may only read the space")
            except UnavailableError as error:
                return CheckResult("fail", error.message, error.hint)
        return CheckResult("ok", "free")

    def _check_schema(self) -> CheckResult:
        with closing(self._open()) as database:
            revision = database.revision()
        if revision > HEAD:
            mend = "Upgrade Panorama (`uv tool upgrade panorama-mcp`)."
            return CheckResult("fail", f"revision {revision} is newer than this program ({HEAD})", mend)
        if revision < HEAD:
            return CheckResult("warn", f"revision {revision}, this program knows {HEAD}", "The next start migrates it.")
        return CheckResult("ok", f"revision {revision}")

    def _check_rights(self) -> CheckResult:
        with self._connect() as driver:
            row = driver.execute(_RIGHTS, (spaces.schema_name(self._space),)).fetchone()
        if row is None or not row[0]:
            mend = f"Ask the owner of the space: panorama spaces grant {self._space} ROLE"
            return CheckResult("fail", "the role may not read all tables of the space", mend)
        _, may_write, is_owner, may_create, may_copy = row
        if not may_write:
            mend = f"To write, ask the owner of the space: panorama spaces grant {self._space} ROLE"
            return CheckResult("warn", "the role may read the space, but not write it", mend)
        lacks = [
            *([] if is_owner else ["only its owner can migrate and restore it"]),
            *(["restoring and moving back need CREATE ON DATABASE"] if is_owner and not may_create else []),
            *([] if may_copy else ["dry runs that write need TEMPORARY ON DATABASE"]),
        ]
        return CheckResult("ok", "; ".join(["the role may read and write the space", *lacks]))

    def _check_collation(self) -> CheckResult:
        with self._connect() as driver:
            row = driver.execute(_OTHER_COLLATIONS, (spaces.schema_name(self._space),)).fetchone()
        if row and row[0]:
            mend = "Somebody changed the tables; restore a backup: `panorama restore PATH`."
            return CheckResult("fail", f"{row[0]} columns do not sort by code point", mend)
        return CheckResult("ok", "texts sort by code point")

    def _check_durability(self) -> CheckResult:
        with self._connect() as driver:
            names = [row[0] for row in driver.execute(_DURABILITY)]
        if names:
            mend = "Ask the administrator of the server to turn on what is off."
            return CheckResult("warn", f"off: {', '.join(names)}; a crash of the server may lose writes", mend)
        return CheckResult("ok", "a crash of the server loses no confirmed write")

    def _check_daemons(self) -> CheckResult:
        with closing(self._open()) as database:
            daemons = database.membership.list_daemons() if database.revision() >= DAEMONS_SINCE else ()
        found = (f"{daemon.machine} ({', '.join(daemon.duties) or 'no duty'})" for daemon in daemons)
        return CheckResult("ok", "; ".join(found) or "no daemon is connected")

    def _check_clock(self) -> CheckResult:
        with self._connect() as driver:
            sent = time.monotonic()
            row = driver.execute("SELECT clock_timestamp()").fetchone()
            waited = time.monotonic() - sent
        ahead = (row[0] - datetime.now(UTC)).total_seconds() + waited / 2 if row else 0.0
        if abs(ahead) > MAX_CLOCK_SECONDS:
            way = "ahead of" if ahead > 0 else "behind"
            mend = "Set both clocks by a time service (NTP)."
            return CheckResult("warn", f"the server's clock is {abs(ahead):.0f} s {way} this machine's", mend)
        return CheckResult("ok", "the server's clock is this machine's")

    def _check_size(self) -> CheckResult:
        with closing(self._open()) as database:
            return CheckResult("ok", f"{format_size(database.size_bytes())} on the server")

    def _check_search_index(self) -> CheckResult:
        with closing(self._open()) as database, database.reading() as session:
            if long_texts.is_indexed(session):
                return CheckResult("ok", "the words match the items")
        return CheckResult("fail", "words are missing or left over", "Restore a backup: `panorama restore PATH`.")
