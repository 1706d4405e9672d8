"""The Protocols that each kind of database implements, and the open session."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from sqlalchemy import Connection, Table

from panorama.domain.changes import ItemChange, Origin
from panorama.domain.text.json_types import is_object, is_sequence
from panorama.domain.text.tokens import Term
from panorama.domain.withdrawal import Replacement, Withdrawn

READ_SECONDS = 10.0
"""How long a call may read; a backup, an export or a job may take longer."""

Listener = Callable[[Sequence[ItemChange]], None]
ProgressCallback = Callable[[int, int], None]
"""Receives how many bytes of how many are done; what it raises ends the work."""


DatabaseChooser = Callable[[bool], "Database | None"]
"""Chooses the database for a transaction, given whether it writes; None for the one that was asked."""


def noop(*_: object) -> None:
    """Do nothing: the callback of work that nobody follows."""


@dataclass(slots=True)
class Session:
    """One open transaction; `origin` is who writes, None when only reading; `touched` has an entry per change line.

    The functions in `later` are called after the commit; they must be quick, and their errors are only logged.
    `long_texts` are the ids of items some of whose words are written or removed after the commit; `index_seconds` is
    how long words were written and removed.
    """

    connection: Connection
    origin: Origin | None
    dialect: "Dialect"
    touched: list[ItemChange] = field(default_factory=list[ItemChange])
    later: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    long_texts: set[str] = field(default_factory=set[str])
    index_seconds: float = 0.0

    @property
    def full_text(self) -> "FullText":
        """The index of words."""
        return self.dialect.full_text

    @property
    def vocabulary(self) -> "Vocabulary":
        """The words of that index."""
        return self.dialect.vocabulary

    @property
    def change_count(self) -> int:
        """How many change lines it has written."""
        return len(self.touched)

    def spend(self, stored: object, replaced: object = None) -> None:
        """Count the texts that are about to be stored, without the size of those that they replace.

        Raises:
            InvalidInputError: Together with what the unit stored before, it is more than the unit may store.
        """
        if self.origin and self.origin.budget:
            self.spend_bytes(max(0, count_bytes(stored) - count_bytes(replaced)))

    def spend_bytes(self, size: int) -> None:
        """Count so many bytes that are about to be stored.

        Raises:
            InvalidInputError: As `spend`.
        """
        if self.origin and self.origin.budget:
            self.origin.budget.spend(size)


def count_bytes(value: object) -> int:
    """Return how large the texts in a value are, in bytes; all else is small."""
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "replace"))
    if is_object(value):
        return sum(count_bytes(entry) for entry in value.values())
    if is_sequence(value):
        return sum(map(count_bytes, value))
    return 0


@dataclass(slots=True)
class WriteScope:
    """On whose behalf several transactions are opened one after another; `wrote` counts their change lines."""

    origin: Origin
    wrote: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """An item whose words match; a smaller score is a better match."""

    item: str
    kind: str
    score: float


class ItemText(NamedTuple):
    """The words of an item that are indexed."""

    kind: str
    item: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Match:
    """A part of an item whose words match; a larger score is a better match."""

    item: str
    kind: str
    score: float
    part: int


class CheckResult(NamedTuple):
    """The result of a check, and how to repair what is wrong."""

    state: Literal["ok", "warn", "fail"]
    found: str
    mend: str = ""


class FullText(Protocol):
    """The words of every living item, written in the same transaction as its row; those of long texts follow it."""

    def set_words(self, session: Session, texts: Sequence[ItemText], *, new: bool = False) -> None:
        """Make the index hold these words for some items, and only these; unchanged parts are left alone.

        What takes too long for one transaction is left to `sync_parts`; the item is then in `session.long_texts`.
        """
        ...

    def remove(self, session: Session, items: Sequence[str]) -> None:
        """Remove the words of some items; some may be hidden now and removed by `sync_parts`."""
        ...

    def make_parts(self, title: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the parts in which texts are indexed, each with its digest and the title's as its name."""
        ...

    def replace_texts(
        self, session: Session, kind: str, item: str, title: str, old: Mapping[int, str], new: Mapping[int, str]
    ) -> None:
        """Index some of an item's texts again, by number; the others are not read."""
        ...

    def sync_parts(
        self, session: Session, kind: str, item: str, title: str, parts: Mapping[str, str], *, seconds: float
    ) -> bool:
        """Write and remove parts until the index holds these for an item, for some seconds; return whether it does."""
        ...

    def search_terms(self, session: Session, query: tuple[Term, ...], *, every: bool, limit: int) -> list[Hit]:
        """Return the best parts that hold every term, or any of them; at most `limit`, the best first."""
        ...

    def search_expression(self, session: Session, query: str, *, limit: int, reach: int) -> list[Match]:
        """Return the best matches of an expression among the `reach` last written ones, the best first."""
        ...

    def list_matching_parts(self, session: Session, query: str, first: int, last: int) -> set[int]:
        """Return the parts from `first` to `last` that match an expression."""
        ...

    def count(self, session: Session, query: str, *, most: int) -> int:
        """Return how many parts match an expression, counted up to `most`."""
        ...

    def build_expression(self, terms: Sequence[Term], *, every: bool) -> str:
        """Return the expression for every term, or any of them."""
        ...

    def join_expressions(self, *expressions: str) -> str:
        """Return the expression for parts that match all of these."""
        ...

    def has_all_parts(self, session: Session) -> bool:
        """Return whether the index has as many parts as the table of parts."""
        ...

    def merge(self, session: Session, *, begin: bool) -> bool:
        """Rewrite a portion of the index without removed words; return whether there is more to do."""
        ...


