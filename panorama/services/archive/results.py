"""Results of backups, exports, restores and purges."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panorama.domain.text.wording import pluralize
from panorama.domain.withdrawal import Withdrawn
from panorama.kinds import name_kind


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

    def summarize(self) -> str:
        """Return a one-line summary."""
        contents = f"{_format_rows_and_files(self.rows, self.files)}, {self.size_bytes / 1e6:,.1f} MB"
        removed = f"; {pluralize(self.removed, 'older one')} removed" if self.removed else ""
        missing = _format_missing(self.problem_count)
        return f"Backed up {contents} to {self.path} and checked it in {self.seconds:g} s{removed}{missing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupList:
    """The first 50 backups in a folder, the newest first; `count` counts all."""

    folder: str
    backups: tuple[Mapping[str, Any], ...]
    count: int

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"{pluralize(self.count, 'backup')} in {self.folder}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveCheckResult:
    """An intact backup or export; `problems` are the things that could not be saved when it was made.

    `sending` are settings that send texts elsewhere, and `sources` the sources with what they run or call; a restore
    leaves both out unless the user agrees.
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
    sources: tuple[str, ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        contents = f"{pluralize(self.files, 'file')}, {pluralize(self.rows, 'row')}, {self.size_bytes / 1e6:,.1f} MB"
        made_at = f"{self.made_at:%Y-%m-%d %H:%M} UTC"
        return f"The {self.kind} of {made_at} is intact: {contents}{_format_missing(len(self.problems))}"


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

    def summarize(self) -> str:
        """Return a one-line summary."""
        contents = f"{pluralize(self.rows, 'row')}, {pluralize(self.pages, 'page')} and {_format_contents(self.files)}"
        return f"Exported {contents}, to {self.path}, in {self.seconds:g} s{_format_missing(self.problem_count)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """A data directory restored from a backup or an export, and verified against it.

    `paused` schedules and `unreviewed` scripts were approved elsewhere: another data directory made the backup.
    `sources` are the names of the sources that were restored, `left_out` of those to which the user did not agree, or
    which cannot be used or trusted.
    """

    path: str
    source: str
    kind: str
    made_at: datetime
    rows: int
    files: int
    problems: tuple[str, ...]
    withheld: tuple[str, ...]
    paused: int
    unreviewed: int
    sources: tuple[str, ...]
    left_out: tuple[str, ...]
    seconds: float

    @property
    def withdrawn(self) -> Withdrawn:
        """Approvals from elsewhere that the user has to repeat here."""
        return Withdrawn(self.paused, self.unreviewed)

    def summarize(self) -> str:
        """Return a one-line summary."""
        contents = _format_rows_and_files(self.rows, self.files)
        missing = _format_missing(len(self.problems))
        made_at, withdrawn = f"{self.made_at:%Y-%m-%d %H:%M} UTC", self.withdrawn.summarize()
        sources = f"; {pluralize(len(self.left_out), 'source was', 'sources were')} left out" if self.left_out else ""
        return f"Restored {contents} of {made_at} to {self.path}, compared{missing}{withdrawn}{sources}"


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

    def summarize(self) -> str:
        """Return a one-line summary."""
        verb = "Would delete" if self.dry_run else "Deleted"
        parts = [f"{verb} {join_counts(self.items) or 'nothing'} from the trash"]
        parts += [f"{pluralize(self.changes, 'change')} of theirs"] if self.changes else []
        logged = self.calls + self.runs + self.jobs
        parts += [f"{pluralize(logged, 'entry', 'entries')} of the log"] if logged else []
        parts += (
            [f"{pluralize(self.contents, 'content')} ({self.content_bytes / 1e6:,.1f} MB)"] if self.contents else []
        )
        parts += [pluralize(self.copies, "old backup")] if self.copies else []
        wait = pluralize(
            self.waiting, "waits for other items that belong to it", "wait for other items that belong to them"
        )
        parts += [wait] if self.waiting else []
        return "; ".join(parts)

    @property
    def shortfall(self) -> str:
        """The items that have to wait for the next purge."""
        return " ".join(self.problems)


def _format_missing(count: int) -> str:
    return f"; {pluralize(count, 'item was', 'items were')} missing" if count else ""


def _format_rows_and_files(rows: int, files: int) -> str:
    return f"{pluralize(rows, 'row')} and {_format_contents(files)}"


def _format_contents(count: int) -> str:
    return pluralize(count, "content of a file", "contents of files")


def join_counts(counts: Mapping[str, int]) -> str:
    """Format counts by kind: «3 tasks, 1 note»."""
    return ", ".join(f"{count:,} {name_kind(kind, count)}" for kind, count in counts.items())


def _describe_shortfall(problems: tuple[str, ...], count: int) -> str:
    return f"Created and checked, but without {pluralize(count, 'thing')}, such as: {problems[0]}" if count else ""
