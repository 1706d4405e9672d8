"""The Protocols for copies of a database, for its checks, and for a kind of database as a whole."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from panorama.domain.withdrawal import Replacement, Withdrawn
from panorama.store.backend.database import Database


class CheckResult(NamedTuple):
    """The result of a check, and how to repair the problem."""

    state: Literal["ok", "warn", "fail"]
    found: str
    mend: str = ""


class RowLoader(Protocol):
    """Fills the tables of a new database."""

    def load(self, name: str, forms: Mapping[str, str], lines: Iterable[bytes], progress: Callable[[int], None]) -> int:
        """Fill a table from its lines and return how many there were.

        Raises:
            ValueError: A line or a column does not fit the table.
            UnavailableError: The disk is full, or cannot be written.
        """
        ...

    def copy_tables(self, source: Path, *, without: Collection[str]) -> None:
        """Fill all tables but some with the rows that another database has in them; its schema is not taken.

        Raises:
            ValueError: A table is missing there or is none, or a row does not fit.
            UnavailableError: The disk is full, or cannot be written.
        """
        ...

    def set_sequences(self, numbers: Mapping[str, int]) -> None:
        """Set the last number of each table with generated numbers."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...


class Snapshots(Protocol):
    """Works on copies of the database in files that nothing has open."""

    def open_loader(self, path: Path) -> RowLoader:
        """Open a new, unshared database to fill its tables."""
        ...

    def list_tables(self, path: Path) -> list[str]:
        """Return the tables of a copy, without those of the database software itself."""
        ...

    def count_rows(self, path: Path, names: Iterable[str]) -> dict[str, int]:
        """Return how many rows tables of a copy have; -1 for a missing one."""
        ...

    def create(self, path: Path) -> Database:
        """Open a file, perhaps a new one, without waiting for the disk: it is discarded if anything fails."""
        ...

    def find_damage(self, path: Path, check_cancel: Callable[[], None]) -> str:
        """Return the problem of a copy (damage, or references to missing rows), or "".

        `check_cancel` is called ten times a second; an exception from it ends the check.
        """
        ...

    def find_invalid(self, path: Path, *, is_own: bool = False) -> str:
        """Return what in a copy that may come from anywhere is not as Panorama makes it; "" if nothing is.

        Args:
            is_own: Whether the present data directory made it, so that its numbers may be larger.
        """
        ...

    def find_invalid_value(self, path: Path, check_cancel: Callable[[], None]) -> str:
        """Return the first value in a copy that a restore would refuse, among those found quickly; "" if there is none.

        `check_cancel` is called ten times a second; an exception from it ends the check.
        """
        ...

    def read_revision(self, path: Path) -> str:
        """Return the revision of a copy's schema, "" if it is not a database of ours."""
        ...

    def make_independent(self, path: Path, now: datetime, *, is_own: bool) -> Withdrawn:
        """Make a copy an independent store: it resumes no jobs of the original and gets its own search index.

        Args:
            is_own: Whether this data directory made it; otherwise what was approved in it is withdrawn.
        """
        ...


class Maintenance(Protocol):
    """Operations on the database of a data directory that does not need to be open."""

    software: str
    """The database software, as the name of its check."""

    def describe(self) -> str:
        """Return where the database is, for a person to read."""
        ...

    def describe_previous(self) -> str:
        """Say where the present data stays after it was replaced, for a person to read."""
        ...

    def check_software(self) -> CheckResult:
        """Check that the database software has what Panorama needs."""
        ...

    def check_place(self) -> CheckResult:
        """Check that the database can be reached and is ours; nothing is changed."""
        ...

    def has_data(self) -> bool:
        """Return whether there is a database to check further."""
        ...

    def checks(self) -> Mapping[str, Callable[[], CheckResult]]:
        """Return the checks of what a database holds, by name."""
        ...

    def validate_copy(self, copy: Path) -> None:
        """Check that a file can replace the database.

        Raises:
            InvalidInputError: It is missing, damaged, another program's, or newer than this program.
        """
        ...

    def replace(self, copy: Path, now: datetime, *, is_own: bool, contents: Path | None = None) -> Replacement:
        """Replace the database by a copy while nothing has it open.

        Args:
            is_own: Whether this data directory made the copy; otherwise what was approved in it is withdrawn.
            contents: A folder with contents of files that the copy names, which may be moved from there.

        Raises:
            UnavailableError: The disk is full or the folder cannot be written; the present database is where it was.
        """
        ...


class Backend(Protocol):
    """A kind of database, in one data directory."""

    snapshots: Snapshots
    """Works on copies."""

    @property
    def maintenance(self) -> Maintenance:
        """Checks and replaces the database."""
        ...

    def open(self, *, busy_seconds: float = 10.0) -> Database:
        """Open the database; it is created by the migration if there is none."""
        ...
