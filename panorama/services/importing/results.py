"""The result of an import."""

from collections.abc import Mapping
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
        return f"{self.unread:,} of {self.files:,} files or folders could not be read{named}. All others were taken."

    def summarize(self) -> str:
        """Return it in one line."""
        if not self.files:
            return f"No Markdown file in {self.folder}"
        new = _format_counts(
            (self.notes_created, "note"),
            (self.tasks_created, "task"),
            (self.files_created, "file"),
            (self.projects_created, "project"),
        )
        updated = _format_counts((self.notes_updated, "note"), (self.tasks_updated, "task"))
        verb = "Would import" if self.dry_run else "Imported"
        parts = [f"{verb} {new} from {self.folder}" if new else f"{verb} nothing new from {self.folder}"]
        parts += [f"{'would update' if self.dry_run else 'updated'} {updated}"] if updated else []
        parts += [f"{self.unchanged:,} of {_format_counts((self.files, 'file'))} unchanged"] if self.unchanged else []
        parts += [f"{self.gone:,} no longer in the folder, kept in Panorama"] if self.gone else []
        parts += [f"{self.skipped:,} skipped"] if self.skipped else []
        return "; ".join([*parts, *([_format_counts((self.problem_count, "problem"))] if self.problem_count else [])])


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
        return (
            f"{pluralize(self.unread, 'line')} could not be read: {first['place']}: {first['why']}. All else was taken."
        )

    def summarize(self) -> str:
        """Return it in one line."""
        people = [pluralize(self.people_created, "person", "people")] if self.people_created else []
        others = _format_counts(
            (self.projects_created, "project"), (self.notes_created, "note"), (self.relations_created, "relation")
        )
        new = ", ".join([*people, *([others] if others else [])])
        updated = self.people_updated + self.projects_updated + self.notes_updated
        verb = "Would import" if self.dry_run else "Imported"
        parts = [f"{verb} {new or 'nothing new'} from {self.file}"]
        parts += [f"{'would update' if self.dry_run else 'updated'} {pluralize(updated, 'item')}"] if updated else []
        parts += [f"{self.unchanged:,} unchanged"] if self.unchanged else []
        parts += [f"{self.gone:,} no longer in the file, kept in Panorama"] if self.gone else []
        parts += [f"{self.skipped:,} skipped"] if self.skipped else []
        parts += [f"{pluralize(self.unread, 'line')} not readable"] if self.unread else []
        return "; ".join([*parts, *([pluralize(self.problem_count, "problem")] if self.problem_count else [])])


def _format_counts(*counts: tuple[int, str]) -> str:
    return ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count)
