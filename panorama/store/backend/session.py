"""The open session, the index of words in it, and what each kind of database does its own way inside a transaction."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, Executable, Table

from panorama.domain.changes import MAX_ATOMIC_BYTES, ItemChange, Origin
from panorama.domain.text.json_types import is_object, is_sequence
from panorama.domain.text.tokens import Term
from panorama.errors import InvalidInputError

ProgressCallback = Callable[[int, int], None]
"""Receives the done and total bytes; an exception from it ends the work."""


Rows = Callable[[], Sequence[Sequence[Any]]]
"""Returns the rows of a statement that was sent before."""


def noop(*_: object) -> None:
    """Do nothing: the default progress callback."""


@dataclass(slots=True)
class Session:
    """One open transaction; `origin` is who writes, None when only reading; `touched` has an entry per change line.

    The functions in `later` are called after the commit; they must be quick, and their errors are only logged.
    `long_texts` are the ids of items some of whose words are written or removed after the commit; `index_seconds` is
    how long words were written and removed. `prefetched` is what the call reads next, by the item's id or another
    name; `unfollowed` are the ids of items with more links than are stored. `labels` returns rows of the id and label
    of items that its answer may name, by their id.
    `left_bytes` is how much text it may still load and write, None without a limit; other work counts as the text that
    takes as long, `work_bytes` of what is gone.
    """

    connection: Connection
    origin: Origin | None
    dialect: "Dialect"
    touched: list[ItemChange] = field(default_factory=list[ItemChange])
    later: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    long_texts: set[str] = field(default_factory=set[str])
    index_seconds: float = 0.0
    prefetched: dict[str, Any] = field(default_factory=dict[str, Any])
    unfollowed: set[str] = field(default_factory=set[str])
    labels: dict[str, "Rows"] = field(default_factory=dict[str, "Rows"])
    left_bytes: int | None = None
    work_bytes: int = 0

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

    def ask(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Rows:
        """Read rows that are needed later; a server gets the statement together with the next one.

        The function is called once. What the transaction writes until then must not change the rows. A `text` must
        name its `columns`, else its columns are asked for at once.
        """
        return self.dialect.ask(self.connection, statement, values)

    def send(self, statement: Executable, values: Mapping[str, Any] | None = None) -> None:
        """Execute a statement whose result is not needed; a server gets it with the next one, or with the commit.

        An error it causes is raised there. An insert must be `inline`.
        """
        self.dialect.send(self.connection, statement, values)

    def spend(self, stored: object, replaced: object = None) -> None:
        """Count the texts that are about to be stored, without the size of those that they replace.

        Raises:
            InvalidInputError: Together with what the unit or the transaction stored before, it is more than that may.
        """
        if self.origin and self.origin.budget:
            size = count_bytes(stored)
            self._take_bytes(size)
            self.spend_bytes(max(0, size - count_bytes(replaced)))

    def count_loaded(self, row: Sequence[Any]) -> None:
        """Count the texts of an item that was loaded.

        Raises:
            InvalidInputError: Together with what the transaction loaded and stored before, it is more than that may.
        """
        if self.left_bytes is not None:
            self._take_bytes(count_bytes(tuple(row)))

    def count_work(self, size: int) -> None:
        """Count work of the transaction that takes as long as storing so many bytes of text.

        Raises:
            InvalidInputError: As `count_loaded`.
        """
        self.work_bytes += size
        self._take_bytes(size)

    def _take_bytes(self, size: int) -> None:
        if self.left_bytes is None:
            return
        self.left_bytes -= size
        if self.left_bytes < 0:
            if self.left_bytes + self.work_bytes >= 0:
                reason = "take too long for one transaction: they change too many links, names or lines of tasks"
            else:
                reason = f"read and write more than {MAX_ATOMIC_BYTES >> 20} MB of text in one transaction"
            raise InvalidInputError(f"The steps would {reason}.", hint="Use fewer steps in a batch, or atomic=false.")

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


MAX_COMPARED = 200
"""The best matches that are compared with the whole query; the rest keep their order."""


@dataclass(frozen=True, slots=True)
class Match:
    """A part of an item whose words match; a larger score is a better match.

    `holds` are the places of those of some expressions that it matches too, in order.
    """

    item: str
    kind: str
    score: float
    part: int
    holds: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class KnownPart:
    """A part that is indexed, or hidden because it is to be removed."""

    id: int
    kind: str


KnownParts = Callable[[], Mapping[str, Mapping[str, KnownPart]]]
"""Returns the indexed parts of some items, by item and name."""


class FullText(Protocol):
    """The words of every living item, written in the same transaction as its row; those of long texts follow it."""

    def ask_known(self, session: Session, items: Sequence[str]) -> KnownParts:
        """Ask for the indexed parts of some items."""
        ...

    def set_words(
        self, session: Session, texts: Sequence[ItemText], *, known: KnownParts | None = None, new: bool = False
    ) -> None:
        """Make the index hold these words for some items, and only these; unchanged parts are left alone.

        What takes too long for one transaction is left to `sync_parts`; the item is then in `session.long_texts`.

        Args:
            known: What `ask_known` returned for them.
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

    def search_expression(
        self, session: Session, query: str, *, limit: int, reach: int, terms: Sequence[str] = ()
    ) -> list[Match]:
        """Return the best matches of an expression among the `reach` last written ones, the best first.

        Args:
            terms: Expressions that the best MAX_COMPARED matches are compared with.
        """
        ...

    def count_all(self, session: Session) -> int:
        """Return how many parts there are."""
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

    def measure(self, session: Session, words: Mapping[str, str]) -> tuple[int, dict[str, int]]:
        """Return how many parts there are, and how many hold some words, given by stem; of common ones about."""
        ...

    def count_term(self, session: Session, term: Term, *, most: int) -> int:
        """Return how many parts hold a term, counted up to `most`; of common ones about."""
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
    """The parts of a transaction that are specific to a kind of database."""

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
        is_awaited: bool = True,
    ) -> int:
        """Insert many rows, given as the values of some columns; return how many were inserted.

        Args:
            is_awaited: Return only when they are inserted; otherwise the number may be wrong.
        """
        ...

    def ask(self, connection: Connection, statement: Executable, values: Mapping[str, Any] | None) -> Rows:
        """Read rows that are needed later."""
        ...

    def send(self, connection: Connection, statement: Executable, values: Mapping[str, Any] | None) -> None:
        """Execute a statement whose result is not needed."""
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

    def iter_stored_rows(self, session: Session, table: Table) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in the order of their key, with the values that SQLite stores for them."""
        ...

    def reading_long_texts(self, session: Session) -> AbstractContextManager[None]:
        """Check the limit of reads at nearly every row, for statements inside that search in texts of 10 MB."""
        ...

    def read_clock(self, session: Session) -> datetime | None:
        """Return the time of a clock that is the same for every process; None if only one machine has the data."""
        ...

    def list_sequences(self, session: Session) -> dict[str, int]:
        """Return the last number that each table with generated numbers gave."""
        ...
