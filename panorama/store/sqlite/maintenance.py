"""Checks the SQLite file without changing it, and replaces it by a copy."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from panorama.domain.changes import CLI_ACTOR, Origin
from panorama.domain.text.sizes import format_size
from panorama.domain.withdrawal import Replacement
from panorama.errors import UnavailableError
from panorama.store.backend import CheckResult
from panorama.store.contents.folder import FolderContents
from panorama.store.items import long_texts
from panorama.store.migrate import HEAD
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.store.sqlite.file import database_size_bytes, is_ours
from panorama.store.sqlite.replace_database import replace_database, validate_copy

LOCK_SECONDS = 2.0
WRITE_LOCK_BYTE = 120
"""Which byte of the `-shm` file SQLite locks while a program writes (sqlite.org/walformat.html, "WAL Locks")."""

_ORIGIN = Origin(actor=CLI_ACTOR, client="doctor", conversation="", operation="", call="", unit="")
_RESTORE_HINT = "Put a backup from the folder backups in its place: `panorama restore PATH`."


class SqliteMaintenance:
    """Checks and replaces one file."""

    software = "sqlite"

    def __init__(self, path: Path) -> None:
        self._path = path

    def describe(self) -> str:
        """Return the path of the file."""
        return str(self._path)

    def describe_previous(self) -> str:
        """Say in which folder the present file stays after it was replaced."""
        return f"The current data is kept in {self._path.with_name('backups')}."

    def has_data(self) -> bool:
        """Return whether the file exists and is not empty."""
        return self._path.is_file() and self._path.stat().st_size > 0

    def check_software(self) -> CheckResult:
        """Check that this Python's SQLite has FTS5."""
        with closing(SqliteDatabase(Path(":memory:"))) as database, database.reading() as session:
            statement = "SELECT sqlite_version(), sqlite_compileoption_used('ENABLE_FTS5')"
            version, has_words = session.connection.exec_driver_sql(statement).one()
        if not has_words:
            mend = "Use a Python whose SQLite has it (uv, python.org)."
            return CheckResult("fail", f"SQLite {version} without FTS5", mend)
        return CheckResult("ok", f"SQLite {version} with FTS5")

    def check_place(self) -> CheckResult:
        """Check the file by its head only, because opening another program's database changes it."""
        path = self._path
        if not path.exists() or path.stat().st_size == 0:
            return CheckResult("ok", f"there is no {path.name} yet")
        if not os.access(path, os.R_OK | os.W_OK):
            mend = f"chown $USER {path} && chmod 600 {path}"
            return CheckResult("fail", f"{path} is not readable and writable", mend)
        try:
            is_known = is_ours(path)
        except UnavailableError:
            return CheckResult("fail", f"{path} is not a database, or is damaged", _RESTORE_HINT)
        if not is_known:
            mend = "Choose another folder with PANORAMA_HOME."
            return CheckResult("fail", f"{path} belongs to another program", mend)
        return CheckResult("ok", f"{path}, {format_size(database_size_bytes(path))}")

    def checks(self) -> Mapping[str, Callable[[], CheckResult]]:
        """Return the checks of the file's contents, by name."""
        return {
            "write lock": self._check_write_lock,
            "schema": self._check_schema,
            "soundness": self._check_soundness,
            "search index": self._check_search_index,
        }

    def validate_copy(self, copy: Path) -> None:
        """Check that a file can replace the database.

        Raises:
            InvalidInputError: It is missing, damaged, another program's, or newer than this program.
        """
        validate_copy(copy)

    def replace(self, copy: Path, now: datetime, *, is_own: bool, contents: Path | None = None) -> Replacement:
        """Replace the file by a copy while nothing has it open.

        Args:
            is_own: Whether this data directory made the copy; otherwise what was approved in it is withdrawn.
            contents: A folder with contents of files that the copy names, which may be moved from there.

        Raises:
            UnavailableError: The disk is full or the folder cannot be written; the present file is where it was.
        """
        if contents:
            FolderContents(self._path.with_name("files")).move_from(contents)
        return replace_database(copy, self._path, now, is_own=is_own)

    def _open(self) -> SqliteDatabase:
        return SqliteDatabase(self._path, busy_seconds=LOCK_SECONDS)

    def _check_write_lock(self) -> CheckResult:
        with closing(self._open()) as database:
            try:
                with database.transaction(_ORIGIN):
                    pass  # nothing was written, only the lock was held
            except UnavailableError as error:
                holder = _find_lock_holder(self._path)
                mend = f"Wait for {holder}, or end it." if holder else f"{error.hint} Or: lsof {self._path}-shm"
                return CheckResult("fail", error.message, mend)
        return CheckResult("ok", "free")

    def _check_schema(self) -> CheckResult:
        with closing(self._open()) as database:
            revision = database.revision() or ""
        if revision > HEAD:
            mend = "Upgrade Panorama (`uv tool upgrade panorama-mcp`)."
            return CheckResult("fail", f"revision {revision} is newer than this program ({HEAD})", mend)
        if revision < HEAD:
            mend = "It is migrated at the next start, after a copy is made."
            return CheckResult("warn", f"revision {revision or 'none'}, this program knows {HEAD}", mend)
        return CheckResult("ok", f"revision {revision}")

    def _check_soundness(self) -> CheckResult:
        with closing(self._open()) as database:
            damage = database.check()
        if damage != "ok":
            return CheckResult("fail", damage, _RESTORE_HINT)
        return CheckResult("ok", "quick_check finds no damage")

    def _check_search_index(self) -> CheckResult:
        with closing(self._open()) as database, database.reading() as session:
            if long_texts.is_indexed(session):
                return CheckResult("ok", "the full-text index matches the items")
        return CheckResult("fail", "the full-text index does not match the items", _RESTORE_HINT)


def _find_lock_holder(path: Path) -> str:
    """Return the program that holds the write lock; "" if unknown (only Linux reports it)."""
    with suppress(OSError, ValueError, IndexError):
        inode = path.with_name(f"{path.name}-shm").stat().st_ino
        for row in Path("/proc/locks").read_text().splitlines():
            # 1: POSIX  ADVISORY  WRITE 4711 fe:01:131091 120 120
            words = row.split()
            if words[3] != "WRITE" or words[5].rpartition(":")[2] != str(inode):
                continue
            if int(words[6]) <= WRITE_LOCK_BYTE <= int(words[7]):
                command = Path(f"/proc/{words[4]}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                return f"process {words[4]} ({command.strip()[:80]})"
    return ""
