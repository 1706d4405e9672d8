"""Views of keeping: what backups, exports, restoring and purging answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupResult:
    """A backup that was made and checked; `rows` and `files` count what is in it, `removed` older ones that went.

    `problems` are the first 50 things that it could not take, such as a content that was missing: it is whole if there
    are none. `withheld` are settings that were left out because they are secret.
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
        """What it could not take."""
        return _describe_shortfall(self.problems, self.problem_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupList:
    """The first 50 backups in a folder, the newest first; `count` counts all."""

    folder: str
    backups: tuple[Mapping[str, Any], ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveCheckResult:
    """A backup or an export in which nothing is wrong; `problems` are what it could not take when it was made.

    `sending` are settings in it that send texts elsewhere; a restore leaves them out unless the person says yes.
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
    """An export that was made: rows as JSON Lines, pages in Markdown, contents of files; `problems` as of a backup."""

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
        """What it could not take."""
        return _describe_shortfall(self.problems, self.problem_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """A data directory that was made of a backup or an export, and compared with it."""

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
    """What was forgotten for good, or would be in a dry run.

    `items` counts by kind what was in the trash since before `before`; `changes` and `texts` are its history, `calls`
    and `runs` those of the log that were removed or, as they told of it, emptied, `jobs` those that were emptied.
    `waiting` items are over their time, but others in the trash belong to them.
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
        """What of it has to wait for the next purge."""
        return " ".join(self.problems)


def pluralize(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: «1 row», «2 rows»."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _describe_shortfall(problems: tuple[str, ...], count: int) -> str:
    return f"Made and checked, but without {pluralize(count, 'thing')}, such as: {problems[0]}" if count else ""