class Vocabulary(Protocol):
    """The words that the full text holds, how frequent they are, and corrections of misspelt ones."""

    def stem(self, word: str) -> str:
        """Return the form in which the index stores a word, "" if it is not a single word."""
        ...

    def count_parts(self, session: Session, stems: Sequence[str]) -> dict[str, int]:
        """Return how many parts hold each stem; stems that none holds are left out."""
        ...

    def correct(self, session: Session, word: str) -> str:
        """Return the stored word that an unknown word most likely was, "" if there is none."""
        ...

    def split_word(self, session: Session, word: str) -> str:
        """Return the two stored words that an unknown word is made of, "" if there are none."""
        ...

    def split_code(self, session: Session, code: str) -> tuple[tuple[str, str], ...]:
        """Return the ways in which a code is stored as two words."""
        ...


class Dialect(Protocol):
    """What a kind of database does its own way inside a transaction."""

    @property
    def full_text(self) -> FullText:
        """The index of words."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of that index."""
        ...

    def insert_rows(
        self,
        connection: Connection,
        table: Table,
        names: tuple[str, ...],
        rows: Iterable[Sequence[Any]],
        *,
        skip_existing: bool = False,
    ) -> None:
        """Insert many rows, given as the values of some columns."""
        ...

    def update_rows(
        self,
        connection: Connection,
        table: Table,
        names: tuple[str, ...],
        keys: tuple[str, ...],
        rows: Sequence[Sequence[Any]],
    ) -> int:
        """Update rows by some key columns, given as the values of some columns and the keys; return their number."""
        ...

    def write_snapshot(self, session: Session, target: Path, progress: ProgressCallback = noop) -> None:
        """Write what a session sees to a new file, while others go on writing."""
        ...

    def list_sequences(self, session: Session) -> dict[str, int]:
        """Return the last number that each table with generated numbers gave."""
        ...


class ScratchStore(Protocol):
    """A private view of the store for a dry run: writes go to a copy that is thrown away."""

    @property
    def folder(self) -> Path:
        """The folder that is thrown away."""
        ...

    @property
    def is_written(self) -> bool:
        """Whether anything was written."""
        ...

    def activate(self) -> AbstractContextManager[None]:
        """Let the transactions of this context use the copy."""
        ...

    def close(self) -> None:
        """Remove everything."""
        ...


