"""Results of backups, exports, restores and purges."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupResult:
    """A verified backup; `rows` and `files` count its contents, `removed` the expired backups that were deleted.

    `problems` are the first 50 things that could not be saved, such as a missing content; a complete backup has none.
    `withheld` are secret settings that were left out.
    """

    path: str
    size_bytes: int
    rows: int
    files: int
    removed: int
    problems: tuple[str, ...]
    problem_count: int
    withheld: tuple[str, ...]
    is_complete: bool
    seconds: float

    @property
    def shortfall(self) -> str:
        """The things that could not be saved."""
        return _describe_shortfall(self.problems, self.problem_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupList:
    """The first 50 backups in a folder, the newest first; `count` counts all."""

    folder: str
    backups: tuple[Mapping[str, Any], ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveCheckResult:
    """An intact backup or export; `problems` are the things that could not be saved when it was made.

    `sending` are settings that send texts elsewhere; a restore leaves them out unless the user agrees.
    """

    path: str
    kind: str
    made_at: datetime
    version: str
    files: int
    size_bytes: int
    rows: int
    problems: tuple[str, ...]
    withheld: tuple[str, ...]
    sending: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """A finished export: rows as JSON Lines, pages in Markdown, file contents; `problems` as for a backup."""

    path: str
    size_bytes: int
    rows: int
    pages: int
    files: int
    problems: tuple[str, ...]
    problem_count: int
    withheld: tuple[str, ...]
    is_complete: bool
    seconds: float

    @property
    def shortfall(self) -> str:
        """The things that could not be saved."""
        return _describe_shortfall(self.problems, self.problem_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """A data directory restored from a backup or an export, and verified against it."""

    path: str
    source: str
    kind: str
    made_at: datetime
    rows: int
    files: int
    problems: tuple[str, ...]
    withheld: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeResult:
    """What was permanently deleted, or would be in a dry run.

    `items` counts the items trashed before `before` by kind; `changes` and `texts` are their history; `calls` and
    `runs` are log entries that were deleted, or cleared because they mentioned them; `jobs` were cleared. `waiting`
    items are old enough, but other items in the trash belong to them.
    """

    before: datetime
    items: Mapping[str, int]
    changes: int
    texts: int
    calls: int
    runs: int
    jobs: int
    vectors: int
    contents: int
    content_bytes: int
    copies: int
    waiting: int
    dry_run: bool
    problems: tuple[str, ...]

    @property
    def shortfall(self) -> str:
        """The items that have to wait for the next purge."""
        return " ".join(self.problems)


def pluralize(count: int, one: str, many: str = "") -> str:
    """Format a count with its noun: «1 row», «2 rows»."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _describe_shortfall(problems: tuple[str, ...], count: int) -> str:
    return f"Made and checked, but without {pluralize(count, 'thing')}, such as: {problems[0]}" if count else ""
