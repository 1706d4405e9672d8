"""The result of an import."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panorama.domain.text.wording import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import, or of its dry run.

    `unchanged` counts files without changes, `gone` items whose file or line is missing (they are kept), `skipped`
    ignored files and trashed items, `unread` unreadable files and folders. `problems` are the first 50.
    """

    folder: str
    files: int
    unchanged: int
    notes_created: int
    notes_updated: int
    tasks_created: int
    tasks_updated: int
    projects_created: int
    files_created: int
    gone: int
    skipped: int
    unread: int
    problems: tuple[Mapping[str, str], ...]
    problem_count: int
    dry_run: bool

    @property
    def shortfall(self) -> str:
        """The unreadable files, the first by name."""
        if not self.unread:
            return ""
        named = "".join(f", such as {first['path']}: {first['why']}" for first in self.problems[:1])
        return f"{self.unread:,} of {self.files:,} files or folders could not be read{named}. All others were imported."

    def summarize(self) -> str:
        """Return a one-line summary."""
        if not self.files:
            return f"No Markdown file in {self.folder}"
        new = _format_counts(
            (self.notes_created, "note", "notes"),
            (self.tasks_created, "task", "tasks"),
            (self.files_created, "file", "files"),
            (self.projects_created, "project", "projects"),
        )
        updated = _format_counts((self.notes_updated, "note", "notes"), (self.tasks_updated, "task", "tasks"))
        unchanged = f"{self.unchanged:,} of {pluralize(self.files, 'file')} unchanged" if self.unchanged else ""
        gone = f"{self.gone:,} no longer in the folder, kept in Panorama" if self.gone else ""
        return _join_summary(self, self.folder, new, updated, (unchanged, gone))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryImportReport:
    """The result of importing the graph of a memory server, or of its dry run.

    `unchanged` counts entities and relations that are here already, `gone` those that are no longer in the file (they
    are kept), `skipped` relations to nothing and what is in the trash here, `unread` lines that cannot be read.
    `problems` are the first 50.
    """

    file: str
    entities: int
    relations: int
    unchanged: int
    notes_created: int
    notes_updated: int
    people_created: int
    people_updated: int
    projects_created: int
    projects_updated: int
    relations_created: int
    gone: int
    skipped: int
    unread: int
    problems: tuple[Mapping[str, str], ...]
    problem_count: int
    dry_run: bool

    @property
    def shortfall(self) -> str:
        """The lines that cannot be read, the first by its number."""
        if not self.unread:
            return ""
        first = self.problems[0]
        cause = f"{first['place']}: {first['why']}"
        return f"{pluralize(self.unread, 'line')} could not be read: {cause}. Everything else was imported."

    def summarize(self) -> str:
        """Return a one-line summary."""
        new = _format_counts(
            (self.people_created, "person", "people"),
            (self.projects_created, "project", "projects"),
            (self.notes_created, "note", "notes"),
            (self.relations_created, "relation", "relations"),
        )
        updated = self.people_updated + self.projects_updated + self.notes_updated
        details = (
            f"{self.unchanged:,} unchanged" if self.unchanged else "",
            f"{self.gone:,} no longer in the file, kept in Panorama" if self.gone else "",
            f"{pluralize(self.unread, 'line')} not readable" if self.unread else "",
        )
        return _join_summary(self, self.file, new, pluralize(updated, "item") if updated else "", details)


def _join_summary(
    report: ImportReport | MemoryImportReport, source: str, new: str, updated: str, details: Sequence[str]
) -> str:
    verb, update_verb = ("Would import", "would update") if report.dry_run else ("Imported", "updated")
    parts = (
        f"{verb} {new or 'nothing new'} from {source}",
        f"{update_verb} {updated}" if updated else "",
        *details,
        f"{report.skipped:,} skipped" if report.skipped else "",
        pluralize(report.problem_count, "problem") if report.problem_count else "",
    )
    return "; ".join(filter(None, parts))


def _format_counts(*counts: tuple[int, str, str]) -> str:
    return ", ".join(pluralize(count, one, many) for count, one, many in counts if count)