class Database(Protocol):
    """An open database and its transactions. Safe to use from several threads."""

    def transaction(self, origin: Origin) -> AbstractContextManager[Session]:
        """Open a write transaction, or join the one that is open; all of it is stored or none.

        Inside `write_scope`, the origin given there replaces this one.

        Raises:
            UnavailableError: The database is locked, full, read-only or damaged.
        """
        ...

    def reading(self) -> AbstractContextManager[Session]:
        """Open a consistent view of the data, or join the transaction that is open."""
        ...

    def writer(self) -> Origin | None:
        """Return on whose behalf this context writes: of the open transaction or `write_scope`; None if in neither."""
        ...

    def limit_reads(
        self, should_stop: Callable[[], bool], seconds: float = READ_SECONDS
    ) -> AbstractContextManager[None]:
        """Stop what is read or written inside after some seconds, or as soon as `should_stop` returns true.

        What is stopped raises InvalidInputError; a write that is stopped is rolled back. A limit inside another one
        adds to it.
        """
        ...

    def write_scope(self, origin: Origin) -> AbstractContextManager[WriteScope]:
        """Make the transactions that are opened inside one unit, each stored on its own."""
        ...

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a listener after each later transaction with what it touched; return how to unsubscribe.

        It is called once per transaction, after the commit and outside the lock, in the thread that wrote; it must be
        quick. It is not called for what is rolled back or touches no item. Its errors are only logged.
        """
        ...

    def redirect(self, chosen: DatabaseChooser) -> AbstractContextManager[None]:
        """Open the transactions of this context in another database, where `chosen` returns one."""
        ...

    def create_scratch(self, folder: Path, check_cancel: Callable[[], None] = noop) -> ScratchStore:
        """Return a private view for a dry run; what `check_cancel` raises ends the copying."""
        ...

    def is_current(self) -> bool:
        """Return whether the open database is still the one that others would open."""
        ...

    def revision(self) -> str | None:
        """Return the revision of the schema, "" for an empty or missing database.

        Raises:
            UnavailableError: The database belongs to another program, or cannot be read.
        """
        ...

    def migrating(self) -> AbstractContextManager[Connection]:
        """Open a write transaction for a migration, and mark the database as ours in it."""
        ...

    def copy_to(self, target: Path, progress: ProgressCallback = noop, *, is_awaited: bool = False) -> None:
        """Write a consistent copy to a file while others go on; a part of a copy is not left behind.

        Args:
            is_awaited: Everybody waits for it, so it takes the whole disk.

        Raises:
            UnavailableError: The disk is full or the folder cannot be written.
        """
        ...

    def size_bytes(self) -> int:
        """Return how much space the data take on the disk."""
        ...

    def truncate_log(self) -> None:
        """Remove deleted data from the database's own log."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


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
        """Open a new database, which nobody else has open, to fill its tables."""
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
        """Return what is wrong with a copy: damage, or references to missing rows; "" if nothing is.

        `check_cancel` is called ten times a second; what it raises ends the check.
        """
        ...

    def find_invalid(self, path: Path) -> str:
        """Return what in a copy that may come from anywhere is not as Panorama makes it; "" if nothing is."""
        ...

    def read_revision(self, path: Path) -> str:
        """Return the revision of a copy's schema, "" if it is not a database of ours."""
        ...

    def make_independent(self, path: Path, now: datetime, *, is_own: bool) -> Withdrawn:
        """Make a copy a store of its own: it resumes no jobs of the original and gets its own search index.

        Args:
            is_own: Whether this data directory made it; otherwise what was approved in it is withdrawn.
        """
        ...


class Maintenance(Protocol):
    """What is asked of and done to the database of a data directory while it may not be opened."""

    def describe(self) -> str:
        """Return where the database is, for a person to read."""
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

    def replace(self, copy: Path, now: datetime, *, is_own: bool) -> Replacement:
        """Replace the database by a copy while nothing has it open.

        Args:
            is_own: Whether this data directory made the copy; otherwise what was approved in it is withdrawn.

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
